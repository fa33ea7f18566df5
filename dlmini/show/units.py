"""Numbers as people say them: milliseconds instead of 0.0031, megabytes instead of 3100000."""

from __future__ import annotations

SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "bytes"))


def unit(largest: float, units=SECONDS) -> tuple[float, str]:
    """The unit in which `largest` is at least 1: (its size, its name). Nothing is counted in whole ones."""
    fits = (it for it in units if largest >= it[0]) if largest else (it for it in units if it[0] == 1)
    return next(fits, units[-1])


def said(value: float, units=SECONDS) -> str:
    """A value with its unit, in three digits."""
    size, name = unit(abs(value), units)
    return f"{value / size:.3g} {name}"
