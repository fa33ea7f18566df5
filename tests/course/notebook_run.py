"""One notebook from top to bottom, in a kernel of its own: `python notebook_run.py notebook pid-file`."""

import sys
from pathlib import Path

import nbclient
import nbformat


def run(file: Path, note: Path) -> None:
    book = nbformat.read(file, as_version=4)
    client = nbclient.NotebookClient(
        book, timeout=None, kernel_name="python3", resources={"metadata": {"path": str(file.parent)}}
    )
    with client.setup_kernel():
        note.write_text(str(client.km.provisioner.pid))
        for number, cell in enumerate(book.cells):
            client.execute_cell(cell, number)


if __name__ == "__main__":
    run(*map(Path, sys.argv[1:]))
