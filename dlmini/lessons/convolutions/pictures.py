"""The still pictures of lesson 02: windows, maps, the matrix of a convolution, pooling, speeds, filters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dlmini.lessons.convolutions.by_hand import convolve
from dlmini.lessons.convolutions.speed import Layer, Speed
from dlmini.show.palette import BLUE, GREY, HEAT, PALE, VERMILION, themed
from dlmini.show.paper import sheet

TWO_SIDED = "RdBu_r"  # below zero blue, above zero red, zero white
HIGHLIGHT = "#f0e44280"
PLATE = {"color": "white", "pad": 1}


def numbers(ax, matrix: np.ndarray, title: str, lit: np.ndarray | None = None) -> None:
    """A matrix as a table; cells of `lit` are highlighted."""
    rows, columns = matrix.shape
    for (i, j), value in np.ndenumerate(matrix):
        if lit is not None and lit[i, j]:
            ax.fill([j, j + 1, j + 1, j], [i, i, i + 1, i + 1], color=HIGHLIGHT, linewidth=0)
        ax.annotate(f"{value:g}", (j + 0.5, i + 0.5), ha="center", va="center")
    ax.set(xlim=(0, columns), ylim=(rows, 0), aspect="equal", title=title)
    ax.set_xticks(range(columns + 1), [])
    ax.set_yticks(range(rows + 1), [])
    ax.tick_params(length=0)
    ax.grid(color=GREY)


@themed
def one_window(x: np.ndarray, w: np.ndarray, i: int, j: int):
    """The window that makes output (i, j): it is multiplied by the filter, cell by cell, and summed."""
    y = convolve(x[None, :, :, None].astype(float), w[:, :, None, None].astype(float))[0, :, :, 0]
    seen, made = np.zeros(x.shape, bool), np.zeros(y.shape, bool)
    seen[i : i + w.shape[0], j : j + w.shape[1]] = made[i, j] = True
    figure, axes = sheet(9, 4.2, columns=3, width_ratios=[x.shape[1], w.shape[1], y.shape[1]])
    for ax, matrix, title, lit in zip(
        axes, (x, w, y), ("image x", "filter w", f"map y; y[{i}, {j}] is lit"), (seen, None, made), strict=True
    ):
        numbers(ax, matrix, title, lit)
    return figure


@themed
def pooled(x: np.ndarray, dy: np.ndarray, dx: np.ndarray):
    """Where each maximum was, the slopes that come back, and where they go."""
    tiles = x.reshape(x.shape[0] // 2, 2, x.shape[1] // 2, 2)
    largest = np.repeat(np.repeat(tiles.max(axis=(1, 3)), 2, axis=0), 2, axis=1)
    figure, axes = sheet(11, 4.1, columns=4, width_ratios=[2, 1, 1, 2])
    numbers(axes[0], x, "x; the largest of each 2 × 2", x == largest)
    numbers(axes[1], tiles.max(axis=(1, 3)), "y")
    numbers(axes[2], dy, "dy")
    numbers(axes[3], dx, "dx", dx != 0)
    return figure


@themed
def by_hand(image: np.ndarray, maps: Mapping[str, np.ndarray]):
    """An image, and what each filter makes of it: red where it answers yes, blue where it answers the contrary."""
    figure, axes = sheet(2.4 * (len(maps) + 1), 2.8, columns=len(maps) + 1)
    axes[0].imshow(image, cmap="gray_r")
    axes[0].set_title("image")
    for ax, (name, found) in zip(axes[1:], maps.items(), strict=True):
        limit = np.abs(found).max()
        ax.imshow(found, cmap=TWO_SIDED, vmin=-limit, vmax=limit)
        ax.set_title(name)
    for ax in axes:
        ax.axis("off")
    return figure


@themed
def matrix(A: np.ndarray):
    """The matrix of a convolution, and its transpose; white is zero."""
    figure, axes = sheet(11, 4, columns=2, width_ratios=[A.shape[1], A.shape[0]])
    limit = np.abs(A).max()
    for ax, found, name in zip(axes, (A, A.T), ("A: from pixels of x to pixels of y", "its transpose"), strict=True):
        ax.imshow(found, cmap=TWO_SIDED, vmin=-limit, vmax=limit)
        ax.set_title(name)
        ax.set_xticks(np.arange(-0.5, found.shape[1]), [])
        ax.set_yticks(np.arange(-0.5, found.shape[0]), [])
        ax.tick_params(length=0)
    return figure


@themed
def speeds(rows: Sequence[Speed], peak: float):
    """A bar for each way, logarithmic; a line at what the machine can do at most."""
    figure, ax = sheet(10, 1.4 + 0.45 * len(rows))
    places = range(len(rows))
    ax.barh(places, [row.gflops for row in rows], color=[VERMILION if row.gflops > peak else BLUE for row in rows])
    for place, row in enumerate(rows):
        ax.annotate(
            f"{row.gflops:.3g}", (row.gflops, place), (5, 0), textcoords="offset points", va="center", bbox=PLATE
        )
    ax.axvline(peak, color=GREY, linestyle="--")
    ax.annotate(f"NumPy's best matrix product: {peak:.3g}", (peak, -0.75), ha="right", color=GREY)
    ax.set_yticks(places, [row.label for row in rows])
    ax.set(
        xscale="log",
        ylim=(len(rows) - 0.4, -1.1),
        xlabel="thousand million operations of the definition a second (GFLOP/s)",
    )
    ax.set_xlim(right=5 * max(peak, *(row.gflops for row in rows)))
    ax.grid(axis="y", visible=False)
    return figure


@themed
def roofline(layer: Layer, rows: Sequence[Speed], peak: float, memory: float):
    """Operations a second over operations per byte: two roofs, and the two ways whose traffic is known."""
    figure, ax = sheet(9, 4.5)
    bytes_of = {"NumPy, im2col": layer.im2col_bytes, "dlmini, direct": layer.least_bytes}
    intensity = np.geomspace(0.2, 500, 200)
    ax.plot(intensity, np.minimum(peak, memory * intensity), color=GREY)
    ax.annotate(f"memory: {memory:.3g} GB/s", (0.4, memory * 0.4), (8, -14), textcoords="offset points", color=GREY)
    roof = f"the core, by NumPy's product: {peak:.3g} GFLOP/s"
    ax.annotate(roof, (500, peak), (0, 6), textcoords="offset points", ha="right", color=GREY)
    for row in rows:
        if row.label in bytes_of:
            at = layer.flops / bytes_of[row.label]
            ax.plot(at, row.gflops, "o", markersize=10, color=BLUE)
            ax.annotate(row.label, (at, row.gflops), (0, -18), textcoords="offset points", ha="center", bbox=PLATE)
    ax.set(xscale="log", yscale="log", xlabel="operations per byte", ylabel="GFLOP/s", ylim=(memory * 0.2, peak * 2))
    return figure


@themed
def filters_and_maps(rows: Mapping[str, tuple[np.ndarray, np.ndarray]], image: np.ndarray):
    """For each name a row of filters [k, k, 1, C], and a row of their maps [H, W, C] of the image."""
    channels = next(iter(rows.values()))[0].shape[-1]
    figure, axes = sheet(1.25 * (channels + 1), 2.75 * len(rows), rows=2 * len(rows), columns=channels + 1)
    for ax in axes.flat:
        ax.axis("off")
    for k, (name, (filters, maps)) in enumerate(rows.items()):
        axes[2 * k][0].annotate(name, (0, 0.5), xycoords="axes fraction")
        axes[2 * k + 1][0].imshow(image, cmap="gray_r")
        limit, most = np.abs(filters).max(), maps.max()
        for c in range(channels):
            axes[2 * k][c + 1].imshow(filters[:, :, 0, c], cmap=TWO_SIDED, vmin=-limit, vmax=limit)
            axes[2 * k + 1][c + 1].imshow(maps[:, :, c], cmap=HEAT, vmin=0, vmax=most)
    figure.set_facecolor(PALE)
    return figure
