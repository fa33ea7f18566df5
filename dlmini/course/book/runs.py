"""A lesson's notebook run from top to bottom with all exercises solved; what it left is kept for the next book.

    FOLDER/.outputs/04_allreduce-1f0c….ipynb       named by notebook, solutions, size of experiments and version

A lesson that fails keeps what it left until then, and is run again the next time.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import dlmini
from dlmini.files import write_text

KEPT = ".outputs"
SECONDS = 600  # that one cell may take


class Run(NamedTuple):
    notebook: dict
    failure: str = ""  # one sentence, if it did not reach its end
    kept: bool = False  # from an earlier book


def run(text: str, name: str, solutions: Path, folder: Path, profile: str) -> Run:
    """The notebook with outputs, kept or new."""
    import nbformat

    place = folder / KEPT / f"{name}-{fingerprint(text, solutions, profile)}.ipynb"
    if place.is_file():
        return Run(nbformat.read(place, as_version=4), kept=True)
    book = nbformat.reads(text, as_version=4)
    failure = executed(book, solutions, profile)
    if not failure:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_text(place, nbformat.writes(book) + "\n")
        for old in {*place.parent.glob(f"{name}-*.ipynb")} - {place}:
            old.unlink()
    return Run(book, failure)


def fingerprint(text: str, solutions: Path, profile: str) -> str:
    """Equal if outputs would be: of the same notebook, solutions, profile and version."""
    said = [text.encode(), profile.encode(), dlmini.__version__.encode()]
    said += [file.read_bytes() for file in sorted(solutions.glob("*.py"))]
    return hashlib.sha256(b"\0".join(said)).hexdigest()[:16]


def executed(book, solutions: Path, profile: str) -> str:
    """Run it in place, in a folder of its own; empty, or one sentence about how it failed."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellControlSignal, DeadKernelError

    with tempfile.TemporaryDirectory(prefix="dlmini-book-", ignore_cleanup_errors=True) as work:
        shutil.copytree(solutions, Path(work) / "exercises")
        here = Path(work) / "notebooks"
        here.mkdir()
        env = {**os.environ, "DLMINI_PROFILE": profile, "DLMINI_WORK": work, "IPYTHONDIR": work}
        client = NotebookClient(
            book, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": str(here)}}
        )
        try:
            client.execute(env=env, stderr=subprocess.DEVNULL)  # a kernel warns of things that are as they should be
        except (CellControlSignal, DeadKernelError) as error:
            return told(book, error)
    return ""


def told(book, error: Exception) -> str:
    """Which cell failed, and how."""
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    for number, cell in enumerate(cells, 1):
        for left in cell.outputs:
            if left.output_type == "error":
                return f"code cell {number} of {len(cells)} ended with {left.ename}: {left.evalue}"
    done = sum(cell.execution_count is not None for cell in cells)
    return f"it stopped after {done} of {len(cells)} code cells: {first_line(error)}"


def first_line(error: Exception) -> str:
    return next((line for line in re.split(r"\n+", str(error)) if line.strip()), type(error).__name__)
