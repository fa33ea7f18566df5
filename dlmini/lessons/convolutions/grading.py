"""What exercise 02 is tested for. All truths are the definitions, window by window."""

from __future__ import annotations

import numpy as np

from dlmini.grade.expect import close, named, same, short
from dlmini.grade.lesson import Call, Lesson, Wrong
from dlmini.lessons.convolutions.mistakes import (
    convolved,
    known_outputs,
    known_slopes,
    known_winners,
    overwritten,
    windows,
)

lesson = Lesson("02_convolutions")


# ---- convolutions ----


def arrays(coin, images, size, kernel, channels, stride, dtype, whole):
    """x, w, b, dy. Whole numbers, so that sums are exact in any order; or numbers of which every sum is rounded."""
    draw = (lambda *s: coin.integers(-5, 6, s)) if whole else (lambda *s: coin.standard_normal(s))
    (H, W), (KH, KW), (Ci, Co) = size, kernel, channels
    out = (H - KH) // stride + 1, (W - KW) // stride + 1
    made = draw(images, H, W, Ci), draw(KH, KW, Ci, Co), draw(Co), draw(images, *out, Co)
    return tuple(a.astype(dtype) for a in made)


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
