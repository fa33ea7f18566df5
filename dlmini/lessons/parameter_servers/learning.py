"""Lesson 05: learning by parameter servers: with a student's round, with a short way back, with a quorum.

With exponential compute times of mean 1 the q fastest of N workers have come after H_N - H_(N-q) on average.
Chen et al., Revisiting distributed synchronous SGD, 2016 (a quorum of N of N + b: backup workers).
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np

from dlmini.comm.network import gigabit
from dlmini.compression import None_
from dlmini.data import Dataset
from dlmini.lessons.data_parallelism.classroom import COMPUTERS, MIB, SYNCS, calibrated
from dlmini.lessons.data_parallelism.costs import harmonic, random_times
from dlmini.lessons.meet_the_lab.shards import shard
from dlmini.nn import Model
from dlmini.optim import SGD
from dlmini.outcome import Outcome
from dlmini.recipe import Recipe
from dlmini.run import train
from dlmini.sim import Cluster, Simulated

GRADIENT = 0.01  # virtual seconds of a gradient


def push_pull(comm, mine: np.ndarray, servers: int, rate: float) -> np.ndarray:
    """One round, as the exercise asks for it: `mine` is a worker's gradient, or a server's shard of the weights."""
    workers = comm.size - servers
    if comm.rank >= workers:
        mean = sum(comm.recv(worker) for worker in range(workers)) / workers
        new = mine - rate * mean.astype(mine.dtype)
        for worker in range(workers):
            comm.send(worker, new)
        return new
    for k in range(servers):
        low, high = shard(len(mine), servers, k)
        comm.send(workers + k, mine[low:high])
    return np.concatenate([comm.recv(workers + k) for k in range(servers)])


def descend_served(comm, model: Model, data: Dataset, servers: int, push_pull: Callable, passes: int, rate=0.1):
    """Descent over all data: workers push gradients of their shares, servers step. A worker's weights at the end."""
    workers, w, grad = comm.size - servers, model.initial(0), model.zeros()
    if comm.rank >= workers:
        low, high = shard(len(w), servers, comm.rank - workers)
        kept = w[low:high].copy()
        for _ in range(passes):
            kept = push_pull(comm, kept, servers, rate)
        return kept
    lo, hi = shard(len(data), workers, comm.rank)
    share = np.float32((hi - lo) * workers / len(data))  # so that the mean over workers is the mean over rows
    for _ in range(passes):
        model.loss_and_grad(w, data.x[lo:hi], data.y[lo:hi], grad)
        w = push_pull(comm, share * grad, servers, rate)
    return w


def by_servers(task, topology, workers: int = 8, rounds: int = 200, compression=None, rate: float = 0.1) -> Outcome:
    """Bulk-synchronous training in virtual time on Gigabit Ethernet; computing takes GRADIENT, encoding nothing."""
    recipe = Recipe(
        topology=topology, compression=compression or None_(), optimizer=SGD(rate), rounds=rounds, evaluate_every=rounds
    )
    cluster = Cluster(gigabit, seconds={"gradient": GRADIENT, "encode": 0.0})
    return train(task, recipe, Simulated(workers + topology.servers, cluster)).result()


# ---- a quorum ----


def quorum_time(quorum: int, workers: int) -> float:
    """H_N - H_(N-q)."""
    return harmonic(workers) - harmonic(workers - quorum)


def quorum_times(workers: int, draws: int) -> np.ndarray:
    """[q - 1]: when the first q of N workers have come, mean over so many rounds; all begin each round together."""
    return np.sort(random_times(workers, draws), axis=1).mean(axis=0)


def quorum_error(quorum: int, workers: int, draws: int) -> float:
    """Four standard errors of such a mean, relative to it."""
    variance = sum(1 / k**2 for k in range(workers - quorum + 1, workers + 1))
    return 4 * sqrt(variance / draws) / quorum_time(quorum, workers)


# ---- the classroom, for any compression ----


def classroom_star(ratio: float, mib: float = 8.33) -> float:
    """Seconds of synchronisation in an epoch of the source's star, if messages are `ratio` times shorter."""
    fixed, bandwidth = calibrated()
    return SYNCS * (fixed + 2 * (COMPUTERS - 1) * mib * MIB / ratio / bandwidth)


def classroom_ring(mib: float = 8.33) -> float:
    """The same of a ring without compression."""
    fixed, bandwidth = calibrated()
    return SYNCS * (fixed + 2 * (COMPUTERS - 1) / COMPUTERS * mib * MIB / bandwidth)
