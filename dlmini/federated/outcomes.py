"""Every rule against every attack, in one table: where each holds, and where it fails.

    print(table(updates, f=3))                   one step: how far from the honest mean
    print(markdown(trained(task, federation, on)))   many steps: the accuracy at the end
In the first an entry is |outcome - honest mean| / (the honest clients' own mean distance from it), and the sign of
progress: a rule that is turned round goes uphill, and its entry is marked by "!". A rule with too few clients says
"n < ..." instead.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dlmini.federated.attacks import Alie, InnerProduct, LabelFlip, Mimic, SignFlip, attacked
from dlmini.federated.federation import federate
from dlmini.federated.robust import (
    Bucketing,
    Bulyan,
    CentredClipping,
    GeometricMedian,
    Krum,
    Mean,
    Median,
    MultiKrum,
    TrimmedMean,
)
from dlmini.federated.strategies import FedAvg

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
        lines.append(f"| {name(rule)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def turned(text: str) -> dict[str, str]:
    """rule -> the first attack of such a table by which it goes uphill; rules that none turns are not named."""
    found = {}
    for line in text.splitlines()[2:]:
        rule, *cells = line.strip("| ").split(" | ")
        if up := [word for word, cell in zip(ATTACKS, cells, strict=True) if cell.endswith("!")]:
            found[rule] = up[0]
    return found


def name(rule) -> str:
    inner = f" + {type(rule.rule).__name__}" if isinstance(rule, Bucketing) else ""
    return f"{type(rule).__name__}{inner}"


NOBODY = "nobody lies"


def trained(task, federation, on, chosen=None, attacks=None, tau: float = 1.0) -> dict[str, dict[str, float]]:
    """rule -> attack -> accuracy at the end, with federation.liars liars, who are also what the rules expect.

    A rule for which too few clients take part in a round has no entry. chosen: rules, or those of `rules`. attacks: by
    name, or those of the first table and label flip; "nobody lies" comes first. tau: of centred clipping.
    """
    f = federation.liars
    chosen = [*rules(f, tau), Bucketing(Median(f))] if chosen is None else chosen
    attacks = {**ATTACKS, "label flip": LabelFlip()} if attacks is None else attacks
    found = {}
    for rule in chosen:
        if federation.drawn >= rule.least(rule.f):
            runs = {NOBODY: replace(federation, liars=0, attack=None, strategy=FedAvg(rule))}
            runs |= {word: replace(federation, attack=one, strategy=FedAvg(rule)) for word, one in attacks.items()}
            found[name(rule)] = {word: federate(task, run, on).accuracies[-1] for word, run in runs.items()}
    return found


def markdown(found: dict[str, dict[str, float]]) -> str:
    """Per cent, a line per rule."""
    columns = [*next(iter(found.values()))]
    lines = [f"| rule | {' | '.join(columns)} |", "|---" * (1 + len(columns)) + "|"]
    return "\n".join(
        [*lines, *(f"| {rule} | {' | '.join(f'{row[c]:.0%}' for c in columns)} |" for rule, row in found.items())]
    )
