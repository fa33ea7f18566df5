"""`segmentation`: pictures, what their pixels are, what a network takes them for, and where it is wrong."""

from __future__ import annotations

from itertools import cycle

import numpy as np

from dlmini.checks import piece, refuse, whole
from dlmini.show.palette import BLUE, CURVES, GREEN, VERMILION, YELLOW, themed
from dlmini.show.paper import sheet

UNLABELLED = 255
NATURAL = {  # what everybody expects; other classes take the colours of curves
    "impervious surface": "#bdbdbd",
    "impervious surfaces": "#bdbdbd",
    "building": VERMILION,
    "low vegetation": "#c5e0a3",
    "tree": GREEN,
    "car": YELLOW,
    "water": BLUE,
    "clutter": BLUE,
    "background": "#e6e6e6",
}
COLUMNS = ("picture", "truth", "guess")


@themed
def segmentation(task, w: np.ndarray | None = None, images=3):
    """A row for each picture: itself, its true classes, the network's guess, and the wrong pixels with their share.

    w: the weights; by default those that training begins with. images: how many pictures of the test set, or their
    numbers. Pixels that nobody labelled are white, and never wrong.
    """
    piece(task, "task", ("guesses", "test"), "a task whose pixels have classes: Segment(model, train, test)")
    data = task.test.subset(chosen(images, len(task.test)))
    w = task.initial() if w is None else w
    guesses, table = task.guesses(w, data.scaled().x), colours(data.classes)
    figure, axes = sheet(11.5, 0.9 + 2.75 * len(data), rows=len(data), columns=4, squeeze=False)
    for row, image, truth, guess in zip(axes, data.x, data.y, guesses, strict=True):
        wrong = (guess != truth) & (truth != UNLABELLED)
        share = wrong.sum() / max(1, (truth != UNLABELLED).sum())
        for ax, shown in zip(row, (visible(image), table[truth], table[guess], marked(image, wrong)), strict=True):
            ax.imshow(shown, interpolation="nearest")
            ax.set_axis_off()
        row[3].set_title(f"mistakes: {share:.1%}", fontsize="medium")
    for ax, name in zip(axes[0], COLUMNS, strict=False):
        ax.set_title(name, fontsize="medium")
    legend(figure, data.classes, table)
    return figure


def chosen(images, count: int) -> list[int]:
    """Numbers of pictures."""
    if isinstance(images, list | tuple | range | np.ndarray) and np.ndim(images) == 1:
        return [whole(one, "a number in images", 0, count - 1) for one in images]
    if isinstance(images, list | tuple | np.ndarray | str | bytes | dict):
        refuse(TypeError, "images", images, "how many pictures, or a row of their numbers")
    return list(range(min(count, whole(images, "images", 1, hint="how many pictures, or their numbers"))))


def colours(classes) -> np.ndarray:
    """Red, green, blue from 0 to 1 of every label: of the classes in their order, and white for unlabelled pixels."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    spare = cycle((*CURVES, YELLOW, *colormaps["tab20"].colors))
    table = np.ones((UNLABELLED + 1, 3))
    for label, name in enumerate(classes):
        table[label] = to_rgb(NATURAL.get(name) or next(spare))
    return table


def visible(image: np.ndarray) -> np.ndarray:
    """A picture as matplotlib wants it: grey levels or floats become red, green, blue from 0 to 1."""
    shown = image / 255 if image.dtype == np.uint8 else image
    low, high = float(shown.min()), float(shown.max())
    if low < 0 or high > 1:  # standardised: stretch it
        shown = (shown - low) / (high - low)
    return np.repeat(shown, 3, axis=-1) if shown.shape[-1] == 1 else shown[..., :3]


def marked(image: np.ndarray, wrong: np.ndarray) -> np.ndarray:
    """The picture in pale grey, wrong pixels in a colour that no picture has."""
    from matplotlib.colors import to_rgb

    grey = 0.55 + 0.45 * visible(image).mean(axis=-1, keepdims=True)
    return np.where(wrong[..., None], to_rgb(VERMILION), grey)


def legend(figure, classes, table: np.ndarray) -> None:
    from matplotlib.patches import Patch

    patches = [Patch(facecolor=table[i], edgecolor="black", linewidth=0.4, label=n) for i, n in enumerate(classes)]
    figure.legend(handles=patches, loc="outside lower center", ncols=min(6, len(classes)))
