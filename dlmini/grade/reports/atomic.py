"""Writing a file so that it is there as a whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write(file: Path, text: str) -> Path:
    """Beside it first, then in its place."""
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    with beside.open("w", encoding="utf-8", newline="") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    os.replace(beside, file)
    return file
