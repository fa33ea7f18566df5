"""Filters and feature maps while a small network learns Fashion-MNIST."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

import ipywidgets
import numpy as np
from matplotlib import colormaps

from dlmini.data import load
from dlmini.lessons.canvas import Picture, Stage
from dlmini.lessons.controls import Desk, Frame
from dlmini.lessons.convolutions.by_hand import feature_maps, glimpses, small_net
from dlmini.lessons.convolutions.pictures import TWO_SIDED
from dlmini.show.palette import HEAT

RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
ACROSS = 4  # tiles in a row
TESTED = 500  # images of the test set that are asked at each look


def tiled(tiles: np.ndarray, colours: str, low: float, high: float, gap: int = 1) -> np.ndarray:
    """Small pictures [rows, columns, count] side by side, as bytes [.., .., 3], white between them."""
    rows, columns, count = tiles.shape
    down = ceil(count / ACROSS)
    board = np.full((down * (rows + gap) - gap, ACROSS * (columns + gap) - gap, 3), 255, np.uint8)
    scaled = np.clip((tiles - low) / max(high - low, 1e-12), 0, 1)
    for k in range(count):
        top, left = k // ACROSS * (rows + gap), k % ACROSS * (columns + gap)
        board[top : top + rows, left : left + columns] = colormaps[colours](scaled[:, :, k], bytes=True)[..., :3]
    return board


def live_filters(longest: int = 1000) -> ipywidgets.VBox:
    """The filters of the first layer, what they see in one image, and the accuracy on images never seen before."""
    return filters_desk(longest).box()


def filters_desk(longest: int = 1000) -> Desk:
    choices = {
        "rate": ipywidgets.SelectionSlider(options=RATES, value=0.03, description="learning rate"),
        "every": ipywidgets.SelectionSlider(options=[1, 3, 10, 30], value=3, description="steps per picture"),
        "image": ipywidgets.IntSlider(value=0, min=0, max=TESTED - 1, description="image", continuous_update=False),
    }
    return Desk(
        Stage(axes=["steps of 50 images", "accuracy on the test set"], top=1.0),
        choices,
        play=lambda: frames(choices["rate"].value, choices["every"].value, lambda: choices["image"].value, longest),
        label=lambda: f"rate {choices['rate'].value:.2g}",
        pause=lambda: 0.05,
    )


def frames(rate: float, every: int, image, longest: int) -> Iterator[Frame]:
    train, test = load("fashion-mnist")
    test, model = test.subset(np.arange(TESTED)), small_net()
    pictures = test.scaled().x
    for seen in glimpses(model, train, test, longest, every, rate):
        filters, one = model.views(seen.w)[0][0], pictures[image()][None]
        label = f"test image: {test.classes[test.y[image()]]}"
        maps, limit = feature_maps(model, seen.w, one)[0], float(np.abs(filters).max())
        shown = [
            Picture("filters", tiled(filters[:, :, 0], TWO_SIDED, -limit, limit), place=(0, 0, 0.55, 0.42)),
            Picture(label, tiled(one[0], "gray_r", 0, 1)[:28, :28], place=(0.62, 0, 0.38, 0.42)),
            Picture("what they make of it", tiled(maps, HEAT, 0, float(maps.max()), gap=2), place=(0, 0.44, 1, 0.56)),
        ]
        said = f"step {seen.step}: loss {seen.loss:.3f}, {seen.accuracy:.1%} of {TESTED} test images right"
        yield Frame(shown, (seen.step, seen.accuracy), said)
