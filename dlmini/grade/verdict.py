"""What came of a test, and of all tests of a submission."""

from __future__ import annotations

from dataclasses import dataclass, field

from dlmini.grade.submissions.collect import Submission

PASSED, FAILED, NOT_DONE, TIMED_OUT, INFRA = "passed", "failed", "not_done", "timed_out", "infra_error"


@dataclass
class Verdict:
    """What a test found. `seed` replays it; `cells` and `waits` are the data of pictures."""

    task: str
    test: str
    status: str
    score: float
    points: float
    visibility: str
    sentence: str
    detail: str = ""
    picture: str = ""
    where: str = ""
    printed: str = ""
    seed: int = 0
    seconds: float = 0.0
    cells: list | None = None
    waits: list = field(default_factory=list)


@dataclass
class Graded:
    """A submission and what was found."""

    submission: Submission
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def score(self) -> float:
        return sum(v.score for v in self.verdicts)

    @property
    def complete(self) -> bool:
        """False if the grader itself failed somewhere: such a score is no grade."""
        return all(v.status != INFRA for v in self.verdicts)
