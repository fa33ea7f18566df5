"""A split task is a task: one network on several ranks, trained by the same loop with the same recipes.

    train(Split(task, Grid(data=2, pipe=2)), Recipe(...), on=Processes(4))
Every rank gets a task of its own slice of the vector. Ranks that hold the same slice exchange what they learn, by any
recipe; inside `loss_and_grad` the ranks of a replica pass micro-batches to each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from dlmini.checks import piece, refuse, settle, whole, word
from dlmini.comm.schedules import native, schedule
from dlmini.parallel.balance import balanced, checked_cuts, measured
from dlmini.parallel.grid import Grid
from dlmini.parallel.pipeline import PipeDream, one_f_one_b
from dlmini.parallel.rank_task import RankTask
from dlmini.parallel.sharding import Shard, Sharded, gathered_together
from dlmini.parallel.sharing import WAYS, SharedPart
from dlmini.parallel.slices import Assembly, own_memory
from dlmini.parallel.tensor import Sharers
from dlmini.parallel.unflushed import Unflushed

TASKS = "a task with a model: Classify(model, train, test)"
SCHEDULES = "a schedule: gpipe, one_f_one_b, interleaved(2), zero_bubble or pipedream"


@dataclass(frozen=True)
class Split:
    """`task` on a grid of ranks; the recipe's ranks are the grid's `data`.

    schedule: who works on which micro-batch when. micro_batches: how many a batch is cut into; by default 4 per stage,
    and one where there are no stages or nothing is flushed. Their losses and gradients add up to the batch's own.
    cuts: the layers that stages 1, 2, ... begin with; None: such that the stage with the most FLOPs has as few as can
    be; "measured": by the time of a micro-batch, on this machine, now. With chunks there are `pipe` x chunks stages.
    share: how the `tensor` ranks of a stage share its layers: in "pairs" of columns and rows, or "every output" to
    everyone (tensor.py). how: by which schedule they add up.
    bucket: with Grid(shard=...), how many numbers are gathered at once, at least; None: one layer (sharding.py).
    """

    task: object
    grid: Grid
    schedule: object = one_f_one_b
    micro_batches: int | None = None
    cuts: tuple[int, ...] | str | None = None
    share: str = "pairs"
    how: object = native
    bucket: int | None = None

    def __post_init__(self):
        if isinstance(self.task, Split):
            raise ValueError("this task is split already; give the task itself, and one Grid for all, as Grid(2, 2, 2)")
        piece(self.task, "task", ("model", "batches", "batch", "fingerprint"), TASKS)
        piece(self.grid, "grid", ("pipe", "data_group"), "a Grid(data=..., pipe=...)")
        piece(self.schedule, "schedule", ("plan", "chunks"), SCHEDULES)
        given, never = self.micro_batches, isinstance(self.schedule, PipeDream)
        if given is None:
            given = 1 if self.grid.pipe == 1 or never else usual(self.task.batch, self.grid.pipe, self.schedule.chunks)
        given = whole(given, "micro_batches", 1, self.task.batch, hint="a batch has no more rows")
        settle(self, micro_batches=given, cuts=self._cut(-(-self.task.batch // given)))
        if never and given != 1:
            raise ValueError(f"micro_batches is {given}; pipedream passes whole batches on: leave micro_batches out")
        word(self.share, "share", WAYS)
        schedule(self.how)
        self._check_shards()
        if self.model.threads > 1:
            raise ValueError(f"the model has threads={self.model.threads}; a stage works with one: use threads=1")
        self.schedule.plan(self.grid.pipe, given)  # says so if these numbers do not fit together
        for rank in range(self.grid.replica if self.grid.tensor > 1 else 0):
            self.parts(rank)  # the same of layers that cannot be shared

    def _check_shards(self) -> None:
        if self.bucket is not None:
            settle(self, bucket=whole(self.bucket, "bucket", 1, hint="numbers that are gathered at once, at least"))
        if self.grid.shard == 1:
            if self.bucket is not None:
                raise ValueError(f"bucket={self.bucket} is for numbers that are shared out: use Grid(shard=...)")
            return
        if self.grid.shard > self.size:
            raise ValueError(f"{self.grid.shard} owners, but {self.size} numbers to own: use at most {self.size}")
        if self.micro_batches > 1:
            raise ValueError(
                f"micro_batches is {self.micro_batches}, and weights would be gathered for each of them; "
                "with shard, leave micro_batches out and take a smaller batch"
            )
        if self.how is not native and not hasattr(self.how, "reduce_scatter"):
            refuse(ValueError, "how", self.how, "a schedule with halves: ring, halving_doubling or Hierarchical(g)")

    def _cut(self, images: int) -> tuple[int, ...]:
        """images: of a micro-batch; layers with many weights gain more by large ones than others do."""
        stages, cuts = self.grid.pipe * self.schedule.chunks, self.cuts
        if isinstance(cuts, str) and cuts == "measured":
            singly = stages > len(self.model.layers) // 2
            cuts = balanced(self.model, stages, measured(self.model, images, singly=singly))
        return balanced(self.model, stages) if cuts is None else checked_cuts(cuts, self.model, stages)

    # ---- the task as a whole: what a run asks of it ----

    model = property(lambda self: self.task.model)
    size = property(lambda self: self.task.size)
    shapes = property(lambda self: self.task.shapes)
    initial = property(lambda self: self.task.initial)
    batches = property(lambda self: self.task.batches)
    part = property(lambda self: self.task.part)
    evaluate = property(lambda self: self.task.evaluate)
    loss_and_grad = property(lambda self: self.task.loss_and_grad)

    def fingerprint(self, workers: int, seed: int) -> dict[str, str]:
        return self.task.fingerprint(workers * self.grid.shard, seed)

    def steps(self, epochs: float, workers: int) -> int:
        """Who shares out numbers has a batch of its own."""
        return self.task.steps(epochs, workers * self.grid.shard)

    # ---- the seam: what a run asks of a split task besides ----

    def peers(self, size: int, beside: int = 0) -> int:
        """How many of `size` ranks a recipe sees: those that hold one slice.

        beside: ranks that the recipe has besides the grid's; it then deals out work of its own, and sees them all.
        """
        if size != self.grid.size + beside:
            more = f" and the recipe {beside} more," if beside else ","
            raise ValueError(f"{self.grid} needs {self.grid.size} ranks{more} but there are {size}; change one of them")
        return size if beside else self.grid.data

    def check(self, recipe) -> None:
        """Refuse a recipe that cannot be followed by slices."""
        for sentence in objections(self, recipe):
            raise ValueError(sentence)

    def place(self, world, recipe, before=None):
        """(who exchanges, the task, what is remembered) of the rank that asks."""
        rank, peers = world.rank, self.grid.data_group(world.rank)
        comm = world if len(peers) == world.size else world.group(peers)
        memory = before and own_memory(self, rank, before, recipe)
        first = int(memory["t"]) + 1 if memory else recipe.sync.joins(comm.rank)
        kind = Sharded if self.grid.shard > 1 else Unflushed if isinstance(self.schedule, PipeDream) else RankTask
        return comm, kind(self, world, rank, recipe.steps(first, recipe.rounds)), memory

    def assembly(self, recipe) -> Assembly | None:
        """What makes whole vectors of the slices that ranks show; nothing where the recipe's own ranks show them."""
        return None if recipe.beside else Assembly(self, recipe)

    def of_rank(self, world) -> RankTask:
        """The task of a rank whose replica exchanges with no other: gradients of its own slice, by its replica."""
        return RankTask(self, world, world.rank, 0)

    def places(self) -> tuple[range | np.ndarray, ...]:
        """Of each rank of a replica: where in the whole vector its numbers lie."""
        if self.grid.tensor == 1 and self.schedule.chunks == 1:
            return tuple(range(part.low, part.high) for part in self._parts)
        return tuple(self.cut(rank, np.arange(self.size)) for rank in range(self.grid.replica))

    def cut(self, rank: int, whole: np.ndarray) -> np.ndarray:
        """The numbers of a whole vector (or of several, one above the other) that a rank holds."""
        return np.concatenate([part.cut(whole[..., part.low : part.high]) for part in self.parts(rank)], axis=-1)

    def paste(self, rank: int, own: np.ndarray, whole: np.ndarray) -> None:
        """The way back: put a rank's numbers where they belong."""
        at = 0
        for part in self.parts(rank):
            part.paste(own[..., at : at + part.size], whole[..., part.low : part.high])
            at += part.size

    def own_size(self, rank: int) -> int:
        return sum(part.size for part in self.parts(rank))

    def say(self, rank: int) -> str:
        """For people: where a rank stands, and with which layers."""
        if self.grid.shard > 1:
            return f"{self.grid.say(rank)}, with {self.own_size(rank):,} of {self.size:,} weights"
        layers = ", ".join(f"{p.above} to {p.above + len(p.layers) - 1}" for p in self.parts(rank))
        return f"{self.grid.say(rank)}, with layers {layers}"

    def parts(self, rank: int, world=None) -> list:
        """The chunks of a rank. world: its communicator, if they are to compute and not only to say what they hold."""
        _, pipe, tensor, shard = self.grid.place(rank)
        if self.grid.shard > 1:
            return [Shard(part, shard, self.grid.shard) for part in self._parts]
        parts = self._parts[pipe :: self.grid.pipe]
        if self.grid.tensor == 1:
            return parts
        group = self.grid.tensor_group(rank)
        comm = world if world is None or len(group) == world.size else world.group(group)
        sharers = Sharers(tensor, self.grid.tensor, comm, self.how)
        return [SharedPart(part, sharers, self.share) for part in parts]

    @cached_property
    def _parts(self) -> list:
        cuts = gathered_together(self.model, self.bucket or 1) if self.grid.shard > 1 else self.cuts
        return [self.model.part(a, b) for a, b in pairwise((0, *cuts, len(self.model.layers)))]

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_parts"}

    def __repr__(self) -> str:
        """The network goes without saying."""
        given = [repr(self.grid), repr(self.schedule), f"micro_batches={self.micro_batches}", f"cuts={self.cuts}"]
        given += [f"share={self.share!r}"] * (self.grid.tensor > 1)
        if self.grid.shard > 1:
            given = [repr(self.grid), f"bucket={self.bucket}"]
        return f"Split({', '.join(given)})"


def usual(rows: int, ranks: int, chunks: int) -> int:
    """Four micro-batches for each stage, if there are so many rows; with chunks a multiple of the ranks."""
    most = min(4 * ranks, rows)
    return most - most % ranks if chunks > 1 and most > ranks else most


def objections(split: Split, recipe):
    yield from unportioned(split, recipe) if recipe.beside else unfollowed(split, recipe)


def unportioned(split: Split, recipe):
    """Why a replica of this grid cannot compute the gradient of a portion."""
    if split.grid.shard > 1:
        yield (
            f"{split.grid}: each owner has rows of its own, but a portion is given to a replica as a whole; use pipe "
            "or tensor"
        )
    if isinstance(split.schedule, PipeDream):
        yield f"{recipe!r} needs gradients at the same weights, and pipedream steps in between; use one_f_one_b"


def unfollowed(split: Split, recipe):
    """Why slices cannot follow a recipe."""
    keeps, sync, topology = recipe.checkpoint_every, recipe.sync, recipe.topology
    alike = recipe.compression.everywhere_alike and topology.everywhere_alike and not topology.owns_codec
    if split.grid.tensor > 1 and (sync.staleness > 0 or not alike):
        yield (
            f"{split.grid}: some weights are held by every rank that shares a layer and must stay equal there, but "
            f"with {sync!r}, {topology!r} and {recipe.compression!r} each would treat them in its own way; use a "
            "method that waits, without a compressor (or Half), or tensor=1"
        )
    alone = split.grid.replica == 1
    if keeps and isinstance(split.schedule, PipeDream) and split.grid.pipe > 1:
        yield (
            f"checkpoint_every={keeps}: with pipedream there is always something under way, and no moment to keep; "
            "use one_f_one_b, or leave checkpoint_every out"
        )
    if keeps and not alone and (sync.staleness > 0 or not (topology.waits or topology.servers)):
        yield (
            f"checkpoint_every={keeps}: where nobody waits, the parts of a network are at different rounds, and no "
            "whole can be made of them; use a method that waits, or leave checkpoint_every out"
        )
    if keeps and not alone and topology.by_layer:
        yield (
            f"checkpoint_every={keeps}: {topology!r} remembers something for each layer or part of a rank's own slice, "
            "and no whole can be made of that; use AllReduce() (Grid(shard=n) shares memories out and can be kept), or "
            "leave checkpoint_every out"
        )
