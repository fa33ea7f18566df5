"""`price`: the reader of a plan that says what it costs.

    price(ring, 4096, 400_000_000, nvlink_island).seconds        no program, no messages, no memory for the numbers

All clocks at once as vectors where that is exact (reckon.py), message by message with ghosts elsewhere (alone.py).
"""

from __future__ import annotations

import numpy as np

from dlmini.comm.collectives import plan_of
from dlmini.comm.ghost import Ghost
from dlmini.comm.network import Network
from dlmini.comm.schedules import Plan, cut
from dlmini.sim.alone import play_alone
from dlmini.sim.cluster import Cluster
from dlmini.sim.engine import Engine
from dlmini.sim.reckon import Bill, reckon
from dlmini.sim.roads import Roads


def price(how, size: int, x, cluster: Cluster | Network | None = None, arrive=0.0, seed: int = 0) -> Bill:
    """What an all-reduce of `x` (an array, a ghost, or a number of bytes) among `size` ranks costs on a quiet network.

    `arrive`: when each rank comes. The same, bit for bit, as a simulated run of it.
    """
    x = Ghost(x, "u1") if isinstance(x, int) else x
    engine = Engine(Cluster.of(cluster), size, seed)
    plan, arrive = plan_of(how, "allreduce", size), np.broadcast_to(np.asarray(arrive, float), size)
    return settle(engine, plan, Roads(engine, range(size)), arrive, cut(x.size, plan.chunks) * x.dtype.itemsize)


def settle(engine: Engine, plan: Plan, roads: Roads, arrive: np.ndarray, weights: np.ndarray) -> Bill:
    """The bill for a plan on the engine's ports as they are. `met`: other messages may have come between ours."""
    watched = roads.watched(engine)
    bill = reckon(plan, roads, arrive, weights, engine.free, watched)
    if not bill.ordered:
        bill = play_alone(engine, plan, roads, arrive, weights, watched)
        bill.met |= engine.instant or roads.met_at_home(arrive, watched)
    return bill
