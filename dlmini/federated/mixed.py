"""Mixed use of data: some rows are everybody's, the rest stay where they are.

    task = replace(task, split=Mixed(split_by_label, share=0.05))
A split of rows, like those of dlmini/data. The shared rows are drawn once, and every client has them beside its own: a
public data set, or what members of a project have agreed to show. Few of them already hold clients together whose own
rows differ. Zhao et al., Federated learning with non-IID data, 2018.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dlmini.checks import real, settle, whole
from dlmini.data import split_by_label
from dlmini.data.checks import check_split

SHARED = 43  # purpose of random numbers: which rows everybody has


@dataclass(frozen=True)
class Mixed:
    """share: of all rows, everybody's; `split` deals out the others."""

    split: Callable = split_by_label
    share: float = 0.05

    def __post_init__(self):
        settle(self, share=real(self.share, "share", least=0, below=1))
        check_split(self.split)

    def __call__(self, rows, parts: int, seed: int = 0) -> list[np.ndarray]:
        labels = np.asarray(rows.y)
        order = np.random.default_rng([whole(seed, "seed", 0), 0, 0, SHARED]).permutation(len(labels))
        count = round(self.share * len(labels))
        everybodys, others = np.sort(order[:count]), np.sort(order[count:])
        own = self.split(labels[others], parts, seed=seed)
        return [np.sort(np.concatenate([everybodys, others[part]])) for part in own]
