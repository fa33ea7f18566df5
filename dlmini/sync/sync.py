"""What every way to synchronise answers; the answers here are those of the simplest, bulk-synchronous one."""

from typing import ClassVar

from dlmini.sync.gate import Bounded, Gate


class Sync:
    """When to talk. An immutable description whose repr is the legend of a plot.

    local       who steps: the worker alone (True), or everybody on what was exchanged
    late        whether the last step of a round is taken after the exchange
    staleness   how many rounds a worker may be ahead of the slowest; above 0 it needs somebody who never waits
    warm_start  rounds that worker 0 learns alone before the others join
    """

    local: ClassVar[bool] = False
    late: ClassVar[bool] = False
    staleness: float = 0
    warm_start: int = 0

    def period(self, t: int) -> int:
        """Steps in round t."""
        return 1

    def fetches(self, t: int) -> bool:
        """Whether a worker asks servers for their weights after round t."""
        return True

    def gate(self, workers: int, rounds: int, halts) -> Gate:
        """Who decides on a server which workers may go on."""
        return Bounded(workers, rounds, halts, self.staleness)

    def weight(self, staleness: int) -> float:
        """How much a push counts that is so many steps old."""
        return 1.0

    def joins(self, rank: int) -> int:
        """The round that a worker begins with."""
        return self.warm_start if rank else 0
