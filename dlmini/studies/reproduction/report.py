"""The page: a table for each document, no row empty."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from dlmini.studies.reproduction import classroom, distbelief, levels, simulator, volunteers
from dlmini.studies.reproduction.row import Row

DOCUMENTS = {"S0": volunteers, "S1": classroom, "S2": distbelief, "S3": levels, "S4": simulator}
HEAD = "| figure | published | here | ratio | why they differ, what was chosen | made by |"
ABOUT = (
    "Every figure of the five source documents, as it was published and as it comes out here. A ratio is ours by "
    "theirs. Figures of hours of training are made by the command that their row names. "
    "Kinds of processors round differently: one accuracy moves by up to about half a point between them."
)


def reproduced(
    names: Iterable[str], long: bool = False, say: Callable[[str], None] = lambda line: None
) -> dict[str, list[Row]]:
    """The rows of these documents."""
    found = {}
    for name in names:
        began = time.perf_counter()
        found[name] = DOCUMENTS[name].rows(long)
        say(f"{DOCUMENTS[name].TITLE}: {len(found[name])} rows in {time.perf_counter() - began:.0f} s")
    return found


def text(found: dict[str, list[Row]]) -> str:
    parts = ["# Published, and here", ABOUT]
    for name, rows in found.items():
        parts += [f"## {DOCUMENTS[name].TITLE}", table(rows)]
    return "\n\n".join(parts) + "\n"


def table(rows: list[Row]) -> str:
    lines = [f"| {' | '.join(cell.replace('|', '/') for cell in row.cells())} |" for row in rows]
    return "\n".join([HEAD, "|---" * 6 + "|", *lines])
