"""Lesson 04: what every all-reduce costs, in closed form and counted; and where they cross.

N ranks, a vector of S bytes, T(n) = alpha + beta n for a message:

    naive (star)        2 alpha + 2 (N-1) S beta
    tree                2 log2 N (alpha + S beta)                          N a power of two; else a bound from above
    ring                2 (N-1) alpha + 2 (N-1)/N S beta
    recursive doubling  log2 N (alpha + S beta)                            N a power of two; else fold and unfold first
    halving-doubling    2 log2 N alpha + 2 (N-1)/N S beta                  N a power of two; else fold and unfold first
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from math import ceil, log2

import numpy as np

from dlmini.comm.launch import Transport, launch
from dlmini.comm.network import Link, Nodes, Switch
from dlmini.comm.schedules import cut, doubling, draw, halving_doubling, naive, native, ring, tree
from dlmini.data import Dataset
from dlmini.lessons.meet_the_lab.messages import Point
from dlmini.lessons.meet_the_lab.shards import shard
from dlmini.nn import Model
from dlmini.sim import price

SCHEDULES = {
    "naive": naive,
    "tree": tree,
    "ring": ring,
    "recursive doubling": doubling,
    "halving-doubling": halving_doubling,
}


# ---- closed forms ----


def star_seconds(n: int, nbytes: float, link: Link) -> float:
    return 2 * link.latency + 2 * (n - 1) * nbytes / link.bandwidth


def tree_seconds(n: int, nbytes: float, link: Link) -> float:
    return 2 * ceil(log2(n)) * (link.latency + nbytes / link.bandwidth)


def ring_seconds(n: int, nbytes: float, link: Link) -> float:
    return 2 * (n - 1) * (link.latency + nbytes / n / link.bandwidth)


def doubling_seconds(n: int, nbytes: float, link: Link) -> float:
    """As halving_doubling_seconds, with whole vectors in every trade and no way back."""
    corners = 1 << (n.bit_length() - 1)
    return (log2(corners) + 2 * (n > corners)) * (link.latency + nbytes / link.bandwidth)


def halving_doubling_seconds(n: int, nbytes: float, link: Link) -> float:
    """The largest power of two below n trades; before and after, the others hand over their whole vector."""
    corners = 1 << (n.bit_length() - 1)
    trade = 2 * log2(corners) * link.latency + 2 * (corners - 1) / corners * nbytes / link.bandwidth
    return trade + (2 * (link.latency + nbytes / link.bandwidth) if n > corners else 0.0)


FORMULAS: dict[str, Callable[[int, float, Link], float]] = {
    "naive": star_seconds,
    "tree": tree_seconds,
    "ring": ring_seconds,
    "recursive doubling": doubling_seconds,
    "halving-doubling": halving_doubling_seconds,
}


def two_level_seconds(nodes: int, nbytes: float, net: Nodes) -> float:
    """Hierarchical, every rank with a network card of its own: around the ring of each node, then between nodes."""
    g, h, near, far = net.per_node, nodes, net.inside, net.between
    inside = 2 * (g - 1) * (near.latency + nbytes / g / near.bandwidth)
    return inside + 2 * (h - 1) * (far.latency + nbytes / (g * h) / far.bandwidth)


# ---- counted ----


@lru_cache(maxsize=4096)
def seconds(name: str, n: int, nbytes: int, link: Link) -> float:
    """Virtual seconds of the all-reduce called `name`, simulated message by message."""
    return price(SCHEDULES[name], n, nbytes, Switch(link)).seconds


def bytes_through(name: str, n: int, nbytes: int) -> np.ndarray:
    """[2, n]: how many bytes every rank sends, and how many it receives."""
    plan, found = SCHEDULES[name].allreduce(n), np.zeros((2, n), int)
    edges = cut(nbytes, plan.chunks)
    for a in draw(plan).arrows:
        found[:, [a.source, a.dest]] += (edges[a.hi] - edges[a.lo]) * np.eye(2, dtype=int)
    return found


def steps(name: str, n: int) -> int:
    """How many messages follow one another, if each has to wait for the one before."""
    return round(price(SCHEDULES[name], n, n, Switch(Link(1.0, 1e18))).seconds)


def crossing(first: str, second: str, n: int, link: Link, low: int = 1, high: int = 1 << 26) -> int:
    """The size from which `second` is faster than `first`, found by trying: halving an interval, multiples of n."""
    faster = [seconds(first, n, size, link) > seconds(second, n, size, link) for size in (low, high)]
    if faster != [False, True]:
        raise ValueError(f"{first} and {second} do not cross once between {low} and {high} bytes")
    low, high = low // n, high // n
    while high - low > 1:
        middle = (low + high) // 2
        ahead = seconds(first, n, n * middle, link) > seconds(second, n, n * middle, link)
        low, high = (low, middle) if ahead else (middle, high)
    return n * high


# ---- for real, and for training ----


def timed(comm, ways: dict, sizes: Sequence[int], repeats: int) -> dict[str, list[Point]]:
    """Rank 0's seconds for every way and size. Everybody comes before each begins, and one of each is not counted."""
    found = {name: [] for name in ways}
    for nbytes in sizes:
        x = np.ones(nbytes // 4, np.float32)
        for (name, how), again in product(ways.items(), range(repeats + 1)):
            comm.barrier()
            began = comm.now()
            comm.allreduce(x, how)
            found[name] += [Point(nbytes, comm.now() - began)] if again else []
    return found


def real_times(on: Transport, sizes: Sequence[int], repeats: int) -> dict[str, list[Point]]:
    """The schedules, and the transport's own way (native), on real ranks."""
    return launch(timed, on=on, args=({**SCHEDULES, "native": native}, list(sizes), repeats))[0]


def descend_together(comm, model: Model, data: Dataset, add: Callable, passes: int, rate: float = 0.1) -> np.ndarray:
    """Descent over all data at once: each rank takes the gradient of its shard, `add` sums them, everybody steps."""
    lo, hi = shard(len(data), comm.size, comm.rank)
    w, grad = model.initial(0), model.zeros()
    for _ in range(passes):
        model.loss_and_grad(w, data.x[lo:hi], data.y[lo:hi], grad)
        w -= np.float32(rate) * add(comm, grad * np.float32((hi - lo) / len(data)))
    return w
