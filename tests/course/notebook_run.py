"""One notebook from top to bottom, in a kernel of its own: `python notebook_run.py notebook pid-file`."""

import sys
from pathlib import Path

import nbclient
import nbformat

WIDGET = "application/vnd.jupyter.widget-view+json"


def run(file: Path, note: Path) -> None:
    book = nbformat.read(file, as_version=4)
    client = nbclient.NotebookClient(
        book, timeout=None, kernel_name="python3", resources={"metadata": {"path": str(file.parent)}}
    )
    with client.setup_kernel():
        note.write_text(str(client.km.provisioner.pid))
        for number, cell in enumerate(book.cells):
            client.execute_cell(cell, number)
    bare = [cell.source for cell in book.cells if is_bare(cell.get("outputs", ()))]
    assert not bare, f"in a static copy these cells would show nothing: {bare}"


def is_bare(outputs) -> bool:
    """Live outputs each of which does not leave a picture or a card, marked as such, for where there are no widgets."""
    kept = [left.get("data", {}) for left in outputs if left.get("metadata", {}).get("dlmini") == "still"]
    drawn = [data for data in kept if "<img " in data.get("text/html", "") or "<div " in data.get("text/html", "")]
    return len(drawn) < sum(WIDGET in left.get("data", {}) for left in outputs)


if __name__ == "__main__":
    run(*map(Path, sys.argv[1:]))
