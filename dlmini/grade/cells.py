"""The runners of one submission, and how patient to be with them."""

from __future__ import annotations

import os
from contextlib import ExitStack

from dlmini.grade.cell import Cell
from dlmini.grade.limits import Limits


class Cells:
    """The runners of one submission, one per rank, started when first needed and replaced when lost."""

    def __init__(self, sandbox, limits: Limits):
        self.sandbox, self.limits, self.cells = sandbox, limits, []

    def take(self, count: int) -> list[Cell]:
        """So many runners that serve. They start together, before any of them is waited for."""
        for i in range(count):
            if i == len(self.cells):
                self.cells.append(Cell(self.sandbox, self.limits))
            elif self.cells[i].process.poll() is not None:
                self.cells[i].close()
                self.cells[i] = Cell(self.sandbox, self.limits)
        for cell in self.cells[:count]:
            cell.come_up()
        return self.cells[:count]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with ExitStack() as closing:
            for cell in self.cells:
                closing.callback(cell.close)


def crowded() -> float:
    """How much more wall time is fair now: with many times more work than cores everything takes longer."""
    if not hasattr(os, "getloadavg"):
        return 1.0
    return min(3.0, max(1.0, os.getloadavg()[0] / (2 * (os.cpu_count() or 1))))
