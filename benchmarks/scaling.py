"""Data-parallel training with two worker processes: what synchronising costs, and how PyTorch DDP does (goal PERF-6).

The local batch is fixed, so two workers do twice the work (weak scaling). Ours is the library's own loop, from drawing
the batch to telling the parent about the round; PyTorch's batches lie ready in memory.
"""

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.crews import Crew, missing
from benchmarks.networks import NETWORKS
from benchmarks.peers import RATE
from dlmini import SGD, AllReduce, Classify, Dataset, Processes, Recipe, launch
from dlmini.events import Round
from dlmini.loop import program

CASES = {"lenet b32": ("lenet", 32, 100), "lenet b100": ("lenet", 100, 40), "cifar_net b100": ("cifar_net", 100, 6)}
# floor and aim: against no synchronisation, and against DDP
ALONE = {"lenet b32": (0.8, 0.95), "lenet b100": (0.85, 0.97), "cifar_net b100": (0.95, 0.99)}
TOGETHER = (2.5, 4.0)
TRIALS, WARM = 7, 3  # interleaved trials of each contender; rounds at the start of each that do not count
IMAGES = 2000


@dataclass(frozen=True)
class Apart(AllReduce):
    """The same loop, and nobody talks: each worker steps on its own packet."""

    def exchange(self, comm, turn, outer):
        turn.mixed[:] = 0
        turn.packet.add_to(turn.mixed)
        return turn.step(outer)


def task(network: str, batch: int) -> Classify:
    """Random images with random labels: speed is the same."""
    model, draw = NETWORKS[network](), np.random.default_rng(0)
    x, y = draw.integers(0, 256, (IMAGES, *model.input), np.uint8), draw.integers(0, 10, IMAGES)
    data = Dataset("random", x, y, tuple("0123456789"))
    return Classify(model, data, data, batch)


def ours(what: Classify, workers: int, topology: AllReduce, rounds: int) -> float:
    """Seconds of a round, by the clock of the slowest worker."""
    recipe = Recipe(topology=topology, optimizer=SGD(RATE), rounds=WARM + rounds)
    events = launch(program, on=Processes(workers), args=(what, recipe)).events
    ends = {(event.rank, event.t): event.at for event in events if isinstance(event, Round)}
    return max(ends[rank, WARM + rounds - 1] - ends[rank, WARM - 1] for rank in range(workers)) / rounds


def contenders(network: str, batch: int, rounds: int, crews: dict[int, Crew]) -> dict[str, Callable[[], float]]:
    """Whom to time: each gives the seconds of a step."""
    mine = partial(ours, task(network, batch))
    found = {
        "ours": partial(mine, 2, AllReduce(), rounds),
        "apart": partial(mine, 2, Apart(), rounds),
        "one": partial(mine, 1, AllReduce(), rounds),
    }
    if crews:
        found["DDP"] = partial(crews[2].seconds, (network, batch, True), rounds)
        found["DDP apart"] = partial(crews[2].seconds, (network, batch, False), rounds)
        found["DDP one"] = partial(crews[1].seconds, (network, batch, False), rounds)
    return found


def measured(contest: dict[str, Callable[[], float]]) -> dict[str, float]:
    """The median seconds of each, in turns; a first turn warms them up."""
    turns = [{name: once() for name, once in contest.items()} for _ in range(1 + TRIALS)][1:]
    return {name: statistics.median(turn[name] for turn in turns) for name in contest}


def case_rows(name: str, batch: int, seconds: dict[str, float]) -> list[dict]:
    def speed(which):
        return f"{2 * batch / seconds[which]:,.0f} images/s"

    def share(base, which):
        return seconds[base] / seconds[which]

    mine = share("one", "ours")
    rows = [
        row(
            f"{name}, 2 workers vs no synchronisation",
            speed("ours"),
            speed("apart"),
            share("apart", "ours"),
            ALONE[name],
        )
    ]
    if "DDP" not in seconds:
        return [*rows, row(f"{name}, efficiency of 2 workers", f"{mine:.0%}", "")]
    theirs, kept = share("DDP one", "DDP"), share("DDP apart", "DDP")
    return [
        *rows,
        row(f"{name}, 2 workers vs PyTorch DDP", speed("ours"), speed("DDP"), share("DDP", "ours"), TOGETHER),
        row(f"{name}, efficiency of 2 workers", f"{mine:.0%}", f"DDP {theirs:.0%}", mine / theirs),
        row(f"{name}, DDP vs no synchronisation", "", f"DDP {kept:.0%}"),
    ]


def row(name: str, ours: str, peer: str, ratio=None, goal=(None, None)) -> dict:
    return {"name": name, "ours": ours, "peer": peer, "ratio": ratio, "floor": goal[0], "aim": goal[1]}


def rows() -> list[dict]:
    absent, table = missing("DDP"), []
    crews = {} if absent else {size: Crew("DDP", size) for size in (1, 2)}
    try:
        for name, (network, batch, rounds) in CASES.items():
            table += case_rows(name, batch, measured(contenders(network, batch, rounds, crews)))
    finally:
        for crew in crews.values():
            crew.close()
    return table + ([row("PyTorch DDP", "", f"left out: {absent}")] if absent else [])
