"""The desk of lesson 12: a schedule, stages, micro-batches, chunks, and how long the way back is; see the bubble."""

from __future__ import annotations

import ipywidgets

from dlmini.lessons.picture_desk import PictureDesk
from dlmini.parallel import gpipe, interleaved, one_f_one_b, price, zero_bubble
from dlmini.show.palette import strokes, themed
from dlmini.show.paper import Sheet, sheet
from dlmini.show.pipelines import ABOVE, draw_jobs, in_flight

SCHEDULES = ("gpipe", "one_f_one_b", "interleaved", "zero_bubble")


def planned(schedule: str, stages: int, micros: int, chunks: int):
    """The timetable of a choice; interleaved stages take micro-batches p at a time, so m is rounded up to that."""
    if schedule == "interleaved":
        return interleaved(chunks).plan(stages, -(-micros // stages) * stages if chunks > 1 else micros)
    return {"gpipe": gpipe, "one_f_one_b": one_f_one_b, "zero_bubble": zero_bubble}[schedule].plan(stages, micros)


@themed
def drawn(schedule: str, stages: int, micros: int, chunks: int, back: float) -> Sheet:
    """The bubbles, and below them how many micro-batches each rank keeps; with chunks a piece counts 1/chunks.

    back: seconds of the way back (gradients of inputs and of weights together) for one second forward.
    """
    timetable = planned(schedule, stages, micros, chunks)
    v = timetable.chunks
    found = price(timetable, forward=1 / v, backward=back / 2 / v, weights=back / 2 / v)
    figure, (a, b) = sheet(11, 3.4 + 0.36 * stages, rows=2, height_ratios=(1 + 0.25 * stages, 2), sharex=False)
    draw_jobs(a, found.slots)
    a.set_xlabel("time, forwards")
    a.set_title(f"{timetable.name}, {stages} stages, {timetable.micros} micro-batches: idle {found.idle_share:.1%}")
    for (rank, (times, counts)), stroke in zip(in_flight(found.slots).items(), strokes(stages), strict=True):
        b.step(times, [count / v for count in counts], where="post", label=f"rank {rank}", **stroke)
    b.set(xlabel="time, forwards", ylabel="micro-batches kept", ylim=(0, None), xlim=(0, found.seconds))
    b.legend(ncols=8, **ABOVE)
    return figure


class Desk(PictureDesk):
    """A drop-down, four sliders and a picture; every change draws it again."""

    def __init__(self, **start):
        choices = {
            "schedule": ipywidgets.Dropdown(options=SCHEDULES, value="one_f_one_b", description="schedule"),
            "stages": ipywidgets.IntSlider(4, 1, 8, description="stages"),
            "micros": ipywidgets.IntSlider(8, 1, 32, description="micro-batches"),
            "chunks": ipywidgets.IntSlider(2, 1, 4, description="chunks (interleaved)"),
            "back": ipywidgets.FloatSlider(2.0, min=0.5, max=4.0, step=0.5, description="back / forward"),
        }
        super().__init__(choices, drawn, start)


def desk(**start) -> Desk:
    """The desk, beginning with what is given: desk(schedule="gpipe", stages=6)."""
    return Desk(**start)
