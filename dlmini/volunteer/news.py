"""What happened last, in lines for people: the newest first.

A host that fails at every unit would fill the page, and whoever joins would not be seen. So each host has one line of
each kind, which is counted and moves to the front.
"""

from __future__ import annotations

from collections import deque


class News:
    """keeps: how many lines."""

    def __init__(self, keeps: int):
        self._lines: deque[tuple[str, str, int]] = deque(maxlen=keeps)  # kind, text, how many of this kind

    def tell(self, text: str, kind: str = "") -> None:
        """kind: what lines have in common that take one place together; without it, each has its own."""
        alike = [line for line in self._lines if kind and line[0] == kind]
        for line in alike:
            self._lines.remove(line)
        self._lines.appendleft((kind, text, 1 + sum(times for *_, times in alike)))

    def lines(self) -> list[str]:
        return [text if times == 1 else f"{text} ({times} times so far)" for _, text, times in list(self._lines)]
