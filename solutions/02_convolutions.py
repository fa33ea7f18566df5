"""Exercise 02: convolution and max-pooling, forward and back.

Write the three functions, then run `check("02.conv_forward")` and its like in the notebook, or `dlmini check 02` in a
terminal. Images are NHWC: [images, rows, columns, channels]. None of the functions changes its arguments.
"""

import numpy as np

HINTS = {
    "conv_forward": (
        "How many places has a window of KH rows in an image of H rows, if it moves by `stride`? That is y's height.",
        "Do not loop over pixels. Loop over the KH * KW places of the filter: place (a, c) meets which pixels of x?",
        "A slice with a step picks all the pixels that place (a, c) meets: where does it begin, and how many are "
        "there? What it picked is [N, H, W, Ci], and w[a, c] is [Ci, Co].",
    ),
    "conv_backward": (
        "For one place (a, c) of the filter, y gets `part @ w[a, c]`: a dense layer. Its slopes are known.",
        "dw[a, c] sums over images, rows and columns: reshape part to [-1, Ci] and dy to [-1, Co], then one product.",
        "dx begins as zeros. Through place (a, c) the slope goes back to the very pixels that the forward pass read "
        "there; several places reach the same pixel. What happens to what is there already?",
    ),
    "maxpool_backward": (
        "Every output came from exactly one input: where does its slope go? What do all other inputs get?",
        "Place `k` of a window is row k // size and column k % size in it. Loop over the places, not over the pixels.",
        "`which == k` says where place k has won, as ones and zeros. Times dy, it belongs into the slice of dx that "
        "place k of all windows makes, and some pixel may have got something before.",
    ),
}


def conv_forward(x: np.ndarray, w: np.ndarray, b: np.ndarray, stride: int = 1) -> np.ndarray:
    """y[n, i, j, o] = b[o] + sum over a, c, k of x[n, i stride + a, j stride + c, k] w[a, c, k, o].

    x: [N, Hx, Wx, Ci]; w: [KH, KW, Ci, Co]; b: [Co]. No padding: the window stays inside the image, so y is
    [N, (Hx - KH) // stride + 1, (Wx - KW) // stride + 1, Co]. y has the type of x.
    """
    ### BEGIN SOLUTION
    (N, Hx, Wx, _), (KH, KW, _, Co) = x.shape, w.shape
    H, W = (Hx - KH) // stride + 1, (Wx - KW) // stride + 1
    y = np.zeros((N, H, W, Co), x.dtype) + b
    for a in range(KH):
        for c in range(KW):
            y += x[:, a : a + H * stride : stride, c : c + W * stride : stride] @ w[a, c]
    return y
    ### END SOLUTION


def conv_backward(
    x: np.ndarray, w: np.ndarray, dy: np.ndarray, stride: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The slopes (dx, dw, db) of y = conv_forward(x, w, b, stride), from the slopes dy of its output.

    dx is shaped like x, dw like w, and db is [Co]; all have the type of x. Pixels that no window touches have slope 0.
    """
    ### BEGIN SOLUTION
    (KH, KW, Ci, Co), (_, H, W, _) = w.shape, dy.shape
    dx, dw = np.zeros_like(x), np.zeros_like(w)
    for a in range(KH):
        for c in range(KW):
            seen = slice(None), slice(a, a + H * stride, stride), slice(c, c + W * stride, stride)
            dw[a, c] = x[seen].reshape(-1, Ci).T @ dy.reshape(-1, Co)
            dx[seen] += dy @ w[a, c].T
    return dx, dw, dy.sum(axis=(0, 1, 2))
    ### END SOLUTION


def maxpool_backward(
    dy: np.ndarray, which: np.ndarray, shape: tuple[int, int, int, int], size: int = 2, stride: int = 2
) -> np.ndarray:
    """The slope dx, of shape `shape`, of max-pooling with windows of size x size that move by `stride`.

    dy: [N, H, W, C], the slopes of the outputs. which: [N, H, W, C], where in its window each maximum was found:
    0 is the upper left corner, 1 is right of it, `size` is beneath it, size * size - 1 is the lower right corner.
    If stride < size, windows overlap, and one pixel may be the maximum of several. dx has the type of dy.
    """
    ### BEGIN SOLUTION
    (_, H, W, _), dx = dy.shape, np.zeros(shape, dy.dtype)
    for place in range(size * size):
        a, c = divmod(place, size)
        dx[:, a : a + H * stride : stride, c : c + W * stride : stride] += dy * (which == place)
    return dx
    ### END SOLUTION
