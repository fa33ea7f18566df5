"""What feedback has still to say, layer by layer: how late a layer is heard.

What is left out of a packet is added to the next one, so nothing is lost; but a layer whose gradients are small against
half a level must collect many of them before it is heard at all: on its way to the server, and again on the way back.
Told in gradients: |unsaid| / |gradient|, of a computer's own and of the mean.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import NamedTuple

import numpy as np

from dlmini.comm.launch import launch
from dlmini.compression import Int8, PerLayer
from dlmini.events import Checkpoint
from dlmini.loop import program
from dlmini.sim import Simulated
from dlmini.studies.classroom.learning import Form, Way, recipe_of
from dlmini.studies.classroom.published import PCS

CODECS = {"one scale": Int8(10), "a scale each": PerLayer(Int8(10))}


class Unsaid(NamedTuple):
    """Of the weights of one layer. own: on a computer, the mean of six; back: on the server, of the mean."""

    layer: str
    own: float
    back: float


def unsaid_by_layer(form: Form, codec, rounds: int, seed: int = 0) -> list[Unsaid]:
    """After some rounds of 21 levels with feedback; only weights, in the order of layers."""
    task, memory = form.task(), {}
    recipe = replace(recipe_of(form, Way(codec, True), seed), rounds=rounds, evaluate_every=0, checkpoint_every=rounds)

    def hear(event) -> None:
        if isinstance(event, Checkpoint):
            memory[event.rank] = event.memory

    w = launch(program, Simulated(PCS), (task, recipe), hear)[0]
    grads = np.zeros((PCS, task.size), np.float32)
    for rank, grad in enumerate(grads):
        task.loss_and_grad(w, next(task.batches(rank, PCS, seed + 1)), grad)
    own = np.stack([memory[rank]["unsaid"] for rank in range(PCS)])
    return told(task.shapes, grads, own, memory[0]["talk.unsaid"])


def told(shapes, grads: np.ndarray, own: np.ndarray, back: np.ndarray) -> list[Unsaid]:
    """In gradients; grads and own: a row for each computer."""
    found, start = [], 0
    for shape in shapes:
        here = slice(start, start := start + prod(shape))
        if len(shape) > 1:
            each = np.linalg.norm(own[:, here], axis=1) / np.linalg.norm(grads[:, here], axis=1)
            late = np.linalg.norm(back[here]) / np.linalg.norm(grads[:, here].mean(0))
            found.append(Unsaid("x".join(map(str, shape)), float(each.mean()), float(late)))
    return found
