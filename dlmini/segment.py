"""What is to be learned of pictures with masks: the class of every pixel."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dlmini.checks import settle, truth, whole
from dlmini.data import Batch, turned
from dlmini.data.checks import UNLABELLED
from dlmini.nn.losses import softmax_cross_entropy
from dlmini.task import Classify


class PixelScore(NamedTuple):
    """How well one class is found. Shares of pixels; NaN where there is nothing to divide by."""

    name: str
    share: float  # of all labelled pixels, how many are of this class
    iou: float  # right / (of this class, or taken for it)
    recall: float  # right / of this class
    precision: float  # right / taken for it


@dataclass(frozen=True)
class Segment(Classify):
    """A network that learns the class of every pixel: scores (rows, columns, classes) for pictures with masks.

    Loss and accuracy are means over the labelled pixels; others (255) count for nothing. batch: pictures per worker and
    step. turns: each picture is flipped and turned at random every time it is seen, by numbers that depend on seed,
    rank, epoch and step alone. sample: of so many training pictures a model with BatchNorm takes mean and variance when
    weights are tried.
    """

    batch: int = 4
    turns: bool = True
    sample: int = 32

    def __post_init__(self):
        super().__post_init__()
        settle(self, turns=truth(self.turns, "turns"), sample=whole(self.sample, "sample", 1, hint="pictures"))
        for rows in (self.train, self.test):
            if rows.y.ndim != 3:
                raise ValueError(f"{rows.name} has one label for each row; Segment needs masks: use Classify instead")
        wanted, scores = (*self.train.shape[:2], len(self.train.classes)), tuple(self.model.shapes[-1])
        if scores != wanted:
            raise ValueError(
                f"the model answers {scores} to a picture, but {self.train.name} needs {wanted}: a score for each "
                f"pixel and class; use unet(input={self.train.shape}, classes={wanted[-1]})"
            )

    def batches(self, shard: int, of: int, seed: int, skip: int = 0) -> Iterator[Batch]:
        found = super().batches(shard, of, seed, skip)
        return map(turned, found) if self.turns else found

    def fingerprint(self, workers: int, seed: int) -> dict[str, str]:
        return super().fingerprint(workers, seed) | {"turns": str(self.turns)}

    def statistics(self, w: np.ndarray) -> np.ndarray | None:
        """What a model with BatchNorm needs for predicting. A picture has thousands of pixels, so few will do."""
        if not self.model.measured:
            return None
        return self.model.statistics(w, self.train.sample(self.sample).scaled().x, self.batch)

    def guesses(self, w: np.ndarray, x: np.ndarray) -> np.ndarray:
        """The class of each pixel of some pictures, as `scaled` gives them."""
        return np.concatenate([scores.argmax(-1).astype(np.uint8) for scores in self._scores(w, x)])

    def _scores(self, w: np.ndarray, x: np.ndarray) -> Iterator[np.ndarray]:
        stats = self.statistics(w)
        for i in range(0, len(x), self.batch):
            yield self.model.predict(w, x[i : i + self.batch], stats)

    def confusion(self, w: np.ndarray) -> np.ndarray:
        """How many labelled pixels of the test set are of class i and taken for class j."""
        return self._look(w)[1]

    def evaluate(self, w: np.ndarray) -> dict[str, float]:
        """Mean loss, share of right pixels, and the mean over classes of right / (of the class, or taken for it)."""
        loss, found = self._look(w)
        scores = by_class(found, self.train.classes)
        known = [one.iou for one in scores if not np.isnan(one.iou)]
        return {"loss": loss, "accuracy": float(np.trace(found) / found.sum()), "iou": float(np.mean(known))}

    def by_class(self, w: np.ndarray) -> list[PixelScore]:
        return by_class(self.confusion(w), self.train.classes)

    def _look(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """The mean loss and the confusion matrix on the test set, a few pictures at a time."""
        data, kinds = self.test.scaled(), len(self.train.classes)
        loss, found, done = 0.0, np.zeros((kinds, kinds), np.int64), 0
        for scores in self._scores(w, data.x):
            labels = data.y[done : done + len(scores)]
            done += len(scores)
            known = labels != UNLABELLED
            truth, told = labels[known].astype(np.int64), scores[known]
            loss += softmax_cross_entropy(told, truth, np.empty_like(told), 1) if len(truth) else 0.0
            found += np.bincount(kinds * truth + told.argmax(-1), minlength=kinds**2).reshape(kinds, kinds)
        return float(loss / found.sum()), found


def by_class(confusion: np.ndarray, names) -> list[PixelScore]:
    """What a confusion matrix says of each class."""
    right, there, told = np.diag(confusion), confusion.sum(1), confusion.sum(0)
    with np.errstate(invalid="ignore"):
        columns = there / confusion.sum(), right / (there + told - right), right / there, right / told
    return [PixelScore(name, *map(float, row)) for name, *row in zip(names, *columns, strict=True)]


def table(scores: list[PixelScore]) -> str:
    """By class, in Markdown."""
    lines = [
        "| class | share of pixels | IoU | found of it | right of what was taken for it |",
        "|---|---|---|---|---|",
    ]
    lines += [f"| {s.name} | " + " | ".join(f"{part:.1%}" for part in s[1:]) + " |" for s in scores]
    return "\n".join(lines) + "\n"
