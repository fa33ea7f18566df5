"""Lesson 03: what a bulk-synchronous step costs on N machines, by formula and in virtual time.

    T(N) = T1 / N + 2 (N - 1) alpha + 2 (N - 1)/N S beta             strong scaling, ring all-reduce
A step ends when the slowest has come: with random times t_i it takes max t_i, and with exponential ones, of mean 1/l,
H_N / l on average, H_N = 1 + 1/2 + ... + 1/N.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np

from dlmini.comm.ghost import Ghost
from dlmini.comm.launch import Results, launch
from dlmini.comm.network import Link, Switch, gigabit
from dlmini.comm.schedules import Schedule, ring
from dlmini.events import PHASES
from dlmini.sim import Cluster, Simulated

TIMES = 303  # the purpose of random times
nothing = Switch(Link(0.0, float("inf")))  # a network that costs no time


@dataclass(frozen=True)
class Step:
    """One step of a worker, on average: a row for `time_split`."""

    label: str
    seconds: float
    compute: float
    waiting: float
    communication: float


def steps(comm, times: np.ndarray, nbytes: int, how: Schedule):
    """times[t, rank] seconds of local work, then an all-reduce of so many bytes, or only a barrier; again and again."""
    for row in times:
        comm.compute("gradient", None, flops=row[comm.rank])
        comm.allreduce(Ghost(nbytes // 4), how) if nbytes else comm.barrier()


def bulk(
    times: np.ndarray,
    nbytes: int = 0,
    network=gigabit,
    speed: Mapping[int, float] | None = None,
    jitter: float = 0.0,
    how: Schedule = ring,
) -> Results:
    """The steps of len(times[0]) machines in virtual time. speed={1: 0.5}: machine 1 is half as fast."""
    cluster = Cluster(network, flops=1.0, speed=speed or {}, jitter=jitter)
    return launch(steps, on=Simulated(times.shape[1], cluster, spans=True), args=(times, nbytes, how))


def equal(machines: int, seconds: float, rounds: int = 1) -> np.ndarray:
    """All machines take equally long."""
    return np.full((rounds, machines), seconds)


def split(label: str, results: Results, rounds: int) -> Step:
    """Where a worker's time went in a step: means over workers and steps."""
    means = {p: float(np.mean([getattr(phases, p) for phases in results.phases])) / rounds for p in PHASES}
    return Step(label, results.seconds / rounds, **means)


def step(label: str, times: np.ndarray, *given, **named) -> Step:
    """`bulk`, and where time went."""
    return split(label, bulk(times, *given, **named), len(times))


# ---- how many machines ----


def predicted(machines, alone: float, nbytes: int, link: Link = gigabit.link, strong: bool = True):
    """Seconds of a step: T1 / N or, where every machine keeps its batch, T1; and the ring."""
    n, beta = np.asarray(machines, float), 1 / link.bandwidth
    return (alone / n if strong else alone) + 2 * (n - 1) * link.latency + 2 * (n - 1) / n * nbytes * beta


def best_number(alone: float, nbytes: int, link: Link = gigabit.link) -> float:
    """Where T(N) is least: N* = sqrt((T1 - 2 S beta) / (2 alpha)), or 1 if the network takes more than it gives."""
    gain = alone - 2 * nbytes / link.bandwidth
    return max(1.0, sqrt(max(0.0, gain) / (2 * link.latency))) if link.latency else (np.inf if gain > 0 else 1.0)


def measured(machines, alone: float, nbytes: int, network=gigabit, strong: bool = True) -> list[Step]:
    """One step in virtual time for each number of machines."""
    return [step(str(n), equal(n, alone / n if strong else alone), nbytes, network) for n in machines]


# ---- the slowest of N ----


def random_times(machines: int, rounds: int, kind: str = "exponential", spread: float = 1.0, seed: int = 0):
    """[round, machine]: times of mean 1; exponential, or log-normal with this relative spread."""
    coin = np.random.default_rng([seed, machines, rounds, TIMES])
    if kind == "exponential":
        return coin.exponential(size=(rounds, machines))
    sigma = sqrt(np.log1p(spread**2))
    return coin.lognormal(-(sigma**2) / 2, sigma, (rounds, machines))


def harmonic(n: int) -> float:
    """H_N = 1 + 1/2 + ... + 1/N, about ln N + 0.577."""
    return float(sum(1 / k for k in range(1, n + 1)))


def four_errors(n: int, rounds: int) -> float:
    """Four standard errors of the mean of `rounds` maxima of n exponential times, relative to H_n."""
    return 4 * sqrt(sum(1 / k**2 for k in range(1, n + 1)) / rounds) / harmonic(n)


def slowest(machines, draws: int, kind: str = "exponential", spread: float = 1.0) -> list[float]:
    """The mean of the largest of N times over the mean of all that were drawn, for each N: exactly 1 for N = 1."""
    drawn = (random_times(n, draws, kind, spread) for n in machines)
    return [float(times.max(axis=1).mean() / times.mean()) for times in drawn]
