"""The message log as the engine writes it: a row of six entries per message, all rows in one list.

A tuple per message would be simpler. But the garbage collector counts every new tuple, and visits all of them and what
lies around them again and again; entries of a list it does not count.
"""

from __future__ import annotations

from collections.abc import Iterator


class Log:
    """Iterating gives (sent, here, (source, dest, channel), nbytes, code, lasti), in the order of coming."""

    __slots__ = ("flat",)

    def __init__(self):
        self.flat: list = []

    def __iter__(self) -> Iterator[tuple]:
        entries = iter(self.flat)
        return zip(*[entries] * 6, strict=True)
