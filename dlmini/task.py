"""What is to be learned: a model, its data, its loss. Immutable, and shared by all ranks of a process."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice

import numpy as np

from dlmini.checks import piece, real, settle, whole
from dlmini.data import Batch, Dataset, batches, split_iid, stream
from dlmini.data.checks import check_split
from dlmini.nn import Model
from dlmini.nn.shapes import Shapes

ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")  # in the repr of a layer that says nothing better of itself


def digest(arrays) -> str:
    """Twelve letters that differ if types, shapes or numbers do."""
    seen = blake2b(digest_size=6)
    for array in map(np.ascontiguousarray, arrays):
        seen.update(f"{array.dtype.str}{array.shape}".encode())
        seen.update(array)
    return seen.hexdigest()


@dataclass(frozen=True)
class Classify:
    """A network that learns labels.

    batch: images per worker and step. split(rows, parts, seed) deals the rows out: split_iid, or split_by_label and
    functools.partial(split_dirichlet, alpha=0.5) for workers whose data differ.
    """

    model: Model
    train: Dataset
    test: Dataset
    batch: int = 100
    split: Callable = split_iid

    def __post_init__(self):
        piece(self.model, "model", ("loss_and_grad", "parts", "evaluate"), "a Model, for example lenet()")
        for name in ("train", "test"):
            piece(getattr(self, name), name, ("x", "y", "classes", "scaled"), "a Dataset, such as load gives")
        settle(self, batch=whole(self.batch, "batch", 1, hint="images per worker and step"))
        check_split(self.split)
        check_fit(self.model, self.train, self.test)

    @property
    def size(self) -> int:
        return self.model.size

    @property
    def shapes(self) -> Shapes:
        """The arrays that the vector is made of, end to end."""
        return Shapes.of(self.model.parts)

    @property
    def flops(self) -> float:
        """Operations of one gradient: forward, and twice as many back."""
        return 3.0 * self.model.flops * self.batch

    def initial(self, seed: int = 0) -> np.ndarray:
        return self.model.initial(seed)

    def batches(self, shard: int, of: int, seed: int, skip: int = 0) -> Iterator[Batch]:
        """An endless stream of mini-batches for worker `shard` of `of`, without the first `skip`."""
        of, skip = whole(of, "of", 1, hint="how many workers"), whole(skip, "skip", 0, hint="batches to leave out")
        rows = self.split(self.train, of, seed=seed)[whole(shard, "shard", 0, of - 1)]
        size = min(self.batch, len(rows))
        epoch, left = divmod(skip, -(-len(rows) // size))
        found = stream(self.train, size, seed=seed, rank=shard, part=rows, epoch=epoch, reuse=True)
        return islice(found, left, None)

    def part(self, number: int, of: int, seed: int) -> Iterator[Batch]:
        """One pass over the rows of part `number` of `of`, always the same batches: for methods that see all data."""
        of = whole(of, "of", 1, hint="how many parts")
        rows = self.split(self.train, of, seed=seed)[whole(number, "number", 0, of - 1)]
        return batches(self.train, min(self.batch, len(rows)), seed=seed, rank=number, part=rows)

    def fingerprint(self, workers: int, seed: int) -> dict[str, str]:
        """What a checkpoint was learned from, so that it is not resumed on something else. The test set is free.

        Digests of all rows and of who gets which: about half a second for the 150 MB of CIFAR-10.
        """
        rows = self.split(self.train, workers, seed=seed)
        return {
            "model": ADDRESS.sub("", f"{self.model.layers} on {self.model.input} with {self.model.loss}"),
            "batch": str(self.batch),
            "data": f"{len(self.train)} rows, {digest([self.train.x, self.train.y])}",
            "split": digest(rows),
        }

    def steps(self, epochs: float, workers: int) -> int:
        """Steps of each worker until all have seen the training set so many times."""
        epochs, workers = real(epochs, "epochs", above=0, most=1e6), whole(workers, "workers", 1)
        return max(1, round(epochs * len(self.train) / (workers * self.batch)))

    def loss_and_grad(self, w: np.ndarray, batch: Batch, grad: np.ndarray, ready=None) -> float:
        """ready(low, share): told on the way back when grad[low:] is final (Model.loss_and_grad)."""
        loss = self.model.loss_and_grad(w, batch.x, batch.y, grad, batch.key, ready)
        if not np.isfinite(loss):
            raise FloatingPointError(f"worker {batch.key[1]}: the loss became {loss}; {self.culprit(grad)}")
        return loss

    def culprit(self, grad: np.ndarray) -> str:
        """Which layer's gradient broke first, and what to do."""
        for name, layer, parts in reversed([*self.model.leaves(grad)] if isinstance(grad, np.ndarray) else []):
            if not all(np.isfinite(part).all() for part in parts):
                return f"the gradient of layer {name}, {layer!r}, is not finite: lower the learning rate"
        return "lower the learning rate"

    def statistics(self, w: np.ndarray) -> np.ndarray | None:
        """What a model with BatchNorm needs for predicting, from a fixed sample of the training set; else None."""
        if not self.model.measured:
            return None
        return self.model.statistics(w, self.train.sample().scaled().x, self.batch)

    def evaluate(self, w: np.ndarray) -> dict[str, float]:
        return self.model.evaluate(w, self.test.scaled().x, self.test.y, self.statistics(w))


def peers(task, size: int, recipe) -> int:
    """How many of `size` ranks a recipe sees: all of them; of a split task (parallel/split.py) those with one slice."""
    return task.peers(size, recipe.beside) if hasattr(task, "peers") else size


def grouped(task) -> bool:
    """Do several ranks hold one network together? Then one that has died cannot come back alone."""
    return hasattr(task, "places") and task.grid.replica > 1


def check_fit(model, *sets) -> None:
    """A model sees rows of one shape."""
    for rows in sets:
        if tuple(rows.shape) != tuple(model.input):
            raise ValueError(
                f"{rows.name} has rows of {rows.shape}, but the model takes {model.input}; make it with "
                f"input={rows.shape}, classes={len(rows.classes)}"
            )
