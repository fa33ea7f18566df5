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
    bare = [cell.source for cell in book.cells if any(is_bare(left) for left in cell.get("outputs", ()))]
    assert not bare, f"in a static copy these cells would show nothing: {bare}"


def is_bare(left) -> bool:
    """A live output that leaves neither a picture nor a card for where there are no widgets."""
    data = left.get("data", {})
    return WIDGET in data and not {"image/png", "text/html"} & data.keys()


if __name__ == "__main__":
    run(*map(Path, sys.argv[1:]))
