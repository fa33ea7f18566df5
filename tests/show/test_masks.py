"""Pictures, truth, guess and mistakes, side by side."""

import numpy as np
import pytest

from dlmini import Segment, aerial, segmentation, shapes, unet
from dlmini.show.masks import colours, marked, visible


@pytest.fixture(scope="module")
def task():
    return Segment(unet(2, 2, input=(16, 16, 3)), aerial(4, 16), aerial(5, 16, unlabelled=1, seed=1), batch=2)


def test_every_row_has_picture_truth_guess_and_mistakes_with_their_share(task):
    w = task.initial()
    figure = segmentation(task, w, 2)
    axes = np.array(figure.axes).reshape(2, 4)
    assert [ax.get_title("left") for ax in axes[0, :3]] == ["picture", "truth", "guess"]
    truth, guess = task.test.y[1], task.guesses(w, task.test.scaled().x[1:2])[0]
    known = truth != 255
    assert axes[1, 3].get_title("left") == f"mistakes: {(guess != truth)[known].mean():.1%}"
    np.testing.assert_allclose(axes[1, 1].get_images()[0].get_array(), colours(task.test.classes)[truth])
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_pictures_are_chosen_by_number_and_no_more_are_drawn_than_there_are(task):
    assert len(segmentation(task, images=[3]).axes) == 4
    assert len(segmentation(task, images=99).axes) == 4 * 5
    with pytest.raises(ValueError, match="a number in images is 5; it must be a whole number from 0 to 4"):
        segmentation(task, images=[5])
    with pytest.raises(TypeError, match="how many pictures, or a row of their numbers"):
        segmentation(task, images="all")


def test_no_two_classes_look_alike_and_unlabelled_pixels_are_white():
    for classes in (aerial(1, 8).classes, shapes(1, 8).classes, tuple("abcdefghijklmno")):
        table = colours(classes)
        assert len({tuple(table[i]) for i in range(len(classes))}) == len(classes)
        assert tuple(table[255]) == (1, 1, 1)


def test_any_picture_becomes_visible_and_mistakes_stand_out():
    for image in (np.full((2, 2, 1), 255, np.uint8), np.array([[[-3.0], [4.0]]], np.float32)):
        shown = visible(image)
        assert shown.shape == (*image.shape[:2], 3)
        assert shown.min() >= 0
        assert shown.max() <= 1
    found = marked(np.zeros((1, 2, 3), np.uint8), np.array([[True, False]]))
    assert np.ptp(found[0, 0]) > 0.5
    assert np.ptp(found[0, 1]) == 0
