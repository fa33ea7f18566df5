"""Lesson 03: six classroom computers (Krivosheev, Kuznetsov, Spitsyn), as a calibrated cluster.

Published: seconds of an epoch and of its synchronisation, for four sizes of message. In an epoch every computer sees
all 127 pictures, 4 at a time (a batch of 24 for six): 31.75 synchronisations. A star whose server also computes moves
2 (N - 1) S bytes through the server's port, so that

    synchronisation = 31.75 (fixed + 2 (N - 1) S / bandwidth)
Two unknowns, four measurements: least squares.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dlmini.comm.ghost import Ghost
from dlmini.comm.launch import launch
from dlmini.comm.network import Link, Switch
from dlmini.comm.schedules import naive, ring
from dlmini.sim import Cluster, Simulated

COMPUTERS, PICTURES, BATCH = 6, 127, 24
SYNCS = PICTURES * COMPUTERS / BATCH  # an epoch has 31.75
ALONE = 34.63  # seconds of an epoch on one computer
MIB = 2**20
EPOCHS = {1: 28, 6: 6}  # until 80 % of the training pixels were right


class Published(NamedTuple):
    """One column of the source's table: message in MiB, seconds of an epoch, of those synchronisation."""

    name: str
    mib: float
    epoch: float
    synchronisation: float

    @property
    def speed_up(self) -> float:
        """Six computers see six times as many pictures in an epoch."""
        return COMPUTERS * ALONE / self.epoch


TABLE = (
    Published("float32", 8.33, 96.996, 68.7),
    Published("float16", 4.16, 67.51, 40.6),
    Published("int8", 2.08, 52.57, 21.5),
    Published("int8 + deflate", 0.04, 43.62, 17.0),
)


class Calibrated(NamedTuple):
    """What the table says of the classroom: seconds of a synchronisation that no byte explains, and bytes a second."""

    fixed: float
    bandwidth: float


def calibrated() -> Calibrated:
    """Least squares through the four published synchronisation times."""
    slope, begin = np.polyfit([row.mib for row in TABLE], [row.synchronisation for row in TABLE], 1)
    return Calibrated(begin / SYNCS, 2 * (COMPUTERS - 1) * MIB * SYNCS / slope)


def one_step(comm, gradient: float, fixed: float, nbytes: int, how) -> None:
    comm.compute("gradient", None, flops=gradient)
    comm.compute("fixed", None, flops=fixed)
    comm.allreduce(Ghost(nbytes, "u1"), how)


def simulated(row: Published, how=naive) -> Published:
    """An epoch of six such computers in virtual time: by the star as published, or by another schedule."""
    fixed, bandwidth = calibrated()
    gradient = (row.epoch - row.synchronisation) / SYNCS
    place = Simulated(COMPUTERS, Cluster(Switch(Link(0.0, bandwidth)), flops=1.0))
    seconds = launch(one_step, on=place, args=(gradient, fixed, round(row.mib * MIB), how)).seconds
    return row._replace(epoch=SYNCS * seconds, synchronisation=SYNCS * (seconds - gradient))


def by_ring(row: Published) -> Published:
    """What the same classroom would have needed with a ring: a prediction."""
    return simulated(row, ring)
