"""Layouts: which device does what. Tensor, pipeline and data parallelism, micro-batches, ZeRO, recomputation."""

from __future__ import annotations

from dataclasses import dataclass, fields

from dlmini.checks import refuse, settle, truth, whole, word
from dlmini.parallel.grid import Grid
from dlmini.parallel.pipeline import Interleaved, OneForwardOneBackward, one_f_one_b
from dlmini.parallel.timetable import Timetable
from dlmini.plan.sheets import Sheet

RECOMPUTE = ("none", "selective", "full")
JOBS = 2_000_000  # of a timetable that is written out: some twenty seconds


@dataclass(frozen=True, repr=False)
class Layout:
    """`tensor` x `pipe` x `data` devices, numbered as `Grid` does: those that share a layer side by side.

    micro: sequences in a micro-batch. chunks: stages on each device of a pipeline, interleaved.
    zero: what the data-parallel copies share out: 1 the optimiser's memory, 2 gradients too, 3 weights too.
    recompute: what is computed again on the way back instead of kept: none, selective (the attention), full (layers).
    sequence_parallel: norms and dropouts are shared out too, along the sequence.
    gradient: bytes of one, as kept and as sent: 2 as DeepSpeed does, 4 as Megatron-LM does and BLOOM was trained.
    overlap: sums of gradients go on beside the last micro-batch's way back.
    """

    tensor: int = 1
    pipe: int = 1
    data: int = 1
    micro: int = 1
    chunks: int = 1
    zero: int = 0
    recompute: str = "none"
    sequence_parallel: bool = False
    gradient: int = 2
    overlap: bool = True

    def __post_init__(self):
        for name in ("tensor", "pipe", "data", "micro", "chunks"):
            settle(self, **{name: whole(getattr(self, name), name, 1)})
        settle(self, zero=whole(self.zero, "zero", 0, 3, hint="ZeRO's stage"))
        if whole(self.gradient, "gradient", 2, 4, hint="2 or 4 bytes each") == 3:
            refuse(ValueError, "gradient", 3, "2 or 4 bytes each")
        settle(self, gradient=int(self.gradient))
        word(self.recompute, "recompute", RECOMPUTE)
        for name in ("sequence_parallel", "overlap"):
            settle(self, **{name: truth(getattr(self, name), name)})

    def __repr__(self) -> str:
        """Only what is not ordinary."""
        told = [f.name for f in fields(self) if getattr(self, f.name) != f.default]
        return f"Layout({', '.join(f'{name}={getattr(self, name)!r}' for name in told)})"

    @property
    def grid(self) -> Grid:
        return Grid(self.data, self.pipe, self.tensor)

    @property
    def devices(self) -> int:
        return self.data * self.pipe * self.tensor

    @property
    def stages(self) -> int:
        return self.pipe * self.chunks

    @property
    def schedule(self) -> OneForwardOneBackward | Interleaved:
        return one_f_one_b if self.chunks == 1 else Interleaved(self.chunks)

    @property
    def norm_share(self) -> int:
        """Among how many devices norms and dropouts are shared out."""
        return self.tensor if self.sequence_parallel else 1

    @property
    def regathers(self) -> bool:
        """Whether parts of a micro-batch that came from another stage are put together: where norms need all of it."""
        return self.tensor > 1 and self.pipe > 1 and not self.sequence_parallel

    def micros(self, batch: int) -> int:
        """Micro-batches that each pipeline takes in a step."""
        return batch // (self.data * self.micro)

    def timetable(self, batch: int) -> Timetable:
        """Every job of the pipeline's step, in its order."""
        micros = self.micros(batch)
        if (jobs := 2 * micros * self.stages) > JOBS:
            raise ValueError(
                f"batch is {batch}: {micros:,} micro-batches in {self.stages} stages are {jobs:,} jobs, and at most "
                f"{JOBS:,} can be told one by one; use a smaller batch or larger micro-batches"
            )
        return self.schedule.plan(self.pipe, micros)

    def layers(self, sheet: Sheet) -> list[int]:
        """Layers of every stage, as even as can be; the two ends, which do more, are the last to get one more."""
        least, more = divmod(sheet.layers, self.stages)
        order = sorted(range(self.stages), key=lambda stage: (stage in (0, self.stages - 1), stage))
        return [least + (stage in order[:more]) for stage in range(self.stages)]

    def fault(self, sheet: Sheet, batch: int) -> str:
        """What does not come out even, as a sentence; empty if all does."""
        if sheet.heads % self.tensor:
            return f"tensor is {self.tensor}, but {sheet.name} has {sheet.heads} heads: use a divisor of that"
        if self.stages > sheet.layers:
            return f"{self.stages} stages (pipe x chunks), but {sheet.name} has only {sheet.layers} layers"
        if batch % (self.data * self.micro):
            return f"batch is {batch}: it must be a multiple of data x micro = {self.data * self.micro} sequences"
        if self.chunks > 1 and self.pipe == 1:
            return f"chunks is {self.chunks}, but pipe is 1: only the stages of a pipeline can be interleaved"
        if self.chunks > 1 and self.micros(batch) % self.pipe:
            return (
                f"{self.micros(batch)} micro-batches, pipe is {self.pipe}: interleaved stages take them "
                f"{self.pipe} at a time; use a multiple of that, or chunks=1"
            )
        if self.sequence_parallel and (self.tensor == 1 or sheet.sequence % self.tensor):
            return f"sequence_parallel shares sequences of {sheet.sequence} out among tensor={self.tensor} devices"
        return ""

    def check(self, sheet: Sheet, batch: int) -> Layout:
        """This layout, if model and batch can be laid out so; or a sentence."""
        if fault := self.fault(sheet, whole(batch, "batch", 1, hint="sequences in a step")):
            raise ValueError(fault)
        return self


def layout_of(layout) -> Layout:
    """The layout itself, if it is one."""
    if not isinstance(layout, Layout):
        refuse(TypeError, "layout", layout, "a Layout(tensor, pipe, data, ...)")
    return layout
