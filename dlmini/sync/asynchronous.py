"""Nobody waits, or nobody waits for long: staleness is how many steps of others happened while one computed."""

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from dlmini.checks import settle, truth, whole
from dlmini.sync.gate import Gathering
from dlmini.sync.sync import Sync


@dataclass(frozen=True)
class Asynchronous(Sync):
    """Push, fetch, go on. The server applies each push when it comes.

    With N equal workers a gradient is N - 1 steps stale when it is applied, and asynchrony acts like momentum 1 - 1/N
    (Mitliagkas et al., Asynchrony begets momentum, 2016): use less momentum than you would alone.
    aware: a push that is s steps old counts 1 / max(1, s) (Zhang et al., Staleness-aware async-SGD, 2016).
    """

    word = "async"
    tried = ({}, {"aware": True})
    shown = (("nobody waits (asynchronous)", {}),)
    aware: bool = False
    staleness: ClassVar[float] = inf

    def __post_init__(self):
        settle(self, aware=truth(self.aware, "aware"))

    def weight(self, staleness: int) -> float:
        return 1 / max(1, staleness) if self.aware else 1.0


@dataclass(frozen=True)
class StaleSynchronous(Sync):
    """Run ahead of the slowest worker by at most `bound` rounds.

        wait while  my round - bound > the slowest worker's round
    bound = 0 is bulk-synchronous, infinity asynchronous. Whoever reads at round c sees every push of rounds up to
    c - bound - 1. Ho et al., More effective distributed ML via a stale synchronous parallel parameter server, 2013.
    """

    word = "ssp"
    tried = ({"bound": 1},)
    shown = (("at most 3 ahead (stale-synchronous)", {"bound": 3}),)
    bound: int = 3

    def __post_init__(self):
        if not isinstance(self.bound, float) or self.bound != inf:
            settle(self, bound=whole(self.bound, "bound", 0, hint="rounds; or infinity, to wait for nobody"))

    @property
    def staleness(self) -> float:
        return self.bound


@dataclass(frozen=True)
class PartlySynchronous(Sync):
    """Be free for `most` rounds, then meet.

    Who has done so many rounds makes everybody wait at the end of the round they are in. Fast workers have then done
    `most` rounds since the last meeting, slow ones fewer; at the meeting all hold the same weights. Tolstobrov 2022
    calls this stale-synchronous; Ho's method of that name (StaleSynchronous) never makes all meet, it only holds back
    the fastest.
    """

    word = "partly"
    most: int = 4
    staleness: ClassVar[float] = inf

    def __post_init__(self):
        settle(self, most=whole(self.most, "most", 1, hint="rounds between two meetings"))

    def gate(self, workers: int, rounds: int, halts) -> Gathering:
        return Gathering(workers, rounds, halts, self.most)


@dataclass(frozen=True)
class Downpour(Sync):
    """Learn alone, push every `push` steps, fetch every `fetch` steps, wait for nobody.

        each step   w -= optimiser(gradient)       push   the sum of these steps       server   w -= outer(push)
    Servers' shards live lives of their own: a replica may fetch a mixture of their versions. With outer = Adagrad
    each weight has its own rate, whatever the scale of what is pushed: that is what makes it robust.
    warm_start: worker 0 learns alone for so many rounds, then the others join.
    Dean et al., Large scale distributed deep networks, 2012 (fetch = push = 1 there).
    """

    word = "downpour"
    tried = ({"fetch": 2, "push": 1}, {"warm_start": 1})
    fetch: int = 1
    push: int = 1
    warm_start: int = 0
    local: ClassVar[bool] = True
    staleness: ClassVar[float] = inf

    def __post_init__(self):
        settle(self, fetch=whole(self.fetch, "fetch", 1), push=whole(self.push, "push", 1))
        settle(self, warm_start=whole(self.warm_start, "warm_start", 0))
        if self.fetch % self.push:
            raise ValueError(
                f"{self}: fetch must be a multiple of push: what was learned is pushed before it is replaced"
            )

    def period(self, t: int) -> int:
        return self.push

    def fetches(self, t: int) -> bool:
        return (t + 1) * self.push % self.fetch == 0
