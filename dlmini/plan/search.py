"""`search`: which layout trains fastest, of all that fit into the devices' memory.

Every way to cut so many devices into tensor x pipe x data, every micro-batch, number of chunks, recomputation and ZeRO
stage is estimated by formula; the best are then told by their timetables. Tensor parallelism stays inside a node: its
sums are waited for. ZeRO 2 and 3, which scatter gradients at every micro-batch, are tried without pipelines only.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from dlmini.checks import whole
from dlmini.plan.cost import Forecast, forecast
from dlmini.plan.device import Device, device_of
from dlmini.plan.layout import RECOMPUTE, Layout
from dlmini.plan.memory import memory
from dlmini.plan.sheets import Sheet, sheet_of
from dlmini.plan.tracked import checked, numbers, tell

MICROS = (1, 2, 4, 8, 16)
FINAL = 24  # layouts that are told exactly


def divisors(number: int, most: int | None = None) -> list[int]:
    return [d for d in range(1, min(number, most or number) + 1) if number % d == 0]


def layouts(
    sheet: Sheet, devices: int, device: Device, batch: int, gradient: int = 2, overlap: bool = True
) -> Iterator[Layout]:
    """All of them. A pipeline's stages need not have equally many layers; with chunks they must."""
    for tensor in divisors(devices, device.per_node):
        for pipe in divisors(devices // tensor, sheet.layers):
            data = devices // tensor // pipe
            chunked = [v for v in divisors(sheet.layers // pipe) if pipe > 1 and sheet.layers % (pipe * v) == 0]
            even = [1, *(v for v in chunked if v > 1)]
            stages = (0,) if data == 1 else (0, 1) if pipe > 1 else (0, 1, 2, 3)
            for micro, chunks, zero, again in product(MICROS, even, stages, RECOMPUTE):
                one = Layout(tensor, pipe, data, micro, chunks, zero, again, tensor > 1, gradient, overlap)
                if not one.fault(sheet, batch):
                    yield one


def search(
    sheet,
    devices: int,
    device="a100-80gb",
    batch: int = 1024,
    keep: int = 10,
    gradient: int = 2,
    overlap: bool = True,
    tracker=None,
) -> list[Forecast]:
    """The fastest layouts that fit, the best first; empty if none fits. gradient, overlap: as of a Layout, for all.

    tracker: is told the numbers of each, one step after another (tracked.py).
    """
    tracker = checked(tracker)
    sheet, device, keep = sheet_of(sheet), device_of(device), whole(keep, "keep", 1)
    devices, batch = whole(devices, "devices", 1), whole(batch, "batch", 1, hint="sequences in a step")
    tried = layouts(sheet, devices, device, batch, gradient, overlap)
    fitting = [one for one in tried if memory(sheet, one, batch).total <= device.room]
    guesses = sorted((forecast(sheet, one, device, batch, exact=False) for one in fitting), key=lambda f: f.seconds)
    told = [forecast(sheet, one.layout, device, batch) for one in guesses[: max(FINAL, keep)]]
    found = sorted(told, key=lambda one: one.seconds)[:keep]
    tell(tracker, map(numbers, found))
    return found
