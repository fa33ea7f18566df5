"""`price`: the reader of a plan that says what it costs.

    price(ring, 4096, 400_000_000, nvlink_island).seconds        no program, no messages, no memory for the numbers

All clocks at once as vectors where that is exact (vectors.py), message by message with ghosts elsewhere.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral

import numpy as np

from dlmini.checks import numbers, refuse, whole
from dlmini.comm.channels import ALLREDUCE
from dlmini.comm.collectives import plan_of
from dlmini.comm.ghost import Ghost
from dlmini.comm.group import Group
from dlmini.comm.network import Network
from dlmini.comm.schedules import Plan, cut, native, play, ring, schedule
from dlmini.sim.cluster import Cluster
from dlmini.sim.engine import Engine
from dlmini.sim.lifecycle import Hub, Lifecycle
from dlmini.sim.pricing.routes import Routes
from dlmini.sim.pricing.vectors import Bill, reckon


def price(how, size: int, x, cluster: Cluster | Network | None = None, arrive=0.0, seed: int = 0) -> Bill:
    """What an all-reduce of `x` (an array, a ghost, or a number of bytes) among `size` ranks costs on a quiet network.

    `arrive`: when each rank comes. The same, bit for bit, as a simulated run of it; `native` there is a ring.
    """
    size, x = whole(size, "size", 1, hint="ranks"), weight_of(x)
    engine = Engine(Cluster.of(cluster), size, whole(seed, "seed", 0))
    plan = plan_of(ring if how is native else schedule(how), "allreduce", size)
    weights = cut(x.size, plan.chunks) * x.itemsize
    return settle(engine, plan, Routes(engine, range(size)), arrivals(arrive, size), weights)


def weight_of(x):
    """What is summed, as something with a size and an itemsize; a number is that many bytes."""
    if isinstance(x, np.ndarray | Ghost):
        return x
    if not isinstance(x, Integral) or isinstance(x, bool):
        refuse(TypeError, "x", x, "an array, a Ghost(shape), or a number of bytes")
    return Ghost(whole(x, "x", 0, hint="bytes"), "u1")


def arrivals(arrive, size: int) -> np.ndarray:
    """When each rank comes: one time for all, or one for each."""
    wanted = f"when ranks come, in seconds: one number, or {size}"
    times = numbers(arrive if isinstance(arrive, list | tuple) else np.atleast_1d(arrive), "arrive", 1, wanted)
    if times.size not in (1, size) or times.min() < 0:
        refuse(ValueError, "arrive", arrive, f"{wanted}, none below 0")
    return np.broadcast_to(times, size)


def settle(engine: Engine, plan: Plan, routes: Routes, arrive: np.ndarray, weights: np.ndarray) -> Bill:
    """The bill for a plan on the engine's ports as they are. `met`: other messages may have come between ours."""
    watched = routes.watched(engine)
    bill = reckon(plan, routes, arrive, weights, engine.free, watched)
    if not bill.ordered:
        bill = play_alone(engine, plan, routes, arrive, weights, watched)
        bill.met |= engine.instant or routes.met_at_home(arrive, watched)
    return bill


# ---- a collective by itself, message by message: for prices that no vector formula gives ----


class Weights:
    """A store of chunks that only weigh."""

    def __init__(self, weights: np.ndarray):
        self.weights = weights.tolist()

    def take(self, lo: int, hi: int) -> Ghost:
        return Ghost(self.weights[hi] - self.weights[lo], "u1")

    def put(self, lo: int, hi: int, part) -> None:
        pass

    def add(self, lo: int, hi: int, part) -> None:
        pass


def play_alone(
    engine, plan: Plan, routes: Routes, arrive: np.ndarray, weights: np.ndarray, watched: np.ndarray
) -> Bill:
    """The bill, as `reckon` would give it if it could."""
    ranks, start = routes.ranks, dict(zip(routes.ranks, arrive.tolist(), strict=True))
    cluster = replace(engine.cluster, priced=False, crash={}, back={}, start=start)
    inner = Engine(cluster, engine.size, engine.seed)
    inner.free, inner.priced = list(engine.free), watched.tolist()

    def program(rank):
        rank.plain = engine.is_plain(rank.rank)
        play(rank if plan.size == engine.size else Group(rank, ranks), plan, Weights(weights), ALLREDUCE)

    Hub(inner, Lifecycle(inner, program, members=ranks)).run()
    place = {rank: i for i, rank in enumerate(ranks)}
    comms = [inner.ranks[rank] for rank in ranks]
    entries = [entry for comm in comms for entry in comm.ledger.entries()]
    columns = zip(*[(c.clock, c.phases.waiting, c.phases.communication, c.phases.compute) for c in comms], strict=True)
    bill = Bill(*map(np.array, columns), np.array(inner.free), np.array(inner.seen))
    bill.traffic = [(place[e.source], place[e.dest], e.messages, e.nbytes) for e in entries]
    bill.met = inner.inexact > 0
    return bill
