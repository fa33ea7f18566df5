"""Training in one process: the baseline that every distributed run is compared with.

for news in train_alone(lenet(), *load("fashion-mnist"), Momentum(0.02), epochs=2):
    print(news)
"""

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dlmini.checks import piece, whole
from dlmini.data import batches


class Step(NamedTuple):
    """One mini-batch was learned."""

    epoch: int
    step: int
    steps: int
    loss: float
    speed: float  # images per second since the epoch began


class Epoch(NamedTuple):
    """One epoch is over, and the network was tried on the test set."""

    epoch: int
    loss: float  # mean over the epoch's mini-batches
    accuracy: float  # on the test set
    speed: float  # images per second, learning only
    weights: np.ndarray  # the vector itself, not a copy: training goes on in it


def train_alone(model, train, test, optimizer, *, epochs=1, batch=100, seed=0) -> Iterator[Step | Epoch]:
    """Learn; yields a Step after each mini-batch and an Epoch after each epoch. The same seed gives the same bits."""
    epochs, batch = whole(epochs, "epochs", 1), whole(batch, "batch", 1, hint="images per step")
    piece(model, "model", ("loss_and_grad", "initial"), "a Model, for example lenet()")
    for name, rows in (("train", train), ("test", test)):
        piece(rows, name, ("x", "y", "scaled"), "a Dataset, one of the two that load gives")
    piece(optimizer, "optimizer", ("rate", "start"), "an optimiser, for example Momentum(0.02)")
    return learned(model, train, test, optimizer, epochs, batch, whole(seed, "seed", 0))


def learned(model, train, test, optimizer, epochs, batch, seed) -> Iterator[Step | Epoch]:
    w, grad, stepper = model.initial(seed), model.zeros(), optimizer.start(model.size)
    x_test, y_test = test.scaled().x, test.y
    steps = -(-len(train) // batch)
    compile_kernels(model, w, optimizer, x_test[:1], y_test[:1])
    for epoch in range(epochs):
        total, spent, seen = 0.0, 0.0, 0
        for i, (x, y, key) in enumerate(batches(train, batch, seed=seed, epoch=epoch, reuse=True)):
            start = time.perf_counter()
            loss = model.loss_and_grad(w, x, y, grad, key)
            if not np.isfinite(loss):
                raise FloatingPointError(diverged(epoch, i, loss, optimizer))
            stepper.apply(w, grad)
            spent += time.perf_counter() - start
            total, seen = total + loss * len(x), seen + len(x)
            yield Step(epoch, i + 1, steps, loss, seen / spent)
        found = model.evaluate(w, x_test, y_test, statistics(model, w, train, batch))
        yield Epoch(epoch, total / seen, found["accuracy"], seen / spent, w)


def statistics(model, w, train, batch):
    """What a model with BatchNorm needs for predicting, from a fixed sample of the training set; else None."""
    return model.statistics(w, train.sample().scaled().x, batch) if model.measured else None


def compile_kernels(model, w, optimizer, x, y):
    """One step that changes nothing, so that the speed of the first epoch is honest."""
    model.loss_and_grad(w, x, y, model.zeros(), key=(0,))
    optimizer.start(1).apply(np.zeros(1, w.dtype), np.zeros(1, w.dtype))


def diverged(epoch, step, loss, optimizer):
    return (
        f"the loss became {loss} in epoch {epoch + 1}, step {step + 1}: training diverged. "
        f"Try a smaller learning rate than in {optimizer!r}, or a warm-up."
    )
