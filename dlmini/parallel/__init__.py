"""One network on several ranks: pipelines, whose schedules are data; a grid of ranks; a task split among them."""

from dlmini.parallel.grid import Grid
from dlmini.parallel.memory import RankMemory, meter
from dlmini.parallel.pipeline import gpipe, interleaved, one_f_one_b, pipedream, play, zero_bubble
from dlmini.parallel.split import Split
from dlmini.parallel.timetable import Job, Timetable, price

__all__ = [
    "Grid",
    "Job",
    "RankMemory",
    "Split",
    "Timetable",
    "gpipe",
    "interleaved",
    "meter",
    "one_f_one_b",
    "pipedream",
    "play",
    "price",
    "zero_bubble",
]
