"""Who gets which rows. A split is a list of index arrays, one for each part: disjoint, complete, never empty.

Equal random parts are what a cluster has. Phones and hospitals differ from each other: in the labels they hold
(`split_by_label`, `split_dirichlet`) and in how much they hold (`split_by_quantity`).
The first argument is a Dataset, an array of labels or, where labels do not matter, the number of rows.
"""

import numpy as np

from dlmini.checks import real, refuse, whole
from dlmini.data.chance import SPLIT, generator
from dlmini.data.dataset import Dataset

Parts = list[np.ndarray]


def split_iid(rows, parts: int, seed: int = 0) -> Parts:
    """Shuffle and deal: every part is a fair sample of the whole. Sizes differ by one at most."""
    n, parts = how_many(rows), whole(parts, "parts", least=1)
    enough(n, parts)
    return [np.sort(part) for part in np.array_split(coin(seed).permutation(n), parts)]


def split_by_label(rows, parts: int, shards_per_part: int = 2, seed: int = 0) -> Parts:
    """Sort by label, cut into parts * shards_per_part equal shards, deal each part its shards at random.

    With 2 shards, most parts know two classes only: the pathological case of federated learning.
    McMahan et al., Communication-efficient learning of deep networks from decentralized data, AISTATS 2017.
    """
    labels, parts = labels_of(rows), whole(parts, "parts", least=1)
    shards = parts * whole(shards_per_part, "shards_per_part", least=1)
    enough(len(labels), shards, what=f"shards ({parts} parts of {shards_per_part})")
    pieces = np.array_split(np.argsort(labels, kind="stable"), shards)
    hands = coin(seed).permutation(shards).reshape(parts, shards_per_part)
    return [np.sort(np.concatenate([pieces[s] for s in hand])) for hand in hands]


def split_dirichlet(rows, parts: int, alpha: float, seed: int = 0) -> Parts:
    """Share out each class by its own random proportions.

        p_k ~ Dirichlet(alpha, ..., alpha);   part j gets the fraction p_kj of class k
    alpha = 0.1: most parts know one or two classes; 1: every mixture is as likely as any other; 100: nearly iid.
    A part that drew nothing at all gets one row of the largest part.
    Yurochkin et al., Bayesian nonparametric federated learning of neural networks, ICML 2019.
    """
    labels, parts, alpha = labels_of(rows), whole(parts, "parts", least=1), positive(alpha, "alpha")
    enough(len(labels), parts)
    draw = coin(seed)
    hands = [[] for _ in range(parts)]
    for label in np.unique(labels):
        mine = draw.permutation(np.flatnonzero(labels == label))
        cuts = np.rint(np.cumsum(draw.dirichlet(np.full(parts, alpha)))[:-1] * len(mine)).astype(int)
        for hand, piece in zip(hands, np.split(mine, cuts), strict=True):
            hand.append(piece)
    return [np.sort(part) for part in feed_the_empty([np.concatenate(hand) for hand in hands])]


def split_by_quantity(rows, parts, alpha: float = 1.0, seed: int = 0) -> Parts:
    """Random rows, unequal amounts: fast machines get more, or some clients simply own more.

        sizes ~ n * weights,   each at least 1
    `parts` gives the weights, one for each part, such as (3, 1, 1); or their number, and then the weights are
    drawn from Dirichlet(alpha, ..., alpha): the smaller alpha, the more unequal.
    Li et al., Federated learning on non-IID data silos, ICDE 2022 (quantity skew).
    """
    n, draw = how_many(rows), coin(seed)
    if isinstance(parts, list | tuple) or (isinstance(parts, np.ndarray) and parts.ndim):
        weights = np.array([positive(weight, "a weight in parts") for weight in parts])
    else:
        parts = whole(parts, "parts", least=1, hint="how many, or a row of weights")
        weights = draw.dirichlet(np.full(parts, positive(alpha, "alpha")))
    enough(n, len(weights))
    cuts = np.rint(np.cumsum(weights / weights.sum())[:-1] * n).astype(int)
    return [np.sort(part) for part in feed_the_empty(np.split(draw.permutation(n), cuts))]


def feed_the_empty(parts: Parts) -> Parts:
    """Give each empty part one row of the part that is the largest at that moment."""
    for j in range(len(parts)):
        if len(parts[j]) == 0:
            rich = max(range(len(parts)), key=lambda i: len(parts[i]))
            parts[j], parts[rich] = parts[rich][-1:], parts[rich][:-1]
    return parts


def coin(seed: int) -> np.random.Generator:
    return generator(seed, 0, 0, SPLIT)


def how_many(rows) -> int:
    if isinstance(rows, Dataset | list | tuple) or (isinstance(rows, np.ndarray) and rows.ndim):
        return len(rows)
    return whole(rows, "rows", least=1, hint="a Dataset, its labels, or how many rows there are")


def labels_of(rows) -> np.ndarray:
    if not isinstance(rows, Dataset | list | tuple | np.ndarray):
        refuse(TypeError, "rows", rows, "a Dataset, or its labels as an array of whole numbers (N,)")
    try:
        labels = rows.y if isinstance(rows, Dataset) else np.asarray(rows)
    except ValueError:  # rows of different lengths
        refuse(ValueError, "rows", rows, "labels of shape (N,)")
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(
            f"this split needs one whole label for each row, found shape {labels.shape} of {labels.dtype}; "
            f"give labels of shape (N,), or use split_iid or split_by_quantity, which need no labels"
        )
    return labels


def enough(n: int, pieces: int, what: str = "parts") -> None:
    if not 0 < pieces <= n:
        raise ValueError(f"{n} rows cannot fill {pieces} {what} with at least one row each; ask for at most {n}")


def positive(value: float, what: str) -> float:
    return float(real(value, what, above=0))
