"""One bit per number, and the means it stands for."""

from dataclasses import dataclass, replace
from math import prod

import numpy as np

from dlmini.checks import settle, whole
from dlmini.compression.compressor import Compressor, check_finite, check_update
from dlmini.compression.ops import ops
from dlmini.compression.packets import Signs


@dataclass(frozen=True, repr=False)
class OneBit(Compressor):
    """Say only which numbers are negative, and what these and the others are on average.

        Q(u)_i = mean of the non-negative u_j of its column  if u_i >= 0,  else mean of the negative ones
    Of all pairs of values these two have the least squared error. The vector is a matrix written row by row, `columns`
    wide; `PerLayer(OneBit())` takes each layer's own columns (its last axis: one per unit). Biased: without error
    feedback training diverges. Wire: ceil(d / 8) + 12 bytes, and 8 for each column.
    Seide et al., 1-bit stochastic gradient descent and its application to data-parallel training of speech DNNs,
    Interspeech 2014. (The residual printed there lacks the carried error; it is update + unsaid - decoded.)
    """

    word = "one_bit"
    shown = (("1 bit (with error feedback)", {}),)
    columns: int = 1

    def __post_init__(self):
        settle(self, columns=whole(self.columns, "columns", 1))

    def fit(self, shapes):
        """The columns of a single matrix, filter or vector; a whole model is one column (see PerLayer)."""
        if len(shapes) != 1:
            return self
        shape = tuple(shapes[0])
        return replace(self, columns=shape[-1] if len(shape) > 1 and prod(shape) else 1)

    def encode(self, update, coin=None):
        check_update(update)
        if update.size % self.columns:
            raise ValueError(
                f"the update has {update.size} numbers, which are no whole number of rows of columns={self.columns}; "
                "OneBit(columns) is for one matrix: for a whole model use PerLayer(OneBit(), shapes)"
            )
        sums, counts = np.empty((2, self.columns)), np.empty(self.columns, np.int64)
        ops().split_sums(update, self.columns, sums, counts)
        check_finite(update, sums)
        negative = update.size // self.columns - counts
        low, high = (sums / np.maximum((negative, counts), 1)).astype(np.float32)
        codes = np.empty(update.size, np.uint8)
        ops().mark(update, codes)
        return Signs.of(codes, low, high)
