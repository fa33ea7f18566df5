"""A recipe: when to talk, with whom, how briefly, how to step. `check` refuses what has no meaning, and says why."""

from dataclasses import dataclass, field
from math import inf

from dlmini.compression import None_
from dlmini.optim import SGD
from dlmini.sync import BulkSynchronous
from dlmini.topology import AllReduce, Gossip


@dataclass(frozen=True)
class Recipe:
    """All that distinguishes one distributed training from another. Its repr is the legend of its plot.

    outer: the optimiser that acts on what was exchanged; by default SGD(1) after local steps (both together: DiLoCo).
    feedback: whether what compression kept back is added to the next update; by default where the compressor wants it.
    """

    sync: object = field(default_factory=BulkSynchronous)
    topology: object = field(default_factory=AllReduce)
    compression: object = field(default_factory=None_)
    optimizer: object = field(default_factory=lambda: SGD(0.05))
    outer: object = None
    rounds: int = 100
    look: int = 0  # every so many rounds worker 0 shows its weights; 0: only after the last
    seed: int = 0
    feedback: bool | None = None

    def optimizers(self):
        """(inner, outer): who acts on a worker's own gradient, and who on what was exchanged."""
        if self.sync.local:
            return self.optimizer, self.outer or SGD(1.0)
        return SGD(1.0), self.optimizer

    @property
    def remembers_unsaid(self) -> bool:
        """Whether the loop keeps what was not said: not where a codec does so itself."""
        wanted = self.compression.wants_feedback if self.feedback is None else self.feedback
        return wanted and not self.compression.remembers

    def looks_after(self, t: int) -> bool:
        """Whether worker 0 shows its weights after round t."""
        return t == self.rounds - 1 or (self.look > 0 and (t + 1) % self.look == 0)

    def workers(self, size: int) -> int:
        return size - self.topology.servers

    def check(self, size: int) -> None:
        """Raise a sentence that teaches if the pieces do not fit together on `size` ranks."""
        name = type(self.topology).__name__
        if self.workers(size) < 1:
            raise ValueError(
                f"{size} ranks with {self.topology.servers} servers leave no worker; take at least "
                f"{self.topology.servers + 1} ranks"
            )
        if self.sync.staleness > 0 and not self.topology.servers:
            bound = "nobody ever waiting" if self.sync.staleness == inf else f"staleness={self.sync.staleness:g}"
            raise ValueError(
                f"{name} exchanges when all its partners do, so {bound} has no meaning here; use ParameterServer"
            )
        mixes_weights = isinstance(self.topology, Gossip) and self.topology.what == "weights"
        if mixes_weights and not isinstance(self.compression, None_):
            raise ValueError(
                f"Gossip(what='weights') sends the weights whole, so {self.compression!r} would never be used; "
                "mix updates, or leave the compression out"
            )
        if self.feedback and not self.compression.wants_feedback:
            raise ValueError(
                f"{self.compression!r} needs no feedback: its errors average out by themselves, and kept ones may grow "
                "for ever; leave feedback out"
            )
        if self.outer is not None and not self.sync.local:
            raise ValueError("an outer optimiser acts after local steps: use LocalSGD with it, or drop it")
        if self.rounds < 1:
            raise ValueError(f"rounds={self.rounds}: there must be at least one")
