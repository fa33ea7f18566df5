"""Links between ranks: who shares a wire with whom, how long it is, how wide.

A message of n bytes passes the ports on its route one after another. A port serves messages in the order in which their
first bytes come, each for n / bandwidth; the first byte goes on at once (cut-through), the last one follows:

    start = max(head, port free)         port free = start + n / bandwidth
    head' = start + latency              tail' = max(tail, port free) + latency

On an idle network that is latency + n / bandwidth of the narrowest port: the alpha-beta model. Two messages at one port
wait for one another: that is all there is to contention. A message to oneself passes no port and takes no time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from dlmini.checks import piece, real, settle, truth, whole

SHARED, INNER = -1, -2  # owners of a port where messages of several ranks begin, and of one where none begins


class Port(NamedTuple):
    latency: float
    per_byte: float
    owner: int  # the only rank whose messages begin here, or SHARED, or INNER


def through(port: Port, free: float, head: float, tail: float, nbytes: int) -> tuple[float, float, float]:
    """A message whose first byte comes at `head`: when the port is free again, and head and tail behind it."""
    start = max(head, free)
    free = start + nbytes * port.per_byte
    return free, start + port.latency, max(tail, free) + port.latency


class Network(Protocol):
    """A frozen dataclass that lays ports and knows the route between any two ranks."""

    def ports(self, size: int) -> list[Port]: ...

    def route(self, source: int, dest: int, size: int) -> tuple[int, ...]:
        """The ports on the way, as indices into ports(size); () for a message to oneself."""
        ...


@dataclass(frozen=True)
class Link:
    """A cable: seconds to cross it, bytes per second it carries, and perhaps fewer of them upwards."""

    latency: float
    bandwidth: float
    upload: float | None = None

    def __post_init__(self):
        for name in ("bandwidth", "upload"):
            if name == "bandwidth" or self.upload is not None:
                settle(self, **{name: real(getattr(self, name), name, above=0, infinite=True, hint="bytes per second")})
        settle(self, latency=real(self.latency, "latency", least=0, hint="seconds"))

    def out(self, owner: int) -> Port:
        return Port(self.latency, 1 / (self.upload or self.bandwidth), owner)

    def into(self) -> Port:
        return Port(0.0, 1 / self.bandwidth, INNER)


def cable(link, name: str = "link") -> Link:
    return piece(link, name, ("out", "into"), "a cable: Link(latency, bandwidth)")


def network_of(network, name: str = "network"):
    """The network itself, if it is one."""
    return piece(network, name, ("ports", "route"), f"a network: {', '.join(PRESETS)}, or Switch(Link(...))")


@dataclass(frozen=True)
class Switch:
    """Every rank has its own cable, with a port out and a port in, to one switch that is never the bottleneck."""

    link: Link

    def __post_init__(self):
        cable(self.link)

    def ports(self, size: int) -> list[Port]:
        return [self.link.out(rank) for rank in range(size)] + [self.link.into()] * size

    def route(self, source: int, dest: int, size: int) -> tuple[int, ...]:
        return () if source == dest else (source, size + dest)


@dataclass(frozen=True)
class Medium:
    """One channel for everybody, one message at a time: the air of a wireless network, an old coaxial cable."""

    link: Link

    def __post_init__(self):
        cable(self.link)

    def ports(self, size: int) -> list[Port]:
        return [self.link.out(SHARED)]

    def route(self, source: int, dest: int, size: int) -> tuple[int, ...]:
        return () if source == dest else (0,)


@dataclass(frozen=True)
class Nodes:
    """Two levels: `per_node` ranks in each machine, fast links inside, slow ones between.

    shared=True: a machine has one network card, and its ranks queue for it. shared=False: every rank has its own.
    """

    per_node: int
    inside: Link
    between: Link
    shared: bool = True

    def __post_init__(self):
        settle(self, per_node=whole(self.per_node, "per_node", 1, hint="ranks in a node"))
        settle(self, shared=truth(self.shared, "shared"))
        cable(self.inside, "inside"), cable(self.between, "between")

    def ports(self, size: int) -> list[Port]:
        ranks, cards = range(size), range(self._card(size - 1) + 1)
        far = [self.between.out(SHARED if self.shared else card) for card in cards]
        return (
            [self.inside.out(r) for r in ranks] + [self.inside.into()] * size + far + [self.between.into()] * len(far)
        )

    def route(self, source: int, dest: int, size: int) -> tuple[int, ...]:
        if source == dest:
            return ()
        if source // self.per_node == dest // self.per_node:
            return source, size + dest
        cards = self._card(size - 1) + 1
        return 2 * size + self._card(source), 2 * size + cards + self._card(dest)

    def _card(self, rank: int) -> int:
        return rank // self.per_node if self.shared else rank


# Typical figures, not promises. Gigabit Ethernet as measured in PC classrooms; the others from their standards' line
# rates less protocol overhead (10GBASE-T; HDR InfiniBand, 200 Gbit/s; 802.11ac, a shared channel; a 100/20 Mbit/s
# access line; eight GPUs on third-generation NVLink, 300 GB/s each way, one 200 Gbit/s card per GPU), and shared memory
# as between two processes of one machine.
gigabit = Switch(Link(100e-6, 117e6))
ten_gigabit = Switch(Link(30e-6, 1.17e9))
infiniband = Switch(Link(1.5e-6, 24e9))
wifi = Medium(Link(2e-3, 30e6))
home_internet = Switch(Link(15e-3, 12e6, upload=2.4e6))
nvlink_island = Nodes(8, inside=Link(2e-6, 300e9), between=Link(2.5e-6, 24e9), shared=False)
shared_memory = Switch(Link(1e-6, 8e9))

PRESETS: dict[str, Network] = {
    "gigabit": gigabit,
    "ten_gigabit": ten_gigabit,
    "infiniband": infiniband,
    "wifi": wifi,
    "home_internet": home_internet,
    "nvlink_island": nvlink_island,
    "shared_memory": shared_memory,
}
