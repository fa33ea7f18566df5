"""The plane as a network sees it: each point in the colour of the class it is taken for, the paler the less sure."""

from __future__ import annotations

from collections.abc import Iterator

import ipywidgets
import numpy as np
from matplotlib.colors import to_rgb

from dlmini.data import Dataset
from dlmini.lessons.backpropagation.descent import POINTS, Look, Settings, descend, plane_net, points, territory, window
from dlmini.lessons.canvas import Picture, Stage
from dlmini.lessons.controls import Desk, Frame
from dlmini.nn import Model
from dlmini.show.palette import CURVES, PALE, themed
from dlmini.show.paper import sheet

RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
INK = 0.55  # how much of a class's colour a point gets of which the network is certain


def paint(sure: np.ndarray) -> np.ndarray:
    """Bytes [rows, columns, 3] from probabilities [rows, columns, classes]; no better than chance is white."""
    classes = sure.shape[-1]
    best, chance = sure.argmax(axis=-1), 1 / classes
    amount = INK * (sure.max(axis=-1) - chance) / (1 - chance)
    colours = np.array([to_rgb(CURVES[k % len(CURVES)]) for k in range(classes)])
    mixed = 1 - amount[..., None] * (1 - colours[best])
    return np.rint(255 * np.nan_to_num(mixed, nan=0.8)).astype(np.uint8)


def dots(data: Dataset, extent) -> np.ndarray:
    """The data as rows of (x, y, class), x from the left and y from the top, both from 0 to 1."""
    left, right, bottom, top = extent
    x, y = (data.x[:, 0] - left) / (right - left), (top - data.x[:, 1]) / (top - bottom)
    return np.stack([x, y, data.y], axis=1).astype(np.float32)


@themed
def boundaries(model: Model, data: Dataset, looks: dict[str, Look]):
    """One plane for each look."""
    figure, axes = sheet(4 * len(looks), 4.9, columns=len(looks), squeeze=False)
    extent = window(data)
    for ax, (name, look) in zip(axes[0], looks.items(), strict=True):
        ax.imshow(paint(territory(model, look.w, extent, 120)), extent=extent, interpolation="bilinear")
        for k in range(len(data.classes)):
            ax.plot(*data.x[data.y == k].T, ".", color=CURVES[k], markersize=7, markeredgecolor="white", mew=0.5)
        ax.set(title=f"{name}\n{look.accuracy:.1%} right, {look.updates:,} updates", xticks=[], yticks=[])
        ax.set_facecolor(PALE)
    return figure


# ---- live ----


def live_boundary(start: str = "spirals", longest: int = 400) -> ipywidgets.VBox:
    """The decision boundary while it is learned. The learning rate and the batch size may be moved while it runs."""
    return boundary_desk(start, longest).box()


def boundary_desk(start: str = "spirals", longest: int = 400) -> Desk:
    choices = {
        "data": ipywidgets.Dropdown(options=["blobs", "spirals"], value=start, description="data"),
        "rate": ipywidgets.SelectionSlider(options=RATES, value=0.1, description="learning rate"),
        "batch": ipywidgets.SelectionSlider(options=[1, 3, 10, 30, 100, POINTS], value=30, description="batch size"),
        "speed": ipywidgets.SelectionSlider(options=[1, 3, 10, 30], value=10, description="passes a second"),
    }
    chosen = {name: (lambda widget=widget: widget.value) for name, widget in choices.items()}

    def settings() -> Settings:
        return Settings(chosen["rate"](), chosen["batch"]())

    return Desk(
        Stage(axes=["passes over the data", "loss"], top=1.2),
        choices,
        play=lambda: frames(chosen["data"](), settings, longest),
        label=lambda: f"{chosen['data']()}, rate {chosen['rate']():.2g}, batch {chosen['batch']()}",
        pause=lambda: 1 / chosen["speed"](),
    )


def frames(name: str, settings, longest: int) -> Iterator[Frame]:
    data = points(name)
    model, extent = plane_net(data), window(data)
    marks = dots(data, extent)
    for look in descend(model, data, settings, longest):
        picture = Picture("what the network thinks", paint(territory(model, look.w, extent)), marks, smooth=True)
        rate, batch = settings()
        said = f"pass {look.passes}: loss {look.loss:.3f}, {look.accuracy:.0%} right, {look.updates:,} updates"
        yield Frame([picture], (look.passes, look.loss), f"{said} · rate {rate:.2g}, batch {batch}")
