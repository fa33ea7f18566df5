"""Machines that are not equal, as in a cluster that others use too: ordinary, fast, slow, and one in eight straggles.

A machine of speed 1 takes 10 ms for a mini-batch; eight of them together are as fast as 8.1 ordinary ones.
"""

from __future__ import annotations

from dlmini.comm.network import gigabit
from dlmini.sim import Cluster, Simulated

SPEEDS = (1.0, 2.0, 0.5, 1.0, 1.0, 2.0, 0.5, 0.1)  # of replicas, again and again; the last one straggles
SECONDS = 0.01  # of a mini-batch on an ordinary machine
JITTER = 0.2  # share by which times of one machine vary
CARD = 10.0  # how much faster the machine is that stands for the graphics card: assumed, not measured


def speeds(replicas: int) -> dict[int, float]:
    """By rank; the first is an ordinary machine: it shows its weights."""
    return {rank: SPEEDS[rank % len(SPEEDS)] for rank in range(replicas)}


def cluster(task, replicas: int) -> Cluster:
    """Replicas of all kinds on Gigabit Ethernet; servers are ordinary machines."""
    return Cluster(gigabit, flops=task.flops / SECONDS, speed=speeds(replicas), jitter=JITTER)


def one(task, speed: float = 1.0) -> Simulated:
    """A machine alone, so many times faster than an ordinary one."""
    return Simulated(1, Cluster(gigabit, flops=task.flops / SECONDS, speed={0: speed}, jitter=JITTER))
