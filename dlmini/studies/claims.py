"""What Tolstobrov 2022 (section 5.3) says of the ten configurations, and what we find, side by side.

The publication gives ranges in words: CIFAR-10 and CIFAR-100, 16 to 210 cores, 100 images a step, 50 epochs. One number
here is calibrated to it: the speed of the machines (see `dlmini compare`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

BANDS = {2: (2, 5), 3: (4, 50), 9: (38, 42)}  # claimed speed-up of communication over configuration 1


READING = """How to read this, and where it differs:

- *Communication* leaves out waiting for a partner that has not sent yet; *with waiting* counts it, as a clock around an
  MPI call does. Bytes alone make configuration 9 lighter by 16 (period) x 10 (5 % of the values, each with its index);
  machines that are never quite equal wait for one another all the same, so what is felt is much less.
- Gossip sends two whole vectors, a ring all-reduce nearly two in 2(N-1) small messages. So gossip saves latency, not
  bytes, and the more the more workers there are: by the link's formula, 2(N-1)(α + βS/N) against α + 2βS.
- The accuracy is that of the mean of all workers' weights, at the last look. Gossip of updates never pulls workers
  together: they drift apart, and a single one of them is several points worse than their mean. The publication does not
  say whose weights it tested.
- What compression leaves out is not lost here but said later (error feedback). The publication drops it.
- The total time of configuration 9 is what the machines' speed was calibrated to, at 60 workers: no prediction there.
"""


@dataclass(frozen=True)
class Claim:
    """`pairs`: configurations (before, after); `low` to `high` is the claimed gain of going from one to the other.

    what: communication, seconds (ratios before / after) or accuracy (points lost, before - after).
    """

    text: str
    what: str
    pairs: tuple[tuple[int, int], ...]
    low: float
    high: float

    def found(self, rows: dict, what: str) -> list[float]:
        """Our figure for each pair whose rows are there."""
        both = [(rows[a], rows[b]) for a, b in self.pairs if a in rows and b in rows]
        if what == "accuracy":
            return [100 * (a.accuracy - b.accuracy) for a, b in both]
        return [getattr(a, what) / (getattr(b, what) or nan) for a, b in both]

    def written(self, values: list[float]) -> str:
        if not values:
            return "–"
        return ", ".join(points(-v) if self.what == "accuracy" else f"×{v:.3g}" for v in values)

    @property
    def band(self) -> str:
        if self.what == "accuracy":
            return f"{-self.low:g} to {-self.high:g} points" if self.low != self.high else f"about {-self.low:g} points"
        return f"×{self.low:g}–{self.high:g}" if self.low != self.high else f"about ×{self.low:g}"


def points(value: float) -> str:
    """With its sign; what is rounded to nothing has none."""
    said = f"{value:+.1f}"
    return said if float(said) else "0.0"


CLAIMS = (
    Claim("gossip instead of all-reduce, period 1, 4, 16", "communication", ((1, 2), (4, 5), (7, 8)), 2, 5),
    Claim("sparsification on top of gossip, period 1, 4, 16", "communication", ((2, 3), (5, 6), (8, 9)), 2, 10),
    Claim("configuration 9 against 1", "communication", ((1, 9),), 40, 40),
    Claim("configuration 9 against 1, slow network", "seconds", ((1, 9),), 2, 3),
    Claim("Local-SGD(4), (16) against (1)", "accuracy", ((1, 4), (1, 7)), 2, 4),
    Claim("gossip instead of all-reduce, period 1", "accuracy", ((1, 2),), 2, 2),
    Claim("sparsification on top of gossip, period 1", "accuracy", ((2, 3),), 1, 2),
    Claim("gossip, and sparsification on top, period 4, 16", "accuracy", ((4, 5), (5, 6), (7, 8), (8, 9)), 0, 0),
    Claim("configuration 9 against 1", "accuracy", ((1, 9),), 1, 3),
)


def beside(rows: Sequence) -> str:
    """A table in Markdown: each claim, the published figure, ours."""
    by_number = {row.number: row for row in rows}
    lines = [
        "| claim | quantity | published | here | with waiting |",
        "|---|---|---|---|---|",
    ]
    for c in CLAIMS:
        waited = c.written(c.found(by_number, "synchronisation")) if c.what == "communication" else ""
        quantity = {"seconds": "total time"}.get(c.what, c.what)
        lines.append(f"| {c.text} | {quantity} | {c.band} | {c.written(c.found(by_number, c.what))} | {waited} |")
    return "\n".join(lines) + "\n"


def table(rows: Sequence) -> str:
    """All configurations in Markdown, each beside the first."""
    first = rows[0]
    lines = [
        "| configuration | accuracy | seconds | compute | communication | waiting | faster: communication "
        "| with waiting | in all | MB |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        times = " | ".join(f"{t:.3f}" for t in (r.seconds, r.compute, r.communication, r.waiting))
        gains = ((first.communication, r.communication), (first.synchronisation, r.synchronisation))
        faster = " | ".join(f"×{a / (b or nan):.3g}" for a, b in (*gains, (first.seconds, r.seconds)))
        lines.append(f"| {r.label} | {r.accuracy:.1%} | {times} | {faster} | {r.megabytes:,.1f} |")
    return "\n".join(lines) + "\n"
