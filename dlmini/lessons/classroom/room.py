"""Lesson 14: the experiment of the classroom, small enough for a notebook.

The study (`dlmini classroom`) has the rest: here are its smallest form, a gradient to look at, rounds to draw, and the
formulas that the exercise asks for, as pictures need them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dlmini import profile
from dlmini.comm.ghost import Ghost
from dlmini.comm.launch import launch
from dlmini.comm.network import Link, Switch
from dlmini.comm.schedules import ring as ring_schedule
from dlmini.data import aerial
from dlmini.nn import unet
from dlmini.optim import Adam
from dlmini.segment import Segment
from dlmini.sim import Cluster, Simulated
from dlmini.studies.classroom import learning
from dlmini.studies.classroom.published import COMPUTE, PCS, SYNCS
from dlmini.studies.classroom.reckoned import Room, calibrated, ring, star

# Tiles of 32 metres at one pixel to a metre: a run takes some ten seconds on one core.
NORMAL = learning.Form(32, 8, 2, 96, 24, 2, 3, (0,), (1, 6, 24, 96), Adam(0.005), scale=1.0)
FAST = replace(NORMAL, width=4, train=24, test=4, epochs=1)


def form() -> learning.Form:
    """How large the lesson's runs are, by the profile in force."""
    return profile.pick(NORMAL, FAST)


def learned(made=(), name: str = "", **changes):
    """Six computers with these of the published program's mistakes; `changes` of the form."""
    found = learning.learn_with(replace(form(), **changes), tuple(made))
    return replace(found, name=name) if name else found


def in_float32():
    """Six computers that round nothing."""
    return learning.learn(form(), "float32", learning.WAYS["float32"])


def gradient(side: int = 64, steps: int = 0) -> tuple[Segment, np.ndarray]:
    """One computer's gradient of the whole U-Net, after some steps of plain descent; and its task."""
    sets = aerial(8, side), aerial(1, side, seed=1)
    task = Segment(unet(input=(side, side, 3)), *sets, batch=2)
    w, grad = task.initial(), np.zeros(task.size, np.float32)
    stepper = Adam(0.003).start(task.size)
    for batch, _ in zip(task.batches(0, 1, 0), range(steps + 1), strict=False):
        task.loss_and_grad(w, batch, grad)
        w -= stepper(grad, w)
    return task, grad


def heard(task: Segment, grad: np.ndarray, levels: int, own_scale: bool) -> list[tuple[str, float]]:
    """For the weights of every convolution, in their order: the share that is not rounded to zero."""
    found, start, largest = [], 0, float(np.abs(grad).max())
    for shape in task.shapes:
        part = grad[start : start + int(np.prod(shape))]
        start += part.size
        if len(shape) > 1:
            scale = float(np.abs(part).max()) if own_scale else largest
            name = "x".join(map(str, shape))
            found.append((name, float(np.mean(np.abs(part) * levels >= scale / 2)) if scale else 0.0))
    return found


def rounds_drawn(how: str = "star", packet: float = 8_735_960, rounds: int = 3):
    """Events of six computers of the published room, to be drawn: every stretch of each one's time."""
    room = calibrated()
    cluster = Cluster(Switch(Link(0.0, room.bandwidth)), flops=1.0)
    return launch(one_after_another, Simulated(PCS, cluster, spans=True), (how, int(packet), rounds, room.fixed)).events


def later_round(events) -> float:
    """Seconds from the end of the last but one round's last gradient to the end of the last round's."""
    ends = [[e.end for e in events if e.rank == rank and getattr(e, "label", "") == "gradient"] for rank in range(PCS)]
    return float(np.diff(np.max(ends, axis=0))[-1])


def one_after_another(comm, how: str, packet: int, rounds: int, fixed: float) -> None:
    """Gradient, exchange, and again: by a star whose server also computes, or by a ring."""
    for _ in range(rounds):
        comm.compute("gradient", None, flops=COMPUTE / SYNCS)
        comm.compute("encode", None, flops=fixed)
        said = Ghost(packet // 4, "f4")
        if how == "ring":
            comm.allreduce(said, ring_schedule)
        elif comm.rank:
            comm.send(0, said)
            comm.recv(0)
        else:
            for rank in range(1, comm.size):
                comm.recv(rank)
            for rank in range(1, comm.size):
                comm.send(rank, said)


def seconds_of(room: Room, packet: float, how: str = "star", ranks: int = PCS) -> float:
    """One synchronisation."""
    through = {"star": star, "ring": ring}[how](packet, ranks)
    return room.fixed + through / room.bandwidth
