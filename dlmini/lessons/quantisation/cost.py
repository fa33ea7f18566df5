"""Lesson 09: when fewer bytes take longer. Bytes on the wire, and seconds to make them.

as it is     alpha + S beta                          packed     encode + alpha + S' beta + decode
equal at the bandwidth   B* = (S - S') / (encode + decode): on faster links packing is in vain

N ranks, all-reduce      2 (N-1)/N S each: float32 is added on the way
         all-gather      (N-1) S' each: packets of levels cannot be added, so everybody gets them all
"""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

import numpy as np

from dlmini.comm.ghost import Ghost
from dlmini.comm.launch import launch
from dlmini.comm.network import Link, Switch
from dlmini.compression.compressor import Compressor
from dlmini.optim import SGD
from dlmini.recipe import Recipe
from dlmini.run import train
from dlmini.sim import Cluster, Simulated

CHANCE = 903  # the purpose of random numbers


class Cost(NamedTuple):
    """What a compressor makes of a vector: its bytes, and seconds on this machine to encode and decode."""

    name: str
    nbytes: int
    encode: float
    decode: float

    @property
    def spent(self) -> float:
        return self.encode + self.decode


def timed(name: str, compressor: Compressor, u: np.ndarray, repeats: int = 5) -> Cost:
    """Wall-clock, the fastest of some: for pictures only."""
    packet, out, times = compressor.encode(u, coin()), np.zeros_like(u), []
    for _ in range(repeats):
        began = perf_counter()
        packet = compressor.encode(u, coin())
        middle = perf_counter()
        packet.add_to(out, 1.0)
        times.append((middle - began, perf_counter() - middle))
    encode, decode = np.min(times, axis=0)
    return Cost(name, packet.nbytes, float(encode), float(decode))


def coin() -> np.random.Generator:
    return np.random.default_rng([0, CHANCE])


# ---- one message ----


def seconds_of(nbytes: float, spent: float, link: Link) -> float:
    """The formula: half of `spent` before, half after, and the message between."""
    return spent + link.latency + nbytes / link.bandwidth


def crossover(whole: float, packed: float, spent: float) -> float:
    """Bytes a second at which packing takes as long as it saves."""
    return (whole - packed) / spent


def deliver(comm, nbytes: int, spent: float) -> None:
    if comm.rank == 0:
        comm.compute("encode", None, flops=spent / 2)
        comm.send(1, Ghost(nbytes, "u1"))
    else:
        comm.recv(0)
        comm.compute("decode", None, flops=spent / 2)


def delivered(nbytes: int, spent: float, link: Link) -> float:
    """The same in virtual time, message by message."""
    place = Simulated(2, Cluster(Switch(link), flops=1.0))
    return launch(deliver, on=place, args=(nbytes, spent)).seconds


def crossing(whole: int, packed: int, spent: float, latency: float = 1e-4) -> float:
    """The bandwidth from which packing is in vain, found by trying: halving an interval of exponents."""
    low, high = 3.0, 13.0
    for _ in range(40):
        link = Link(latency, 10 ** ((low + high) / 2))
        pays = delivered(packed, spent, link) < delivered(whole, 0.0, link)
        low, high = ((low + high) / 2, high) if pays else (low, (low + high) / 2)
    return 10 ** ((low + high) / 2)


# ---- many ranks ----


def ring_bytes(ranks: int, whole: float) -> float:
    """What a rank sends in an all-reduce by the ring."""
    return 2 * (ranks - 1) / ranks * whole


def gathered_bytes(ranks: int, packed: float) -> float:
    """What a rank sends, or passes on, until everybody has everybody's packet."""
    return (ranks - 1) * packed


def trained(task, compression, feedback=None, workers: int = 4, rounds: int = 60, **more):
    """Bulk-synchronous training on simulated ranks; eight looks at the test set."""
    options = {"optimizer": SGD(0.1), "evaluate_every": max(1, rounds // 8), **more}
    recipe = Recipe(compression=compression, feedback=feedback, rounds=rounds, **options)
    return train(task, recipe, Simulated(workers)).result()
