"""Devices: how fast they multiply, how fast their memory is, how much of it there is, and what links them.

A share of the peak is not one number: small work reaches less of it than large work. Of a `Rate`, work of size x gets

    share(x) = best x / (x + half)          seconds(x) = (x + half) / (peak best)
so `half` is the size that reaches half of the best, and half / (peak best) what starting anything costs.

Peaks are the makers' data sheets (dense products, half precision, each way of a link). Shares of the A100's memory and
links are those that Calculon describes it by (Isaev et al., Calculon: a methodology and tool for high-level co-design
of systems and large language models, 2023), as curves. Its best share of products is fitted on one published step
time, that of 175 billion parameters with sequence parallelism and selective recomputation (13.75 s, Korthikanti et al.,
2022); tests/plan/test_published_times.py holds the others against it.
The other devices have the A100's shares, for want of better ones: of them only the data sheets are facts.
"""

from __future__ import annotations

from dataclasses import dataclass

from dlmini.checks import piece, real, refuse, settle, text, whole
from dlmini.comm.network import Link, Nodes, network_of

GIGA, TERA = 1e9, 1e12


@dataclass(frozen=True)
class Rate:
    """How fast one kind of work goes: `peak` a second on paper, `best` the share of it that the largest work gets."""

    peak: float
    best: float = 1.0
    half: float = 0.0

    def __post_init__(self):
        settle(self, peak=real(self.peak, "peak", above=0, hint="work a second"))
        settle(self, best=real(self.best, "best", above=0, most=1, hint="a share of the peak"))
        settle(self, half=real(self.half, "half", least=0, hint="the size of work that gets half of the best share"))

    def share(self, size: float) -> float:
        """The share of the peak that work of this size gets."""
        return self.best * size / (size + self.half) if size else 0.0

    def seconds(self, size: float) -> float:
        """What work of this size takes; nothing takes no time."""
        return (size + self.half) / (self.peak * self.best) if size else 0.0


@dataclass(frozen=True)
class Device:
    """One of many: `products` in FLOP/s, `memory` in bytes/s, `room` in bytes, `network` what links them in nodes.

    units: processors that make products in tiles of `tile` numbers, one each at a time; 0: no tiles.
    hourly: dollars an hour, for costs; rents differ by the day and the shop, so it is a round figure to be replaced.
    """

    name: str
    products: Rate
    memory: Rate
    room: float
    network: Nodes
    hourly: float = 2.0
    units: int = 0
    tile: tuple[int, int] = (256, 128)

    def __post_init__(self):
        text(self.name, "name")
        for name in ("products", "memory"):
            piece(getattr(self, name), name, ("peak", "seconds"), "a Rate(peak, best, half)")
        settle(self, room=real(self.room, "room", above=0, hint="bytes of memory"))
        settle(self, hourly=real(self.hourly, "hourly", least=0, hint="dollars an hour"))
        settle(self, units=whole(self.units, "units", 0, hint="processors, or 0: no tiles"))
        if not isinstance(self.tile, list | tuple) or len(self.tile) != 2:
            refuse(TypeError, "tile", self.tile, "two whole numbers, such as (256, 128)")
        settle(self, tile=tuple(whole(side, "a side of tile", 1) for side in self.tile))
        if not hasattr(network_of(self.network), "per_node"):
            refuse(TypeError, "network", self.network, "Nodes(per_node, inside, between): devices stand in nodes")

    @property
    def per_node(self) -> int:
        return self.network.per_node

    def link(self, span: int) -> Link:
        """What joins ranks that lie within `span` consecutive ones: a node's own links, or those between nodes."""
        return self.network.inside if span <= self.per_node else self.network.between


PRODUCTS, MEMORY = (0.7175, 1e9), (0.9, 1e6)  # shares: the best, and the size that gets half of it
WIRE, CABLE = 0.65, 0.9  # of what links carry inside a node, and between nodes


def gpu(name, tflops, memory, room, wire, cable, hourly, units) -> Device:
    """A device of a data centre, eight in a node: TFLOP/s; GB/s of memory; GB of it; GB/s each way inside, between."""
    nodes = Nodes(8, Link(2e-6, wire * WIRE * GIGA), Link(5e-6, cable * CABLE * GIGA), shared=False)
    return Device(name, Rate(tflops * TERA, *PRODUCTS), Rate(memory * GIGA, *MEMORY), room * GIGA, nodes, hourly, units)


DEVICES = {
    device.name: device
    for device in (
        gpu("a100-80gb", 312, 2039, 80, 300, 25, 2.0, 108),
        gpu(
            "a100-jean-zay", 312, 2039, 80, 300, 6.25, 2.0, 108
        ),  # where BLOOM was trained: four 100 Gbit/s links a node
        gpu("a100-40gb", 312, 1555, 40, 300, 25, 1.5, 108),
        gpu("h100-80gb", 989, 3350, 80, 450, 50, 3.0, 132),
        gpu("v100-32gb", 125, 900, 32, 150, 6.25, 1.0, 80),
        # one core of 3 GHz with two 8-wide multiply-adds a cycle; eight of them behind one memory and one gigabit card
        Device(
            "laptop-core",
            Rate(96 * GIGA, 0.7, 1e6),
            Rate(5 * GIGA, 0.9, 1e5),
            2 * GIGA,
            Nodes(8, Link(1e-6, 8 * GIGA), Link(100e-6, 117e6)),
            0.0,
        ),
    )
}


def device_of(name) -> Device:
    """The device of this name; a device itself is returned as it is."""
    if isinstance(name, Device):
        return name
    if not isinstance(name, str) or name not in DEVICES:
        refuse(ValueError, "device", name, f"one of {', '.join(DEVICES)}, or a Device(...)")
    return DEVICES[name]
