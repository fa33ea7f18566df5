"""What a device sends in a step: which collectives, among how many, of how many bytes, how often.

By rings, of n ranks and S bytes:

    all-reduce                   2 (n - 1) messages of S / n        2 (n - 1) (latency + S / (n bandwidth)) seconds
    reduce-scatter, all-gather   n - 1 of them                      half of that
    reduce, to one owner         as a reduce-scatter of S passed on along a chain: n - 1 hops, S bytes through each
    send                         one message                        latency + S / bandwidth
"""

from __future__ import annotations

from dataclasses import dataclass

from dlmini.plan.device import Device
from dlmini.plan.layout import Layout
from dlmini.plan.sheets import Sheet

ROUNDS = {"allreduce": 2, "reduce_scatter": 1, "allgather": 1}


@dataclass(frozen=True)
class Transfer:
    """`count` times in a step the same one. span: within how many consecutive ranks its group lies."""

    what: str
    verb: str
    ranks: int
    span: int
    nbytes: float
    count: int = 1

    @property
    def messages(self) -> int:
        """Of one device, in all."""
        return self.count * (ROUNDS[self.verb] * (self.ranks - 1) if self.verb in ROUNDS else 1)

    @property
    def sent(self) -> float:
        """Bytes that one device sends, in all."""
        return self.messages * self.message

    @property
    def message(self) -> float:
        """Bytes of one message."""
        return self.nbytes / self.ranks if self.verb in ROUNDS else self.nbytes

    def level(self, device: Device) -> str:
        return "inside nodes" if self.span <= device.per_node else "between nodes"

    def seconds(self, device: Device) -> float:
        """Of all of them, one after another, on links that nobody else uses."""
        if self.ranks == 1:
            return 0.0
        link = device.link(self.span)
        return self.messages * (link.latency + self.message / link.bandwidth)


def tensor_transfer(sheet: Sheet, layout: Layout, count: int = 1) -> Transfer:
    """The sum of a layer's halves: f or g of Megatron-LM; with sequence parallelism a reduce-scatter and an all-gather,
    the same bytes and messages."""
    nbytes = 2 * sheet.sequence * layout.micro * sheet.hidden
    return Transfer("tensor", "allreduce", layout.tensor, layout.tensor, nbytes, count)


def pipe_transfer(sheet: Sheet, layout: Layout, count: int = 1) -> Transfer:
    """A micro-batch to the next stage: each of the tensor-parallel devices sends its part."""
    nbytes = 2 * sheet.sequence * layout.micro * sheet.hidden / layout.tensor
    return Transfer("pipe", "send", layout.pipe, layout.pipe * layout.tensor, nbytes, count)


def regather(sheet: Sheet, layout: Layout, count: int = 1) -> Transfer:
    """Parts of a micro-batch put together again inside the stage, where norms are not shared out."""
    nbytes = 2 * sheet.sequence * layout.micro * sheet.hidden
    return Transfer("pipe", "allgather", layout.tensor if layout.regathers else 1, layout.tensor, nbytes, count)


def data_transfers(layout: Layout, parameters: float, micros: int) -> list[Transfer]:
    """Gradients summed, weights gathered, among the copies of one device's parameters.

        ZeRO 0: all-reduce.   1, 2: reduce-scatter of gradients, all-gather of weights.   3: weights gathered twice
    Each moves Psi or two of them: 2, 2, 2 and 3 Psi in all. Where gradients are never whole (2, 3) they are scattered
    for every micro-batch; where weights are not (3), these are gathered for each, there and back.
    """
    n, span = layout.data, layout.devices
    if n == 1:
        return []
    if layout.zero == 0:
        return [Transfer("gradients", "allreduce", n, span, layout.gradient * parameters)]
    gathered = Transfer("weights", "allgather", n, span, 2 * parameters, 2 * micros if layout.zero == 3 else 1)
    often = micros if layout.zero >= 2 else 1
    return [Transfer("gradients", "reduce_scatter", n, span, layout.gradient * parameters, often), gathered]
