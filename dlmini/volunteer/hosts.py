"""What the dispatcher knows of a host: how much it may take, and how far it is trusted. BOINC's rules.

Quota: a reported success doubles the daily quota up to the project's limit, a valid answer adds 1, an error, an invalid
answer or a missed deadline subtracts 1; at least 1 is left, so that a mended host can show that it is.

Trust (adaptive replication): a host with fewer than 10 valid answers in a row is always checked by others; one with
n is checked with probability 1/n. Answers count if others gave them too; an invalid or missing one ends the row.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

DAY = 86400.0
ALWAYS_CHECKED = 10  # valid answers in a row until somebody may be trusted
MASK = 2**64 - 1


@dataclass(slots=True)
class Host:
    kind: str  # hosts of one kind compute equal bits
    quota: int  # copies a day
    day: int = 0
    taken: int = 0  # copies taken on that day
    busy: int = 0  # copies it has now
    row: int = 0  # valid answers without an invalid or missing one between them
    good: int = 0
    bad: int = 0

    def may_take(self, day: int, at_once: int) -> bool:
        return self.busy < at_once and (self.day != day or self.taken < self.quota)

    def takes(self, day: int) -> None:
        self.taken = self.taken + 1 if self.day == day else 1
        self.day, self.busy = day, self.busy + 1

    def reports(self, ok: bool, limit: int) -> None:
        self.busy -= 1
        if ok:
            self.quota = min(2 * self.quota, limit)
        else:
            self.fails()

    def fails(self) -> None:
        self.quota, self.row, self.bad = max(1, self.quota - 1), 0, self.bad + 1

    def proves(self, limit: int, replicated: bool) -> None:
        self.quota, self.row, self.good = min(self.quota + 1, limit), self.row + replicated, self.good + 1

    def trusted(self, coin: float) -> bool:
        return self.row >= ALWAYS_CHECKED and coin >= 1 / self.row

    def plain(self) -> list:
        return list(astuple(self))


def coin(seed: int, unit: int, host: int) -> float:
    """A number in [0, 1) that depends on its arguments alone (the finaliser of splitmix64)."""
    x = (seed * 0x9E3779B97F4A7C15 + unit * 0xBF58476D1CE4E5B9 + host * 0x94D049BB133111EB) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return (x ^ (x >> 31)) / 2**64
