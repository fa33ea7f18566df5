"""A pipeline's schedule as data: what each rank does, job after job; and what that would take.

A network is cut into stages, a batch into micro-batches. Each stage has up to three kinds of work for each micro-batch:

    forward     the micro-batch through the stage's layers
    backward    its gradient back through them
    weights     the gradient of their weights: a job of its own only where `split`; else it is part of backward
With p ranks and v chunks there are p v stages; chunk c of rank r is stage c p + r, so a micro-batch goes round v times.
A timetable has three readers: `play` (pipeline.py) runs a real network by it, `price` tells its times, `draw`
(bubbles.py) makes the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from dlmini.checks import real, refuse
from dlmini.events import Slot

FORWARD, BACKWARD, WEIGHTS = KINDS = "forward", "backward", "weights"


class Job(NamedTuple):
    """One kind of work for one micro-batch in one of the rank's chunks."""

    kind: str
    micro: int
    chunk: int = 0

    def __str__(self) -> str:
        return f"{self.kind} of micro-batch {self.micro}" + (f" in chunk {self.chunk}" if self.chunk else "")


@dataclass(frozen=True)
class Timetable:
    """`rows[rank]` are the rank's jobs in their order.

    split: weight gradients are jobs of their own. flush: all gradients of a batch are added before weights move; if not
    (PipeDream), each backward is followed by a step, and the weights that a forward has used are kept for its backward.
    """

    name: str
    rows: tuple[tuple[Job, ...], ...] = field(repr=False)
    micros: int
    chunks: int = 1
    split: bool = False
    flush: bool = True

    @property
    def ranks(self) -> int:
        return len(self.rows)

    @property
    def stages(self) -> int:
        return self.ranks * self.chunks

    def stage(self, rank: int, chunk: int) -> int:
        return chunk * self.ranks + rank

    def at(self, stage: int, kind: str, micro: int) -> tuple[int, Job] | None:
        """(rank, job) of a stage; None beyond the first and the last one."""
        return (stage % self.ranks, Job(kind, micro, stage // self.ranks)) if 0 <= stage < self.stages else None

    def source(self, rank: int, job: Job) -> tuple[int, Job] | None:
        """Whose result this job takes from another stage; None where it takes none."""
        away = {FORWARD: -1, BACKWARD: 1}.get(job.kind)
        return None if away is None else self.at(self.stage(rank, job.chunk) + away, job.kind, job.micro)

    def target(self, rank: int, job: Job) -> tuple[int, Job] | None:
        """Who takes this job's result in another stage."""
        away = {FORWARD: 1, BACKWARD: -1}.get(job.kind)
        return None if away is None else self.at(self.stage(rank, job.chunk) + away, job.kind, job.micro)

    def needs(self, rank: int, job: Job) -> list[tuple[int, Job]]:
        """What must have been done before: by another stage, and by this one."""
        here = {BACKWARD: FORWARD, WEIGHTS: BACKWARD}.get(job.kind)
        return [need for need in (self.source(rank, job), here and (rank, job._replace(kind=here))) if need]

    def in_flight(self, rank: int) -> int:
        """The most micro-batches (with chunks: pieces of them) whose activations a rank keeps at one time."""
        frees, now, most = WEIGHTS if self.split else BACKWARD, 0, 0
        for job in self.rows[rank]:
            now += (job.kind == FORWARD) - (job.kind == frees)
            most = max(most, now)
        return most

    def check(self) -> Timetable:
        """This timetable, if every job is there once, and the order is a legal one; or a sentence."""
        kinds = KINDS if self.split else KINDS[:2]
        wanted = {Job(*which) for which in product(kinds, range(self.micros), range(self.chunks))}
        for rank, row in enumerate(self.rows):
            twice = next((job for i, job in enumerate(row) if job in row[:i]), None)
            if twice is not None:
                raise ValueError(f"{self.name}: rank {rank} does {twice} twice; each job is done once")
            for job in sorted(wanted.symmetric_difference(row)):
                wrong = "never does" if job in wanted else "has no"
                raise ValueError(f"{self.name}: rank {rank} {wrong} {job}, of {self.micros} x {self.chunks}")
        price(self)  # says so if somebody waits for ever
        return self


@dataclass(frozen=True)
class Priced:
    """What a timetable takes: a Slot for every job, in seconds."""

    timetable: Timetable
    slots: list[Slot] = field(repr=False)
    seconds: float
    busy: list[float]

    @property
    def idle(self) -> list[float]:
        """The share of its time that each rank idles."""
        return [1 - busy / self.seconds if self.seconds else 0.0 for busy in self.busy]

    @property
    def idle_share(self) -> float:
        """The bubble: idle time over all time of all ranks."""
        return sum(self.idle) / len(self.busy)


def price(timetable: Timetable, forward=1, backward=1, weights=1, message=0) -> Priced:
    """When each job begins and ends, if a stage's work takes so many seconds.

    Costs are of one micro-batch in one stage: a number, or a row with one for every stage. Where weight gradients are
    no jobs of their own, backward takes backward + weights. message: seconds from one rank to another, without queues.
    """
    costs = costs_of(timetable, forward, backward, weights)
    message = real(message, "message", least=0, hint="seconds")
    ended, slots, clock = {}, [], [0] * timetable.ranks
    turn, waiting, ready = [0] * timetable.ranks, {}, list(reversed(range(timetable.ranks)))
    while ready:
        rank = ready.pop()
        while turn[rank] < len(timetable.rows[rank]):
            job = timetable.rows[rank][turn[rank]]
            needs = timetable.needs(rank, job)
            missing = next((need for need in needs if need not in ended), None)
            if missing is not None:
                waiting.setdefault(missing, []).append(rank)
                break
            start = max([clock[rank], *(ended[need] + message * (need[0] != rank) for need in needs)])
            clock[rank] = ended[rank, job] = start + costs[job.kind][timetable.stage(rank, job.chunk)]
            slots.append(Slot(*job, start, clock[rank], rank=rank, at=clock[rank]))
            turn[rank] += 1
            ready += waiting.pop((rank, job), ())
    refuse_stuck(timetable, waiting)
    busy = [sum(costs[job.kind][timetable.stage(rank, job.chunk)] for job in row) for rank, row in numbered(timetable)]
    return Priced(timetable, slots, max(clock), busy)


def numbered(timetable: Timetable):
    return enumerate(timetable.rows)


def costs_of(timetable: Timetable, forward, backward, weights) -> dict[str, list]:
    """Seconds by kind and stage."""
    found = {}
    for kind, given in zip(KINDS, (forward, backward, weights), strict=True):
        row = given if isinstance(given, Sequence) and not isinstance(given, str) else [given] * timetable.stages
        if len(row) != timetable.stages:
            refuse(ValueError, kind, given, f"seconds: one number, or {timetable.stages}, one for every stage")
        found[kind] = [real(cost, kind, least=0, hint="seconds of one micro-batch in a stage") for cost in row]
    if not timetable.split:
        found[BACKWARD] = [b + w for b, w in zip(found[BACKWARD], found[WEIGHTS], strict=True)]
    return found


def refuse_stuck(timetable: Timetable, waiting: dict) -> None:
    """Who waits for what never comes."""
    for (other, need), ranks in sorted(waiting.items()):
        raise ValueError(
            f"{timetable.name}: rank {ranks[0]} waits for ever for {need} of rank {other}; "
            "put each job behind those that it needs"
        )
