"""Mini-batches: every row once an epoch, in an order that depends on nothing but seed, rank and epoch."""

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

import numpy as np

from dlmini.checks import piece, truth, whole
from dlmini.data.chance import generator
from dlmini.data.checks import check_indices
from dlmini.data.dataset import GREY_LEVELS, Dataset
from dlmini.data.partition import split_iid


class Batch(NamedTuple):
    """What one training step sees."""

    x: np.ndarray  # float32: images in [0, 1], or points as they are
    y: np.ndarray  # int64: (B,) or, per pixel, (B, height, width)
    key: tuple[int, int, int, int]  # (seed, rank, epoch, index): Dropout and the like draw their numbers from it


class Tray:
    """Room for one mini-batch, to be filled again and again."""

    def __init__(self, dataset: Dataset, size: int):
        x, y = dataset.x, dataset.y
        self.source = dataset
        self.x = np.empty((size, *x.shape[1:]), np.float32)
        self.y = np.empty((size, *y.shape[1:]), np.int64)
        self.raw_x = self.x if x.dtype == np.float32 else np.empty_like(self.x, x.dtype)
        self.raw_y = self.y if y.dtype == np.int64 else np.empty_like(self.y, y.dtype)

    def fill(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gather these rows. Cost: one read of the rows and one write; nothing is allocated."""
        n = len(rows)
        # The numbers were checked before; with mode="raise" NumPy would gather into a copy first.
        np.take(self.source.x, rows, axis=0, out=self.raw_x[:n], mode="clip")
        np.take(self.source.y, rows, axis=0, out=self.raw_y[:n], mode="clip")
        if self.raw_x is not self.x:
            self.x[:n] = self.raw_x[:n]
            self.x[:n] /= GREY_LEVELS
        if self.raw_y is not self.y:
            self.y[:n] = self.raw_y[:n]
        return self.x[:n], self.y[:n]


def rows_of(dataset: Dataset, size: int, seed: int, rank: int, ranks: int, part) -> np.ndarray:
    """The row numbers that belong to `rank`: its own `part`, or its share of an equal random split."""
    piece(dataset, "dataset", ("x", "y", "name"), "a Dataset; make one of arrays: Dataset(name, x, y, classes)")
    size, rank = whole(size, "size", 1, hint="rows in a batch"), whole(rank, "rank", 0)
    if part is None and rank >= whole(ranks, "ranks", least=1):
        raise ValueError(f"rank {rank} does not exist: {ranks} ranks count from 0; or give its rows as part=")
    if part is not None and ranks != 1:
        raise ValueError(
            f"part= already says which rows rank {rank} has, so ranks={ranks} has no meaning; leave it out"
        )
    n = len(dataset)
    rows = split_iid(n, ranks, seed)[rank] if part is None else check_indices(dataset.name, part, n)
    if size > len(rows):
        raise ValueError(
            f"{dataset.name}: a batch of {size} is larger than the {len(rows)} rows that rank {rank} has; "
            f"ask for batches of at most {len(rows)}, or give more rows (more data, fewer ranks)"
        )
    return rows


def one_epoch(dataset, size, rows, key, shuffle, drop_last, tray) -> Iterator[Batch]:
    order = rows[generator(*key).permutation(len(rows))] if shuffle else rows
    end = len(order) - len(order) % size if drop_last else len(order)
    for index, start in enumerate(range(0, end, size)):
        chosen = order[start : min(start + size, end)]
        x, y = (tray or Tray(dataset, len(chosen))).fill(chosen)
        yield Batch(x, y, (*key, index))


def batches(
    dataset: Dataset,
    size: int,
    *,
    seed: int = 0,
    rank: int = 0,
    ranks: int = 1,
    part=None,
    epoch: int = 0,
    shuffle: bool = True,
    drop_last: bool = False,
    reuse: bool = False,
) -> Iterator[Batch]:
    """One epoch of mini-batches: together they hold each row of this rank exactly once.

        order = rows[default_rng([seed, rank, epoch]).permutation(len(rows))]
    The rows are `part` (an index array, say from `split_dirichlet`), or else the share of `rank` in an iid split
    among `ranks`. `shuffle=False` keeps their order, for evaluation.

    The last batch is shorter if the size does not divide the rows. It is kept, because each row counts;
    `drop_last=True` leaves it out, for code that needs equal shapes (other rows are left out each epoch).

    BEWARE of `reuse=True`: all batches then share one piece of memory, and the next batch overwrites this one.
    It saves an allocation per step in a training loop; never collect such batches in a list.
    """
    rows = rows_of(dataset, size, seed, rank, ranks, part)
    key = (whole(seed, "seed", 0), int(rank), whole(epoch, "epoch", 0))
    truth(shuffle, "shuffle"), truth(drop_last, "drop_last"), truth(reuse, "reuse")
    return one_epoch(dataset, int(size), rows, key, shuffle, drop_last, Tray(dataset, size) if reuse else None)


def stream(
    dataset: Dataset,
    size: int,
    *,
    seed: int = 0,
    rank: int = 0,
    ranks: int = 1,
    part=None,
    epoch: int = 0,
    drop_last: bool = False,
    reuse: bool = False,
) -> Iterator[Batch]:
    """Mini-batches without end: the batches of `epoch`, then of epoch + 1, and so on. Arguments as in `batches`."""
    rows = rows_of(dataset, size, seed, rank, ranks, part)
    truth(drop_last, "drop_last"), truth(reuse, "reuse")
    first, tray = whole(epoch, "epoch", 0), Tray(dataset, size) if reuse else None
    seed, rank, size = whole(seed, "seed", 0), int(rank), int(size)
    keys = ((seed, rank, e) for e in count(first))
    return (batch for key in keys for batch in one_epoch(dataset, size, rows, key, True, drop_last, tray))
