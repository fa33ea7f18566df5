"""Sliders, Start and Stop around a stage. What is learned is learned in a thread that ends by itself, on Stop, and
with the kernel; the cell returns at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple

import ipywidgets

from dlmini.lessons.canvas import Picture, Stage
from dlmini.lessons.picture_desk import StillBox
from dlmini.show.dashboard_widgets import in_one_queue
from dlmini.show.paper import Sheet

IDLE, RUNNING, STOPPED, ENDED = "idle", "running", "stopped", "ended"


class Frame(NamedTuple):
    """What the stage shows next: pictures, a point of the curve, a sentence."""

    pictures: list[Picture]
    point: tuple[float, float]
    text: str


class Desk:
    """`play()` makes the frames of one run; `label()` names it; `pause()` are the seconds between two frames.

    still: the picture for where there are no widgets, until something was run; what the stage shows, if none is given.
    """

    def __init__(
        self,
        stage: Stage,
        choices: dict[str, ipywidgets.Widget],
        play: Callable[[], Iterator[Frame]],
        label: Callable[[], str],
        pause: Callable[[], float],
        still: Callable[[], Sheet] | None = None,
    ):
        self._first, self._box = still or stage.drawn, None
        self.stage, self.choices, self.play, self.label, self.pause = stage, choices, play, label, pause
        self.thread: threading.Thread | None = None
        self._stop = threading.Event()
        self.buttons = {name: ipywidgets.Button(description=name) for name in ("Start", "Stop", "Clear")}
        for name, press in (("Start", self.start), ("Stop", self.stop), ("Clear", self.clear)):
            self.buttons[name].on_click(lambda _, press=press: press())
        in_one_queue([*self.choices.values(), *self.buttons.values()])
        self.buttons["Start"].button_style = "primary"
        self.stage.pictures = next(self.play()).pictures  # something to look at before the first press
        self._reflect(IDLE, "Press Start.")

    def start(self) -> None:
        """A new run, drawn over those before; one that goes on is ended first."""
        self.stop()
        self._stop = threading.Event()
        self.stage.begin(self.label())
        self._reflect(RUNNING, "")
        self.thread = threading.Thread(target=self._run, args=(self._stop,), name="lesson", daemon=True)
        self.thread.start()

    def stop(self) -> None:
        """End the run, and wait until it has ended."""
        self._stop.set()
        if self.thread is not None and self.thread is not threading.current_thread():
            self.thread.join()

    def clear(self) -> None:
        self.stop()
        self.stage.clear()
        self._reflect(IDLE, "Press Start.")

    def _run(self, stop: threading.Event) -> None:
        frame = None
        try:
            for frame in self.play():
                self.stage.show(frame.pictures, frame.point)
                self.stage.text = frame.text
                if stop.wait(self.pause()):
                    break
        except Exception as error:  # whatever it was: a thread has nobody else to tell
            self._reflect(ENDED, f"It broke off: {error}")
        else:
            last = "" if frame is None else frame.text
            self._reflect(*((STOPPED, f"Stopped. {last}") if stop.is_set() else (ENDED, f"Done. {last}")))

    def _reflect(self, state: str, text: str) -> None:
        self.stage.state, self.stage.text = state, text
        self.buttons["Stop"].disabled = state != RUNNING
        if self._box is not None and state != RUNNING:
            self._box.renew()

    def still(self) -> Sheet:
        """What the stage shows after a run; before it, a picture of what there is to see."""
        return self.stage.drawn() if self.stage.curves else self._first()

    def box(self) -> ipywidgets.VBox:
        """All of it, for the notebook."""
        for widget in self.choices.values():
            widget.style.description_width = "initial"
        rows = [ipywidgets.HBox(row) for row in (list(self.choices.values()), list(self.buttons.values()))]
        rows[0].layout.flex_flow = "row wrap"
        self._box = StillBox([*rows, self.stage], self.still)
        return self._box
