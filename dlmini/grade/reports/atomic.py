"""Writing a report so that it is there as a whole or not at all."""

from __future__ import annotations

from pathlib import Path

from dlmini.files import write_text


def write(file: Path, text: str) -> Path:
    """In its folder, which is made if need be."""
    file.parent.mkdir(parents=True, exist_ok=True)
    return write_text(file, text)
