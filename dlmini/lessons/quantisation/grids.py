"""Lesson 09: what a bit costs. Grids, zeros, entropy.

q = round(s u / m),  m = max |u|                 2 s + 1 values; |error| <= m / (2 s)
H = - sum_q p_q log2 p_q                          bits per number that a code for independent numbers needs
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dlmini.compression import Deflate, Int8
from dlmini.data import Dataset
from dlmini.nn import Model

SHUFFLE = 901  # the purpose of random numbers


def gradient(net: Model, data: Dataset, steps: int = 60, batch: int = 100, rate: float = 0.1) -> np.ndarray:
    """The gradient of one batch after so many steps of descent: a real one to look at."""
    scaled, w, grad = data.scaled(), net.initial(seed=0), net.zeros()
    for t in range(steps + 1):
        rows = np.arange(t * batch, (t + 1) * batch) % len(data)
        net.loss_and_grad(w, scaled.x[rows], scaled.y[rows], grad)
        w -= rate * grad
    return grad


# ---- a uniform grid ----


def levels_of(bits: int) -> int:
    """Steps on either side of zero that so many bits can count."""
    return 2 ** (bits - 1) - 1


def on_grid(u: np.ndarray, levels: int) -> np.ndarray:
    """Whole numbers from -levels to levels, to nearest; one scale for all. For any number of levels, in float64."""
    largest = np.abs(u).max(initial=0.0)
    return np.rint(levels * u.astype(float) / largest).astype(int) if largest else np.zeros(len(u), int)


def decoded(u: np.ndarray, levels: int) -> np.ndarray:
    """What the other side reads."""
    return on_grid(u, levels) * (np.abs(u).max(initial=0.0).astype(float) / levels)


def errors_by_bits(u: np.ndarray, bits) -> np.ndarray:
    """The mean squared error over all numbers that are not zero already, for each number of bits."""
    moved = u[u != 0]
    return np.array([np.mean((decoded(moved, levels_of(b)) - moved) ** 2) for b in bits])


# ---- zeros, entropy, deflate ----


def entropy(q: np.ndarray) -> float:
    """Bits per number, if each is coded by itself."""
    _, counts = np.unique(q, return_counts=True)
    share = counts / q.size
    return float(-(share * np.log2(share)).sum())


class Facts(NamedTuple):
    """What 2 levels + 1 values make of a vector."""

    zeros: float  # share of the numbers
    entropy: float  # bits per number
    bound: float  # 8 / entropy
    deflated: float  # bytes before deflate / bytes after it
    lost: float  # |u - Q(u)|^2 / |u|^2


def facts(u: np.ndarray, levels: int = 127) -> Facts:
    """Int8 with so many levels, one maximum for the whole vector, and deflate behind it."""
    packet = Int8(levels).encode(u)
    q, error = packet.integers(), packet.dense().astype(float) - u
    bits = entropy(q)
    small = Deflate(Int8(levels)).encode(u).nbytes
    lost = float(error @ error / (u.astype(float) @ u))
    return Facts(float(np.mean(q == 0)), bits, 8 / bits if bits else np.inf, packet.nbytes / small, lost)


def shuffled(u: np.ndarray, seed: int = 0) -> np.ndarray:
    """The same numbers without their neighbours: what is left to a code is how frequent each is."""
    return np.random.default_rng([seed, SHUFFLE]).permutation(u)


def least_bits(zeros):
    """The entropy of levels of which a share is zero, if all others are +1 or -1 equally often."""
    z = np.asarray(zeros, float)
    return -z * np.log2(z) - (1 - z) * np.log2((1 - z) / 2)


def zeros_for(ratio: float) -> float:
    """The share of zeros at which 8 / entropy is this ratio, all others being +1 or -1: by halving an interval."""
    low, high = 1 / 3, 1 - 1e-12
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if 8 / least_bits(middle) < ratio else (low, middle)
    return (low + high) / 2


def silent(net: Model, u: np.ndarray, levels: int, own_scale: bool = False) -> dict[str, float]:
    """Of every array of the network the share that becomes zero: by one maximum for all, or by its own."""
    found, q = {}, net.views(on_grid(u, levels).astype(np.float32))
    for layer, parts in enumerate(net.views(u)):
        for part, array in enumerate(parts):
            mine = on_grid(array.reshape(-1), levels) if own_scale else q[layer][part]
            found[f"layer {layer} {'weights' if array.ndim > 1 else 'bias'}"] = float(np.mean(mine == 0))
    return found
