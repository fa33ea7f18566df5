"""One network on several ranks: pipelines, whose schedules are data."""

from dlmini.parallel.pipeline import gpipe, interleaved, one_f_one_b, pipedream, play, zero_bubble
from dlmini.parallel.timetable import Job, Timetable, price

__all__ = [
    "Job",
    "Timetable",
    "gpipe",
    "interleaved",
    "one_f_one_b",
    "pipedream",
    "play",
    "price",
    "zero_bubble",
]
