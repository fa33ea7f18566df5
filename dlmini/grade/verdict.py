"""What came of a test."""

from __future__ import annotations

from dataclasses import dataclass, field

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
