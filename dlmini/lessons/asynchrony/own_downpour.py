"""Lesson 06: Downpour with a student's pieces: replicas that push and fetch, and a server that steps on each push.

Dean et al., Large scale distributed deep networks, NIPS 2012.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dlmini.comm.launch import launch
from dlmini.data import Dataset
from dlmini.lessons.data_parallelism.costs import nothing
from dlmini.lessons.meet_the_lab.shards import shard
from dlmini.nn import Model
from dlmini.sim import Cluster, Simulated

PUSH, FETCH = 1, 2


def apply_push(w: np.ndarray, push: np.ndarray, version: int, read: int, rate: float) -> tuple[np.ndarray, int]:
    """A push that is s steps old counts 1 / max(1, s)."""
    return w - rate / max(1, version - read) * push, version + 1


def downpour_step(w, unsent, gradient, t: int, rate: float, push: int, fetch: int):
    """(w, unsent, message or None, whether to fetch) after step t of a replica."""
    w, unsent = w - rate * gradient, unsent + rate * gradient
    if (t + 1) % push:
        return w, unsent, None, (t + 1) % fetch == 0
    return w, np.zeros_like(unsent), unsent, (t + 1) % fetch == 0


def replica(comm, model: Model, data: Dataset, steps: int, rate: float, push: int, fetch: int, step: Callable) -> None:
    """Learn on one's share of the data; the server is the last rank."""
    server = comm.size - 1
    lo, hi = shard(len(data), server, comm.rank)
    w, unsent, grad = model.initial(0), model.zeros(), model.zeros()
    for t in range(steps):
        comm.compute("gradient", model.loss_and_grad, w, data.x[lo:hi], data.y[lo:hi], grad)
        w, unsent, message, fetches = step(w, unsent, grad, t, rate, push, fetch)
        if message is not None:
            comm.send(server, message, PUSH)
        if fetches:
            w = comm.recv(server, FETCH)


def server(comm, model: Model, steps: int, push: int, fetch: int, apply: Callable) -> tuple[np.ndarray, list[int]]:
    """Step on every push; answer a replica when it is due to fetch. The last weights, and how stale pushes were."""
    w, version, read, heard, ages = model.initial(0), 0, [0] * (comm.size - 1), [0] * (comm.size - 1), []
    for _ in range((comm.size - 1) * (steps // push)):
        worker, message = comm.recv_any(PUSH)
        ages.append(version - read[worker])
        w, version = apply(w, message, version, read[worker], 1.0)
        heard[worker] += push
        if heard[worker] % fetch == 0:
            comm.send(worker, w, FETCH)
            read[worker] = version
    return w, ages


def life(comm, model, data, steps, rate, push, fetch, step, apply):
    """What every rank runs."""
    if comm.rank < comm.size - 1:
        return replica(comm, model, data, steps, rate, push, fetch, step)
    return server(comm, model, steps, push, fetch, apply)


def downpour(model, data, workers=4, steps=200, rate=0.1, push=1, fetch=1, slower=1.0, step=None, apply=None):
    """(weights, staleness of each push) of Downpour in virtual time, with worker 1 `slower` times slower.

    step, apply: downpour_step and apply_push, or a student's in their place.
    """
    if steps % fetch or fetch % push:
        raise ValueError(f"{steps} steps must be a multiple of fetch={fetch}, and that of push={push}")
    cluster = Cluster(nothing, seconds={"gradient": 0.01}, speed={1: 1 / slower})
    given = (model, data, steps, rate, push, fetch, step or downpour_step, apply or apply_push)
    return launch(life, on=Simulated(workers + 1, cluster), args=given).values[-1]
