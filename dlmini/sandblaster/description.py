"""Sandblaster as a description: what `train` takes in the place of a recipe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dlmini.checks import real, settle, truth, whole, word
from dlmini.optim.lbfgs import FORMS
from dlmini.sandblaster.program import program

USUAL = 64  # portions, if there are so many mini-batches


@dataclass(frozen=True)
class Sandblaster:
    """L-BFGS on all the data at once, by as many replicas as there are, whoever is slow, doubled or killed.

        d = -H g,   w += a d          g: the gradient of the whole training set, H from the last `history` steps
    The last rank coordinates, the `shards` before it hold all vectors, the others are replicas. The training set is cut
    into `portions`; whoever is free gets the next one, so that fast machines do more. When none is left, those still
    under way are handed out again (`backup`), and the first answer counts. Each portion counts exactly once and is
    added in its place, so replicas may be slow, come, die and return: the weights are the same, to the bit.

    portions: by default as many as there are mini-batches, at most 64; many more than replicas, so that the last one is
    soon done. A task without part(number, of, seed) shows of each portion the first of batches(number, of, seed) alone.
    form: "dots", one round of messages for a direction; "two_loop", 2 h of them, as published.
    It ends after so many `rounds` (iterations), where the gradient is no longer than `tolerance`, or where no step
    gains. A replica that dies costs its portion's time. A shard that dies takes its slices with it.
    A replica may be a group of ranks that hold one network together: train(Split(task, Grid(data=replicas, pipe=2)),
    Sandblaster(...), on) on 2 replicas + shards + 1 ranks. If one of them dies, its replica is lost.
    Dean et al., Large scale distributed deep networks, NIPS 2012.
    """

    history: int = 10
    portions: int | None = None
    backup: bool = True
    shards: int = 1
    form: str = "dots"
    tolerance: float = 1e-6
    rounds: int = 100
    evaluate_every: int = 0
    checkpoint_every: int = 0
    seed: int = 0
    all_workers: ClassVar[bool] = False
    survives: ClassVar[bool] = True
    takes_back: ClassVar[bool] = True
    may_differ: ClassVar[tuple[str, ...]] = ("backup", "tolerance", "rounds", "evaluate_every", "checkpoint_every")
    program: ClassVar = staticmethod(program)

    def __post_init__(self):
        settle(self, history=whole(self.history, "history", 1, hint="steps that are remembered"))
        if self.portions is not None:
            settle(self, portions=whole(self.portions, "portions", 1))
        settle(self, backup=truth(self.backup, "backup"), shards=whole(self.shards, "shards", 1))
        settle(self, form=word(self.form, "form", FORMS), tolerance=real(self.tolerance, "tolerance", least=0))
        settle(self, rounds=whole(self.rounds, "rounds", 1), seed=whole(self.seed, "seed", 0))
        for name in ("evaluate_every", "checkpoint_every"):
            settle(self, **{name: whole(getattr(self, name), name, 0)})

    # ---- what a run asks ----

    @property
    def beside(self) -> int:
        """Ranks that are no replica's: no grid of a split task counts them."""
        return self.shards + 1

    def workers(self, size: int) -> int:
        """Ranks that compute gradients."""
        return size - self.shards - 1

    def keepers(self, size: int) -> range:
        """Ranks that remember something: checkpoints are theirs."""
        return range(self.workers(size), size)

    def check(self, size: int) -> None:
        if self.workers(size) < 1:
            raise ValueError(
                f"{size} ranks with a coordinator and shards={self.shards} leave no replica; take at least "
                f"{self.shards + 2} ranks"
            )
        if self.checkpoint_every > self.rounds:
            raise ValueError(
                f"checkpoint_every={self.checkpoint_every} never comes in {self.rounds} rounds; keep one more often"
            )

    def doubts(self, size: int, task=None) -> list[str]:
        """What has a meaning but may disappoint, as sentences."""
        replicas = self.workers(size) // (len(task.places()) if hasattr(task, "places") else 1)
        few = self.portions is not None and self.portions < 2 * replicas
        said = f"portions={self.portions} for {replicas} replicas: whoever is slow holds up all; take more"
        return [said] if few else []

    def lasting(self, steps: int):
        raise ValueError("epochs= counts mini-batches, and Sandblaster sees all data in every round; give it rounds=")

    def others(self, size: int) -> list[str]:
        """What the ranks are called that are no replicas."""
        return [*(f"shard {rank}" for rank in range(self.workers(size), size - 1)), f"coordinator {size - 1}"]

    def teller(self, size: int) -> int:
        """Who alone tells the loss of a round: replicas know only that it is over."""
        return size - 1

    def lost_with(self, rank: int, size: int) -> str:
        """What the run loses with a rank that is no replica, as a sentence."""
        if rank == size - 1:
            return f"rank {rank} is the coordinator, and without it nobody knows what to do next"
        return f"rank {rank} is a shard, and the weights and the history that it kept are lost with it"

    def resumed(self) -> Sandblaster:
        return self

    def parts(self, task, size: int) -> int:
        """Into how many parts the data are dealt out: portions, whatever the number of replicas."""
        return self.portions or min(USUAL, task.steps(1, 1))

    def evaluates_after(self, t: int) -> bool:
        return t == self.rounds - 1 or (self.evaluate_every > 0 and (t + 1) % self.evaluate_every == 0)

    def checkpoints_after(self, t: int) -> bool:
        return self.checkpoint_every > 0 and (t + 1) % self.checkpoint_every == 0

    def why_ended(self, results) -> str:
        """Why all ranks have ended before the last round; nothing if they have not."""
        return results[-1]
