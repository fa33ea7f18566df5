"""Sums in buckets during the way back against one sum after it, on two worker processes of one machine.

In shared memory there is nothing to hide: a sum is work for the same cores, and a posted one costs a rank about 0.2 ms
of sending, receiving and adding. So the question is what overlapping costs where it cannot help: at most three parts in
a hundred where a round takes 10 ms; of shorter ones more, and no goal is set. And what it gains where a slow network is
imitated.
"""

from functools import partial

from benchmarks.peers import RATE
from benchmarks.scaling import WARM, measured, row, task
from dlmini import SGD, AllReduce, Processes, Recipe, gigabit, launch
from dlmini.events import Round
from dlmini.loop import program

CASES = {"lenet b32": ("lenet", 32, 100), "lenet b100": ("lenet", 100, 40), "cifar_net b32": ("cifar_net", 32, 20)}
BUCKETS = {"lenet": 10_000, "cifar_net": 20_000}  # numbers: three buckets each
COSTS, GAINS = (0.97, 1.0), (1.0, 1.1)  # floor and aim: in shared memory, and over an imitated gigabit network
SHORT = {"lenet b32"}  # rounds too short to say more than what is measured


def seconds(what, topology: AllReduce, network, rounds: int) -> float:
    """Of a round, by the clock of the slower worker."""
    recipe = Recipe(topology=topology, optimizer=SGD(RATE), rounds=WARM + rounds)
    events = launch(program, on=Processes(2, network=network), args=(what, recipe)).events
    ends = {(event.rank, event.t): event.at for event in events if isinstance(event, Round)}
    return max(ends[rank, WARM + rounds - 1] - ends[rank, WARM - 1] for rank in range(2)) / rounds


def rows() -> list[dict]:
    table = []
    for name, (network, batch, rounds) in CASES.items():
        what, buckets = task(network, batch), AllReduce(bucket=BUCKETS[network])
        for where, wire, goal in (("shared memory", None, COSTS), ("gigabit, imitated", gigabit, GAINS)):
            ways = {"buckets": buckets, "whole": AllReduce()}
            found = measured({key: partial(seconds, what, way, wire, rounds) for key, way in ways.items()})
            shown = [f"{1000 * found[key]:.2f} ms a round" for key in ways]
            goal = (None, None) if name in SHORT else goal
            table.append(row(f"{name}, {where}: buckets vs whole", *shown, found["whole"] / found["buckets"], goal))
    return table
