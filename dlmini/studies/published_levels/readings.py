"""What the document leaves open. Each switch has the reading that we take for the likeliest first."""

from __future__ import annotations

from dataclasses import dataclass, fields

from dlmini.checks import settle, word

CHOICES = {
    "own": ("sent", "where_sent", "whole"),
    "advance": ("iteration", "exchange"),
    "mixed": ("sum", "gradient", "weights"),
    "tested": ("first", "mean"),
    "loss": ("sum", "mean"),
}


@dataclass(frozen=True)
class Reading:
    """One way to read Algorithms 1 to 3.

    own      Algorithm 3, line 7: how a device counts its own gradient. "sent": as it sends it, without what is below
             the threshold; "where_sent": whole, at the places where any of the three exceeds the threshold ("only
             weights whose indices ..."); "whole": whole, everywhere
    advance  lines 7 to 10: is s, the distance of partners, advanced in every "iteration", as the lines stand, or with
             every "exchange"? They differ from a period of 2 on. By iterations, P = 16 and p = 16 always give s = 8
    mixed    what travels by gossip every p steps, which no algorithm says. "sum": the gradients since the last
             exchange; "gradient": that of the last step alone; "weights": as in Algorithm 1, the mean of three, then
             a step
    tested   whose weights are tried after an epoch: those of the "first" device, or the "mean" of all
    loss     E is a "sum" over the batch, so that rate and threshold are of a sum; or, as in most programs, a "mean"
    """

    own: str = "sent"
    advance: str = "iteration"
    mixed: str = "sum"
    tested: str = "first"
    loss: str = "sum"

    def __post_init__(self):
        for name, choices in CHOICES.items():
            settle(self, **{name: word(getattr(self, name), name, choices)})

    def __str__(self) -> str:
        return ", ".join(f"{field.name}={getattr(self, field.name)}" for field in fields(self))


def read_reading(text: str) -> Reading:
    """`own=whole,tested=mean`; what is not named is as usual."""
    chosen = {}
    for pair in filter(None, text.split(",")):
        name, equals, choice = (part.strip() for part in pair.partition("="))
        if not equals or name not in CHOICES:
            raise ValueError(f"--reading {pair}: give some of {offered()}, such as own=whole,tested=mean")
        if name in chosen:
            raise ValueError(f"--reading {text}: {name} stands there twice")
        if choice not in CHOICES[name]:
            raise ValueError(f"--reading {pair}: {name} is one of {', '.join(CHOICES[name])}")
        chosen[name] = choice
    return Reading(**chosen)


def offered() -> str:
    return ", ".join(f"{name}={'|'.join(choices)}" for name, choices in CHOICES.items())
