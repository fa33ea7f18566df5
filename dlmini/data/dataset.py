"""A dataset is four things: a name, rows x, labels y and the names of the classes."""

from dataclasses import dataclass, replace

import numpy as np

from dlmini.checks import piece, refuse, whole
from dlmini.data.chance import SAMPLE, generator
from dlmini.data.checks import check_classes, check_indices, check_x, check_y

GREY_LEVELS = np.float32(255)


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows and their labels, checked once so that nobody needs to check them again.

    x        images (N, height, width, channels), uint8 or float32; or points (N, D), float32
    y        one class number for each row (N,), or one for each pixel (N, height, width); 255: not labelled
    classes  label k means classes[k]

    Images stay in uint8, as in their files: a quarter of the memory, and a quarter of the traffic when
    ranks share them. `batches` converts each mini-batch to float32 in [0, 1] on its way to the model.
    """

    name: str
    x: np.ndarray
    y: np.ndarray
    classes: tuple[str, ...]

    def __post_init__(self):
        if not isinstance(self.name, str):
            refuse(TypeError, "name", self.name, "a text that names the set")
        checked = {"classes": check_classes(self.name, self.classes), "x": check_x(self.name, self.x)}
        checked["y"] = check_y(self.name, self.y, checked["x"], checked["classes"])
        for field, value in checked.items():
            object.__setattr__(self, field, value)

    def __len__(self) -> int:
        return len(self.x)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one row, such as (28, 28, 1): what a model needs to know about its input."""
        return self.x.shape[1:]

    def __repr__(self) -> str:
        rows = f"{len(self):,} rows of {'x'.join(map(str, self.shape))} {self.x.dtype}"
        return f"Dataset({self.name!r}: {rows}, {len(self.classes)} classes{' per pixel' if self.y.ndim == 3 else ''})"

    def subset(self, indices) -> "Dataset":
        """The rows with these numbers, in this order (a copy)."""
        rows = check_indices(self.name, indices, len(self))
        return replace(self, x=self.x[rows], y=self.y[rows])

    def sample(self, images: int = 500, seed: int = 0) -> "Dataset":
        """Some rows at random, all if there are no more: the same for the same seed, whoever asks."""
        rows = generator(whole(seed, "seed", 0), 0, 0, SAMPLE).permutation(len(self))
        return self.subset(rows[: whole(images, "images", 1)])

    def scaled(self) -> "Dataset":
        """All rows in float32: grey level g becomes g / 255, so 0 is black and 1 is white. Four times the memory.

        Data in float32 already means what it means and stays as it is.
        """
        return self if self.x.dtype == np.float32 else replace(self, x=self.x / GREY_LEVELS)

    def standardised(self, like: "Dataset | None" = None) -> "Dataset":
        """Each channel with mean 0 and variance 1:  x' = (x / 255 - mean) / deviation.

        Mean and deviation are measured on `like`. Give the training set when you standardise the test set:
        the test set must not teach the model anything, not even its own brightness.
        """
        if like is not None:
            piece(like, "like", ("scaled", "shape"), "a Dataset, whose mean and deviation are taken; or None")
        measured, mine = (self if like is None else like).scaled().x, self.scaled().x
        if measured.shape[1:] != mine.shape[1:]:
            raise ValueError(f"{self.name} has rows of {self.shape} but {like.name} of {like.shape}; they must agree")
        axes = tuple(range(measured.ndim - 1))
        mean, deviation = measured.mean(axes, dtype=np.float64), measured.std(axes, dtype=np.float64)
        deviation[deviation == 0] = 1  # a channel that never changes carries no news at any scale
        return replace(self, x=((mine - mean.astype(np.float32)) / deviation.astype(np.float32)))
