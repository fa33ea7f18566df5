"""Who talks to whom, on two worker processes: images per second as a share of an all-reduce's, and of those who do not
wait as a share of those who do, on the same server (goal PERF-7).

A server is a third process: on two cores it shares one with a worker. All runs use the library's own loop.
"""

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks.peers import RATE
from benchmarks.scaling import task
from dlmini import (
    SGD,
    AllReduce,
    Asynchronous,
    BulkSynchronous,
    Classify,
    Gossip,
    ParameterServer,
    Processes,
    Recipe,
    Star,
    launch,
)
from dlmini.events import Round
from dlmini.loop import program

NETWORK, BATCH, WORKERS, ROUNDS = "lenet", 32, 2, 150
SERVER = "ParameterServer(1)"
TRIALS, WARM = 7, 10  # interleaved trials of each contender; rounds at the start of each that do not count
SHARE, FREE, SLOWED = (0.9, 1.0), (0.95, 1.05), (1.0, 1.4)  # floor and aim; 3/2 is what one slow of two workers allows


@dataclass(frozen=True)
class Uneven(Classify):
    """The same task on machines that are not alike: worker `slow` computes every gradient twice."""

    slow: int = 1

    def loss_and_grad(self, w, batch, grad):
        if batch.key[1] == self.slow:
            super().loss_and_grad(w, batch, grad)
        return super().loss_and_grad(w, batch, grad)


def pace(what: Classify, topology, sync) -> float:
    """Images per second of all workers together, while all of them work."""
    recipe = Recipe(sync, topology, optimizer=SGD(RATE), rounds=WARM + ROUNDS)
    events = launch(program, on=Processes(WORKERS + topology.servers), args=(what, recipe)).events
    ends = [[e.at for e in events if isinstance(e, Round) and e.rank == rank] for rank in range(WORKERS)]
    first, last = max(found[WARM - 1] for found in ends), min(found[-1] for found in ends)
    return what.batch * sum(rounds_a_second([at for at in found if first <= at <= last]) for found in ends)


def rounds_a_second(ends: list[float]) -> float:
    return (len(ends) - 1) / (ends[-1] - ends[0])


def contenders() -> dict[str, Callable[[], float]]:
    even, server = task(NETWORK, BATCH), ParameterServer(1)
    uneven = Uneven(even.model, even.train, even.test, even.batch)
    together = {"AllReduce": AllReduce(), SERVER: server, "Star": Star(), "Gossip": Gossip()}
    return {
        **{name: partial(pace, even, topology, BulkSynchronous()) for name, topology in together.items()},
        "nobody waits": partial(pace, even, server, Asynchronous()),
        "one slow, all wait": partial(pace, uneven, server, BulkSynchronous()),
        "one slow, nobody waits": partial(pace, uneven, server, Asynchronous()),
    }


def measured(contest: dict[str, Callable[[], float]]) -> dict[str, float]:
    """The median images per second of each, in turns; a first turn warms them up."""
    turns = [{name: once() for name, once in contest.items()} for _ in range(1 + TRIALS)][1:]
    return {name: statistics.median(turn[name] for turn in turns) for name in contest}


def rows() -> list[dict]:
    speeds, case = measured(contenders()), f"{NETWORK} b{BATCH}, {WORKERS} workers"
    pairs = [(f"{name} vs AllReduce", name, "AllReduce", SHARE) for name in (SERVER, "Star", "Gossip")]
    pairs.append(("asynchronous vs bulk-synchronous server", "nobody waits", SERVER, FREE))
    pairs.append(("the same, one at half speed", "one slow, nobody waits", "one slow, all wait", SLOWED))
    return [row(f"{case}: {what}", speeds[ours], speeds[peer], goal) for what, ours, peer, goal in pairs]


def row(name: str, ours: float, peer: float, goal: tuple[float, float]) -> dict:
    shown = {"name": name, "ours": f"{ours:,.0f} images/s", "peer": f"{peer:,.0f} images/s"}
    return shown | {"ratio": ours / peer, "floor": goal[0], "aim": goal[1]}
