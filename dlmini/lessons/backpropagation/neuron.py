"""Lesson 01: one neuron by hand, softmax at its limits, and why all parameters are one vector."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dlmini.comm.launch import launch
from dlmini.comm.network import Switch
from dlmini.nn import Model
from dlmini.sim import Simulated


class Neuron(NamedTuple):
    """z = w x + b,  y = max(z, 0),  L = (y - t)^2 / 2; and the slope of L along each of them."""

    x: float
    w: float
    b: float
    target: float

    @property
    def values(self) -> dict[str, float]:
        z = self.w * self.x + self.b
        y = max(z, 0.0)
        return {"x": self.x, "w": self.w, "b": self.b, "z": z, "y": y, "L": (y - self.target) ** 2 / 2}

    @property
    def slopes(self) -> dict[str, float]:
        """Read upwards: each is the one beneath it times one derivative."""
        value = self.values
        dy = value["y"] - self.target
        dz = dy * (value["z"] > 0)
        return {"x": dz * self.w, "w": dz * self.x, "b": dz, "z": dz, "y": dy, "L": 1.0}

    def nudged(self, name: str, step: float) -> float:
        """The slope along x, w or b without any calculus: move it a little to both sides, and see what L does."""
        up, down = (self._replace(**{name: getattr(self, name) + sign * step}).values["L"] for sign in (1, -1))
        return (up - down) / (2 * step)


# ---- softmax at its limits ----


def naive_softmax(scores: np.ndarray) -> np.ndarray:
    """The formula as it stands in books."""
    with np.errstate(all="ignore"):
        return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


def largest_exponent(dtype=np.float32) -> float:
    """The largest number whose exponential is finite, by halving the interval."""
    low, high = dtype(1), dtype(2000)
    with np.errstate(over="ignore"):
        while (middle := dtype(low + (high - low) / dtype(2))) not in (low, high):
            low, high = (middle, high) if np.isfinite(np.exp(middle)) else (low, middle)
    return float(low)


# ---- one vector ----


def _sums(comm, lengths):
    began = comm.now()
    for length in lengths:
        comm.allreduce(np.ones(length, np.float32))
    return comm.now() - began


def seconds_to_sum(model: Model, workers: int, network: Switch, whole: bool) -> float:
    """Virtual seconds until all workers have the sum of their gradients: as one vector, or array by array."""
    lengths = [int(np.prod(shape)) for part in model.parts for shape in part]
    return launch(_sums, on=Simulated(workers, network), args=([model.size] if whole else lengths,))[0]
