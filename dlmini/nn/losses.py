"""What a network is trained to make small.

A loss writes the gradient of the scores in place and returns the mean over `count` examples. `count` is not always the
number of rows: a thread that holds a part of the batch divides by the whole batch.
"""

from dataclasses import dataclass

import numpy as np

UNLABELLED = 255  # as in data/checks.py: no room of this house imports another for a number


def softmax_cross_entropy(scores, labels, dscores, count):
    """loss = mean of -log p[label],  p = softmax(scores);  dscores = (p - onehot) / count. Scores [M, K].

    A label of K or more says that nobody knows the class: the row adds nothing to the loss, and its gradient is 0.
    """
    if len(labels) and labels.max() >= scores.shape[1]:
        known, slopes = labels < scores.shape[1], dscores
        scores, labels, dscores = scores[known], labels[known], dscores[known]
        loss = softmax_cross_entropy(scores, labels, dscores, count)
        slopes[known], slopes[~known] = dscores, 0
        return loss
    rows = np.arange(len(labels))
    shifted = scores - scores.max(axis=1, keepdims=True)
    np.exp(shifted, out=dscores)
    total = dscores.sum(axis=1, keepdims=True)
    loss = np.log(total[:, 0]).sum() - shifted[rows, labels].sum()
    dscores /= total
    dscores[rows, labels] -= 1
    dscores /= count
    return float(loss) / count


def mean_squares(scores, targets, dscores, count):
    """loss = mean of |scores - target|^2 / 2;  dscores = (scores - target) / count. Both [M, K]."""
    np.subtract(scores, targets, out=dscores)
    loss = 0.5 * float(np.vdot(dscores, dscores)) / count
    dscores /= count
    return loss


@dataclass(frozen=True)
class CrossEntropy:
    """Classes: one label per image, or one per pixel (scores [N, H, W, K], labels [N, H, W]).

    A pixel labelled 255 is one that nobody labelled, if there are fewer classes. It adds nothing, but it is counted in
    the mean: so the shares of threads, micro-batches and workers add up to what the whole batch would give.
    """

    def __call__(self, ops, scores, labels, dscores, images):
        K = scores.shape[-1]
        self.check(scores.shape, labels)
        per_image = labels.size // len(labels)
        rows = scores.reshape(-1, K), labels.reshape(-1), dscores.reshape(-1, K)
        return ops.softmax_cross_entropy(*rows, images * per_image)

    def check(self, shape, labels):
        """Refuse labels that no score belongs to."""
        K = shape[-1]
        if labels.shape != shape[:-1]:
            raise ValueError(
                f"labels have shape {labels.shape}, but scores of shape {shape} need {shape[:-1]}: "
                "one whole number per image (or per pixel), not one-hot rows"
            )
        if not np.issubdtype(labels.dtype, np.integer):
            raise TypeError(f"labels are {labels.dtype}; class numbers must be integers: use labels.astype(np.int64)")
        known = labels if labels.ndim == 1 or K > UNLABELLED else labels[labels != UNLABELLED]
        low, high = int(known.min(initial=0)), int(known.max(initial=0))
        if low < 0 or high >= K:
            raise ValueError(
                f"a label is {low if low < 0 else high}, but {K} classes have the numbers 0 to {K - 1}: "
                "renumber the labels, or give the last layer more outputs"
            )

    def hits(self, scores, labels):
        """How many answers are right, and of how many whose class is known."""
        return int((scores.argmax(axis=-1) == labels).sum()), int((labels < scores.shape[-1]).sum())


@dataclass(frozen=True)
class MeanSquares:
    """Numbers: half the squared distance to the target."""

    def __call__(self, ops, scores, targets, dscores, images):
        self.check(scores.shape, targets)
        shape = len(scores), -1
        return ops.mean_squares(scores.reshape(shape), targets.reshape(shape), dscores.reshape(shape), images)

    def check(self, shape, targets):
        if targets.shape != shape:
            raise ValueError(f"targets have shape {targets.shape}, but the network answers {shape}: they must be equal")
        if not np.issubdtype(targets.dtype, np.floating):
            raise TypeError(f"targets are {targets.dtype}; mean squares needs floats: use targets.astype(np.float32)")

    def hits(self, scores, targets):
        return 0, 0
