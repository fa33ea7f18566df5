"""S2: DistBelief (Makogon's report on Dean et al.)."""

from __future__ import annotations

from dlmini.studies.distbelief import scaling
from dlmini.studies.distbelief.published import BEST, GAIN, LARGEST, LARGEST_GAIN, LARGEST_WEIGHTS
from dlmini.studies.reproduction.row import Row

TITLE = "S2: DistBelief"
RECKON = "dlmini distbelief --world reckoned"
RACE = "dlmini distbelief --world simulated"
THEIRS = "Dean et al. say it, the report does not"
CHOSEN = f"{THEIRS}; speeds and cables are not in the paper: round numbers, with examples in a step chosen so"
EXAMPLES, POWERS = 4, (1, 2, 4, 8, 16, 32, 64)


def rows(long: bool = False) -> list[Row]:
    by, full, local = scaling.Machines(), scaling.FullyConnected(), scaling.LocallyConnected()
    best = min(POWERS, key=lambda machines: scaling.reckoned(full, machines, EXAMPLES, by))
    return [
        Row("fully connected: fastest on", BEST, best, RECKON, CHOSEN, "machines"),
        Row("fully connected: gain there", GAIN, gain(full, best, by), RECKON, CHOSEN, "x"),
        Row(
            f"locally connected: gain on {LARGEST}",
            LARGEST_GAIN,
            gain(local, LARGEST, by),
            RECKON,
            f"{THEIRS}, and it is more than 12; our machines vary less",
            "x",
        ),
        Row("weights of the largest network", LARGEST_WEIGHTS, local.weights, RECKON, "reckoned with, not trained"),
        Row(
            "accuracy of the largest network",
            "15 %, a relative gain of more than 60 %",
            "not tried",
            RECKON,
            "another task: neither that network nor its data can be had here",
        ),
        Row(
            "accuracy against time, four methods",
            "a figure",
            "a figure",
            RACE,
            "docs/distbelief.md: where it agrees and where not",
        ),
    ]


def gain(network, machines: int, by) -> float:
    """How much faster than one machine."""
    return scaling.reckoned(network, 1, EXAMPLES, by) / scaling.reckoned(network, machines, EXAMPLES, by)
