"""Bad input gets a sentence that says what to do."""

import numpy as np
import pytest

from dlmini import AvgPool, Conv2d, Dense, Dropout, Flatten, MaxPool, MeanSquares, Model, lenet

NET = lenet()
W, G = NET.initial(), NET.zeros()
X, Y = np.zeros((3, 28, 28, 1), np.float32), np.zeros(3, np.int64)


def changed(array, place, value):
    array = array.copy()
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("arguments", "error", "advice"),
    [
        ((W, X[..., 0], Y, G), ValueError, r"needs \(images, 28, 28, 1\)"),
        ((W, X[:0], Y[:0], G), ValueError, "batch is empty"),
        ((W, X.astype(np.uint8), Y, G), TypeError, r"x\.astype\(np\.float32\) / 255"),
        ((W, X, Y[:2], G), ValueError, "3 images but 2 labels"),
        ((W, X, Y + 10, G), ValueError, "renumber the labels"),
        ((W, X, Y - 1, G), ValueError, "a label is -1"),
        ((W, X, Y.astype(np.float32), G), TypeError, "class numbers must be integers"),
        ((W, X, np.eye(10, dtype=np.int64)[:3], G), ValueError, "not one-hot rows"),
        ((W, changed(X, (1, 0, 0, 0), np.nan), Y, G), ValueError, "image 1 of the batch holds NaN"),
        ((W, changed(X, (2, 5, 5, 0), np.inf), Y, G), ValueError, "image 2 of the batch holds NaN or infinity"),
        ((W[:-1], X, Y, G), ValueError, r"needs a contiguous float32\[80202\]"),
        ((W.astype(np.float64), X, Y, G), ValueError, r"model\.initial\(\)"),
        ((W, X, Y, np.zeros(2 * NET.size, np.float32)[::2]), ValueError, r"model\.zeros\(\)"),
    ],
)
def test_a_bad_batch_is_refused_with_advice(arguments, error, advice):
    with pytest.raises(error, match=advice):
        NET.loss_and_grad(*arguments)


@pytest.mark.parametrize(
    ("make", "advice"),
    [
        (lambda: Model([], (2, 2, 1)), "at least one layer"),
        (lambda: Model([Dense(3)], (2, 2, 1)), r"put Flatten\(\) before it"),
        (lambda: Model([Flatten(), Conv2d(3)], (5, 5, 1)), r"put it before Flatten\(\)"),
        (lambda: Model([Conv2d(3, 5)], (4, 4, 1)), "kernel is larger than its input"),
        (lambda: Model([MaxPool(5)], (4, 4, 1)), "window is larger than its input"),
        (lambda: AvgPool(0), "from 1 to 15"),
        (lambda: Conv2d(0), "at least 1"),
        (lambda: Conv2d(3, 4, padding="same"), "odd kernel"),
        (lambda: Conv2d(3, padding="full"), "'valid' or 'same', or a number"),
        (lambda: Dense(0), "units of Dense is 0"),
        (lambda: Dropout(1.0), "below 1"),
        (lambda: Model([Dense(1)], (2,), dtype=np.float64, kernels="numba"), "float32 only"),
        (lambda: Model([Dense(1)], (2,), threads=0), "at least 1"),
    ],
)
def test_an_impossible_network_is_refused_with_advice(make, advice):
    with pytest.raises(ValueError, match=advice):
        make()


def test_a_kernel_that_is_no_number_is_refused():
    with pytest.raises(TypeError, match="one number, or a pair"):
        Conv2d(3, 2.5)


def test_dropout_without_a_key_is_refused():
    model = Model([Flatten(), Dropout(0.5), Dense(2)], (2, 2, 1))
    with pytest.raises(ValueError, match=r"key=\(seed, rank, step\)"):
        model.loss_and_grad(model.initial(), np.zeros((1, 2, 2, 1), np.float32), np.zeros(1, int), model.zeros())


def test_mean_squares_wants_targets_like_the_answers():
    model = Model([Dense(2)], (3,), MeanSquares())
    x = np.zeros((4, 3), np.float32)
    with pytest.raises(ValueError, match="must be equal"):
        model.loss_and_grad(model.initial(), x, np.zeros((4, 3), np.float32), model.zeros())
    with pytest.raises(TypeError, match="needs floats"):
        model.loss_and_grad(model.initial(), x, np.zeros((4, 2), np.int64), model.zeros())
