import numpy as np
import pytest

from dlmini.data import blobs, shapes, spirals


@pytest.mark.parametrize("make", [blobs, spirals, shapes])
def test_a_seed_makes_the_same_set_again_and_another_seed_another(make):
    once, again, other = make(20, seed=1), make(20, seed=1), make(20, seed=2)
    np.testing.assert_array_equal(once.x, again.x)
    np.testing.assert_array_equal(once.y, again.y)
    assert not np.array_equal(once.x, other.x)


@pytest.mark.parametrize("make", [blobs, spirals])
def test_points_are_flat_float32_rows_in_balanced_classes(make):
    data = make(90, classes=3)
    assert (data.x.shape, data.x.dtype) == ((90, 2), np.float32)
    np.testing.assert_array_equal(np.bincount(data.y), [30, 30, 30])


def test_blobs_lie_around_their_centres_with_the_spread_asked_for():
    data = blobs(4000, classes=4, spread=0.3)
    for k, centre in enumerate([(2, 0), (0, 2), (-2, 0), (0, -2)]):
        cloud = data.x[data.y == k]
        np.testing.assert_allclose(cloud.mean(0), centre, atol=5 * 0.3 / np.sqrt(1000))
        np.testing.assert_allclose(cloud.std(0), 0.3, rtol=0.15)


def test_no_line_through_the_middle_separates_the_spirals_but_the_angle_does():
    data = spirals(600, noise=0, revolutions=1)
    for angle in np.linspace(0, np.pi, 36):
        agree = ((data.x @ [np.cos(angle), np.sin(angle)]) > 0) == data.y
        assert 0.2 < agree.mean() < 0.8
    radius, angle = np.hypot(*data.x.T), np.arctan2(data.x[:, 1], data.x[:, 0])
    arm = np.rint((angle / (2 * np.pi) - radius) * 2) % 2
    np.testing.assert_array_equal(arm, data.y)


def test_shapes_stand_out_from_the_background_where_the_mask_says():
    data = shapes(40, noise=0)
    assert (data.x.shape, data.y.shape, data.classes[0]) == ((40, 32, 32, 3), (40, 32, 32), "background")
    assert data.x[data.y == 0].max() <= 60 < 100 <= data.x[data.y > 0].min()
    assert set(np.unique(data.y)) == {0, 1, 2, 3}
    assert all((mask > 0).any() and (mask == 0).any() for mask in data.y)


def test_the_first_pictures_of_a_large_set_are_the_small_set():
    np.testing.assert_array_equal(shapes(5).x, shapes(9).x[:5])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: blobs(0), "n is 0; it must be a whole number of at least 1"),
        (lambda: spirals(9, classes=0), "classes is 0"),
        (lambda: shapes(0), "n is 0; .* pictures"),
        (lambda: shapes(1, size=4), "size is 4; it must be a whole number of at least 8"),
    ],
)
def test_impossible_sets_are_refused_with_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
