import numpy as np
import pytest

from dlmini.data import Dataset

NAMES = ("cat", "dog", "cow")


def images(n=6, dtype=np.uint8, shape=(4, 5, 3)):
    return np.arange(n * np.prod(shape)).reshape(n, *shape).astype(dtype)


def labels(n=6):
    return np.arange(n) % 3


def test_a_dataset_knows_its_length_row_shape_and_classes():
    data = Dataset("pets", images(), labels(), NAMES)
    assert (len(data), data.shape, data.classes) == (6, (4, 5, 3), NAMES)
    assert repr(data) == "Dataset('pets': 6 rows of 4x5x3 uint8, 3 classes)"


def test_points_in_the_plane_are_rows_too():
    assert Dataset("points", np.zeros((4, 2), np.float32), np.zeros(4, int), ("a",)).shape == (2,)


def test_masks_label_every_pixel():
    data = Dataset("tiles", images(), np.zeros((6, 4, 5), np.uint8), NAMES)
    assert "per pixel" in repr(data)


def test_a_subset_holds_the_rows_asked_for_in_their_order():
    data = Dataset("pets", images(), labels(), NAMES)
    some = data.subset([4, 0])
    np.testing.assert_array_equal(some.x, images()[[4, 0]])
    np.testing.assert_array_equal(some.y, [1, 0])


def test_scaling_takes_grey_levels_to_the_unit_interval():
    x = np.array([0, 51, 255], np.uint8).reshape(3, 1, 1, 1)
    scaled = Dataset("grey", x, labels(3), NAMES).scaled()
    assert scaled.x.dtype == np.float32
    np.testing.assert_array_equal(scaled.x.ravel(), np.array([0, 0.2, 1], np.float32))


def test_float_data_is_not_scaled_again():
    data = Dataset("float", images(dtype=np.float32), labels(), NAMES)
    assert data.scaled() is data


def test_standardised_channels_have_mean_zero_and_variance_one():
    x = np.random.default_rng(0).integers(0, 256, (50, 4, 4, 3), dtype=np.uint8)
    x[..., 2] = 7
    z = Dataset("noise", x, labels(50), NAMES).standardised().x
    np.testing.assert_allclose(z.mean((0, 1, 2)), 0, atol=1e-5)
    np.testing.assert_allclose(z.std((0, 1, 2)), [1, 1, 0], atol=1e-5)


def test_a_test_set_is_standardised_by_the_numbers_of_the_training_set():
    draw = np.random.default_rng(1)
    train = Dataset("train", draw.normal(3, 2, (40, 2)).astype(np.float32), labels(40), NAMES)
    test = Dataset("test", draw.normal(9, 5, (10, 2)).astype(np.float32), labels(10), NAMES)
    expected = (test.x - train.x.mean(0)) / train.x.std(0)
    np.testing.assert_allclose(test.standardised(like=train).x, expected, rtol=1e-5)


def test_standardising_by_a_set_of_other_rows_is_refused():
    points = Dataset("points", np.ones((2, 2), np.float32), labels(2), NAMES)
    with pytest.raises(ValueError, match=r"rows of \(4, 5, 3\) but points of \(2,\)"):
        Dataset("pets", images(), labels(), NAMES).standardised(like=points)


def broken(value):
    x = images(dtype=np.float32)
    x[2, 1, 1, 0] = value
    return x


@pytest.mark.parametrize(
    ("x", "y", "classes", "error", "sentence"),
    [
        (images().tolist(), labels(), NAMES, TypeError, "x is a list; pass a NumPy array"),
        (images(dtype=np.float64), labels(), NAMES, TypeError, r"dtype float64.*astype\(np.float32\)"),
        (images()[..., 0], labels(), NAMES, ValueError, r"shape \(6, 4, 5\).*x\[..., None\]"),
        (images(shape=(4,)), labels(), NAMES, ValueError, "float32 points"),
        (images(0), labels(0), NAMES, ValueError, "the set is empty"),
        (broken(np.nan), labels(), NAMES, ValueError, "NaN or infinity in 1 of 6 rows, first in row 2"),
        (broken(np.inf), labels(), NAMES, ValueError, "NaN or infinity in 1 of 6 rows, first in row 2"),
        (images(), list(labels()), NAMES, TypeError, "y is a list"),
        (images(), labels() / 1, NAMES, TypeError, "y has dtype float64, expected whole class numbers"),
        (images(), labels() > 0, NAMES, TypeError, "y has dtype bool"),
        (images(), np.eye(6, 3, dtype=int), NAMES, ValueError, r"argmax\(axis=1\)"),
        (images(), labels(5), NAMES, ValueError, "x has 6 rows but y has 5"),
        (images(), np.zeros((6, 5, 4), int), NAMES, ValueError, "a mask labels every pixel once"),
        (images(), labels() + 1, NAMES, ValueError, "label 3 in row 2 is out of range.*from 0 to 2"),
        (images(), labels() - 1, NAMES, ValueError, "label -1 in row 0 is out of range"),
        (images(), labels(), "cat", TypeError, "classes must be a row of names"),
        (images(), labels(), (0, 1, 2), TypeError, "classes must be a row of names"),
        (images(), labels(), ("cat", "cat", "dog"), ValueError, "different names"),
        (images(), labels(), (), ValueError, "at least one"),
    ],
)
def test_bad_data_is_refused_with_a_sentence(x, y, classes, error, sentence):
    with pytest.raises(error, match=f"^pets: .*{sentence}"):
        Dataset("pets", x, y, classes)


@pytest.mark.parametrize(
    ("rows", "error", "sentence"),
    [
        ([], ValueError, "at least one number"),
        ([[1, 2]], ValueError, "flat list"),
        ([0.5], TypeError, "expected integers"),
        ([True, False], TypeError, "flatnonzero"),
        ([0, 6], IndexError, "run from 0 to 6, but rows from 0 to 5"),
        ([-1], IndexError, "run from -1"),
    ],
)
def test_rows_that_do_not_exist_are_refused_with_a_sentence(rows, error, sentence):
    with pytest.raises(error, match=sentence):
        Dataset("pets", images(), labels(), NAMES).subset(rows)
