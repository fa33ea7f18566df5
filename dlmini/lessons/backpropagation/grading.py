"""What exercise 01 is tested for."""

from __future__ import annotations

import numpy as np

from dlmini.grade.expect import alike, array, close, named, number, same, short
from dlmini.grade.lesson import Call, Lesson, Wrong
from dlmini.lessons.backpropagation.mistakes import (
    known_gates,
    known_of_a_layer,
    known_of_a_network,
    known_slopes,
    not_finite,
    softmax_slope,
)

lesson = Lesson("01_backpropagation")


def several(value, count: int, names: str) -> tuple:
    """A tuple of so many things."""
    if not isinstance(value, tuple | list) or len(value) != count:
        raise Wrong(f"found {short(value)}, expected {names}.")
    return tuple(value)


# ---- linear_backward: every slope as the sum that the chain rule gives ----


def dense(coin, B: int, n: int, m: int, dtype="f8", whole: bool = True, repeat: int = 1) -> Call:
    """Whole numbers, so that sums are exact in any order; or numbers of which every sum is rounded."""
    draw = (lambda *s: coin.integers(-9, 10, s)) if whole else (lambda *s: coin.standard_normal(s))
    x, w, dy = draw(B, n).astype(dtype), draw(n, m).astype(dtype), draw(B, m).astype(dtype)
    wide = [a.astype("f8") for a in (x, w, dy)]
    truth = (
        np.einsum("ij,kj->ik", wide[2], wide[1]),
        np.einsum("ik,ij->kj", wide[0], wide[2]),
        np.einsum("ij->j", wide[2]),
    )
    return Call((x, w, dy), truth=tuple(t.astype(dtype) for t in truth), repeat=repeat)


def layers(coin):
    for _ in range(2):
        yield dense(coin, *(2 + coin.permutation(5)[:3]).tolist())
    yield dense(coin, 4, 3, 3)


def kept_layers(coin):
    yield dense(coin, 3, 4, 2, "f4", repeat=2)


def any_layers(coin):
    for B, n, m, dtype in ((1, 4, 3, "f4"), (5, 1, 2, "f8"), (4, 4, 4, "f4"), (7, 3, 1, "f4")):
        yield dense(coin, B, n, m, dtype, repeat=2)


def rounded_layers(coin):
    yield dense(coin, 40, 30, 20, "f4", whole=False)


def slopes_of_a_layer(case, found, compare, **how) -> None:
    values = several(found.value, 3, "three arrays (dx, dw, db)")
    if not alike(values, case.truth) and alike(values[1::-1], case.truth[:2]):
        raise Wrong("dx and dw have changed places: expected (dx, dw, db).")
    for name, value, truth in zip(("dx", "dw", "db"), values, case.truth, strict=True):
        named(value, truth, name, known_of_a_layer(name, *case.args, truth))
        compare(value, truth, name, **how)


@lesson.test("linear_backward", points=1, cases=layers)
def a_dense_layer_passes_slopes_back(case, found):
    """dx = dy w^T, dw = x^T dy, and db is the sum of dy over the batch."""
    slopes_of_a_layer(case, found, same)


@lesson.test("linear_backward", points=1, cases=kept_layers)
def a_dense_layer_keeps_types_and_arguments(case, found):
    """The slopes have the type of the numbers that came in, and x, w and dy stay as they are."""
    slopes_of_a_layer(case, found, same)


@lesson.test("linear_backward", points=1, cases=any_layers, hidden=True)
def layers_of_any_shape_and_type(case, found):
    """It works for one example, one input or one output, keeps the type of the numbers, and leaves its input alone."""
    slopes_of_a_layer(case, found, same)


@lesson.test("linear_backward", points=1, cases=rounded_layers, hidden=True)
def slopes_are_sums_over_the_batch(case, found):
    """For a larger batch of real numbers all slopes are right up to rounding."""
    slopes_of_a_layer(case, found, close, terms=40)


# ---- relu_backward ----


def gate(coin, shape, dtype="f8", zeros: bool = False, repeat: int = 1) -> Call:
    x, dy = coin.standard_normal(shape).astype(dtype), coin.standard_normal(shape).astype(dtype)
    if zeros:
        x[coin.random(shape) < 0.4] = 0
    if x.size > 4:  # one of each kind, whatever the coin says
        x.flat[:5], dy.flat[:5] = (0.0 if zeros else 1.0, 1.0, -1.0, 0.5, -2.0), (1.5, -1.5, 0.5, 2.0, -0.5)
    truth = np.array([g if v > 0 else 0 for v, g in zip(x.flat, dy.flat, strict=True)], dtype).reshape(shape)
    return Call((x, dy), truth=truth, repeat=repeat)


def through_the_gate(case, found) -> None:
    named(found.value, case.truth, "dx", known_gates(*case.args))
    same(found.value, case.truth, "dx")


def small_gates(coin):
    yield gate(coin, (4, int(coin.integers(2, 9))))
    yield gate(coin, (4, int(coin.integers(2, 9))), zeros=True)


@lesson.test("relu_backward", points=1, cases=small_gates)
def slopes_pass_where_the_input_is_positive(case, found):
    """dx is dy where x > 0, and 0 elsewhere, at x = 0 too."""
    through_the_gate(case, found)


@lesson.test("relu_backward", points=1, cases=lambda coin: [gate(coin, (3, 2, 4), "f4", zeros=True, repeat=2)])
def a_gate_keeps_types_and_arguments(case, found):
    """dx has the type of dy, and x and dy stay as they are."""
    through_the_gate(case, found)


def gates(coin):
    for shape, dtype in (((30,), "f8"), ((3, 5, 4, 2), "f4"), ((1, 1), "f4")):
        yield gate(coin, shape, dtype, zeros=True, repeat=2)


@lesson.test("relu_backward", points=1, cases=gates, hidden=True)
def at_zero_the_slope_is_zero(case, found):
    """At x = 0 nothing passes; any shape and type will do, and the arguments stay as they are."""
    through_the_gate(case, found)


# ---- softmax_cross_entropy: truth in extended precision, by logarithms of sums ----


def scores(coin, B: int, K: int, dtype="f8", offsets: float = 0.0, spread: float = 2.0, repeat: int = 1) -> Call:
    s = (spread * coin.standard_normal((B, K)) + offsets * coin.uniform(-1, 1, (B, 1))).astype(dtype)
    return scored(s, coin.integers(0, K, B), repeat)


def scored(s: np.ndarray, labels: np.ndarray, repeat: int = 1) -> Call:
    wide, rows = s.astype(np.longdouble), np.arange(len(s))
    logp = wide - np.logaddexp.reduce(wide, axis=1)[:, None]
    slope = np.exp(logp)
    slope[rows, labels] -= 1
    loss = float(-logp[rows, labels].mean())
    return Call((s, labels), truth=(loss, (slope / len(s)).astype(s.dtype)), repeat=repeat)


def loss_and_slope(case, found) -> None:
    loss, slope = several(found.value, 2, "a pair (loss, slope)")
    truth_loss, truth_slope = case.truth
    relative = 1e-9 if truth_slope.dtype == np.float64 else 1e-5
    not_finite(case.args[0], case.args[1], loss, slope)
    confused = "softmax was taken along columns; an example's scores stand in a row"
    by_columns = softmax_slope(case.args[0].T, case.args[1], along_rows=False)
    named(slope, truth_slope, "the slope", {confused: by_columns})
    named(
        loss,
        truth_loss,
        "the loss",
        {"this is the sum over the batch, expected the mean": truth_loss * len(truth_slope)},
    )
    number(loss, truth_loss, "the loss", relative)
    named(slope, truth_slope, "the slope", known_slopes(*case.args, truth_slope))
    array(slope, truth_slope, "the slope")
    close(slope, truth_slope, "the slope", terms=8)


def small_scores(coin):
    for _ in range(3):
        yield scores(coin, int(coin.integers(2, 6)), int(coin.integers(2, 6)))
    yield scores(coin, 3, 4, "f4", repeat=2)


def any_scores(coin):
    yield scored(1000 + 3 * coin.standard_normal((4, 3)), coin.integers(0, 3, 4))
    yield scored(np.array([[1000.0], [0.0], [-1000.0]]) + coin.standard_normal((3, 4)), coin.integers(0, 4, 3))
    yield scored(np.array([[0.0, -1000.0, 3.0], [2.0, 1.0, 0.0]]), np.array([1, 0]))


def large_scores(coin):
    yield scores(coin, 6, 4, offsets=1000.0)
    yield scores(coin, 5, 3, "f4", offsets=500.0)
    yield scores(coin, 6, 5, spread=400.0)
    yield scored(np.array([[0.0, -1000.0, 3.0], [2.0, 1.0, 0.0]]), np.array([1, 0]))


def other_scores(coin):
    yield scores(coin, 1, 7, "f4", repeat=2)
    yield scores(coin, 9, 2, repeat=2)


@lesson.test("softmax_cross_entropy", points=1, cases=small_scores)
def the_loss_is_the_mean_of_minus_log_p(case, found):
    """The loss is the mean of -log p[label], and its slope is (p - t) / B; type and arguments are kept."""
    loss_and_slope(case, found)


@lesson.test("softmax_cross_entropy", points=1, cases=any_scores)
def scores_of_a_thousand_are_no_exception(case, found):
    """Scores of any size, also 1000 or -1000, give a finite loss, and the right one."""
    loss_and_slope(case, found)


@lesson.test("softmax_cross_entropy", points=1, cases=large_scores, hidden=True)
def large_scores_do_not_overflow(case, found):
    """Scores of a thousand, positive or negative, alike or apart, give a finite loss, and the right one."""
    loss_and_slope(case, found)


@lesson.test("softmax_cross_entropy", points=1, cases=other_scores, hidden=True)
def one_example_and_two_classes(case, found):
    """One example or two classes are no exception; the type is kept, and the arguments stay as they are."""
    loss_and_slope(case, found)


# ---- network_backward: every slope as the sum over all its paths, in extended precision ----

PATHS = ("ic,jc,ij,ik->kj", "ic,jc,ij->j", "ic,ij->jc", "ic->c")  # i example, k input, j neuron, c class


def network(coin, B: int, n: int, m: int, K: int, dtype="f8", size: int = 1, repeat: int = 1) -> Call:
    """Numbers in eighths: z and the scores are exact in any order. If there are two neurons, the first has z = 0."""
    x, w1, b1, w2, b2 = (coin.integers(-8, 9, s) / 8 for s in ((B, n), (n, m), m, (m, K), K))
    w2 *= size
    if m > 1:
        w1[:, 0], b1[0], b1[1] = 0, 0, 2 * n  # one neuron at the kink, another always on
    labels = coin.integers(0, K, B)
    x, w1, b1, w2, b2 = (a.astype(dtype) for a in (x, w1, b1, w2, b2))
    return Call((x, labels, w1, b1, w2, b2), truth=by_paths(x, labels, w1, b1, w2, b2), repeat=repeat)


def by_paths(x, labels, *parameters) -> tuple:
    """The scores, the loss, and a slope for each parameter."""
    wide, w1, b1, w2, b2 = (a.astype(np.longdouble) for a in (x, *parameters))
    z = wide @ w1 + b1
    s, on = np.maximum(z, 0) @ w2 + b2, (z > 0).astype(np.longdouble)
    loss, d = scored(s, labels).truth
    factors = (d, w2, on, wide), (d, w2, on), (d, z * on), (d,)
    slopes = [np.einsum(path, *given) for path, given in zip(PATHS, factors, strict=True)]
    return s, loss, tuple(slope.astype(x.dtype) for slope in slopes)


def whole_pass(case, found) -> None:
    loss, slopes = several(found.value, 2, "a pair (loss, slopes)")
    slopes = several(slopes, 4, "four slopes (dw1, db1, dw2, db2)")
    s, truth_loss, truth = case.truth
    flat = [slope.ravel() for slope in slopes if isinstance(slope, np.ndarray) and slope.dtype.kind == "f"]
    not_finite(s, case.args[1], loss, np.concatenate(flat or [np.zeros(0)]))
    named(slopes, truth, "the slopes", known_of_a_network(case.args, truth))
    relative = 1e-9 if truth[0].dtype == np.float64 else 1e-5
    number(loss, truth_loss, "the loss", relative / min(1.0, max(truth_loss, 1e-300)))  # a small loss: scores cancel
    largest = max(1.0, float(np.abs(case.args[4]).max()))  # summands of the slopes are as large as w2
    for name, slope, right in zip(("dw1", "db1", "dw2", "db2"), slopes, truth, strict=True):
        close(slope, right, name, terms=round(32 * largest))


def small_networks(coin):
    yield network(coin, 6, 3, 5, 4)
    yield network(coin, 5, 4, 4, 4)


def other_networks(coin):
    yield network(coin, 1, 3, 4, 2, "f4", repeat=2)
    yield network(coin, 4, 1, 1, 2, repeat=2)
    yield network(coin, 7, 5, 6, 3, "f4")


@lesson.test("network_backward", points=1, cases=small_networks)
def a_whole_pass_forward_and_back(case, found):
    """The loss of a batch, and its slopes along w1, b1, w2 and b2; nothing passes where z = 0."""
    whole_pass(case, found)


@lesson.test("network_backward", points=1, cases=lambda coin: [network(coin, 4, 3, 5, 3, "f4", repeat=2)])
def a_whole_pass_keeps_types_and_arguments(case, found):
    """Each slope has the type of its array, and all arguments stay as they are."""
    whole_pass(case, found)


@lesson.test("network_backward", points=1, cases=other_networks, hidden=True)
def networks_of_any_shape_and_type(case, found):
    """One example, one input, one neuron are no exceptions; types are kept, and arguments stay as they are."""
    whole_pass(case, found)


@lesson.test("network_backward", points=1, cases=lambda coin: [network(coin, 6, 3, 5, 4, size=1000)], hidden=True)
def large_scores_in_a_network(case, found):
    """Scores of thousands give a finite loss, and the right slopes."""
    whole_pass(case, found)
