"""What a check says: good, warning (lessons run, but something is worth knowing), broken (lessons will fail)."""

from __future__ import annotations

from typing import NamedTuple

GOOD, WARNING, BROKEN = "good", "warning", "broken"


class Finding(NamedTuple):
    """One row of the doctor's table; `fix` is a sentence, and empty if there is nothing to do."""

    check: str
    status: str
    found: str
    fix: str = ""


def good(check: str, found: str) -> Finding:
    return Finding(check, GOOD, found)


def warning(check: str, found: str, fix: str) -> Finding:
    return Finding(check, WARNING, found, fix)


def broken(check: str, found: str, fix: str) -> Finding:
    return Finding(check, BROKEN, found, fix)
