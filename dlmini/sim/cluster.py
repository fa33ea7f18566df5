"""What simulated machines are made of: speeds, jitter, links, and when they come and go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from math import exp

import numpy as np

from dlmini.checks import real, refuse, settle, truth, whole
from dlmini.comm.network import Network, gigabit, network_of


@dataclass(frozen=True, repr=False)
class Cluster:
    """Machines and the network between them. Mappings are by rank; ranks not named are ordinary.

    Local work labelled "gradient" takes `seconds["gradient"]`, or flops / `flops`, divided by the rank's speed.
    """

    network: Network = gigabit
    flops: float = 1e9  # of a machine of speed 1, per second
    seconds: Mapping[str, float] = field(
        default_factory=dict
    )  # what a label of `compute` costs at speed 1; a label not named: by its flops
    speed: Mapping[int, float] = field(default_factory=dict)  # 0.2: five times slower
    jitter: float = 0.0  # relative spread of compute times (log-normal, mean 1)
    link_jitter: float = 0.0  # mean extra delay of a message, in latencies (exponential)
    overhead: float = 0.0  # processor time to post a message (LogP's o)
    poll: float = 1e-6  # processor time to look whether one is here
    gamma: float = 0.0  # seconds per byte added inside a collective
    start: Mapping[int, float] = field(default_factory=dict)  # when a rank begins
    crash: Mapping[int, float] = field(default_factory=dict)  # when it dies: its state and its unread messages are lost
    back: Mapping[int, float] = field(
        default_factory=dict
    )  # when it returns, and its program begins anew (comm.life is then 1)
    priced: bool = True  # collectives as one computation; False: message by message

    def __post_init__(self):
        network_of(self.network)
        for name in ("jitter", "link_jitter", "overhead", "gamma"):
            settle(self, **{name: real(getattr(self, name), name, least=0)})
        settle(self, flops=real(self.flops, "flops", above=0, infinite=True), poll=real(self.poll, "poll", above=0))
        settle(self, speed=by_rank(self.speed, "speed", above=0, hint="0.2 means five times slower"))
        for name in ("start", "crash", "back"):
            settle(self, **{name: by_rank(getattr(self, name), name, least=0, infinite=True, hint="seconds")})
        settle(self, seconds=costs(self.seconds), priced=truth(self.priced, "priced"))
        for rank, time in self.back.items():
            if not time > self.crash.get(rank, np.inf):
                raise ValueError(f"rank {rank} comes back at {time} s, but it does not crash before that")

    def __repr__(self) -> str:
        """Only what is not ordinary."""
        ordinary = Cluster()
        told = [f.name for f in fields(self) if getattr(self, f.name) != getattr(ordinary, f.name)]
        return f"Cluster({', '.join(f'{name}={getattr(self, name)!r}' for name in told)})"

    @classmethod
    def of(cls, cluster: Cluster | Network | None) -> Cluster:
        """A cluster as it is; a network with ordinary machines on it; or the default."""
        if cluster is None:
            return cls()
        if isinstance(cluster, cls):
            return cluster
        if not hasattr(cluster, "route"):
            refuse(TypeError, "cluster", cluster, "a Cluster(...) or a network such as gigabit")
        return cls(network=cluster)

    def after(self, seconds: float) -> Cluster:
        """The same machines, so many seconds later: who has crashed is replaced, or begins when it comes back."""
        crash = {rank: time - seconds for rank, time in self.crash.items() if time > seconds}
        back = {rank: time - seconds for rank, time in self.back.items() if rank in crash}
        away = {rank: time - seconds for rank, time in self.back.items() if rank not in crash and time > seconds}
        late = {rank: time - seconds for rank, time in self.start.items() if time > seconds}
        return replace(self, crash=crash, back=back, start=late | away)

    def cost(self, label: str, flops: float) -> float:
        """Seconds of local work at speed 1."""
        return float(self.seconds[label] if label in self.seconds else flops / self.flops)


def by_rank(table, name: str, **bounds) -> dict[int, float]:
    """A number for some ranks."""
    if not isinstance(table, Mapping):
        refuse(TypeError, name, table, f"a mapping of ranks to numbers, such as {name}={{3: 0.2}}")
    return {whole(r, f"a rank in {name}", 0): real(x, f"{name} of rank {r}", **bounds) for r, x in table.items()}


def costs(table) -> dict[str, float]:
    """Seconds for some labels of `compute`."""
    if not isinstance(table, Mapping) or not all(isinstance(label, str) for label in table):
        refuse(TypeError, "seconds", table, "a mapping of labels to seconds, such as {'gradient': 0.01}")
    return {label: real(cost, f"the cost of {label!r}", least=0) for label, cost in table.items()}


@dataclass
class Dice:
    """Random numbers of one rank and purpose, drawn in blocks: the same for the same seed, whatever others do."""

    key: tuple[int, ...]
    kind: str
    stock: list[float] = field(default_factory=list)
    blocks: int = 0

    def roll(self) -> float:
        if not self.stock:
            coin = np.random.default_rng([*self.key, self.blocks])
            self.stock = getattr(coin, self.kind)(size=256).tolist()
            self.blocks += 1
        return self.stock.pop()

    def lognormal(self, spread: float) -> float:
        """A factor around 1, with mean 1."""
        return exp(spread * self.roll() - spread * spread / 2)
