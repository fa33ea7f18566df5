"""How many examples a property is tried on, and whether they are new ones; how much of a large family is tried.

Usually the same few every time, so that a change that passed here passes elsewhere. In the long form (DLMINI_LONG=1)
many more, drawn anew every time: a property that fails prints its example, and `.hypothesis` keeps it for the next run.
A family of cases (every lesson with every strange answer) is usually thinned out, by a rule and not by chance: every
member of either side is still tried, only not with all of the other. The long form tries all of it.
"""

import os
from collections.abc import Iterable

from hypothesis import HealthCheck, settings

LONG = os.environ.get("DLMINI_LONG") == "1"
USUAL, MORE = 100, 20

# The first call of a kernel compiles it, so no example has a deadline.
settings.register_profile(
    "usual", max_examples=USUAL, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "long", settings.get_profile("usual"), max_examples=USUAL * MORE, derandomize=False, print_blob=True
)


def examples(usually: int, **more) -> settings:
    """@examples(60): as many, and in the long form more."""
    return settings(max_examples=usually * MORE if LONG else usually, **more)


def some(cases: Iterable, every: int, first: int = 0) -> list:
    """Every so-manieth of the cases, beginning with case `first`; all of them in the long form."""
    cases = list(cases)
    return cases if LONG else cases[first % every :: every] or cases[:1]


def crossed(rows: Iterable, columns: Iterable, every: int) -> list[tuple]:
    """Pairs (row, column) along every so-manieth diagonal, so that each row and each column is there; or all pairs."""
    rows, columns = list(rows), list(columns)
    if every > max(1, min(len(rows), len(columns))):
        raise ValueError(f"every {every}th diagonal of {len(rows)} x {len(columns)} pairs would leave somebody out")
    pairs = [(i, j) for i in range(len(rows)) for j in range(len(columns)) if LONG or (i + j) % every == 0]
    return [(rows[i], columns[j]) for i, j in pairs]
