"""The pictures of lesson 09, section 1: what so many bits make of a gradient, under a slider."""

from __future__ import annotations

from collections.abc import Sequence

import ipywidgets
import numpy as np

from dlmini.lessons.picture_desk import image
from dlmini.lessons.quantisation.grids import decoded, entropy, errors_by_bits, levels_of, on_grid
from dlmini.show.palette import BLACK, BLUE, GREY, VERMILION, themed
from dlmini.show.paper import sheet
from dlmini.show.stills import WithStill


@themed
def grid(u: np.ndarray, bits: int):
    """Left: how frequent numbers are, and the levels they go to. Right: one stretch of the vector, before and after."""
    levels, m = levels_of(bits), float(np.abs(u).max())
    q = on_grid(u, levels)
    figure, axes = sheet(12, 4.2, columns=2)
    axes[0].hist(u, bins=201, range=(-m, m), color=BLUE, alpha=0.6, log=True, label="the gradient's numbers")
    at, count = np.unique(q, return_counts=True)
    axes[0].vlines(at * m / levels, 0.7, count, color=VERMILION, linewidth=1.2, label="go to these levels")
    axes[0].set(xlabel="value", ylabel="how many numbers", ylim=(0.7, 2 * len(u)))
    axes[0].legend(loc="upper right")
    middle = int(np.argmax(np.abs(u)))
    part = slice(max(0, middle - 20), max(0, middle - 20) + 40)
    axes[1].plot(u[part], "o-", color=BLUE, markersize=4, linewidth=1, label="before")
    axes[1].step(range(len(u[part])), decoded(u, levels)[part], where="mid", color=VERMILION, label="after")
    axes[1].set(xlabel="40 neighbours, the largest among them")
    axes[1].legend()
    lost = np.sum((decoded(u, levels) - u) ** 2) / np.sum(u.astype(float) ** 2)
    figure.suptitle(
        f"{bits} bits, {2 * levels + 1} values: {np.mean(q == 0):.1%} of the numbers become zero, {lost:.2%} of the "
        f"energy is lost, entropy {entropy(q):.2f} bits"
    )
    return figure


@themed
def error_lines(u: np.ndarray, bits: Sequence[int]):
    """Mean squared error against bits, beside step^2 / 12 and the energy of the numbers themselves."""
    figure, ax = sheet(8.5, 4)
    moved, m = u[u != 0].astype(float), float(np.abs(u).max())
    ax.semilogy(bits, [(m / levels_of(b)) ** 2 / 12 for b in bits], color=GREY, label="(m / s)² / 12")
    ax.semilogy(bits, errors_by_bits(u, bits), "o", color=VERMILION, label="measured")
    ax.axhline(np.mean(moved**2), color=BLACK, linestyle=":", label="sending nothing at all")
    ax.set(xlabel="bits per number", ylabel="mean squared error")
    ax.legend()
    return figure


class BitsBench(WithStill, ipywidgets.VBox):
    """A slider for the bits, and the picture of `grid`."""

    def __init__(self, u: np.ndarray, bits: int = 4):
        self.u, self.picture = u, image()
        self.bits = ipywidgets.IntSlider(bits, 2, 16, description="bits", continuous_update=False)
        self.bits.observe(lambda _: self.draw(), "value")
        super().__init__([self.bits, self.picture])
        self.draw()

    def draw(self) -> None:
        self.figure = grid(self.u, self.bits.value)
        self.picture.show(self.figure)


def bits_bench(u: np.ndarray, bits: int = 4) -> BitsBench:
    """Move the bits, and see what becomes of the gradient."""
    return BitsBench(u, bits)
