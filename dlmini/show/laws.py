"""`law_card`: what a formula says beside what was measured; green when they agree."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np

from dlmini.checks import real, refuse
from dlmini.show.palette import BAD, GOOD

CARD = (
    '<div style="display:inline-block;min-width:16em;margin:4px;padding:8px 14px;border-left:8px solid {colour};'
    "background:var(--jp-layout-color2,#f6f6f6);"
    'color:var(--jp-content-font-color0,#000);font-family:sans-serif;border-radius:4px"><b>{mark} {name}</b><br>'
    "formula <b>{formula:.6g}</b> · measured <b>{measured:.6g}</b><br>"
    '<span style="opacity:.75">{difference}</span></div>'
)


@dataclass(frozen=True)
class LawCard:
    """tolerance: relative, 0.01 for one per cent; 0 asks for equality. A formula of 0 is compared absolutely."""

    name: str
    formula: float
    measured: float
    tolerance: float = 0.0

    def __post_init__(self):
        if not self.tolerance >= 0:
            raise ValueError(f"{self.name}: the tolerance must be at least 0, not {self.tolerance}")

    @property
    def off(self) -> float:
        """By how much the measurement misses the formula, relative to it."""
        return abs(self.measured - self.formula) / (abs(self.formula) or 1.0)

    @property
    def agrees(self) -> bool:
        return self.off <= self.tolerance

    @property
    def difference(self) -> str:
        return f"{100 * self.off:.3g} % apart, {100 * self.tolerance:.3g} % allowed"

    def _repr_html_(self) -> str:
        mark, colour = ("✓", GOOD) if self.agrees else ("✗", BAD)
        facts = {"formula": self.formula, "measured": self.measured, "difference": self.difference}
        return CARD.format(mark=mark, colour=colour, name=escape(self.name), **facts)

    def __str__(self) -> str:
        word = "agrees" if self.agrees else "DIFFERS"
        return f"{self.name}: {word}, formula {self.formula:.6g}, measured {self.measured:.6g} ({self.difference})"


def law_card(name: str, formula_value: float, measured_value: float, tolerance: float = 0.0) -> LawCard:
    """A card that a notebook shows: green when the measurement is within `tolerance` of the formula."""
    if not isinstance(name, str):
        refuse(TypeError, "name", name, "the law's name")
    formula, measured = number(formula_value, "formula_value"), number(measured_value, "measured_value")
    return LawCard(name, formula, measured, real(tolerance, "tolerance", least=0, infinite=True))


def number(value, name: str) -> float:
    """NaN too: whoever measured nothing sees that the law does not hold."""
    return float(value if isinstance(value, float | np.floating) else real(value, name, infinite=True))
