"""A collective by itself, message by message: for prices that no vector formula gives.

When messages overtake one another at a port, or queue for one, the order decides. So the plan is played with ghosts of
its chunks in an engine of its own, with the same ports, clocks and tie-breaks: exact, but as slow as playing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dlmini.comm.channels import ALLREDUCE
from dlmini.comm.ghost import Ghost
from dlmini.comm.group import Group
from dlmini.comm.schedules import Plan, play
from dlmini.sim.engine import Engine
from dlmini.sim.hub import Hub
from dlmini.sim.lives import Lives
from dlmini.sim.reckon import Bill
from dlmini.sim.roads import Roads


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


def play_alone(engine, plan: Plan, roads: Roads, arrive: np.ndarray, weights: np.ndarray, watched: np.ndarray) -> Bill:
    """The bill, as `reckon` would give it if it could."""
    ranks, start = roads.ranks, dict(zip(roads.ranks, arrive.tolist(), strict=True))
    cluster = replace(engine.cluster, priced=False, crash={}, back={}, start=start)
    inner = Engine(cluster, engine.size, engine.seed)
    inner.free, inner.priced = list(engine.free), watched.tolist()

    def program(rank):
        rank.plain = engine.is_plain(rank.rank)
        play(rank if plan.size == engine.size else Group(rank, ranks), plan, Weights(weights), ALLREDUCE)

    Hub(inner, Lives(inner, program, members=ranks)).run()
    place = {rank: i for i, rank in enumerate(ranks)}
    comms = [inner.ranks[rank] for rank in ranks]
    entries = [entry for comm in comms for entry in comm.ledger.entries()]
    columns = zip(*[(c.clock, c.phases.waiting, c.phases.communication, c.phases.compute) for c in comms], strict=True)
    bill = Bill(*map(np.array, columns), np.array(inner.free), np.array(inner.seen))
    bill.traffic = [(place[e.source], place[e.dest], e.messages, e.nbytes) for e in entries]
    bill.met = inner.inexact > 0
    return bill
