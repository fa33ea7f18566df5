"""A stage: pictures that change and curves that grow, for lessons in which something is learned while one watches.

The kernel sends the pixels of each picture and one point per frame; `stage.js` draws. A page that is new or reloaded
says "ready" and is told everything. All methods may be called from any thread.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill

import anywidget
import numpy as np
import traitlets
from matplotlib.patheffects import withStroke

from dlmini.show.palette import CURVES
from dlmini.show.paper import sheet


@dataclass(frozen=True)
class Picture:
    """Pixels [rows, columns, 3] of bytes, and dots on it: rows of (x, y, class) with x and y from 0 to 1.

    letters: (x, y, text) in the same way, where colours alone would tell.
    place: left, top, width and height of the box it must fit into, as parts of the stage's left side.
    """

    name: str
    pixels: np.ndarray
    dots: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), np.float32))
    smooth: bool = False
    place: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)
    letters: tuple[tuple[float, float, str], ...] = ()

    def facts(self) -> dict:
        rows, columns, _ = self.pixels.shape
        facts = {"name": self.name, "rows": rows, "columns": columns, "smooth": self.smooth, "place": self.place}
        return facts | {"letters": self.letters}

    def buffers(self) -> list[bytes]:
        return [np.ascontiguousarray(self.pixels, np.uint8).tobytes(), self.dots.astype(np.float32).tobytes()]


def write_letters(ax, picture: Picture) -> None:
    """In black with a white rim: to be read on any colour."""
    rows, columns, _ = picture.pixels.shape
    rim = [withStroke(linewidth=2, foreground="white")]
    for x, y, text in picture.letters:
        ax.text(x * columns, y * rows, text, ha="center", va="center", size=8, color="black", path_effects=rim)


def on_tiles(texts: list[str], across: int, down: int, tile: int, gap: int) -> tuple[tuple[float, float, str], ...]:
    """Letters for the middles of tiles, row by row."""
    wide, tall, step = across * (tile + gap) - gap, down * (tile + gap) - gap, tile + gap
    middles = [
        ((k % across * step + tile / 2) / wide, (k // across * step + tile / 2) / tall) for k in range(len(texts))
    ]
    return tuple((x, y, text) for (x, y), text in zip(middles, texts, strict=True) if text)


class Stage(anywidget.AnyWidget):
    """Some pictures on the left, one chart on the right with a curve for every run."""

    _esm = Path(__file__).with_suffix(".js")
    axes = traitlets.List(["passes", "loss"]).tag(sync=True)
    top = traitlets.Float(0.0).tag(sync=True)  # the upper end of the chart; 0: as high as the curves
    text = traitlets.Unicode("").tag(sync=True)
    state = traitlets.Unicode("idle").tag(sync=True)
    colours = traitlets.List(list(CURVES)).tag(sync=True)

    def __init__(self, **options):
        super().__init__(**options)
        self.pictures: list[Picture] = []
        self.labels: list[str] = []
        self.curves: list[list[tuple[float, float | None]]] = []
        self._lock = threading.RLock()
        self.on_msg(lambda _, content, __: content == "ready" and self.say_everything())

    def begin(self, label: str) -> None:
        """A new run: a new curve."""
        with self._lock:
            self.labels.append(label)
            self.curves.append([])
            self.send({"kind": "begin", "label": label})

    def show(self, pictures: list[Picture], point: tuple[float, float]) -> None:
        """The pictures as they are now, and a point of the last run's curve."""
        with self._lock:
            x, y = point
            point = x, y if math.isfinite(y) else None  # JSON knows no infinity
            self.pictures = pictures
            self.curves[-1].append(point)
            self._send_pictures(points=[point])

    def clear(self) -> None:
        with self._lock:
            self.labels, self.curves = [], []
            self.send({"kind": "clear"})

    def say_everything(self) -> None:
        with self._lock:
            self.send({"kind": "clear"})
            for label, curve in zip(self.labels, self.curves, strict=True):
                self.send({"kind": "begin", "label": label})
                self.send({"kind": "points", "points": curve})
            self._send_pictures(points=[])

    def drawn(self):
        """Pictures and curves as a figure, for where there are no widgets."""
        panels = len(self.pictures) + any(self.curves)
        figure, axes = sheet(4.5 * panels, 4.2, 1, panels, squeeze=False)
        for label, curve in zip(self.labels, self.curves, strict=True):
            axes[0, -1].plot(*np.array(curve, float).reshape(-1, 2).T, label=label)
            axes[0, -1].set(xlabel=self.axes[0], ylabel=self.axes[1])
            axes[0, -1].legend(fontsize="small")
        for ax, picture in zip(axes.flat, self.pictures, strict=False):
            rows, columns, _ = picture.pixels.shape
            blurred = {"interpolation": "bilinear"} if picture.smooth else {}
            ax.imshow(picture.pixels, extent=(0, columns, rows, 0), **blurred)
            for x, y, kind in picture.dots:
                ax.plot(x * columns, y * rows, "o", color=CURVES[int(kind)], markersize=4, markeredgecolor="white")
            write_letters(ax, picture)
            ax.set_title(fill(picture.name, 44), loc="left")
            ax.set_axis_off()
        return figure

    def _send_pictures(self, points: list[tuple[float, float | None]]) -> None:
        facts = [picture.facts() for picture in self.pictures]
        buffers = [part for picture in self.pictures for part in picture.buffers()]
        self.send({"kind": "show", "pictures": facts, "points": points}, buffers)
