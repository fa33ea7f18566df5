"""Thousands of devices on a laptop: what training a huge model would take, before anything is bought or begun.

device.py, sheets.py, layout.py        what computes, what is learned, and who does what
operations.py, transfers.py            what a layer computes; what a device sends
memory.py, cost.py                     what a device must hold; what a step takes, and where its time goes
search.py, report.py                   the fastest layouts that fit; tables and figures
simulate.py, folding.py                a step played on every rank, or on those that stand for all like them
zero_regimes.py                        ZeRO 2 as DeepSpeed sends it: buckets, owners
"""

from dlmini.plan.cost import Forecast, forecast
from dlmini.plan.device import DEVICES, Device, Rate, device_of
from dlmini.plan.layout import Layout
from dlmini.plan.memory import Memory, memory
from dlmini.plan.search import search
from dlmini.plan.sheets import SHEETS, Sheet, sheet_of
from dlmini.plan.simulate import simulate, simulate_zero2
from dlmini.plan.zero_regimes import flush_sizes, zero2

__all__ = [
    "DEVICES",
    "SHEETS",
    "Device",
    "Forecast",
    "Layout",
    "Memory",
    "Rate",
    "Sheet",
    "device_of",
    "flush_sizes",
    "forecast",
    "memory",
    "search",
    "sheet_of",
    "simulate",
    "simulate_zero2",
    "zero2",
]
