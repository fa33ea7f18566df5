"""Nobody waits, or nobody waits for long: staleness is how many steps of others happened while one computed."""

from dataclasses import dataclass
from math import inf
from typing import ClassVar


@dataclass(frozen=True)
class Asynchronous:
    """Push, fetch, go on. The server applies each push when it comes.

    With N equal workers a gradient is N - 1 steps stale when it is applied, and asynchrony acts like momentum 1 - 1/N
    (Mitliagkas et al., Asynchrony begets momentum, 2016): use less momentum than you would alone.
    """

    staleness: ClassVar[float] = inf
    local: ClassVar[bool] = False
    late: ClassVar[bool] = False

    def period(self, t: int) -> int:
        return 1


@dataclass(frozen=True)
class StaleSynchronous:
    """Run ahead of the slowest worker by at most `bound` rounds.

        wait while  my round - bound > the slowest worker's round
    bound = 0 is bulk-synchronous, infinity asynchronous. Whoever reads at round c sees every push of rounds up to
    c - bound - 1. Ho et al., More effective distributed ML via a stale synchronous parallel parameter server, 2013.
    """

    bound: int = 3
    local: ClassVar[bool] = False
    late: ClassVar[bool] = False

    def __post_init__(self):
        if self.bound < 0:
            raise ValueError(f"StaleSynchronous({self.bound}): the bound must be at least 0 rounds")

    @property
    def staleness(self) -> float:
        return self.bound

    def period(self, t: int) -> int:
        return 1
