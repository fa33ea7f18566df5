"""The pictures of lesson 10: energy, heat maps of what travels, shares, places, and how sparse sums become dense."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ipywidgets
import numpy as np
from matplotlib.ticker import FuncFormatter

from dlmini.lessons.picture_desk import image
from dlmini.lessons.sparsification.largest import expected_density, kept, place_bits
from dlmini.show.palette import BLACK, BLUE, GREY, HEAT, VERMILION, strokes, themed
from dlmini.show.paper import sheet
from dlmini.show.stills import WithStill


def percent() -> FuncFormatter:
    """Shares as per cent, also those far below one."""
    return FuncFormatter(lambda share, _: f"{100 * share:g} %")


@themed
def selection(u: np.ndarray, share: float, pixels: np.ndarray):
    """Left: energy against share sent. Right: of each pixel's weights, how many travel (pixels: the first of them)."""
    figure, axes = sheet(12, 4.4, columns=2)
    energy, k = kept(u), max(1, round(share * u.size))
    axes[0].semilogx(np.arange(1, u.size + 1) / u.size, energy, color=BLUE, label="the largest (top-k)")
    axes[0].semilogx(x := np.geomspace(1 / u.size, 1, 200), x, color=GREY, label="any others (random-k)")
    axes[0].plot(k / u.size, energy[k - 1], "o", color=VERMILION, markersize=10)
    axes[0].set(xlabel="share of the numbers that is sent", ylabel="share of the energy that is said")
    axes[0].legend()
    for axis in (axes[0].xaxis, axes[0].yaxis):
        axis.set_major_formatter(percent())
    chosen = np.zeros(u.size, bool)
    chosen[np.argsort(-np.abs(u), kind="stable")[:k]] = True
    drawn = axes[1].imshow(chosen[: pixels.size].reshape(pixels.shape).sum(axis=-1), cmap=HEAT, vmin=0)
    axes[1].set(title="weights that travel, by pixel", xticks=[], yticks=[])
    axes[1].grid(visible=False)
    figure.colorbar(drawn, ax=axes[1])
    figure.suptitle(f"{k:,} of {u.size:,} numbers ({share:.2%}) say {energy[k - 1]:.1%} of the gradient's energy")
    return figure


@themed
def heat(counts: Mapping[str, np.ndarray], shape: tuple[int, ...]):
    """How often the weights of each pixel have travelled, on one scale; and how many weights never did."""
    figure, axes = sheet(5.2 * len(counts), 4.6, columns=len(counts), squeeze=False)
    first = int(np.prod(shape))
    pictures = {name: count[:first].reshape(shape).mean(axis=-1) for name, count in counts.items()}
    top = max(picture.max() for picture in pictures.values())
    for ax, (name, picture) in zip(axes[0], pictures.items(), strict=True):
        drawn = ax.imshow(picture, cmap=HEAT, vmin=0, vmax=top)
        ax.set(title=f"{name}\n{np.mean(counts[name] == 0):.0%} of all weights never travelled", xticks=[], yticks=[])
        ax.grid(visible=False)
    figure.colorbar(drawn, ax=axes[0].tolist(), label="times sent, mean over a pixel's weights")
    return figure


@themed
def shares(runs: Mapping[str, np.ndarray]):
    """Which share was sent in every round."""
    figure, ax = sheet(9, 3.8)
    for (name, values), stroke in zip(runs.items(), strokes(len(runs)), strict=True):
        ax.plot(np.arange(1, len(values) + 1), values, label=name, **stroke)
    ax.set(xlabel="round", ylabel="share of the numbers sent", yscale="log")
    ax.yaxis.set_major_formatter(percent())
    figure.legend(loc="outside right upper")
    return figure


@themed
def place_costs(d: int):
    """Bits per number sent that its place costs: written out, as a map of all places, and the least possible."""
    figure, ax = sheet(8.5, 4)
    share = np.geomspace(1e-4, 0.5, 100)
    k = np.maximum(1, np.round(share * d)).astype(int)
    ax.semilogx(k / d, np.full(len(k), 32), color=BLUE, label="a 32-bit place")
    ax.semilogx(k / d, d / k, color=VERMILION, linestyle="--", label="a map: one bit for every place")
    ax.semilogx(k / d, [place_bits(d, int(n)) / n for n in k], color=BLACK, label="log₂ C(d, k) / k: the bound")
    ax.set(xlabel="share sent, k/d", ylabel="bits for one place", ylim=(0, 40))
    ax.xaxis.set_major_formatter(percent())
    ax.legend()
    return figure


@themed
def filling(found: Mapping[str, Sequence[float]], share: float):
    """Which share of places N ranks have chosen together; lines: the bound, and independent places."""
    figure, ax = sheet(9, 4.2)
    n = np.arange(1, max(map(len, found.values())) + 1)
    ax.plot(n, np.minimum(1, n * share), color=BLACK, linestyle=":", label="min(1, N k/d)")
    ax.plot(n, expected_density(n, share), color=GREY, label="1 − (1 − k/d)ᴺ")
    for (name, values), stroke in zip(found.items(), strokes(len(found)), strict=True):
        ax.plot(np.arange(1, len(values) + 1), values, "o", markersize=5, color=stroke["color"], label=name)
    ax.set(xlabel="ranks N", ylabel="share of places in the sum", ylim=(0, 1.05))
    ax.yaxis.set_major_formatter(percent())
    figure.legend(loc="outside right upper")
    return figure


class RatioBench(WithStill, ipywidgets.VBox):
    """A slider for the share that is sent, and the picture of `selection`."""

    def __init__(self, u: np.ndarray, shape: tuple[int, ...], share: float = 0.01):
        self.u, self.pixels, self.picture = u, np.empty(shape), image()
        self.share = ipywidgets.FloatLogSlider(
            value=share, min=-4, max=0, step=0.25, description="share sent", readout_format=".2%",
            continuous_update=False)  # fmt: skip
        self.share.observe(lambda _: self.draw(), "value")
        super().__init__([self.share, self.picture])
        self.draw()

    def draw(self) -> None:
        self.figure = selection(self.u, self.share.value, self.pixels)
        self.picture.show(self.figure)


def ratio_bench(u: np.ndarray, shape: tuple[int, ...], share: float = 0.01) -> RatioBench:
    """Move the share, and see how much is said and which weights travel. shape: of the first weights, pixels first."""
    return RatioBench(u, shape, share)
