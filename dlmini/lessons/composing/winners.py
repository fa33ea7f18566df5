"""Lesson 11: which plan is first at a goal, on which network; and which pieces fit together at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import inf

import numpy as np

from dlmini import compression, sync, topology
from dlmini.lessons.composing import plans as composing
from dlmini.lessons.composing.runs import GRADIENT, Trained
from dlmini.recipe import Recipe
from dlmini.topology import Gossip

ROTATING = 15 / 8  # vectors' time of a round of 16 workers: two at seven distances, one at the eighth

WHEN = (
    sync.BulkSynchronous(),
    sync.LocalSGD(4),
    sync.PartlySynchronous(2),
    sync.StaleSynchronous(3),
    sync.Asynchronous(),
    sync.Downpour(),
)
WITH_WHOM = (
    topology.AllReduce(),
    topology.Star(),
    topology.ParameterServer(),
    topology.Gossip("rotating"),
    topology.Gossip("one_peer", "weights"),
    topology.PushSum(),
    topology.AsyncGossip(),
    topology.Choco(compression.TopK(0.05)),
    topology.LowRank(2),
)
HOW_BRIEFLY = (
    compression.None_(),
    compression.Half(),
    compression.Int8(),
    compression.QSGD(),
    compression.OneBit(),
    compression.Threshold(keep=0.05),
    compression.TopK(0.01),
    compression.RandomK(0.01),
    compression.DGC(),
)


# ---- first at a goal ----


def plain(run: Trained) -> dict:
    """A run as a plan of plain things."""
    gossip, rotating = isinstance(run.recipe.topology, Gossip), getattr(run.recipe.topology, "graph", "") == "rotating"
    return {
        "name": run.row.label.strip(),
        "whom": "gossip" if gossip else "ring",
        "partners": (2 if rotating else 1) if gossip else 0,
        "period": run.recipe.sync.steps,
        "kept": 1.0 if run.recipe.compression.summable else float(run.said.mean() - 4) / 8 / run.size,
        "curve": run.curve,
    }


def vectors(plan: dict) -> dict:
    """The plan as the library plays it: rotating partners are one and the same at the longest distance."""
    return {**plan, "partners": ROTATING} if plan["partners"] == 2 else plan


def goal(runs: Mapping[int, Trained], below: float = 0.03) -> float:
    """An accuracy that is worth racing for: so much below the best at the end."""
    return max(run.row.accuracy for run in runs.values()) - below


def steps_to(curve: Sequence[tuple[int, float]], target: float) -> float:
    """The first look at which the target is reached; for ever, if it is not."""
    return next((steps for steps, accuracy in curve if accuracy >= target), inf)


def race(runs: Mapping[int, Trained], target: float, latency, bandwidth, step: float = GRADIENT) -> np.ndarray:
    """[plan, ...]: seconds to the target by the formula, on switches of these latencies and bandwidths (arrays)."""
    found = []
    for run in runs.values():
        steps, plan = steps_to(run.curve, target), vectors(plain(run))
        cost = composing.traffic(plan, run.said.shape[1], run.size)
        talk = cost.latencies * np.asarray(latency) + cost.port / np.asarray(bandwidth)
        found.append(steps * (step + talk / plan["period"]))
    return np.array(found)


# ---- what fits together ----


def refusal(recipe: Recipe, size: int = 6) -> str:
    """Why the pieces do not fit together; nothing if they do."""
    try:
        recipe.check(size)
    except ValueError as reason:
        return str(reason)
    return ""


def fitting(whens=WHEN, whoms=WITH_WHOM, briefly=HOW_BRIEFLY) -> np.ndarray:
    """[when, with whom]: how many ways to be brief fit."""
    return np.array(
        [[sum(not refusal(Recipe(when, whom, how)) for how in briefly) for whom in whoms] for when in whens]
    )


def kinds_of_refusal(whens=WHEN, whoms=WITH_WHOM, briefly=HOW_BRIEFLY) -> dict[str, tuple[int, str]]:
    """Refusals by what is advised: how many, and the first sentence of the kind."""
    found: dict[str, list[str]] = {}
    for pieces in product(whens, whoms, briefly):
        if reason := refusal(Recipe(*pieces)):
            found.setdefault(reason.rpartition("; ")[2], []).append(reason)
    return {advice: (len(reasons), reasons[0]) for advice, reasons in found.items()}
