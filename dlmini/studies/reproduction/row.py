"""A row of the report: what a document says, what is found here, and how to find it again."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

DIGITS, PUBLISHED = 4, 6  # of ours; of theirs, so many that none is lost


@dataclass(frozen=True)
class Row:
    """One figure.

    published, here: numbers, or words where the document gives words or where nothing is to be had; unit: of both;
    command: what makes it again; why: why they differ, or what was chosen.
    """

    what: str
    published: float | str
    here: float | str
    command: str
    why: str = ""
    unit: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours by theirs, where both are numbers."""
        both = isinstance(self.published, int | float) and isinstance(self.here, int | float)
        return self.here / self.published if both and self.published and isfinite(self.here) else None

    def cells(self) -> list[str]:
        ratio = "" if self.ratio is None else f"{self.ratio:.3g}"
        theirs = self.said(self.published, PUBLISHED)
        return [self.what, theirs, self.said(self.here), ratio, self.why, f"`{self.command}`"]

    def said(self, value: float | str, digits: int = DIGITS) -> str:
        if isinstance(value, str):
            return value
        shown = f"{value:,}" if isinstance(value, int) else f"{value:.{digits}g}"
        return f"{shown} {self.unit}".rstrip()
