"""Every rule against every attack, in one table: where each holds, and where it fails.

    print(table(updates, f=3))
An entry is |outcome - honest mean| / (the honest clients' own mean distance from it), and the sign of progress: a rule
that is turned round goes uphill, and its entry is marked by "!". A rule with too few clients says "n < ..." instead.
"""

from __future__ import annotations

import numpy as np

from dlmini.federated.attacks import Alie, InnerProduct, Mimic, SignFlip, attacked
from dlmini.federated.robust import (
    Bulyan,
    CentredClipping,
    GeometricMedian,
    Krum,
    Mean,
    Median,
    MultiKrum,
    TrimmedMean,
)

ATTACKS = {"sign flip x10": SignFlip(10.0), "inner product": InnerProduct(0.5), "ALIE": Alie(), "mimic": Mimic()}


def rules(f: int, tau: float) -> list:
    family = [Median(f), TrimmedMean(f), Krum(f), MultiKrum(f), Bulyan(f), GeometricMedian(f)]
    return [Mean(), *family, CentredClipping(f, tau)]


def entry(rule, honest: np.ndarray, attack, f: int) -> str:
    updates, mean = attacked(honest, attack, f), honest.mean(axis=0)
    if len(updates) < rule.least(rule.f):
        return f"n < {rule.inequality}"
    found = rule(updates)
    own = np.linalg.norm(honest - mean, axis=1).mean()
    return f"{np.linalg.norm(found - mean) / own:.2f}" + ("!" if found @ mean <= 0 else "")


def table(honest: np.ndarray, f: int) -> str:
    """Markdown: a line per rule, a column per attack. honest: updates of the honest clients, one row each."""
    tau = float(np.median(np.linalg.norm(honest - np.median(honest, axis=0), axis=1)))
    lines = [f"| rule | {' | '.join(ATTACKS)} |", "|---" * (1 + len(ATTACKS)) + "|"]
    for rule in rules(f, tau):
        cells = [entry(rule, honest, attack, f) for attack in ATTACKS.values()]
        lines.append(f"| {type(rule).__name__} | {' | '.join(cells)} |")
    return "\n".join(lines)
