"""A recipe: when to talk, with whom, how briefly, how to step. `check` refuses what has no meaning, and says why."""

from dataclasses import dataclass, field, replace
from functools import partial
from math import inf, prod
from typing import ClassVar

import numpy as np

from dlmini.checks import refuse, settle, truth, whole
from dlmini.compression import None_
from dlmini.optim import SGD
from dlmini.sync import Asynchronous, BulkSynchronous
from dlmini.topology import AllReduce

ENCODE, EVERYBODY = 11, 2**31  # the purpose of a coin, and the rank in its key where all share one


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
    evaluate_every: int = 0  # every so many rounds the first worker shows its weights; 0: only after the last
    all_workers: bool = False  # all workers show them: how far apart they are is seen, and their mean is what is tried
    checkpoint_every: int = 0  # every so many rounds all that ranks remember is kept, to resume from; 0: never
    seed: int = 0
    feedback: bool | None = None
    beside: ClassVar[int] = 0  # ranks that no grid of a split task counts
    # in what a run may differ from the one whose checkpoint it goes on from
    may_differ: ClassVar[tuple[str, ...]] = ("rounds", "evaluate_every", "all_workers", "checkpoint_every")

    def __post_init__(self):
        for name, (_, what) in PIECES.items():
            check_piece(self, name, what)
        if self.outer is not None:
            check_piece(self, "outer", PIECES["optimizer"][1], "optimizer")
        settle(self, rounds=whole(self.rounds, "rounds", 1), seed=whole(self.seed, "seed", 0))
        settle(
            self,
            evaluate_every=whole(self.evaluate_every, "evaluate_every", 0),
            checkpoint_every=whole(self.checkpoint_every, "checkpoint_every", 0),
        )
        settle(self, all_workers=truth(self.all_workers, "all_workers"))
        if self.feedback is not None:
            settle(self, feedback=truth(self.feedback, "feedback"))

    def optimizers(self):
        """(inner, outer): who acts on a worker's own gradient, and who on what was exchanged."""
        if self.sync.local:
            return self.optimizer, self.outer or SGD(1.0)
        return SGD(1.0), self.optimizer

    def steppers(self, shapes, rank: int, workers: int) -> tuple:
        """(inner, outer) with memory for the numbers that each steps on, on this worker; shapes: the whole vector."""
        inner, outer = self.optimizers()
        alone = sum(map(prod, shapes)) if self.sync.local else 0
        return inner.start(alone), outer.start(self.topology.stepped(shapes, rank, workers))

    def speech(self, task, topology, w, workers: int) -> tuple:
        """(learn, grad, codec): who computes a gradient, where it lies, who says it; who overlaps does all three."""
        if self.overlaps:
            return partial(task.loss_and_grad, ready=topology.ready), topology.grad, topology
        return task.loss_and_grad, np.zeros_like(w), self.compression.fit(task.shapes).start(task.size, workers)

    @property
    def overlaps(self) -> bool:
        """Whether the topology takes the gradient as it is computed: not if it changes before it is said."""
        return self.topology.overlaps and not self.sync.local and isinstance(self.compression, None_)

    @property
    def remembers_unsaid(self) -> bool:
        """Whether the loop keeps what was not said: not where a codec does so itself."""
        wanted = self.compression.wants_feedback if self.feedback is None else self.feedback
        return wanted and not self.compression.remembers

    def coin(self, rank: int, t: int) -> np.random.Generator:
        """What a compressor draws its chances from; where it must, the same on all ranks."""
        return np.random.default_rng([self.seed, EVERYBODY if self.compression.shared_coin else rank, t, ENCODE])

    def evaluates_after(self, t: int, worker: int = 0, gone=frozenset()) -> bool:
        """Whether a worker shows its weights after round t: the first does, of those who live, or all do."""
        due = t == self.rounds - 1 or (self.evaluate_every > 0 and (t + 1) % self.evaluate_every == 0)
        return due and (self.all_workers or gone.issuperset(range(worker)))

    @property
    def survives(self) -> bool:
        """Whether the others go on without a worker that has died: not where a server waits for all of them."""
        return self.topology.survives and (self.topology.servers == 0 or self.sync.staleness > 0)

    @property
    def takes_back(self) -> bool:
        """Whether a worker that died and comes back can go on: servers can tell it where."""
        return self.survives and self.topology.servers > 0

    def checkpoints_after(self, t: int) -> bool:
        """Whether ranks give away what they remember after round t; not while worker 0 learns alone."""
        return self.checkpoint_every > 0 and (t + 1) % self.checkpoint_every == 0 and t >= self.sync.warm_start

    def steps(self, first: int, end: int) -> int:
        """Steps of a worker in rounds [first, end)."""
        return sum(self.sync.period(t) for t in range(first, end))

    def lasting(self, steps: int) -> "Recipe":
        """The same recipe, with as many rounds as hold so many steps of a worker."""
        done, rounds = 0, 0
        while done < steps:
            done, rounds = done + self.sync.period(rounds), rounds + 1
        return replace(self, rounds=rounds)

    def workers(self, size: int) -> int:
        return size - self.topology.servers

    def parts(self, task, size: int) -> int:
        """Into how many parts the data are dealt out."""
        return self.workers(size)

    def keepers(self, size: int) -> range:
        """Ranks that remember something: a checkpoint needs them all."""
        return range(size)

    def others(self, size: int) -> list[str]:
        """What the ranks are called that are no workers."""
        return [f"server {rank}" for rank in range(self.workers(size), size)]

    def teller(self, size: int) -> int | None:
        """Who alone tells the loss of a round: nobody, since each worker tells its own."""

    def lost_with(self, rank: int, size: int) -> str:
        """What the run loses with a rank that is no worker, as a sentence."""
        return f"rank {rank} is a server, and the weights that it kept are lost with it"

    def resumed(self) -> "Recipe":
        """The recipe of workers that have all joined already."""
        return replace(self, sync=replace(self.sync, warm_start=0)) if self.sync.warm_start else self

    def why_ended(self, results) -> str:
        """Why all ranks have ended before the last round; here they never do."""
        return ""

    def check(self, size: int) -> None:
        """Raise a sentence that teaches if the pieces do not fit together on `size` ranks."""
        size = whole(size, "size", 1, hint="how many ranks")
        for sentence in objections(self, size):
            raise ValueError(sentence)

    def doubts(self, size: int, task=None) -> list[str]:
        """What has a meaning but may disappoint, as sentences."""
        return [doubt for doubt in (self.topology.doubts(self.workers(size)),) if doubt]


# place in a recipe -> how one knows what belongs there, and what that is
PIECES = {
    "sync": (("period", "staleness"), "a way to synchronise, such as LocalSGD(4)"),
    "topology": (("servers", "waits"), "a topology, such as AllReduce()"),
    "compression": (("fit", "wants_feedback"), "a compressor, such as TopK(0.01)"),
    "optimizer": (("start", "rate"), "an optimiser, such as SGD(0.05)"),
}


def place_of(value) -> str:
    """Where in a recipe a piece belongs; empty if nowhere."""
    return next((place for place, (signs, _) in PIECES.items() if all(hasattr(value, sign) for sign in signs)), "")


def check_piece(recipe: Recipe, name: str, what: str, place: str = "") -> None:
    """Refuse a piece in another's place, and say where it belongs."""
    value = getattr(recipe, name)
    if isinstance(value, type):
        raise TypeError(f"{name} is the class {value.__name__}; make one of it: {name}={value.__name__}(...)")
    belongs = place_of(value)
    if belongs != (place or name):
        refuse(TypeError, name, value, what + (belongs and f"; this belongs to {belongs}={value!r}"))


def objections(recipe: Recipe, size: int):
    """Why the pieces do not fit together on `size` ranks: the most basic reason first."""
    sync, topology, compression = recipe.sync, recipe.topology, recipe.compression
    name, plain = type(topology).__name__, isinstance(compression, None_)
    bound = "nobody ever waiting" if sync.staleness == inf else f"staleness={sync.staleness:g}"
    if recipe.workers(size) < 1:
        servers = f"{topology.servers} server" + "s" * (topology.servers > 1)
        yield f"{size} ranks with {servers} leave no worker; take at least {topology.servers + 1} ranks"
    if sync.staleness > 0 and topology.waits:
        yield f"{name} exchanges when all its partners do, so {bound} has no meaning here; use ParameterServer"
    if sync.staleness > 0 and not topology.servers and not isinstance(sync, Asynchronous):
        yield f"{sync!r} counts rounds on a server, and {name} has none; use ParameterServer, or Asynchronous here"
    if sync.staleness == 0 and not topology.waits and not topology.servers and not sync.local:
        yield f"{name} waits for nobody, so {sync!r} has no meaning here; use Asynchronous or LocalSGD"
    if topology.sends == "weights" and not plain:
        yield (
            f"{topology!r} sends the weights whole, so {compression!r} would never be used; mix updates, or leave the "
            "compression out"
        )
    if topology.owns_codec and not plain:
        yield f"{name} compresses by itself, so {compression!r} would never be used; leave the compression out"
    if topology.folds and not recipe.overlaps:
        yield (
            f"{topology!r} sums the gradient away while it is computed, so that nothing else can be done with it, and "
            f"{sync if sync.local else compression!r} would; use Zero(stage=1) here"
        )
    if recipe.feedback and not compression.wants_feedback:
        yield (
            f"{compression!r} needs no feedback: its errors average out by themselves, and kept ones may grow for "
            "ever; leave feedback out"
        )
    if recipe.outer is not None and not sync.local:
        yield "an outer optimiser acts after local steps: use LocalSGD or Downpour with it, or drop it"
    if recipe.checkpoint_every > recipe.rounds:
        yield f"checkpoint_every={recipe.checkpoint_every} never comes in {recipe.rounds} rounds; keep one more often"
    if recipe.checkpoint_every and not sync.fetches(recipe.checkpoint_every - 1):
        yield (
            f"checkpoint_every={recipe.checkpoint_every}: memories are kept when workers fetch; take a multiple of the "
            "rounds between fetches"
        )
    if sync.warm_start >= recipe.rounds:
        yield f"warm_start={sync.warm_start} leaves no round of {recipe.rounds} for the other workers; take fewer"
