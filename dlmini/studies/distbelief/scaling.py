"""One network on several machines: a fully connected one soon stops to gain, a locally connected one goes on.

A replica of DistBelief is a group of machines, each with a part of every layer. A step of b examples on M machines, at
R operations a second, with cables of bandwidth B and latency a, and o seconds of a processor's time for each message:

    k messages to k others, each filling a cable for s seconds:    t(k, s) = max(k o, a + max((k - 1) o + s, k s))
    fully connected     b F / (M R) + t(M - 1, b n 4 / (M B)) for each hidden layer of n units, forward and back
                        everybody sends its units to everybody
    locally connected   b F / (M R) + t(4, b e 4 / B) for each layer, forward and back
                        a machine has a tile of the picture, and sends its edge of e units to four neighbours
The first loses when a message costs more than what is in it: about (M - 1) o a layer, growing, while b F / (M R) falls.
The second sends to four whatever M is, and edges get shorter. Dean et al. also name what no formula here has: the wait
for the slowest. Simulated with jitter it is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from statistics import mean

from dlmini.comm.ghost import Ghost
from dlmini.comm.launch import launch
from dlmini.comm.network import Link, Switch
from dlmini.sim import Cluster, Simulated
from dlmini.studies.distbelief.published import SPEECH


@dataclass(frozen=True)
class Machines:
    """What a machine can do; none of these is in the paper: round numbers for a machine of 2012 with 20 cores."""

    flops: float = 1e11
    latency: float = 1e-4
    bandwidth: float = 117e6
    overhead: float = 5e-5

    def cluster(self, jitter: float = 0.0) -> Cluster:
        network = Switch(Link(self.latency, self.bandwidth))
        return Cluster(network, flops=self.flops, overhead=self.overhead, jitter=jitter)


def phase(count: int, seconds: float, by: Machines) -> float:
    """To send `count` messages that fill a cable for so long each, and to receive as many from as many others."""
    if not count:
        return 0.0
    sent = max((count - 1) * by.overhead + seconds, count * seconds)
    return max(count * by.overhead, by.latency + sent)


@dataclass(frozen=True)
class FullyConnected:
    """units: of each layer, the input first. On the way every machine needs all units of the layer before."""

    units: tuple[int, ...] = SPEECH

    @property
    def weights(self) -> int:
        return sum(a * b for a, b in pairwise(self.units))

    def partners(self, rank: int, machines: int) -> list[int]:
        """To whom a machine sends, in this order: each begins behind itself, so that nobody is called by all."""
        return [(rank + step) % machines for step in range(1, machines)]

    def numbers(self, machines: int) -> list[float]:
        """In each phase, how many numbers go to each partner for one example: forward, then back."""
        hidden = [n / machines for n in self.units[1:-1]]
        return [*hidden, *reversed(hidden)]


@dataclass(frozen=True)
class LocallyConnected:
    """A picture of side x side sites, `channels` units at each; a unit sees `window` x `window` sites below.

    Weights are not shared. Machines hold square tiles; a ring of window / 2 sites around each comes from neighbours.
    """

    side: int = 96
    channels: int = 24
    window: int = 10
    layers: int = 3

    @property
    def weights(self) -> int:
        return self.layers * (self.side * self.channels * self.window) ** 2

    def partners(self, rank: int, machines: int) -> list[int]:
        """Four neighbours on a torus of tiles: the edge of the picture is as dear as its middle."""
        rows = round(sqrt(machines))
        y, x = divmod(rank, rows)
        around = [(y, x + 1), (y, x - 1), (y + 1, x), (y - 1, x)]
        found = [(a % rows) * rows + b % rows for a, b in around]
        return [other for other in found if other != rank]

    def numbers(self, machines: int) -> list[float]:
        edge = self.side / sqrt(machines) * self.window / 2 * self.channels
        return [edge] * (2 * self.layers)


def reckoned(net, machines: int, batch: int, by: Machines) -> float:
    """Seconds of a step, by the formula."""
    count = len(net.partners(0, machines))
    spoken = sum(phase(count, 4 * round(batch * n) / by.bandwidth, by) for n in net.numbers(machines))
    return 6 * net.weights * batch / (machines * by.flops) + spoken


def step(comm, net, batch: int, steps: int) -> float:
    """The program: compute a layer's part, tell partners, hear from them; seconds of a step."""
    phases = net.numbers(comm.size)
    work = 6 * net.weights * batch / comm.size / len(phases)
    partners = net.partners(comm.rank, comm.size)
    for _ in range(steps):
        for n in phases:
            comm.compute("layer", lambda: None, flops=work)
            for other in partners:
                comm.send(other, Ghost(round(batch * n)))
            for other in reversed(partners):
                comm.recv(other)
    return comm.now() / steps


def simulated(net, machines: int, batch: int, by: Machines, jitter: float = 0.0, steps: int = 1) -> float:
    """Seconds of a step in virtual time."""
    return mean(launch(step, Simulated(machines, by.cluster(jitter)), (net, batch, steps)))


@dataclass(frozen=True)
class Point:
    """How much faster than one machine: by the formula, in virtual time, and with machines that vary."""

    machines: int
    reckoned: float
    simulated: float
    jittered: float


def gains(net, machines: tuple[int, ...], batch: int, by: Machines, jitter: float, steps: int) -> list[Point]:
    alone = reckoned(net, 1, batch, by)
    return [
        Point(
            m, alone / reckoned(net, m, batch, by), alone / simulated(net, m, batch, by),
            alone / simulated(net, m, batch, by, jitter, steps),
        )
        for m in machines
    ]  # fmt: skip


def best(net, batch: int, by: Machines, most: int = 256) -> int:
    """The number of machines at which a step is shortest, by the formula."""
    return min(range(1, most + 1), key=lambda m: reckoned(net, m, batch, by))
