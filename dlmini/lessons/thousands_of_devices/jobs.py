"""What lesson 16 measures: message sizes, regimes, stages, layouts, faulty programs, levels. All in virtual time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from dlmini import Classify, LocalSGD, Recipe, Simulated, load, mlp, profile, train
from dlmini.comm.ghost import Ghost
from dlmini.lessons.thousands_of_devices.mistakes import chosen, filled
from dlmini.plan import Layout, Trace, forecast, read_trace, report, search, sheet_of, simulate_zero2, zero2
from dlmini.plan.cost import end_times, layer_times
from dlmini.plan.device import DEVICES
from dlmini.plan.levels import level_seconds
from dlmini.plan.memory import layer_activations

SMALL, LARGE = sheet_of("bloom-560m"), sheet_of("bloom-176b")
ZAY = DEVICES["a100-jean-zay"]  # where BLOOM was trained: 384 of them
DEVICES_THERE, BATCH = 384, 2048
USED = Layout(4, 12, 8, 2, zero=1, recompute="full")  # Le Scao et al., BLOOM, 2022
RANKS = profile.pick(3072, 96)  # every one of them is simulated


# ---- message sizes ----


def collective_sizes(ranks: int, bucket: int = 500_000_000, flush: str = "allreduce") -> list[tuple[str, float, int]]:
    """(what, bytes of the vector, how many) of every collective of an iteration."""
    found = report.collective_sizes(zero2(SMALL, ranks, bucket, flush))
    return [(what, nbytes, count) for (what, nbytes), count in found.items()]


def traffic(sizes, ranks: int, bucket: int, gradient: int = 2, weight: int = 2) -> tuple:
    """The library's own answer to the exercise."""
    flushes = [gradient * n for n in filled(reversed(list(sizes)), bucket)]
    part = (ranks - 1) / ranks
    return flushes, 2 * part * sum(flushes) + part * weight * sum(sizes)


class Regime(NamedTuple):
    flush: str
    overlap: bool
    seconds: float
    sent: float  # bytes of one rank


def regimes(ranks: int) -> list[Regime]:
    """One iteration in each of DeepSpeed's ways."""
    rows = []
    for flush in ("allreduce", "reduce"):
        for overlap in (True, False):
            found = simulate_zero2(SMALL, ranks, overlap=overlap, flush=flush)
            rows.append(Regime(flush, overlap, found.seconds, found.books.total().nbytes / ranks))
    return rows


# ---- stages ----


def unit_times(sheet=LARGE, micro: int = 2, tensor: int = 4) -> list[float]:
    """Seconds there and back of everything that a pipeline can be cut between: embedding, layers, last product."""
    layout = Layout(tensor, micro=micro, recompute="full")
    layer = sum(way.total for way in layer_times(sheet, layout, ZAY))
    first, last = (sum(way.total for way in end_times(sheet, layout, ZAY, end)) for end in (False, True))
    return [first, *[layer] * sheet.layers, last]


def pipeline_seconds(times: list[float], counts: list[int], micros: int) -> float:
    """A step of a pipeline whose stages wait for the slowest: (m + p - 1) of its time."""
    edges = [sum(counts[:i]) for i in range(len(counts) + 1)]
    stages = [sum(times[a:b]) for a, b in pairwise(edges)]
    return (micros + len(counts) - 1) * max(stages)


def best_cut(times: list[float], stages: int) -> list[int]:
    """The library's own answer to the exercise: the best last stage, of the best cuts before it."""
    sums, n = [0.0], len(times)
    for seconds in times:
        sums.append(sums[-1] + seconds)
    best = {(0, 0): (0.0, [])}
    for k in range(1, stages + 1):
        for end in range(k, n - stages + k + 1):
            ways = ((best[k - 1, i], i) for i in range(k - 1, end) if (k - 1, i) in best)
            best[k, end] = min((max(most, sums[end] - sums[i]), [*cut, end - i]) for (most, cut), i in ways)
    return best[stages, n][1]


# ---- layouts ----


def layer_costs(sheet=LARGE) -> dict:
    """What `best_layout` is asked with: one layer, everything computed again on the way back, ZeRO 1 left out."""
    one, two = (sum(way.total for way in layer_times(sheet, Layout(micro=b, recompute="full"), ZAY)) for b in (1, 2))
    summed = [layer_times(sheet, Layout(2, micro=b, recompute="full"), ZAY) for b in (1, 2)]
    talk = [sum(way.tensor for way in ways) for ways in summed]
    return {
        "state": 18.0 * sheet.layer_parameters,
        "kept": layer_activations(sheet, Layout(recompute="full")),
        "start": max(0.0, 2 * one - two),
        "work": two - one,
        "talk": 2 * (talk[1] - talk[0]),  # two devices send half of it, many nearly all
        "sync": 4.0 * sheet.layer_parameters / ZAY.link(DEVICES_THERE).bandwidth,
    }


def choose(devices, per_node, layers, batch, room, cost) -> tuple | None:
    """The library's own answer to the exercise."""
    return chosen(Asked((devices, per_node, layers, batch, room, cost)))


class Asked(NamedTuple):
    args: tuple


def told(layout: Layout, batch: int = BATCH):
    """What the layout takes for bloom-176b where it was trained."""
    return forecast(LARGE, layout, ZAY, batch)


def found_by_search(batch: int = BATCH):
    """The fastest layouts for bloom-176b on 384 devices, the best first."""
    return search(LARGE, DEVICES_THERE, ZAY, batch)


# ---- programs with a fault ----


def training(comm, steps: int = 3, fault: str = "") -> None:
    """Data-parallel steps with ghosts: gradients are summed, a checkpoint is written at the last one. Three faults."""
    weights, seen = Ghost(1_000_000, "f2"), []
    for step in range(steps):
        gradient = Ghost(weights.size - (fault == "length" and comm.rank == 700 % comm.size), "f2")
        comm.compute("gradient", None, flops=1e12)
        loss = comm.allreduce(gradient)
        if fault == "memory":
            seen.append(loss)
        if fault == "checkpoint" and comm.rank == 0 and step == steps - 1:
            return  # rank 0 is busy writing, and leaves
        comm.barrier()


# ---- a framework's own program ----


def recorded_trace() -> Trace:
    """`fully_shard` of bloom-560m, written in PyTorch, on 3,072 fake ranks: one sequence there and back."""
    return read_trace(Path(__file__).with_name("bloom_560m_fsdp_3072.jsonl"))


# ---- levels ----


class Level(NamedTuple):
    period: int
    seconds: float  # of a step of bloom-560m on 64 nodes
    accuracy: float  # of a small network, four nodes


def level_rows(periods=(1, 4, 16), nodes: int = 64) -> list[Level]:
    """Time by formula for bloom-560m, accuracy by training: a node is one worker of Local-SGD with all its batches."""
    task = Classify(mlp((64, 64)), *load("fashion-mnist"), batch=8 * 16)
    steps = profile.pick(192, 16)
    rows = []
    for period in periods:
        run = train(task, Recipe(LocalSGD(period), rounds=steps // period), Simulated(4)).result()
        rows.append(Level(period, level_seconds(SMALL, nodes, ZAY, period), run.accuracy))
    return rows
