"""Thousands of devices on a laptop: what training a huge model would take, before anything is bought or begun.

device.py, sheets.py, layout.py        what computes, what is learned, and who does what
operations.py, transfers.py            what a layer computes; what a device sends
memory.py, cost.py, exposed.py         what a device must hold; what a step takes, where its time goes; what is hidden
search.py, report.py                   the fastest layouts that fit; tables and figures
simulate.py, folding.py                a step played on every rank, or on those that stand for all like them
sharded.py                             copies without a pipeline, ZeRO 0 to 3, layer by layer
rehearsal.py                           a program on thousands of ranks: what cannot work, and memory that grows
three_ways.py, levels.py               formula, small cluster, simulation; talk between nodes more rarely than inside
traces.py, torch_trace.py              a PyTorch step recorded on fake tensors, as a file, replayed on every rank
torch_regimes.py                       what PyTorch's own data parallelism sends
tracked.py                             plans told to a tracker
zero_regimes.py, zero_steps.py         ZeRO 2 as DeepSpeed sends it: buckets, owners; one iteration on every rank
"""

from dlmini.plan.cost import Forecast, forecast
from dlmini.plan.device import DEVICES, Device, Rate, device_of
from dlmini.plan.layout import Layout
from dlmini.plan.memory import Memory, memory
from dlmini.plan.rehearsal import MemoryGrows, rehearse
from dlmini.plan.search import search
from dlmini.plan.sheets import SHEETS, Sheet, sheet_of
from dlmini.plan.simulate import simulate
from dlmini.plan.three_ways import three_ways
from dlmini.plan.torch_regimes import ddp_buckets
from dlmini.plan.torch_trace import trace
from dlmini.plan.traces import Trace, read_trace, replay
from dlmini.plan.zero_regimes import flush_sizes, zero2
from dlmini.plan.zero_steps import simulate_zero2

__all__ = [
    "DEVICES",
    "SHEETS",
    "Device",
    "Forecast",
    "Layout",
    "Memory",
    "MemoryGrows",
    "Rate",
    "Sheet",
    "Trace",
    "ddp_buckets",
    "device_of",
    "flush_sizes",
    "forecast",
    "memory",
    "read_trace",
    "rehearse",
    "replay",
    "search",
    "sheet_of",
    "simulate",
    "simulate_zero2",
    "three_ways",
    "trace",
    "zero2",
]
