"""The moving picture: curves, bars and numbers. The kernel sends only what is new; drawing is the browser's work.

`live.js` draws what it is told; a page that is new or was reloaded says "ready" and is told everything.
All methods may be called from any thread.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np

try:
    import anywidget
    import traitlets
except ImportError as missing:
    raise ImportError(
        f"live pictures need anywidget and ipywidgets ({missing}); pip install dlmini brings both"
    ) from missing

from dlmini.show.board import CURVES, Board
from dlmini.show.palette import BAD, GOOD, GREY, PHASE
from dlmini.show.palette import CURVES as COLOURS

IDLE, STARTING, RUNNING, PAUSED, ENDED = "idle", "starting", "running", "paused", "ended"
RESTING, GOING = (IDLE, ENDED), (RUNNING, PAUSED)


@dataclass
class Drawn:
    """A run on the picture: its number, its line in the legend, its points."""

    number: int
    label: str
    board: Board
    whole: bool = False  # it has ended: the bars show all of its time


class Live(anywidget.AnyWidget):
    """One picture with any number of runs; the last one is the one that moves."""

    _esm = Path(__file__).with_suffix(".js")
    _css = Path(__file__).with_suffix(".css")
    state = traitlets.Unicode(IDLE).tag(sync=True)
    message = traitlets.Dict({"kind": "quiet", "text": ""}).tag(sync=True)
    marks = traitlets.Dict({}).tag(sync=True)  # rank -> a word beside its bar, such as "killed"
    colours = traitlets.Dict(
        {"curves": list(COLOURS), "phases": PHASE | {"other": GREY}, "good": GOOD, "bad": BAD}
    ).tag(sync=True)

    def __init__(self, **options):
        super().__init__(**options)
        self.runs: list[Drawn] = []
        self._numbers, self._lock = 0, threading.RLock()
        self.on_msg(lambda _, content, __: content == "ready" and self._say_everything())

    def say(self, text: str, kind: str = "quiet") -> None:
        """A sentence above the picture; kind: quiet, good or bad."""
        self.message = {"kind": kind, "text": text}

    def begin(self, board: Board, label: str) -> None:
        """A new run, drawn over those before."""
        with self._lock:
            self.runs.append(Drawn(self._numbers, label, board))
            self._numbers += 1
            self._head(self.runs[-1])

    def update(self, whole: bool = False) -> None:
        """Show what the last run's board has learned since."""
        with self._lock:
            run = self.runs[-1]
            run.whole = whole
            self._rows(run, run.board.news())

    def clear(self) -> None:
        """Forget all runs but one that goes on."""
        with self._lock:
            self.runs = self.runs[-1:] if self.state in GOING else []
            self._say_everything()

    def _say_everything(self) -> None:
        with self._lock:
            self.send({"kind": "clear"})
            for run in self.runs:
                self._head(run)
                self._rows(run, run.board.everything())

    def _head(self, run: Drawn) -> None:
        self.send({"kind": "begin", "run": run.number, "label": run.label})

    def _rows(self, run: Drawn, curves: dict[str, np.ndarray]) -> None:
        counts = [len(curves.get(name, ())) for name in CURVES]
        rows = b"".join(curves[name].tobytes() for name in CURVES if name in curves)
        self.send({"kind": "add", "run": run.number, "counts": counts, "facts": run.board.facts(run.whole)}, [rows])
