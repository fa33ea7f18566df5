"""Every compiled function equals the plain NumPy function of the same name, on random shapes and layouts."""

import inspect

import numpy as np
import pytest
from examples import examples
from hypothesis import assume, given
from hypothesis import strategies as st

from dlmini.nn import ops

plain, compiled = ops.plain(), ops.compiled()
LAYOUTS = ("dense", "every second image", "inside a larger image", "channels first")
ROUNDING = 5e-5  # of the largest number: float32 sums in another order, and Winograd's transforms


def random(rng, shape, layout="dense"):
    """Standard normal float32 numbers, laid out in memory as asked."""
    values = rng.standard_normal(shape).astype(np.float32)
    if layout == "every second image":
        room = np.zeros((2 * shape[0], *shape[1:]), np.float32)[::2]
    elif layout == "inside a larger image":
        room = np.zeros((shape[0], shape[1] + 3, shape[2] + 2, shape[3]), np.float32)[:, 1:-2, 1:-1]
    elif layout == "channels first":
        room = np.zeros((shape[0], shape[3], shape[1], shape[2]), np.float32).transpose(0, 2, 3, 1)
    else:
        return values
    room[...] = values
    return room


def assert_close(ours, truth):
    np.testing.assert_allclose(ours, truth, rtol=0, atol=ROUNDING * max(1, np.abs(truth).max(initial=0)))


convolutions = st.fixed_dictionaries(
    {
        "images": st.integers(1, 4),
        "size": st.tuples(st.integers(1, 13), st.integers(1, 13)),
        "kernel": st.one_of(st.sampled_from([(3, 3), (5, 5)]), st.tuples(st.integers(1, 6), st.integers(1, 6))),
        "channels": st.tuples(st.sampled_from([1, 2, 3, 5, 8, 16, 24]), st.sampled_from([1, 4, 7, 8, 10, 16, 24, 40])),
        "stride": st.sampled_from([1, 1, 1, 2, 3]),
        "padding": st.tuples(st.integers(0, 2), st.integers(0, 2)),
        "layout": st.sampled_from(LAYOUTS),
        "seed": st.integers(0, 99),
    }
)


def set_up(case):
    """Bordered input, filter, bias and the shape of the output."""
    rng, (H, W), (KH, KW), (Ci, Co) = (
        np.random.default_rng(case["seed"]),
        case["size"],
        case["kernel"],
        case["channels"],
    )
    ph, pw = case["padding"]
    assume(H + 2 * ph >= KH and W + 2 * pw >= KW)
    x = random(rng, (case["images"], H + 2 * ph, W + 2 * pw, Ci), case["layout"])
    x[:, :ph] = x[:, H + ph :] = x[:, :, :pw] = x[:, :, W + pw :] = 0
    rows, columns = (H + 2 * ph - KH) // case["stride"] + 1, (W + 2 * pw - KW) // case["stride"] + 1
    return rng, x, random(rng, (KH, KW, Ci, Co)), random(rng, (Co,)), (case["images"], rows, columns, Co)


@examples(150)
@given(case=convolutions, relu=st.booleans())
def test_convolution_forward(case, relu):
    rng, x, w, b, shape = set_up(case)
    truth, ours = np.empty(shape, np.float32), random(rng, shape, case["layout"])
    plain.conv_forward(x, w, b, truth, case["stride"], relu)
    compiled.conv_forward(x, w, b, ours, case["stride"], relu)
    assert_close(ours, truth)


@examples(150)
@given(case=convolutions, gate=st.booleans(), wanted=st.sampled_from(["both", "input", "filter"]))
def test_convolution_backward(case, gate, wanted):
    rng, x, w, b, shape = set_up(case)
    dy = random(rng, shape, case["layout"])
    inside = (case["images"], *case["size"], case["channels"][0])
    truth = [np.empty(inside, np.float32), np.empty_like(w), np.empty_like(b)]
    ours = [random(rng, inside, case["layout"]), random(rng, w.shape), random(rng, b.shape)]
    if wanted == "filter":
        truth[0] = ours[0] = None
    if wanted == "input":
        truth[1:] = ours[1:] = None, None
    plain.conv_backward(x, w, dy, *truth, case["stride"], case["padding"], gate)
    compiled.conv_backward(x, w, dy, *ours, case["stride"], case["padding"], gate)
    for mine, right in zip(ours, truth, strict=True):
        if right is not None:
            assert_close(mine, right)


@examples(80)
@given(case=convolutions, vectors=st.integers(1, 5))
def test_convolution_with_relu_and_pooling_forward_and_back(case, vectors):
    case = {**case, "stride": 1, "channels": (case["channels"][0], 8 * vectors)}
    rng, x, w, b, (N, H, W, C) = set_up(case)
    assume(H > 1 and W > 1)
    pooled = N, H // 2, W // 2, C
    truth, ours = np.empty(pooled, np.float32), random(rng, pooled, case["layout"])
    codes, our_codes = np.empty(pooled, np.uint8), np.empty(pooled, np.uint8)
    plain.conv_pool_forward(x, w, b, truth, codes)
    compiled.conv_pool_forward(x, w, b, ours, our_codes)
    assert_close(ours, truth)
    assert (codes != our_codes).mean() < 0.01  # two nearly equal numbers may change places
    dy, back, our_back = random(rng, pooled), np.empty((N, H, W, C), np.float32), random(rng, (N, H, W, C))
    plain.unpool(dy, codes, back)
    compiled.unpool(dy, codes, our_back)
    np.testing.assert_array_equal(our_back, back)


pools = st.tuples(
    st.integers(1, 3), st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), st.integers(1, 4), st.integers(1, 4)
)


@examples(60)
@given(shape=pools, layout=st.sampled_from(LAYOUTS), seed=st.integers(0, 99))
def test_pooling_of_any_window_forward_and_back(shape, layout, seed):
    N, H, W, C, size, stride = shape
    assume(min(H, W) >= size)
    rng, x = np.random.default_rng(seed), random(np.random.default_rng(seed), (N, H, W, C), layout)
    pooled = N, (H - size) // stride + 1, (W - size) // stride + 1, C
    dy = random(rng, pooled, layout)
    results = []
    for functions in (plain, compiled):
        y, mean, dx, spread = (np.empty(s, np.float32) for s in (pooled, pooled, x.shape, x.shape))
        which = np.empty(pooled, np.uint8)
        functions.maxpool_forward(x, y, which, size, stride)
        functions.maxpool_backward(dy, which, dx, size, stride)
        functions.avgpool_forward(x, mean, size, stride)
        functions.avgpool_backward(dy, spread, size, stride)
        results.append((y, which, dx, mean, spread))
    for truth, ours in zip(*results, strict=True):
        assert_close(ours.astype(np.float32), truth.astype(np.float32))


wholes = st.tuples(*[st.integers(1, n) for n in (3, 9, 9)], st.sampled_from([1, 3, 8, 16, 24, 40]))


@examples(60)
@given(
    shape=wholes, channels=st.sampled_from([1, 5, 8, 16, 24]), size=st.integers(1, 3), layout=st.sampled_from(LAYOUTS)
)
def test_transposed_convolution_forward_and_back(shape, channels, size, layout):
    (N, H, W, C), rng = shape, np.random.default_rng(size)
    large = N, size * H, size * W, channels
    x, dy = random(rng, shape, layout), random(rng, large, layout)
    w, b, results = random(rng, (size, size, C, channels)), random(rng, (channels,)), []
    for functions in (plain, compiled):
        y, (dx, gated) = random(rng, large, layout), (random(rng, shape, layout) for _ in range(2))
        dw, db = random(rng, w.shape), random(rng, b.shape)
        functions.up_forward(x, w, b, y)
        functions.up_backward(x, w, dy, gated, dw, db, True)
        functions.up_backward(x, w, dy, None, dw, db)
        functions.up_backward(x, w, dy, dx, dw, db)
        results.append((y, dx, gated, dw, db))
    for truth, ours in zip(*results, strict=True):
        assert_close(ours, truth)


@examples(60)
@given(shape=wholes, layout=st.sampled_from(LAYOUTS), relu=st.booleans(), gate=st.booleans(), far=st.booleans())
def test_normalisation_forward_and_back(shape, layout, relu, gate, far):
    rng, C = np.random.default_rng(shape[1]), shape[3]
    x, dy, gain, shift = random(rng, shape, layout), random(rng, shape, layout), random(rng, (C,)), random(rng, (C,))
    x += 100 * far  # a variance is no difference of large squares
    results = []
    for functions in (plain, compiled):
        (mean, variance, dgain, dshift), (y, dx) = np.empty((4, C), np.float32), [random(rng, shape, layout)] * 2
        functions.moments(x, mean, variance)
        functions.normalise(x, mean, variance, gain, shift, y, 1e-2, relu)
        y = y.copy()
        functions.normalise_backward(x, mean, variance, gain, shift, dy, dx, dgain, dshift, 1e-2, relu, gate)
        spare = np.empty((2, C), np.float32)
        functions.normalise_backward(x, mean, variance, gain, shift, dy, None, *spare, 1e-2, relu)
        np.testing.assert_array_equal(spare, [dgain, dshift])
        results.append((mean, variance, y, dx, dgain, dshift))
    for truth, ours in zip(*results, strict=True):
        np.testing.assert_allclose(
            ours, truth, rtol=0, atol=(20 if far else 1) * ROUNDING * max(1, np.abs(truth).max())
        )


@given(rows=st.integers(1, 40), channels=st.sampled_from([1, 5, 8, 16]))
def test_normalisation_of_rows_in_place(rows, channels):
    """The gradient may overwrite what it is the gradient of."""
    rng = np.random.default_rng(rows)
    x, dy, gain, shift = (random(rng, s) for s in ((rows, channels), (rows, channels), (channels,), (channels,)))
    results = []
    for functions in (plain, compiled):
        (mean, variance, dgain, dshift), place = np.empty((4, channels), np.float32), x.copy()
        functions.moments(x, mean, variance)
        functions.normalise_backward(place, mean, variance, gain, shift, dy, place, dgain, dshift, 1e-2, True)
        results.append((place, dgain, dshift))
    for truth, ours in zip(*results, strict=True):
        assert_close(ours, truth)


@given(shape=wholes, layout=st.sampled_from(LAYOUTS), other=st.sampled_from(LAYOUTS))
def test_sums_and_means_of_images_in_every_layout(shape, layout, other):
    rng = np.random.default_rng(shape[2])
    x, start, one = random(rng, shape, layout), random(rng, shape), random(rng, (shape[0], 1, 1, shape[3]), other)
    results = []
    for functions in (plain, compiled):
        places = [random(rng, shape, other) for _ in range(5)]
        mean = random(rng, one.shape, layout)
        for place in places:
            place[...] = start
        functions.sum_forward(x, places[0], places[0])
        functions.sum_forward(x, start, places[1], True)
        functions.sum_backward(x, places[2])
        functions.sum_backward(x, places[3], places[0])
        functions.image_mean_forward(x, mean)
        functions.image_mean_backward(one, places[4])
        results.append((*places, mean))
    for truth, ours in zip(*results, strict=True):
        assert_close(ours, truth)


@given(
    rows=st.integers(1, 40),
    columns=st.integers(1, 30),
    units=st.integers(1, 30),
    relu=st.booleans(),
    seed=st.integers(0, 9),
)
def test_dense_forward_and_back(rows, columns, units, relu, seed):
    rng = np.random.default_rng(seed)
    x, w, b, dy = (random(rng, s) for s in ((rows, columns), (columns, units), (units,), (rows, units)))
    results = []
    for functions in (plain, compiled):
        y, dx, dw, db = (np.empty(s, np.float32) for s in ((rows, units), x.shape, w.shape, b.shape))
        functions.dense_forward(x, w, b, y, relu)
        functions.dense_backward(x, w, dy, dx, dw, db, relu)
        results.append((y, dx, dw, db))
    for truth, ours in zip(*results, strict=True):
        assert_close(ours, truth)


@given(shape=st.tuples(*[st.integers(1, 5)] * 4), layout=st.sampled_from(LAYOUTS), seed=st.integers(0, 9))
def test_elementwise_functions_in_every_layout(shape, layout, seed):
    rng = np.random.default_rng(seed)
    x, dy, coins = random(rng, shape, layout), random(rng, shape, layout), rng.random(shape, np.float32)
    results = []
    for functions in (plain, compiled):
        outputs = [random(rng, shape, layout) for _ in range(6)]
        mask = coins.copy()
        functions.relu_forward(x, outputs[0])
        functions.relu_backward(outputs[0], dy, outputs[1])
        functions.tanh_forward(x, outputs[2])
        functions.tanh_backward(outputs[2], dy, outputs[3])
        functions.dropout_forward(x, outputs[4], mask, 0.6)
        functions.dropout_backward(dy, mask, outputs[5])
        results.append(outputs)
    for truth, ours in zip(*results, strict=True):
        assert_close(ours, truth)


@given(rows=st.integers(1, 30), classes=st.integers(1, 12), kind=st.sampled_from([np.uint8, np.int32, np.int64]))
def test_losses(rows, classes, kind):
    rng = np.random.default_rng(rows)
    scores, labels = 5 * random(rng, (rows, classes)), rng.integers(0, classes, rows).astype(kind)
    for name, target in (("softmax_cross_entropy", labels), ("mean_squares", random(rng, (rows, classes)))):
        truth, ours = np.empty_like(scores), np.empty_like(scores)
        expected = getattr(plain, name)(scores, target, truth, rows + 3)
        assert getattr(compiled, name)(scores, target, ours, rows + 3) == pytest.approx(expected, rel=1e-5, abs=1e-6)
        assert_close(ours, truth)


@given(rows=st.integers(1, 30), classes=st.integers(1, 12), kind=st.sampled_from([np.uint8, np.int64]))
def test_rows_whose_class_nobody_knows_add_nothing(rows, classes, kind):
    rng = np.random.default_rng(rows)
    scores, labels = 5 * random(rng, (rows, classes)), rng.integers(0, classes, rows).astype(kind)
    known = rng.random(rows) < 0.6
    truth = np.zeros_like(scores)
    rest = np.empty_like(scores[known])
    expected = plain.softmax_cross_entropy(scores[known], labels[known], rest, rows) if known.any() else 0
    truth[known] = rest if known.any() else 0
    for functions in (plain, compiled):
        ours = random(rng, scores.shape)
        found = functions.softmax_cross_entropy(scores, np.where(known, labels, 255).astype(kind), ours, rows)
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-6)
        assert_close(ours, truth)
        assert not ours[~known].any()


def test_cross_entropy_survives_huge_scores():
    scores = np.array([[1e4, -1e4, 0], [-3e4, 3e4, 1]], np.float32)
    for functions in (plain, compiled):
        d = np.empty_like(scores)
        assert functions.softmax_cross_entropy(scores, np.array([0, 1]), d, 2) == pytest.approx(0, abs=1e-6)
        assert np.isfinite(d).all()


def test_nan_is_never_swallowed():
    """A diverged run must be seen: no kernel turns not-a-number into a number."""
    x, w, b = np.full((1, 6, 6, 8), np.nan, np.float32), np.ones((3, 3, 8, 8), np.float32), np.zeros(8, np.float32)
    for stride in (1, 2):  # Winograd, direct
        y = np.zeros((1, 4 if stride == 1 else 2, 4 if stride == 1 else 2, 8), np.float32)
        compiled.conv_forward(x, w, b, y, stride, True)
        assert np.isnan(y).all()
    pooled, which = np.zeros((1, 2, 2, 8), np.float32), np.zeros((1, 2, 2, 8), np.uint8)
    compiled.conv_pool_forward(x, w, b, pooled, which)
    assert np.isnan(pooled).all()


@pytest.mark.parametrize("name", ops.NAMES)
def test_twins_have_the_same_signature(name):
    assert inspect.signature(getattr(plain, name)) == inspect.signature(getattr(compiled, name))
