"""What exercise 02 is tested for. All truths are the definitions, window by window."""

from __future__ import annotations

import numpy as np

from dlmini.grade.expect import close, named, same, short
from dlmini.grade.lesson import Call, Lesson, Wrong

lesson = Lesson("02_convolutions")


# ---- convolutions ----


def arrays(coin, images, size, kernel, channels, stride, dtype, whole):
    """x, w, b, dy. Whole numbers, so that sums are exact in any order; or numbers of which every sum is rounded."""
    draw = (lambda *s: coin.integers(-5, 6, s)) if whole else (lambda *s: coin.standard_normal(s))
    (H, W), (KH, KW), (Ci, Co) = size, kernel, channels
    out = (H - KH) // stride + 1, (W - KW) // stride + 1
    made = draw(images, H, W, Ci), draw(KH, KW, Ci, Co), draw(Co), draw(images, *out, Co)
    return tuple(a.astype(dtype) for a in made)


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


def forward(coin, images, size, kernel, channels, stride=1, dtype="f8", whole=True, repeat=1) -> Call:
    x, w, b, _ = arrays(coin, images, size, kernel, channels, stride, dtype, whole)
    return Call((x, w, b, stride), truth=convolved(x, w, b, stride).astype(dtype), repeat=repeat)


def backward(coin, images, size, kernel, channels, stride=1, dtype="f8", whole=True, repeat=1) -> Call:
    x, w, b, dy = arrays(coin, images, size, kernel, channels, stride, dtype, whole)
    dx, dw = np.zeros(x.shape), np.zeros(w.shape)
    for pixel, window in windows(dy, kernel, stride):
        dx[window] += w.astype("f8") @ dy[pixel].astype("f8")
        dw += x[window].astype("f8")[..., None] * dy[pixel]
    db = dy.astype("f8").reshape(-1, len(b)).sum(axis=0)
    return Call((x, w, dy, stride), truth=tuple(t.astype(dtype) for t in (dx, dw, db)), repeat=repeat)


def plain(make):
    def cases(coin):
        for _ in range(2):
            side = int(coin.integers(5, 8))
            yield make(coin, 2, (side, side + 1), (3, 3), (2, 3))

    return cases


def by_two(make):
    """Windows that move by two pixels, of a type that must be kept; asked twice."""

    def cases(coin):
        yield make(coin, 2, (7, 9), (3, 3), (2, 3), stride=2)
        yield make(coin, 2, (8, 5), (3, 3), (2, 3), stride=2, dtype="f4", repeat=2)

    return cases


def odd(make):
    """Any kernel, any shape, one channel, one image, both types; asked twice."""

    def cases(coin):
        yield make(coin, 1, (5, 8), (2, 3), (3, 2), dtype="f4", repeat=2)
        yield make(coin, 3, (6, 4), (1, 1), (1, 4), repeat=2)
        yield make(coin, 2, (4, 5), (4, 5), (2, 1), dtype="f4")

    return cases


def strided(make):
    """Windows that move by more than one pixel, and rows and columns that none of them reaches."""

    def cases(coin):
        yield make(coin, 2, (7, 9), (3, 3), (2, 3), stride=2)
        yield make(coin, 1, (8, 6), (3, 3), (2, 2), stride=2, dtype="f4")
        yield make(coin, 1, (9, 10), (2, 3), (2, 2), stride=3)

    return cases


def rounded(make):
    def cases(coin):
        yield make(coin, 4, (9, 8), (3, 3), (5, 6), dtype="f4", whole=False)

    return cases


def outputs(case, found) -> None:
    named(found.value, case.truth, "y", known_outputs(*case.args, case.truth))
    same(found.value, case.truth, "y")


def known_outputs(x, w, b, stride: int, truth) -> dict:
    """Mistakes that the lesson speaks of, and what they give."""
    (H, W), (KH, KW) = truth.shape[1:3], w.shape[:2]
    dense = convolved(x, w, b, 1)
    few = "there are too few windows: (H - K) // stride + 1 of them fit"
    wide = np.pad(x, ((0, 0), (KH // 2, KH // 2), (KW // 2, KW // 2), (0, 0)))
    return {
        "the filter was turned round; here nobody flips it": convolved(x, w[::-1, ::-1], b, stride),
        "rows and columns of the filter were confused: tap (a, c) is row a, column c": convolved(
            x, w.transpose(1, 0, 2, 3) if KH == KW else w, b, stride
        ),
        "the bias was forgotten": truth - b,
        "the stride was ignored: window (i, j) begins at pixel (i stride, j stride)": dense[:, :H, :W],
        "the stride was ignored: the window has moved by one pixel": dense,
        few: truth[:, :-1],
        f"{few} in a row": truth[:, :, :-1],
        f"{few} both ways": truth[:, :-1, :-1],
        "the image was padded; without padding y is smaller than x": convolved(wide, w, b, stride),
    }


@lesson.test("conv_forward", points=1, cases=plain(forward))
def each_output_is_its_window_times_the_filter(case, found):
    """With stride 1, y[n, i, j] is the bias plus the window at (i, j) times the filter."""
    outputs(case, found)


@lesson.test("conv_forward", points=1, cases=by_two(forward))
def windows_may_move_by_two(case, found):
    """With stride 2 the window moves by two pixels; the type of the numbers is kept, and the arguments stay."""
    outputs(case, found)


@lesson.test("conv_forward", points=1, cases=odd(forward), hidden=True)
def filters_and_images_of_any_shape(case, found):
    """Filters and images need not be square; the type of the numbers is kept, and the arguments stay as they are."""
    same(found.value, case.truth, "y")


@lesson.test("conv_forward", points=1, cases=strided(forward), hidden=True)
def windows_move_by_the_stride(case, found):
    """With a larger stride there are (H - K) // stride + 1 windows, also if some rows at the end are not reached."""
    same(found.value, case.truth, "y")


@lesson.test("conv_forward", points=1, cases=rounded(forward), hidden=True)
def real_numbers_up_to_rounding(case, found):
    """For real numbers the sums are right up to rounding."""
    close(found.value, case.truth, "y", terms=46)


def slopes(case, found, compare, **how) -> None:
    value = found.value
    if not isinstance(value, tuple | list) or len(value) != 3:
        raise Wrong(f"found {short(value)}, expected three arrays (dx, dw, db).")
    for mine, truth, name in zip(value, case.truth, ("dx", "dw", "db"), strict=True):
        try:
            compare(mine, truth, name, **how)
        except Wrong:
            named(mine, truth, name, known_slopes(name, *case.args, truth))
            raise


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
    return {
        "slopes overwrite each other: windows overlap, so what is scattered must be added": by_taps(
            x, w, dy, stride, add=False
        )[0],
        "slopes came back through the wrong taps: here nobody flips the filter": by_taps(x, w[::-1, ::-1], dy, stride)[
            0
        ],
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


@lesson.test("conv_backward", points=1, cases=by_two(backward))
def slopes_of_windows_that_move_by_two(case, found):
    """With stride 2 slopes go to the pixels of their own windows; type and arguments are kept."""
    slopes(case, found, same)


@lesson.test("conv_backward", points=1, cases=plain(backward))
def slopes_go_back_through_the_taps_they_came_from(case, found):
    """With stride 1, dx, dw and db are what the chain rule gives, window by window."""
    slopes(case, found, same)


@lesson.test("conv_backward", points=1, cases=odd(backward), hidden=True)
def slopes_for_filters_and_images_of_any_shape(case, found):
    """Filters and images need not be square; the type of the numbers is kept, and the arguments stay as they are."""
    slopes(case, found, same)


@lesson.test("conv_backward", points=1, cases=strided(backward), hidden=True)
def pixels_that_no_window_sees_have_no_slope(case, found):
    """With a larger stride each slope goes to the pixels of its own window; pixels that no window sees get 0."""
    slopes(case, found, same)


@lesson.test("conv_backward", points=1, cases=rounded(backward), hidden=True)
def real_slopes_up_to_rounding(case, found):
    """For real numbers the sums are right up to rounding."""
    slopes(case, found, close, terms=168)


# ---- max-pooling ----


def pool(coin, images, size, channels, window=2, stride=2, dtype="f8", repeat=1) -> Call:
    """Random winners, as if the images had been random."""
    H, W = ((side - window) // stride + 1 for side in size)
    dy = coin.integers(-9, 10, (images, H, W, channels)).astype(dtype)
    which = coin.integers(0, window * window, dy.shape).astype(np.uint8)
    if stride < window:  # two windows side by side with one winner
        which[0, 0, 0, 0], which[0, 0, 1, 0] = stride, 0
        dy[0, 0, 0, 0], dy[0, 0, 1, 0] = 3, 4
    dx = np.zeros((images, *size, channels), dtype)
    for n, i, j, c in np.ndindex(dy.shape):
        row, column = int(which[n, i, j, c]) // window, int(which[n, i, j, c]) % window
        dx[n, i * stride + row, j * stride + column, c] += dy[n, i, j, c]
    return Call((dy, which, dx.shape, window, stride), truth=dx, repeat=repeat)


def two_by_two(coin):
    for _ in range(2):
        yield pool(coin, 2, (4, 6), int(coin.integers(1, 4)))


def threes_by_two(coin):
    yield pool(coin, 2, (7, 9), 2, window=3, stride=2, dtype="f4", repeat=2)


def winners(case, found) -> None:
    named(found.value, case.truth, "dx", known_winners(*case.args))
    for wrong in overwritten(*case.args):
        said = "a slope overwrites another: a pixel that wins several windows gets the sum of their slopes"
        named(found.value, case.truth, "dx", {said: wrong})
    same(found.value, case.truth, "dx")


def known_winners(dy, which, shape, size: int, stride: int) -> dict:
    """Mistakes that the lesson speaks of, and what they give."""
    turned, share = which % size * size + which // size, dy / size**2
    confused = "rows and columns were confused: place k is row k // size, column k % size"
    return {
        confused: spread(dy, turned, shape, size, stride),
        "everybody in the window got a share; the winner gets the whole slope": spread(
            share, None, shape, size, stride
        ),
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


def other_windows(coin):
    yield pool(coin, 1, (7, 5), 2, dtype="f4", repeat=2)
    yield pool(coin, 2, (9, 6), 3, window=3, stride=3, repeat=2)


def overlapping(coin):
    yield pool(coin, 2, (7, 9), 2, window=3, stride=2)
    yield pool(coin, 1, (6, 5), 3, window=2, stride=1, dtype="f4")
    yield pool(coin, 1, (7, 8), 1, window=2, stride=3)


@lesson.test("maxpool_backward", points=1, cases=two_by_two)
def slopes_go_to_the_winners(case, found):
    """With 2 x 2 windows each slope goes to the cell that `which` names, and all others get 0."""
    winners(case, found)


@lesson.test("maxpool_backward", points=1, cases=threes_by_two)
def slopes_of_windows_that_overlap_are_added(case, found):
    """With 3 x 3 windows that move by 2 a pixel may win twice: it gets both slopes. Type and arguments are kept."""
    winners(case, found)


@lesson.test("maxpool_backward", points=1, cases=other_windows, hidden=True)
def other_windows_and_rows_left_over(case, found):
    """Larger windows, and rows or columns at the end that no window covers; type and arguments are kept."""
    same(found.value, case.truth, "dx")


@lesson.test("maxpool_backward", points=1, cases=overlapping, hidden=True)
def a_pixel_that_wins_twice_gets_both_slopes(case, found):
    """Windows may overlap or leave gaps; a pixel that wins several windows gets the sum of their slopes."""
    same(found.value, case.truth, "dx")
