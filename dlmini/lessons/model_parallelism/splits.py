"""Lesson 12: splits of one network, counted, played and measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dlmini import (
    Adam,
    Classify,
    Grid,
    Processes,
    Recipe,
    Simulated,
    Split,
    gigabit,
    launch,
    load,
    meter,
    mlp,
    one_f_one_b,
    profile,
    ring,
    train,
)
from dlmini.parallel import Job, Timetable
from dlmini.parallel.costs import Wire

GIGABIT = Wire(50e-6, 125e6)
ADAM = Recipe(optimizer=Adam(0.001), rounds=1)


def task_of(widths=(256, 256, 256), batch: int = 32) -> Classify:
    """Fashion-MNIST for a network of dense layers."""
    train_set, test_set = load("fashion-mnist")
    return Classify(mlp(widths), train_set, test_set, batch=batch)


def staged() -> Split:
    """What the live experiment trains: eight dense layers in four stages, batches of 64 in eight micro-batches."""
    return Split(task_of((256,) * 7, batch=64), Grid(pipe=4), one_f_one_b, 8)


class Sent(NamedTuple):
    messages: int
    nbytes: int


def one_step(comm, split) -> None:
    _, task, _ = split.place(comm, Recipe(rounds=1))
    w = task.initial(0)
    task.loss_and_grad(w, next(task.batches(0, 1, 0)), np.zeros_like(w))


def sent(task, share: str, ranks: int) -> Sent:
    """Messages and bytes of a gradient whose layers ranks share, in "pairs" or by "every output" to everyone."""
    split = Split(task, Grid(tensor=ranks), micro_batches=1, share=share, how=ring)
    found = launch(one_step, Simulated(ranks), (split,)).books.total()
    return Sent(found.messages, found.nbytes)


class Way(NamedTuple):
    """One row of the table of splits: seconds of a step in virtual time, what is sent, what the fullest rank holds."""

    name: str
    seconds: float
    messages: int
    megabytes: float
    held: float
    data: float


def table(task, ranks: int = 4) -> list[Way]:
    """One step of `ranks` x batch rows by data, shared layers, stages and ZeRO 3, on Gigabit Ethernet."""
    whole = Classify(task.model, task.train, task.test, batch=ranks * task.batch)
    ways = {
        "data": Split(task, Grid(data=ranks)),
        "neurons of each layer": Split(whole, Grid(tensor=ranks), micro_batches=1),
        "layers (stages)": Split(whole, Grid(pipe=ranks), one_f_one_b, 8),
        "numbers (ZeRO 3)": Split(task, Grid(shard=ranks)),
    }
    return [row_of(name, split, ranks) for name, split in ways.items()]


def fullest(task, recipe, ranks: int = 4):
    """What the rank holds that holds most."""
    return max(meter(task, recipe, ranks), key=lambda one: one.total)


def row_of(name: str, split: Split, ranks: int) -> Way:
    found = train(split, ADAM, Simulated(ranks, gigabit)).result()
    fullest = max(meter(split, ADAM, ranks), key=lambda one: one.total + one.data)
    return Way(name, found.seconds, found.messages, found.nbytes / 1e6, fullest.total / 1e6, fullest.data / 1e6)


def timetable(order: Callable, ranks: int, micros: int) -> Timetable:
    """A timetable of jobs that `order(rank, ranks, micros)` gives; refused with a sentence if it is not a legal one."""
    rows = tuple(tuple(Job(*job) for job in order(rank, ranks, micros)) for rank in range(ranks))
    return Timetable("yours", rows, micros).check()


def library_order(rank: int, ranks: int, micros: int) -> list[tuple[str, int]]:
    return [(job.kind, job.micro) for job in one_f_one_b.plan(ranks, micros).rows[rank]]


class Ordered(NamedTuple):
    """A student's order as a schedule that `Split` takes."""

    order: Callable
    chunks: int = 1

    def plan(self, ranks: int, micros: int) -> Timetable:
        return timetable(self.order, ranks, micros)

    def __repr__(self) -> str:
        return "your one_f_one_b"


def measured(task, schedule, micros: int = 8, real: bool = False):
    """The events of the last step of a short run on two ranks: in virtual time, or on two processes."""
    split, on = Split(task, Grid(pipe=2), schedule, micros), (Processes if real else Simulated)
    events = train(split, Recipe(rounds=3), on(2, spans=True)).result().events
    jobs = [event for event in events if hasattr(event, "micro")]
    per_step = len(jobs) // 3
    return sorted(jobs, key=lambda job: job.end)[-per_step:]


def stages_of_memory(numbers: int, ranks: int, rule: Callable) -> dict[int, float]:
    """Gigabytes on a rank by ZeRO's stage, by `rule(numbers, ranks, stage) -> (bytes, sent)`."""
    return {stage: rule(numbers, ranks, stage)[0] / 1e9 for stage in range(4)}


def zero_rule(numbers: int, ranks: int, stage: int, weights=2, gradients=2, optimiser=12) -> tuple[float, float]:
    """The library's own answer to the exercise: by what a stage leaves whole, and what it shares out."""
    whole = [weights, gradients, optimiser][: 3 - stage]
    shared = [weights, gradients, optimiser][3 - stage :]
    return numbers * (sum(whole) + sum(shared) / ranks), (2 + (stage == 3)) * numbers * (1 - 1 / ranks)


def size() -> int:
    """Micro-batches and widths are smaller in the fast profile."""
    return profile.pick(512, 64)
