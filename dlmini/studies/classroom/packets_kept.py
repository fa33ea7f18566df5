"""What a packet keeps of a gradient: zeros, energy, bytes. A ratio alone says nothing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dlmini.compression import Deflate, Int8, PerLayer
from dlmini.studies.classroom.published import PCS


class Kept(NamedTuple):
    """A ratio says nothing without the share of zeros and the energy that is left."""

    name: str
    steps: int  # made before this gradient
    zeros: float
    energy: float  # 1 - |u - Q(u)|^2 / |u|^2
    nbytes: int
    ratio: float  # 4 d / bytes, deflated


def kept(task, w: np.ndarray, steps: int, seed: int = 0) -> list[Kept]:
    """Of one worker's gradient at w."""
    grad = np.zeros(task.size, np.float32)
    task.loss_and_grad(w, next(task.batches(0, PCS, seed)), grad)
    return kept_of(grad, task.shapes, steps)


def kept_of(grad: np.ndarray, shapes, steps: int = 0) -> list[Kept]:
    """With 255 and 21 levels, one scale for all or one each."""
    found = []
    for name, codec in {"255 levels": Int8(), "21 levels": Int8(10)}.items():
        for scale, how in {"one scale": codec, "a scale each": PerLayer(codec).fit(shapes)}.items():
            packet = how.encode(grad)
            said, sent = packet.dense(), Deflate(how).encode(grad).nbytes
            lost = np.sum((grad - said) ** 2, dtype=np.float64) / np.sum(grad.astype(np.float64) ** 2)
            found.append(
                Kept(f"{name}, {scale}", steps, float(np.mean(said == 0)), float(1 - lost), sent, grad.nbytes / sent)
            )
    return found
