"""One simulated volunteer: a machine, its owner's days, and what a work unit meets on it.

Nothing here is a probability of failure. A unit fails because its owner's programs have taken the memory or the disk
that it needs, or because the machine is off for so long that the deadline passes, or does not come back at all. How
often that is so follows from `Nature`: what machines have, and how long they are on and off.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf
from statistics import NormalDist

import numpy as np

from dlmini.checks import fraction, real, settle
from dlmini.volunteer.delivery import MB, Delivery

HOUR, DAY = 3600.0, 86400.0
NORMAL = NormalDist()
STRIDES = 1.1673039782614187 ** -np.arange(1.0, 5.0)  # the root of x^5 = x + 1: points of any number fill a cube evenly


@dataclass(frozen=True)
class Nature:
    """What machines have and how their owners live. Times in seconds, sizes in GB; spreads are of logarithms.

    arrive    hosts come during so long, evenly            ram         GB of memory, and how many hosts have them
    on, off   mean of a session, and of the time between   ram_used    mean share that owners' programs take
    stay      mean time until a host leaves for good       ram_varies  how much that varies from unit to unit
    gap       mean time until another takes its place      disk        median of the free disk; disk_spread
    compute   of a unit, on a host of speed 1              disk_varies share of it that owners' files may take
    speed_spread, line (MB/s, median), line_spread         checkpoint  work since then is lost when a session ends
    poll      between two questions when there is no work  usable      share of memory that may be given at all
    crash     share of units that fail for no reason: 0, but for those who want to see what it does
    The document says: about 75 hosts of mixed memory and disk. All the rest was chosen by us. `ram_used` was fitted to
    its 94.87 % with seed 0; `disk`, `usable`, backing off and even dealing were changed before, with results in sight.
    """

    arrive: float = 3 * DAY
    on: float = 8 * HOUR
    off: float = 10 * HOUR
    stay: float = 60 * DAY
    gap: float = 2 * DAY
    compute: float = 1200.0
    speed_spread: float = 0.4
    line: float = 4.0
    line_spread: float = 0.8
    ram: tuple[tuple[float, float], ...] = ((4.0, 0.20), (8.0, 0.40), (16.0, 0.30), (32.0, 0.10))
    ram_used: float = 0.40
    ram_varies: float = 12.0
    usable: float = 0.75
    disk: float = 100.0
    disk_spread: float = 1.0
    disk_varies: float = 0.3
    checkpoint: float = 600.0
    poll: float = 900.0
    crash: float = 0.0

    def __post_init__(self):
        for name in ("on", "off", "poll"):
            settle(self, **{name: real(getattr(self, name), name, least=60, hint="seconds")})
        for name in ("stay", "gap", "compute", "line", "disk", "checkpoint", "ram_varies"):
            settle(self, **{name: real(getattr(self, name), name, above=0)})
        for name in ("arrive", "speed_spread", "line_spread", "disk_spread"):
            settle(self, **{name: real(getattr(self, name), name, least=0)})
        settle(self, usable=fraction(self.usable, "usable"))
        for name in ("ram_used", "disk_varies", "crash"):
            settle(self, **{name: real(getattr(self, name), name, least=0, below=1)})


class SimulatedHost:
    """A machine that came at `arrives`. What happens to it depends on the seed and its own number alone.

    What machines have is dealt out evenly (frac(start + number STRIDE): quantiles, not independent draws), so that 75
    hosts have the shares of `Nature` with any seed.
    """

    def __init__(self, number: int, nature: Nature, seed: int, arrives: float, liar: bool = False):
        self.number, self.nature, self.liar = number, nature, liar
        self.coin = np.random.default_rng([seed, number, 0, 18])
        start = np.random.default_rng([seed, 0, 0, 17]).random(4)
        speed, line, ram, disk = (float(u) for u in (start + (number + 1) * STRIDES) % 1.0)
        self.speed = exp(nature.speed_spread * NORMAL.inv_cdf(max(speed, 1e-9)))
        self.line = nature.line * exp(nature.line_spread * NORMAL.inv_cdf(max(line, 1e-9)))
        self.disk = nature.disk * exp(nature.disk_spread * NORMAL.inv_cdf(max(disk, 1e-9)))
        self.ram = quantile(nature.ram, ram)
        self.arrives, self.leaves = arrives, arrives + self.coin.exponential(nature.stay)
        self.on, self.off = arrives, arrives + self.coin.exponential(nature.on)  # the session that is, or comes next
        self.ready = False  # the application has been fetched and unpacked
        self.row = 0  # failures one after the other
        self.begun, self.proven = inf, False  # when it was given its first unit; whether it gave a good result

    def can_take_part(self, by: Delivery) -> bool:
        return self.nature.usable * self.ram >= by.ram and self.disk >= by.disk

    def next_on(self, at: float) -> float:
        """The first moment from `at` at which the machine is on; inf if it has left before."""
        while self.off <= at:
            self.on = self.off + self.coin.exponential(self.nature.off)
            self.off = self.on + self.coin.exponential(self.nature.on)
        at = max(at, self.on)
        return at if at < self.leaves else inf

    def spend(self, at: float, seconds: float, keep: float = 0.0, before: float = 0.0, limit: float = inf) -> float:
        """When `seconds` of work that begin now are done; inf if never. Every session pays `before` first, and keeps
        what was done in whole pieces of `keep` (0: everything). Work is not resumed after `limit`."""
        while True:
            at = self.next_on(at)
            if at == inf or at > limit:
                return inf
            if at + before + seconds <= self.off:
                return at + before + seconds if at + before + seconds < self.leaves else inf
            done = max(0.0, self.off - at - before)
            seconds -= done - (done % keep if keep else 0.0)
            at = self.off

    def fetch(self, at: float, by: Delivery) -> float:
        """When the application lies unpacked on the disk. A cut download goes on where it was, unpacking does not."""
        at = self.spend(at, by.download * 1000 * MB / (self.line * MB))
        return self.spend(at, by.unpack / self.speed, keep=inf) if at < inf else inf

    def backs_off(self) -> float:
        """Seconds until it asks again after a failure: twice as long each time, up to a day."""
        self.row += 1
        return min(DAY, self.nature.poll * 2 ** min(self.row, 30))

    def missing(self, by: Delivery) -> str:
        """What the owner's programs and files leave too little of just now; empty if there is enough."""
        mean, width = self.nature.ram_used, self.nature.ram_varies
        if mean and self.ram * (1 - self.coin.beta(mean * width, (1 - mean) * width)) < by.ram:
            return "memory"
        if self.disk * (1 - self.nature.disk_varies * self.coin.random()) < by.disk:
            return "disk"
        return "crash" if self.nature.crash and self.coin.random() < self.nature.crash else ""


def quantile(shares: tuple[tuple[float, float], ...], u: float) -> float:
    """The size at `u` of (size, share) in their order."""
    left = u * sum(share for _, share in shares)
    for size, share in shares:
        left -= share
        if left < 0:
            return float(size)
    return float(shares[-1][0])
