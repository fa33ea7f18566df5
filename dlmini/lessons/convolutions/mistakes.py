"""A convolution by its definition, and what mistakes give that lesson 02 speaks of: how `check` calls them."""

from __future__ import annotations

import numpy as np


def windows(y, kernel, stride):
    """Every output pixel (n, i, j), and the window of x that it sees."""
    for n, i, j in np.ndindex(y.shape[:3]):
        yield (n, i, j), (n, slice(i * stride, i * stride + kernel[0]), slice(j * stride, j * stride + kernel[1]))


def convolved(x, w, b, stride: int):
    """The definition, in double precision."""
    KH, KW = w.shape[:2]
    y = np.zeros((len(x), (x.shape[1] - KH) // stride + 1, (x.shape[2] - KW) // stride + 1, w.shape[3]))
    for pixel, window in windows(y, (KH, KW), stride):
        y[pixel] = b + np.tensordot(x[window].astype("f8"), w.astype("f8"), 3)
    return y


def known_outputs(x, w, b, stride: int, truth) -> dict:
    """Mistakes that the lesson speaks of, and what they give."""
    (H, W), (KH, KW) = truth.shape[1:3], w.shape[:2]
    dense, turned = convolved(x, w, b, 1), w.transpose(1, 0, 2, 3) if KH == KW else w
    few = "there are too few windows: (H - K) // stride + 1 of them fit"
    wide = np.pad(x, ((0, 0), (KH // 2, KH // 2), (KW // 2, KW // 2), (0, 0)))
    return {
        "the filter was turned round; here nobody flips it": convolved(x, w[::-1, ::-1], b, stride),
        "rows and columns of the filter were confused: tap (a, c) is row a, column c": convolved(x, turned, b, stride),
        "the bias was forgotten": truth - b,
        "the stride was ignored: window (i, j) begins at pixel (i stride, j stride)": dense[:, :H, :W],
        "the stride was ignored: the window has moved by one pixel": dense,
        few: truth[:, :-1],
        f"{few} in a row": truth[:, :, :-1],
        f"{few} both ways": truth[:, :-1, :-1],
        "the image was padded; without padding y is smaller than x": convolved(wide, w, b, stride),
    }


def known_slopes(name: str, x, w, dy, stride: int, truth) -> dict:
    """Mistakes that the lesson speaks of, and what they give."""
    outputs = dy[..., 0].size
    means = {
        "this is a mean, a sum was asked for: over all images and places": truth / outputs,
        "this is a mean over the images, a sum was asked for": truth / len(x),
    }
    if name == "db":
        return means
    ignored = "the stride was ignored: window (i, j) begins at pixel (i stride, j stride)"
    if name == "dw":
        turned = truth.transpose(1, 0, 2, 3)
        confused = "rows and columns of the filter were confused: tap (a, c) is row a, column c"
        return {**means, confused: turned, ignored: by_taps(x, w, dy, 1)[1]}
    kept, flipped = by_taps(x, w, dy, stride, add=False)[0], by_taps(x, w[::-1, ::-1], dy, stride)[0]
    return {
        "slopes overwrite each other: windows overlap, so what is scattered must be added": kept,
        "slopes came back through the wrong taps: here nobody flips the filter": flipped,
        ignored: by_taps(x, w, dy, 1)[0],
    }


def by_taps(x, w, dy, stride: int, add: bool = True):
    """(dx, dw) tap by tap, as most people write it; right if it adds."""
    (H, W), (x, w, dy) = dy.shape[1:3], (array.astype("f8") for array in (x, w, dy))
    dx, dw = np.zeros(x.shape), np.zeros(w.shape)
    for a, c in np.ndindex(w.shape[:2]):
        seen = slice(None), slice(a, a + H * stride, stride), slice(c, c + W * stride, stride)
        dw[a, c] = np.tensordot(x[seen], dy, ((0, 1, 2), (0, 1, 2)))
        dx[seen] = (dx[seen] if add else 0) + dy @ w[a, c].T
    return dx, dw


def known_winners(dy, which, shape, size: int, stride: int) -> dict:
    """Mistakes that the lesson speaks of, and what they give."""
    turned, share = which % size * size + which // size, dy / size**2
    confused = "rows and columns were confused: place k is row k // size, column k % size"
    return {
        confused: spread(dy, turned, shape, size, stride),
        "everybody in the window got a share; the winner gets all of it": spread(share, None, shape, size, stride),
        "everybody in the window got the slope; only the winner gets it": spread(dy, None, shape, size, stride),
        "the stride was ignored: windows were laid side by side": spread(dy, which, shape, size, size),
    }


def overwritten(dy, which, shape, size: int, stride: int):
    """What is left if winners are written, not added: window by window, place by place, or with the losers' zeros."""
    for places in ([slice(None)], [which == place for place in range(size * size)]):
        dx = np.zeros(shape)
        for place in places:
            chosen = np.zeros(dy.shape, bool)
            chosen[place] = True
            for n, i, j, c in np.argwhere(chosen):
                row, column = divmod(int(which[n, i, j, c]), size)
                dx[n, i * stride + row, j * stride + column, c] = dy[n, i, j, c]
        yield dx
    yield spread(dy, which, shape, size, stride, add=False)


def spread(dy, which, shape, size: int, step: int, add: bool = True):
    """Place by place, as most people write it; which=None: to all. Beyond the image nothing is written."""
    (_, H, W, _), (_, high, wide, _) = dy.shape, shape
    dx = np.zeros((shape[0], high + H * step + size, wide + W * step + size, shape[3]))
    for place in range(size * size):
        a, c = divmod(place, size)
        seen = slice(None), slice(a, a + H * step, step), slice(c, c + W * step, step)
        dx[seen] = (dx[seen] if add else 0) + dy * (1 if which is None else which == place)
    return dx[:, :high, :wide]
