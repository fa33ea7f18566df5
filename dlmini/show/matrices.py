"""`mixing_matrix` and `link_heatmap`: who hears whom, and who sends how much to whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from dlmini.checks import numbers, refuse, row_of
from dlmini.show.palette import BLACK, BLUE, GREY, HEAT, VERMILION, themed
from dlmini.show.paper import sheet
from dlmini.show.units import BYTES, unit

READABLE = 12  # up to this size the numbers are written into the cells


def grid(figure, axes, values: np.ndarray, text: str, **words) -> None:
    """A matrix as coloured squares, with a colour bar."""
    from matplotlib import rcParams

    image = axes.imshow(values, cmap=HEAT)
    axes.grid(visible=False)
    axes.set(**words)
    if len(values) <= READABLE:
        axes.set_xticks(range(values.shape[1]))
        axes.set_yticks(range(values.shape[0]))
        small = min(rcParams["font.size"], 95 / len(values))  # so that the numbers fit
        middle = (np.nanmax(values) + np.nanmin(values)) / 2
        for (i, j), value in np.ndenumerate(values):
            if value:
                colour = BLACK if value > middle else "white"
                axes.text(
                    j, i, f"{value:.{2 if value < 1 else 3}g}", ha="center", va="center", color=colour, fontsize=small
                )
    figure.colorbar(image, ax=axes, label=text, shrink=0.8)


@themed
def mixing_matrix(K: np.ndarray, title: str = "Who hears whom"):
    """The matrix, and its eigenvalues: the second largest, in red, says how slowly differences die.

    spectral gap = 1 - |second eigenvalue|
    """
    K = numbers(K, "K", 2, "a square matrix of numbers, such as Gossip('ring').matrix(8, 0)")
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"K is a mixing matrix and must be square, but this array has the shape {K.shape}")
    values = np.linalg.eigvals(K)
    values = values[np.argsort(-np.abs(values))]
    figure, (left, right) = sheet(11, 4.8, columns=2)
    grid(figure, left, K, "share", xlabel="from rank", ylabel="to rank", title=title)
    turn = np.linspace(0, 2 * np.pi, 200)
    right.plot(np.cos(turn), np.sin(turn), color=GREY, linewidth=1)
    right.plot(values.real, values.imag, "o", color=BLUE)
    if len(values) > 1:
        second = abs(values[1])
        right.plot(values[1].real, values[1].imag, "o", color=VERMILION)
        right.plot(second * np.cos(turn), second * np.sin(turn), "--", color=VERMILION, linewidth=1)
        right.set_title(f"spectral gap {1 - second:.3g}")
    ticks = (-1, -0.5, 0, 0.5, 1)
    right.set(xlabel="eigenvalue, real part", ylabel="imaginary part", aspect="equal", xticks=ticks, yticks=ticks)
    return figure


def bytes_between(books) -> np.ndarray:
    """[source, dest] in bytes: of Books, of a mapping from pairs to bytes or Traffic, or of ledger entries."""
    if hasattr(books, "per_pair"):
        books = books.per_pair()
    if not isinstance(books, Mapping):
        books = row_of(books, "books", ("source", "dest", "nbytes"), "results.books, or entries of a ledger")
        books = {(e.source, e.dest): sum_of(books, e) for e in books}
    if not books:
        raise ValueError("the books are empty: nobody has sent anything")
    if not all(isinstance(pair, tuple) for pair in books):
        refuse(TypeError, "books", books, "a mapping of (source, dest) to bytes")
    size = 1 + max(max(pair) for pair in books)
    found = np.zeros((size, size))
    for pair, traffic in books.items():
        found[pair] = getattr(traffic, "nbytes", traffic)
    return found


def sum_of(entries: Iterable, one) -> int:
    return sum(e.nbytes for e in entries if (e.source, e.dest) == (one.source, one.dest))


@themed
def link_heatmap(books, title: str = "Bytes on every link"):
    """A square per pair of ranks, brighter where more was sent. `books` are those of a run's results."""
    found = bytes_between(books)
    size, name = unit(found.max(), BYTES)
    figure, axes = sheet(6.4, 5.2)
    grid(figure, axes, found / size, name, xlabel="to rank", ylabel="from rank", title=title)
    return figure
