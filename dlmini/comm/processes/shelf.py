"""Memory for large results, used again: fresh pages from the system cost more than the sum that is written to them.

The allocator gives blocks above 32 MB back to the system as soon as they are free, and each page of the next one has
to be cleared first. So the last few large results stay on a shelf; one that nobody holds any more is handed out again.
"""

from __future__ import annotations

import sys

import numpy as np

LARGE = 2**24  # bytes: what is smaller, the allocator keeps by itself
TOO_LARGE = 2**28  # bytes: nobody should hold so much for nothing
KEPT = 2  # results: the one in the program's hands, and the next


def holders(items: list, i: int) -> int:
    """How many hold items[i]; the list itself and this question count too."""
    return sys.getrefcount(items[i])


NOBODY = holders([np.empty(0)], 0)


class Shelf:
    def __init__(self):
        self.arrays: list[np.ndarray] = []

    def empty(self, size: int, dtype: np.dtype) -> np.ndarray:
        """As np.empty. Views hold the array they are views of: so if nobody holds one from the shelf, it is free."""
        if not LARGE < size * dtype.itemsize <= TOO_LARGE:
            return np.empty(size, dtype)
        for i in range(len(self.arrays)):
            fits = self.arrays[i].size == size and self.arrays[i].dtype == dtype
            if fits and holders(self.arrays, i) == NOBODY:
                return self.arrays[i][:]
        self.arrays = [*self.arrays[-KEPT + 1 :], np.empty(size, dtype)]
        return self.arrays[-1][:]
