"""Lesson 14: six computers train with what a student has written: `int8` makes packets, `fix_the_mean` mixes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from math import prod

import numpy as np

from dlmini.compression import Int8, PerLayer
from dlmini.compression.packets import Joined, Quantized
from dlmini.lessons.classroom.room import form
from dlmini.lessons.own_compressor import OwnCompressor
from dlmini.lessons.student_code import own
from dlmini.recipe import Recipe
from dlmini.run import train
from dlmini.sim import Simulated
from dlmini.studies.classroom.learning import Learned, Look
from dlmini.studies.classroom.published import PCS
from dlmini.topology import Star

EXERCISE = "14_classroom"
Arrays = list[np.ndarray]


def int8(layers: Arrays, unsaid: Arrays) -> tuple[Arrays, list[float], Arrays]:
    """255 values and a scale of its own for every layer, and what they do not say."""
    levels, scales, left = [], [], []
    for grad, old in zip(layers, unsaid, strict=True):
        whole = grad + old
        m = float(np.abs(whole).max(initial=0.0))
        q = np.rint(whole / np.float32(m) * np.float32(127)).astype(np.int8) if m else np.zeros(whole.shape, np.int8)
        levels.append(q)
        scales.append(m)
        left.append(whole - q * np.float32(m / 127))
    return levels, scales, left


def fix_the_mean(packets: list[tuple[Arrays, list[float]]]) -> Arrays:
    """The mean of what all packets say, divided once."""
    decoded = [[q * np.float32(m / 127) for q, m in zip(*packet, strict=True)] for packet in packets]
    return [sum(same) / np.float32(len(packets)) for same in zip(*decoded, strict=True)]


@dataclass(frozen=True, repr=False)
class Written(OwnCompressor):
    """Packets by a function of one's own."""

    decide: Callable = int8
    shapes: tuple[tuple[int, ...], ...] = ()

    def fit(self, shapes):
        return replace(self, shapes=tuple(shapes))

    def say(self, update: np.ndarray, unsaid: np.ndarray) -> tuple[Joined, np.ndarray]:
        levels, scales, left = self.decide(cut(update, self.shapes), cut(unsaid, self.shapes))
        unsaid = np.concatenate([one.ravel() for one in left]).astype(np.float32)
        return Joined(tuple(packed(q, m) for q, m in zip(levels, scales, strict=True))), unsaid

    def __repr__(self) -> str:
        return f"Written({self.decide.__name__})"


def cut(vector: np.ndarray, shapes) -> Arrays:
    """The arrays that a vector is made of."""
    ends = [0, *accumulate(map(prod, shapes))]
    return [vector[a:b].reshape(shape).copy() for (a, b), shape in zip(pairwise(ends), shapes, strict=True)]


def packed(q: np.ndarray, m: float) -> Quantized:
    """Levels and their scale as the library's packet: 16 bytes, 4 for the scale, one for each number."""
    codes = (q.astype(np.int16).ravel() + 127).astype(np.uint8)
    return Quantized.of(codes, max(1, codes.size), 8, 127, np.array([m], np.float32))


@dataclass(frozen=True)
class OwnMean(Star):
    """The star, with a mean by a function of one's own."""

    mean: Callable = fix_the_mean

    def gather(self, comm, turn) -> None:
        packets = [turn.packet if rank == 0 else comm.recv(rank, 1) for rank in range(comm.size)]
        said = [([p.integers().astype(np.int8) for p in one.packets], [float(p.scales[0]) for p in one.packets])
                for one in packets]  # fmt: skip
        turn.mixed[:] = np.concatenate([one.ravel() for one in self.mean(said)])


def mine() -> tuple[Written, OwnMean, str]:
    """The student's pair, and a sentence that says whose it is."""
    decide, whose = own(EXERCISE, "int8", int8, needs=("fix_the_mean",))
    mean = own(EXERCISE, "fix_the_mean", fix_the_mean, needs=("int8",))[0]
    return Written(decide), OwnMean(PerLayer(Int8()), mean), whose


def trained(codec: Written, star: OwnMean) -> Learned:
    """Six computers, the lesson's form."""
    size = form()
    rounds, look = max(1, round(size.epochs * size.syncs)), max(1, size.syncs // 2)
    recipe = Recipe(topology=star, compression=codec, optimizer=size.optimizer, rounds=rounds, evaluate_every=look)
    outcome = train(size.task(), recipe, Simulated(PCS)).result()
    curve = tuple(Look((m.t + 1) / size.syncs, m.loss, m.accuracy) for m in outcome.measured)
    return Learned("yours", 0, curve, max(e.nbytes for e in outcome.events if hasattr(e, "nbytes")), outcome.nbytes)
