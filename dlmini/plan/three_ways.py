"""One job asked three ways, as those who plan clusters do: by formula, by a small cluster extrapolated, by simulation.

The job is one iteration of ZeRO 2 as DeepSpeed sends it (zero_regimes.py), on n devices.

    formula          work, and the ring's price of each collective; a posted one begins when its flush is full and the
                     one before it has ended, and only what sticks out behind the way back is waited for
    small cluster    iterations on a few devices (here: simulated ones), and a straight line a + b n through them, by
                     least squares
    simulation       every rank of all n, message by message
jitter: by how much work scatters, on small clusters and on the large one alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dlmini.checks import real, refuse, whole
from dlmini.comm.launch import launch
from dlmini.plan.cost import ADAM
from dlmini.plan.device import Device, device_of
from dlmini.plan.sheets import Sheet, sheet_of
from dlmini.plan.transfers import Transfer
from dlmini.plan.zero_regimes import BUCKET, flush_sizes, zero2
from dlmini.plan.zero_steps import compute_seconds, zero2_job, zero2_step
from dlmini.sim.cluster import Cluster
from dlmini.sim.simulated import Simulated


@dataclass(frozen=True)
class ThreeWays:
    """Seconds of an iteration on `ranks` devices. measured: those of the small clusters, by their number of devices."""

    ranks: int
    formula: float
    extrapolated: float
    simulated: float
    measured: dict[int, float]

    def errors(self) -> dict[str, float]:
        """Of the two that are cheap, against the simulation."""
        ways = {"formula": self.formula, "small cluster": self.extrapolated}
        return {name: seconds / self.simulated - 1 for name, seconds in ways.items()}


def zero2_formula(sheet, ranks: int, device="a100-80gb", bucket: int = BUCKET, overlap: bool = True) -> float:
    """Seconds of an iteration, without a rank that runs."""
    sheet, device = sheet_of(sheet), device_of(device)
    forward, backward = compute_seconds(sheet, device, 1)
    clock = forward + backward + sent_behind(sheet, ranks, device, bucket, backward if overlap else 0.0)
    *_, numbers, weights = zero2(sheet, ranks, bucket)
    doublings = numbers.count * 2 * (ranks - 1).bit_length() * device.link(ranks).latency  # by a tree, there and back
    return clock + doublings + device.memory.seconds(ADAM * sheet.parameters / ranks) + weights.seconds(device)


def sent_behind(sheet: Sheet, ranks: int, device: Device, bucket: int, backward: float) -> float:
    """Seconds of all flushes that the way back, of so many seconds, does not hide."""
    ended, done = 0.0, 0
    for size in flush_sizes(sheet, bucket):
        done += size
        full = backward * done / sheet.parameters
        ended = max(ended, full) + Transfer("gradients", "allreduce", ranks, ranks, 2 * size).seconds(device)
    return ended - backward


def played(sheet, ranks: int, device="a100-80gb", bucket: int = BUCKET, jitter: float = 0.0) -> float:
    """An iteration on every device, message by message."""
    device = device_of(device)
    job = zero2_job(sheet, ranks, device, bucket)
    return launch(zero2_step, Simulated(ranks, Cluster(device.network, flops=1.0, jitter=jitter)), (job,)).seconds


def extrapolate(measured: dict[int, float], ranks: int) -> float:
    """By the straight line that fits best."""
    slope, start = np.polyfit(list(measured), list(measured.values()), 1)
    return float(start + slope * ranks)


def three_ways(
    sheet="bloom-560m",
    ranks: int = 3072,
    small: Sequence[int] = (16, 32, 64),
    device="a100-80gb",
    bucket: int = BUCKET,
    jitter: float = 0.0,
) -> ThreeWays:
    """The same iteration by all three. The simulation of 3,072 ranks takes a few seconds."""
    ranks, jitter = whole(ranks, "ranks", 2), real(jitter, "jitter", least=0, hint="the scatter of work, as a share")
    if not isinstance(small, list | tuple) or len(set(small)) < 2:
        refuse(ValueError, "small", small, "two or more numbers of devices, such as (16, 32, 64)")
    measured = {whole(n, "a small cluster", 1): played(sheet, n, device, bucket, jitter) for n in small}
    return ThreeWays(
        ranks,
        zero2_formula(sheet, ranks, device, bucket),
        extrapolate(measured, ranks),
        played(sheet, ranks, device, bucket, jitter),
        measured,
    )
