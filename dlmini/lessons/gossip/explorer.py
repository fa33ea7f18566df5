"""The desk of lesson 08: choose a graph and a number of workers; see its matrix, its spectrum, a rumour spreading."""

from __future__ import annotations

import ipywidgets
import numpy as np

from dlmini.lessons.gossip.spreading import left_after, rumour
from dlmini.lessons.picture_desk import PictureDesk
from dlmini.show.palette import BLUE, GREY, HEAT, VERMILION, themed
from dlmini.show.paper import Sheet, sheet
from dlmini.topology.graphs import GRAPHS, least_pull, matrix_of, period_mean

LEAST = 1e-17  # below this only rounding is left


@themed
def drawn(graph: str, workers: int, rounds: int, t: int) -> Sheet:
    """The matrix of round t, the eigenvalues of the period's mean, a rumour, and what is left of differences."""
    figure, ((a, b), (c, d)) = sheet(10.5, 8, rows=2, columns=2)
    a.imshow(matrix_of(graph, workers, t), cmap=HEAT, vmin=0)
    a.set(title=f"{graph}, round {t}", xlabel="from worker", ylabel="to worker")
    c.imshow(rumour(graph, workers, rounds), cmap=HEAT, vmin=0, vmax=2 / workers, aspect="auto")
    c.set(title="worker 0's news", xlabel="worker", ylabel="round")
    for ax in (a, c):
        ax.grid(visible=False)
        ax.locator_params(integer=True)
    spectrum(b, graph, workers)
    left = left_after(graph, workers, rounds)
    d.semilogy(np.maximum(left, LEAST), color=BLUE)
    d.set(title=f"left of a difference: {left[-1]:.2g}", xlabel="round", ylim=(LEAST, 2))
    return figure


def spectrum(ax, graph: str, workers: int) -> None:
    """Eigenvalues of the mean of K over a period; left of the dashed line, mixed gradients drive workers apart."""
    values, turn = np.linalg.eigvals(period_mean(graph, workers)), np.linspace(0, 2 * np.pi, 200)
    ax.plot(np.cos(turn), np.sin(turn), color=GREY, linewidth=1)
    ax.axvline(0, color=GREY, linestyle="--", linewidth=1)
    for colour, some in ((BLUE, values.real >= -1e-9), (VERMILION, values.real < -1e-9)):
        ax.plot(values[some].real, values[some].imag, "o", color=colour)
    ax.set(title=f"mean of a period: least pull {least_pull(graph, workers):.2g}", aspect="equal")
    ax.set(xlabel="eigenvalue, real part", ylabel="imaginary part")


class Desk(PictureDesk):
    """A drop-down, three sliders and a picture; every change draws it again."""

    def __init__(self, **start):
        choices = {
            "graph": ipywidgets.Dropdown(options=list(GRAPHS), value="ring", description="graph"),
            "workers": ipywidgets.IntSlider(16, 2, 64, description="workers"),
            "rounds": ipywidgets.IntSlider(24, 1, 64, description="rounds"),
            "t": ipywidgets.IntSlider(0, 0, 31, description="show round"),
        }
        super().__init__(choices, drawn, start)


def desk(**start) -> Desk:
    """The desk, beginning with what is given: desk(graph="rotating", workers=16)."""
    return Desk(**start)
