"""Domain parallelism: pictures cut in strips of rows; neighbours lend each other the rows at their borders.

    rank r of N has rows [r H // N, (r + 1) H // N) of every picture, and all weights
    forward    before a convolution of height k each strip gets k // 2 rows of its neighbours (its halo)
    back       the gradient of a halo goes to whose rows they were, and is added there
    weights    every rank has its strip's share of their gradient: a sum over ranks, at the end
A halo is k // 2 rows, however large the picture, and whatever the number of ranks: where pictures are large and weights
few this is the split that sends least.
Gholami et al., Integrated model, batch, and domain parallelism in training neural networks, 2018.
"""

from __future__ import annotations

import numpy as np

from dlmini.checks import whole
from dlmini.comm.schedules import cut
from dlmini.nn.conv import conv_backward, conv_forward

UP, DOWN = 1, 2  # tags: what goes to the rank before, and to the one behind


def strip(pictures: np.ndarray, rank: int, ranks: int) -> np.ndarray:
    """A rank's rows of all pictures (images, height, width, channels)."""
    low, high = cut(pictures.shape[1], ranks)[rank : rank + 2].tolist()
    return pictures[:, low:high]


class StripConvolution:
    """A k x k convolution, stride 1, same size, on strips: forward(x), then backward(dy), on every rank."""

    def __init__(self, comm, height: int, kernel: int):
        self.comm, self.halo = comm, whole(kernel, "kernel", 1) // 2
        if kernel % 2 == 0:
            raise ValueError(f"kernel is {kernel}; a strip has as many rows of each neighbour: use an odd one")
        thin = min(b - a for a, b in zip(*[cut(height, comm.size).tolist()[i:] for i in (0, 1)], strict=False))
        if self.halo and comm.size > 1 and thin < self.halo:
            raise ValueError(
                f"{comm.size} strips of {height} rows: the thinnest has {thin}, but a neighbour asks for {self.halo}; "
                "use fewer ranks, larger pictures or a smaller kernel"
            )
        self.neighbours = [(r, tag) for r, tag in ((comm.rank - 1, UP), (comm.rank + 1, DOWN)) if 0 <= r < comm.size]

    def forward(self, x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The strip's rows of the convolution of whole pictures."""
        self.x = self.with_halo(x)
        y = np.empty((*x.shape[:3], w.shape[-1]), x.dtype)
        conv_forward(self.x, w, b, y)
        return y

    def backward(self, w: np.ndarray, dy: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(dx, dw, db): of the strip; dw and db of whole pictures, on every rank."""
        dx, dw, db = np.zeros_like(self.x), np.zeros_like(w), np.zeros(w.shape[-1], w.dtype)
        conv_backward(self.x, w, dy, dx, dw, db)
        total = self.comm.allreduce(np.concatenate([dw.reshape(-1), db]))
        return self.given_back(dx), total[: dw.size].reshape(w.shape), total[dw.size :]

    def with_halo(self, x: np.ndarray) -> np.ndarray:
        """The strip with rows of its neighbours above and below, and zeros where the picture ends."""
        h, rows = self.halo, x.shape[1]
        found = np.zeros((len(x), rows + 2 * h, x.shape[2] + 2 * h, x.shape[3]), x.dtype)
        found[:, h : h + rows, h : h + x.shape[2]] = x
        for rank, tag in self.neighbours if h else ():
            self.comm.send(rank, np.ascontiguousarray(x[:, :h] if tag == UP else x[:, -h:]), tag)
        for rank, tag in self.neighbours if h else ():
            theirs = self.comm.recv(rank, DOWN if tag == UP else UP)
            (found[:, :h] if tag == UP else found[:, -h:])[:, :, h : h + x.shape[2]] = theirs
        return found

    def given_back(self, dx: np.ndarray) -> np.ndarray:
        """The gradient of my rows: what I found, and what neighbours found of those that I lent them."""
        h = self.halo
        if not h:
            return dx
        inner = dx[:, :, h:-h]
        mine = inner[:, h:-h].copy()
        for rank, tag in self.neighbours:
            self.comm.send(rank, np.ascontiguousarray(inner[:, :h] if tag == UP else inner[:, -h:]), tag)
        for rank, tag in self.neighbours:
            (mine[:, :h] if tag == UP else mine[:, -h:])[...] += self.comm.recv(rank, DOWN if tag == UP else UP)
        return mine
