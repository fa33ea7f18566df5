"""What came of a test, and of all tests of a submission."""

from __future__ import annotations

from dataclasses import dataclass, field

from dlmini.grade.gradebook.marks import Mark
from dlmini.grade.gradebook.people import Person
from dlmini.grade.submissions.collect import Submission

PASSED, FAILED, NOT_DONE, TIMED_OUT, INFRA = "passed", "failed", "not_done", "timed_out", "infra_error"


@dataclass
class Verdict:
    """What a test found. `seed` replays it; `cells` and `waits` are the data of pictures; mistakes: known by name."""

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
    mistakes: list = field(default_factory=list)


@dataclass
class Graded:
    """A submission and what was found; of whom it is, which share is lost for being late, and what a person decided."""

    submission: Submission
    verdicts: list[Verdict] = field(default_factory=list)
    person: Person | None = None
    late: float = 0.0
    mark: Mark = field(default_factory=Mark)

    def __post_init__(self):
        self.person = self.person or Person(self.submission.person, None, [self.submission])

    @property
    def name(self) -> str:
        return self.person.name

    @property
    def raw(self) -> float:
        """What the tests gave."""
        return sum(v.score for v in self.verdicts)

    @property
    def penalty(self) -> float:
        return round(self.raw * self.late, 4)

    @property
    def score(self) -> float:
        """What counts."""
        return self.mark.of(self.raw - self.penalty)

    @property
    def absent(self) -> bool:
        return not self.person.attempts

    @property
    def complete(self) -> bool:
        """False if the grader itself failed somewhere: such a score is no grade."""
        return all(v.status != INFRA for v in self.verdicts) or self.mark.given is not None

    def of(self, task: str) -> list[Verdict]:
        return [v for v in self.verdicts if v.task == task]
