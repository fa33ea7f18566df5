"""Pipelines: which rank works on which micro-batch when; and `play`, which does it with a real network.

p ranks each hold a part of the network's layers, and a batch of m micro-batches passes through them. F, B and W are the
seconds of a stage's forward, backward and weight gradient of one micro-batch. Every schedule here goes back through the
micro-batches in their order, so all of them add up gradients in one order: to the bit the same as one rank would, that
takes the same micro-batches one after another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from dlmini.checks import settle, whole
from dlmini.events import Slot
from dlmini.parallel.timetable import BACKWARD, FORWARD, WEIGHTS, Job, Timetable


class PipelineSchedule(Protocol):
    """A frozen dataclass that makes timetables. Its repr is what one types."""

    chunks: int

    def plan(self, ranks: int, micros: int) -> Timetable: ...


def counts(ranks, micros) -> tuple[int, int]:
    return whole(ranks, "ranks", 1, hint="of the pipeline"), whole(micros, "micros", 1, hint="micro-batches")


@dataclass(frozen=True, repr=False)
class GPipe:
    """All micro-batches forward, then all of them back.

        time (m + p - 1)(F + B + W)       idle share (p - 1) / (m + p - 1)       activations kept: m
    With chunks it is legal for every m, and idles no less.
    Huang et al., GPipe: efficient training of giant neural networks using pipeline parallelism, 2019.
    """

    chunks: int = 1

    def __post_init__(self):
        settle(self, chunks=whole(self.chunks, "chunks", 1, hint="stages on each rank"))

    def plan(self, ranks: int, micros: int) -> Timetable:
        ranks, micros = counts(ranks, micros)
        there = [Job(FORWARD, i, c) for c in range(self.chunks) for i in range(micros)]
        back = [Job(BACKWARD, i, c) for c in reversed(range(self.chunks)) for i in range(micros)]
        return Timetable(repr(self), ((*there, *back),) * ranks, micros, self.chunks)

    def __repr__(self) -> str:
        return "gpipe" if self.chunks == 1 else f"GPipe({self.chunks})"


def alternating(there: list[Job], back: list[Job], first: int) -> list[Job]:
    """`first` jobs there, then one there and one back, in turns, as long as there are any."""
    row, ahead = there[:first], iter(there[first:])
    for job in back:
        row += [*(one for one in [next(ahead, None)] if one), job]
    return row


def there_and_back(micros: int) -> tuple[list[Job], list[Job]]:
    return [Job(FORWARD, i) for i in range(micros)], [Job(BACKWARD, i) for i in range(micros)]


@dataclass(frozen=True, repr=False)
class OneForwardOneBackward:
    """Go back as soon as one can: after min(p - r - 1, m) forwards, rank r does one forward and one backward in turns.

        time and idle share as GPipe's       activations kept: min(m, p - r)
    So m can grow, and the bubble shrink, without more memory.
    Narayanan et al., PipeDream, 2019 (there without a flush); Memory-efficient pipeline-parallel DNN training, 2021.
    """

    chunks: ClassVar[int] = 1

    def plan(self, ranks: int, micros: int) -> Timetable:
        ranks, micros = counts(ranks, micros)
        rows = (alternating(*there_and_back(micros), ranks - r - 1) for r in range(ranks))
        return Timetable(repr(self), tuple(map(tuple, rows)), micros)

    def __repr__(self) -> str:
        return "one_f_one_b"


@dataclass(frozen=True, repr=False)
class Interleaved:
    """One forward, one backward, with v small stages on each rank: micro-batches go round v times, p at a time.

        idle share (p - 1) / (v m + p - 1)       messages: v times as many
        activations kept: min(v m, 2 (p - r - 1) + (v - 1) p + 1) pieces of a v-th of the rank's layers
    m must be a multiple of p: with a last round that is not full, ranks may wait for each other in a circle.
    Narayanan et al., Efficient large-scale language model training on GPU clusters using Megatron-LM, 2021.
    """

    chunks: int = 2

    def __post_init__(self):
        settle(self, chunks=whole(self.chunks, "chunks", 1, hint="stages on each rank"))

    def plan(self, ranks: int, micros: int) -> Timetable:
        (ranks, micros), v = counts(ranks, micros), self.chunks
        if v == 1:
            return one_f_one_b.plan(ranks, micros)
        if micros % ranks:
            raise ValueError(
                f"{micros} micro-batches on {ranks} ranks: interleaved stages take them {ranks} at a time; "
                f"use a multiple of {ranks}, or one_f_one_b"
            )
        visits = [(i, c) for g in range(0, micros, ranks) for c in range(v) for i in range(g, g + ranks)]
        there = [Job(FORWARD, i, c) for i, c in visits]
        back = [Job(BACKWARD, i, v - 1 - c) for i, c in visits]
        rows = (alternating(there, back, 2 * (ranks - r - 1) + (v - 1) * ranks) for r in range(ranks))
        return Timetable(repr(self), tuple(map(tuple, rows)), micros, v)

    def __repr__(self) -> str:
        return f"interleaved({self.chunks})"


@dataclass(frozen=True, repr=False)
class ZeroBubble:
    """One forward, one backward, and weight gradients put off: nobody else waits for those, so they fill the bubble.

        time m (F + B + W) + (p - 1)(F + B - W)    for W <= F, W <= B and m >= p;    longer than that beyond
        activations kept: min(m, p), as on the first rank of one-forward-one-backward
    Rank r lags r micro-batches behind with its weight gradients, and does the last r of them while others finish.
    This is the schedule called H1: Qi et al., Zero bubble pipeline parallelism, 2023.
    """

    chunks: ClassVar[int] = 1

    def plan(self, ranks: int, micros: int) -> Timetable:
        ranks, micros = counts(ranks, micros)
        rows = []
        for r in range(ranks):
            row = []
            for job in alternating(*there_and_back(micros), ranks - r - 1):
                row.append(job)
                if job.kind == BACKWARD and job.micro >= r:
                    row.append(Job(WEIGHTS, job.micro - r))
            rows.append((*row, *(Job(WEIGHTS, i) for i in range(max(0, micros - r), micros))))
        return Timetable(repr(self), tuple(rows), micros, split=True)

    def __repr__(self) -> str:
        return "zero_bubble"


@dataclass(frozen=True, repr=False)
class PipeDream:
    """One forward, one backward, never flushed: a step after each backward, with whole batches as micro-batches.

    Once full, nobody idles. The price: stage s of n works with weights that are n - s - 1 updates old, and keeps one
    version of them for each batch in flight (its stash), so that forward and backward of a batch see the same ones.
        idle share: (p - 1) / (m + p - 1) of a run of m batches, all told       weights kept: min(m, p - r) versions
    Narayanan et al., PipeDream: generalized pipeline parallelism for DNN training, 2019.
    """

    chunks: ClassVar[int] = 1

    def plan(self, ranks: int, micros: int) -> Timetable:
        found = one_f_one_b.plan(ranks, micros)
        return Timetable(repr(self), found.rows, found.micros, flush=False)

    def __repr__(self) -> str:
        return "pipedream"


gpipe, one_f_one_b, zero_bubble, pipedream = GPipe(), OneForwardOneBackward(), ZeroBubble(), PipeDream()


def interleaved(chunks: int = 2) -> Interleaved:
    """`chunks` small stages on each rank in place of one large one."""
    return Interleaved(chunks)


class Stage(Protocol):
    """What `play` asks of a stage: a real one, or a ghost. The first gets None for x, the last None for dy."""

    def forward(self, micro: int, x): ...

    def backward(self, micro: int, dy): ...

    def weights(self, micro: int, nothing): ...

    def flops(self, kind: str, micro: int) -> float: ...


def play(comm, timetable: Timetable, stages) -> None:
    """Do my row of the timetable: stages[c] is my chunk c. What a stage returns goes to the next that needs it.

    Where the transport books spans, each job is also told as a Slot.
    """
    for job in timetable.rows[comm.rank]:
        stage, source, target = stages[job.chunk], timetable.source(comm.rank, job), timetable.target(comm.rank, job)
        taken = comm.recv(source[0], tag_of(timetable, job)) if source else None
        start = comm.now()
        work, flops = getattr(stage, job.kind), stage.flops(job.kind, job.micro)
        made = comm.compute(job.kind, work, job.micro, taken, flops=flops)
        if comm.spans:
            comm.emit(Slot(*job, start, comm.now()))
        if target:
            comm.send(target[0], made, tag_of(timetable, target[1]))


def tag_of(timetable: Timetable, job: Job) -> int:
    """Every message of a batch has a tag of its own, that of the job that takes it: none can be taken for another."""
    return 2 * (job.micro * timetable.chunks + job.chunk) + (job.kind == BACKWARD)
