"""Places in programs: which line of whose code a call came from."""

from __future__ import annotations

import linecache
from functools import lru_cache
from pathlib import Path

ROOMS = [Path(__file__).parents[1] / room for room in ("comm", "sim")]
HOUSE = frozenset(str(file) for room in ROOMS for file in room.glob("**/*.py"))


def outside(frame):
    """The first frame outside the library: the one that the author of the program knows."""
    while frame.f_code.co_filename in HOUSE and frame.f_back is not None:
        frame = frame.f_back
    return frame


@lru_cache(maxsize=4096)
def place(code, lasti: int) -> str:
    """file:line: text, of an instruction."""
    line = next((n for start, end, n in code.co_lines() if start <= lasti < end and n), code.co_firstlineno)
    return f"{code.co_filename}:{line}: {linecache.getline(code.co_filename, line).strip()}".removesuffix(": ")
