"""Of what copies exchange, the seconds that no work hides: what sharded.py plays, as formulas.

A rank has n layers (f seconds there, b back) and, as one more unit, embedding and loss (o back). With overlap a layer's
gradient is sent (s seconds) behind its way back, while the next layer is worked on; the unit around them is sent last,
S seconds that nothing hides:

    a way back           A = S + max(s, n s - (n - 1) b)       waited for behind it
    ZeRO 2, m of them    max(A, A + (m - 1) (S + n s - F - B))      what is left goes on beside the next way there
    ZeRO 3               there  G + the longer of gather and work, unit after unit, less the work
                         back   the same, with a scatter and a gather beside each layer, and S + s behind it
G: the gather of the unit around, with which each way begins. F, B: all work of a micro-batch, there and back.
"""

from __future__ import annotations

from dataclasses import dataclass

from dlmini.plan.device import Device
from dlmini.plan.transfers import Transfer


@dataclass(frozen=True)
class Work:
    """Of one micro-batch on a rank: so many layers, seconds of each and of everything, there and back."""

    layers: int
    each: tuple[float, float]
    total: tuple[float, float]
    share: float  # of all that is exchanged: one layer's

    def around(self, way: int) -> float:
        return max(0.0, self.total[way] - self.layers * self.each[way])

    def cut(self, one: Transfer, device: Device) -> tuple[float, float]:
        """Of an exchange, unit by unit: a layer's seconds, and those of the unit around. Each pays for its messages."""
        messages = one.messages / one.count
        starting = messages * device.link(one.span).latency
        moving = one.seconds(device) / one.count - starting
        return starting + moving * self.share, starting + moving * max(0.0, 1 - self.layers * self.share)


def exposed(transfers: list[Transfer], work: Work, device: Device, zero: int, overlap: bool) -> float:
    """Seconds of a step."""
    if not overlap or not transfers:
        return sum(one.seconds(device) for one in transfers)
    found = {one.what: one for one in transfers}
    gradients, weights = found["gradients"], found.get("weights")
    if zero == 3:
        return gradients.count * gathered(work, weights, gradients, device)
    layer, around = work.cut(gradients, device)
    once = around + max(layer, work.layers * layer - (work.layers - 1) * work.each[1])
    more = (gradients.count - 1) * (around + work.layers * layer - sum(work.total))
    return max(once, once + more) + (weights.seconds(device) if weights else 0.0)


def gathered(work: Work, weights: Transfer, gradients: Transfer, device: Device) -> float:
    """ZeRO 3: what a micro-batch waits for, there and back."""
    (gather, outer), (scatter, last) = work.cut(weights, device), work.cut(gradients, device)
    found = 2 * outer + last + scatter
    for way, link in ((0, gather), (1, gather + scatter)):
        found += max(0.0, gather - work.around(way)) + (work.layers - 1) * max(0.0, link - work.each[way])
    return found
