import numpy as np
import pytest

from dlmini.data import AERIAL, aerial
from dlmini.data.aerial_scene import Scene, clouds, shifted

PAVED, BUILDING, LAWN, TREE, CAR, WATER = range(6)


@pytest.fixture(scope="module")
def town():
    return aerial(60, 128)


def test_a_seed_makes_the_same_town_again_and_another_seed_another():
    once, again, other = aerial(3, 40, seed=1), aerial(3, 40, seed=1), aerial(3, 40, seed=2)
    np.testing.assert_array_equal(once.x, again.x)
    np.testing.assert_array_equal(once.y, again.y)
    assert not np.array_equal(once.y, other.y)


def test_the_first_tiles_of_a_large_set_are_the_small_set():
    np.testing.assert_array_equal(aerial(2, 48).x, aerial(4, 48).x[:2])


@pytest.mark.parametrize(("size", "shape"), [(8, (8, 8)), (33, (33, 33)), ((24, 57), (24, 57)), ([9, 8], (9, 8))])
def test_tiles_have_any_size(size, shape):
    data = aerial(2, size)
    assert (data.x.shape, data.x.dtype, data.y.shape, data.classes) == ((2, *shape, 3), np.uint8, (2, *shape), AERIAL)


def test_the_six_classes_are_there_in_very_unequal_shares(town):
    share = np.bincount(town.y.ravel(), minlength=6) / town.y.size
    for label, (low, high) in {PAVED: (22, 34), BUILDING: (21, 33), LAWN: (14, 26), TREE: (16, 28)}.items():
        assert low < 100 * share[label] < high, (AERIAL[label], share[label])
    assert 0.4 < 100 * share[CAR] < 2
    assert 0.5 < 100 * share[WATER] < 6


def test_no_two_classes_have_one_colour_each_so_that_a_pixel_alone_does_not_tell(town):
    """The best guess from a pixel's own colour (a table of 16 levels per channel) is right far less than always."""
    codes = (town.x // 16).astype(int) @ [256, 16, 1]
    table = np.zeros((4096, 6), int)
    np.add.at(table, (codes.ravel(), town.y.ravel()), 1)
    assert 0.45 < table.max(1).sum() / town.y.size < 0.8


def test_cars_stand_on_paved_ground(town):
    """Of what lies next to a car and is no car, nearly all is paved (the rest: a tree that hangs over it)."""
    near = np.zeros(6, int)
    for mask in town.y:
        for axis in (0, 1):
            a, b = np.roll(mask, 1, axis), mask
            near += np.bincount(a[(b == CAR) & (a != CAR)], minlength=6)
    assert near[PAVED] > 0.9 * near.sum()


def test_a_wall_throws_its_shadow_away_from_the_sun_as_far_as_it_is_high():
    """Sun in the direction of growing columns, 45 degrees high: 5 m of wall darken 5 m on the other side."""
    scene = Scene(9, 30, 2.0)
    scene.colour[:] = 100
    scene.height[:, 20] = 5.0
    scene.shade(0.0, np.pi / 4, 0.5)
    dark = (scene.colour[4, :, 0] == 50).nonzero()[0]
    np.testing.assert_array_equal(dark, np.arange(11, 20))  # d < 5 m: 9 pixels of half a metre


def test_a_shift_moves_a_field_and_brings_in_nothing():
    field = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(shifted(field, 1, -1), [[0, 4, 5, 6], [0, 8, 9, 10], [0, 0, 0, 0]])
    assert not shifted(field, 5, 0).any()


def test_clouds_are_smooth_and_keep_within_bounds():
    found = clouds((50, 70), 10.0, np.random.default_rng(0))
    assert found.shape == (50, 70)
    assert np.abs(found).max() <= 1
    assert max(np.abs(np.diff(found, axis=axis)).max() for axis in (0, 1)) <= 2 / 10 + 1e-6


@pytest.mark.parametrize("width", [1, 3])
def test_pixels_near_another_class_are_left_without_a_label(width):
    """Exactly those with two classes in the square of 2 width + 1 pixels around them, edges excepted."""
    whole, eroded = aerial(2, 48, seed=3).y, aerial(2, 48, unlabelled=width, seed=3).y
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(whole, ((0, 0), (width, width), (width, width)), mode="edge"), (2 * width + 1,) * 2, axis=(1, 2)
    )
    mixed = windows.min((3, 4)) != windows.max((3, 4))
    np.testing.assert_array_equal(eroded, np.where(mixed, 255, whole))
    assert mixed.any()
    assert not mixed.all()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: aerial(0), "n is 0; .* tiles"),
        (lambda: aerial(1, 4), "size is 4; it must be a whole number from 8"),
        (lambda: aerial(1, (64, 4)), r"size is \(64, 4\); it must be pixels on a side"),
        (lambda: aerial(1, (64,)), r"size is \(64,\)"),
        (lambda: aerial(1, 16, scale=0), "scale is 0"),
    ],
)
def test_impossible_towns_are_refused_with_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
