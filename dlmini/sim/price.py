"""`price`: the reader of a plan that says what it costs.

    price(ring, 4096, 400_000_000, nvlink_island).seconds        no program, no messages, no memory for the numbers

All clocks at once as vectors where that is exact (reckon.py), message by message with ghosts elsewhere (alone.py).
"""

from __future__ import annotations

from numbers import Integral

import numpy as np

from dlmini.checks import numbers, refuse, whole
from dlmini.comm.collectives import plan_of
from dlmini.comm.ghost import Ghost
from dlmini.comm.network import Network
from dlmini.comm.schedules import Plan, cut, native, ring, schedule
from dlmini.sim.alone import play_alone
from dlmini.sim.cluster import Cluster
from dlmini.sim.engine import Engine
from dlmini.sim.reckon import Bill, reckon
from dlmini.sim.roads import Roads


def price(how, size: int, x, cluster: Cluster | Network | None = None, arrive=0.0, seed: int = 0) -> Bill:
    """What an all-reduce of `x` (an array, a ghost, or a number of bytes) among `size` ranks costs on a quiet network.

    `arrive`: when each rank comes. The same, bit for bit, as a simulated run of it; `native` there is a ring.
    """
    size, x = whole(size, "size", 1, hint="ranks"), weight_of(x)
    engine = Engine(Cluster.of(cluster), size, whole(seed, "seed", 0))
    plan = plan_of(ring if how is native else schedule(how), "allreduce", size)
    weights = cut(x.size, plan.chunks) * x.itemsize
    return settle(engine, plan, Roads(engine, range(size)), arrivals(arrive, size), weights)


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


def settle(engine: Engine, plan: Plan, roads: Roads, arrive: np.ndarray, weights: np.ndarray) -> Bill:
    """The bill for a plan on the engine's ports as they are. `met`: other messages may have come between ours."""
    watched = roads.watched(engine)
    bill = reckon(plan, roads, arrive, weights, engine.free, watched)
    if not bill.ordered:
        bill = play_alone(engine, plan, roads, arrive, weights, watched)
        bill.met |= engine.instant or roads.met_at_home(arrive, watched)
    return bill
