import numpy as np
import pytest
from PIL import Image

from dlmini.data import Batch, Dataset, aerial, batches, blobs, cut_tiles, read_folders, read_palette, shapes, turned
from dlmini.data.augment import laid


def test_tiles_next_to_each_other_make_up_the_picture_again():
    whole = aerial(2, (24, 32))
    tiles = cut_tiles(whole, 8)
    assert tiles.x.shape == (2 * 3 * 4, 8, 8, 3)
    again = tiles.x.reshape(2, 3, 4, 8, 8, 3).transpose(0, 1, 3, 2, 4, 5).reshape(whole.x.shape)
    np.testing.assert_array_equal(again, whole.x)
    np.testing.assert_array_equal(tiles.y[5], whole.y[0, 8:16, 8:16])


@pytest.mark.parametrize(("size", "stride"), [(8, None), (8, 5), (7, 7), (10, 3), (23, 40)])
def test_every_pixel_is_in_a_tile(size, stride):
    marks = np.arange(23 * 30, dtype=np.int64).reshape(1, 23, 30)
    data = Dataset("marks", np.zeros((1, 23, 30, 1), np.uint8), marks, tuple(map(str, range(23 * 30))))
    assert {*np.unique(cut_tiles(data, size, stride).y)} == {*range(23 * 30)}


def test_tiles_larger_than_the_picture_are_refused():
    with pytest.raises(ValueError, match="size is 33, but a picture has only 32 pixels on one side; cut smaller tiles"):
        cut_tiles(shapes(1, 32), 33)
    with pytest.raises(ValueError, match="no mask for each picture"):
        cut_tiles(blobs(4), 2)


def numbered(n, rows=6, columns=6):
    """Pictures in which every pixel, and its label, is its own place."""
    y = np.arange(n * rows * columns).reshape(n, rows, columns)
    return y[..., None].astype(np.float32), y


def test_a_picture_and_its_mask_are_turned_alike():
    x, y = numbered(40)
    after = turned(Batch(x.copy(), y.copy(), (3, 1, 0, 5)))
    np.testing.assert_array_equal(after.x[..., 0], after.y)
    assert not np.array_equal(after.y, y)
    np.testing.assert_array_equal(np.sort(after.y.reshape(40, -1)), y.reshape(40, -1))


def test_turns_depend_on_the_key_and_on_nothing_else():
    x, y = numbered(20)
    one, same = (turned(Batch(x.copy(), y.copy(), (3, 1, 0, 5))).y for _ in range(2))
    np.testing.assert_array_equal(one, same)
    for key in [(4, 1, 0, 5), (3, 2, 0, 5), (3, 1, 1, 5), (3, 1, 0, 6)]:
        assert not np.array_equal(turned(Batch(x.copy(), y.copy(), key)).y, one)


@pytest.mark.parametrize(("columns", "ways"), [(6, 8), (5, 4)])
def test_all_ways_to_lay_a_picture_on_itself_are_equally_likely(columns, ways):
    x, y = numbered(1, 6, columns)
    seen = [turned(Batch(x.copy(), y.copy(), (0, 0, 0, i))).y.tobytes() for i in range(800)]
    counts = [seen.count(one) for one in {*seen}]
    assert len(counts) == ways
    assert max(abs(count - 800 / ways) for count in counts) < 5 * (800 / ways) ** 0.5


def test_the_eight_ways_are_those_that_keep_distances():
    square = np.arange(9).reshape(3, 3)
    found = {laid(square, way).tobytes() for way in range(8)}
    assert len(found) == 8
    assert {laid(laid(square, a), b).tobytes() for a in range(8) for b in range(8)} == found


def test_labels_of_whole_pictures_stay():
    batch = next(batches(Dataset("p", shapes(4, 8).x, np.arange(4), tuple("abcd")), 4))
    before = batch.y.copy()
    np.testing.assert_array_equal(turned(batch).y, before)


# ---- images/ + masks/ of real sets ----

PALETTE = """\ufeff# made by hand
255 255 255   impervious surfaces
0,0,255       building

0 0 0         -
9 9 9\t-
"""


@pytest.fixture
def scenes(tmp_path):
    """Two scenes of different sizes with a palette, and their labels."""
    values = np.array([(255, 255, 255), (0, 0, 255), (0, 0, 0), (9, 9, 9)], np.uint8)
    truth = {}
    for folder in ("images", "masks"):
        (tmp_path / folder).mkdir()
    for i, (name, shape) in enumerate({"one": (20, 12), "two": (9, 16)}.items()):
        draw = np.random.default_rng(i)
        truth[name] = draw.integers(0, 256, (*shape, 3), dtype=np.uint8), draw.integers(0, 4, shape)
        Image.fromarray(truth[name][0]).save(tmp_path / "images" / f"{name}.tif")
        Image.fromarray(values[truth[name][1]]).save(tmp_path / "masks" / f"{name}.png")
    (tmp_path / "palette.txt").write_text(PALETTE, encoding="utf-8")
    return tmp_path, truth


def test_scenes_of_any_size_become_tiles_with_the_classes_of_their_palette(scenes):
    folder, truth = scenes
    data = read_folders(folder, tile=8)
    assert data.classes == ("impervious surfaces", "building")
    assert data.x.shape == (3 * 2 + 2 * 2, 8, 8, 3)
    expected = np.where(truth["one"][1] < 2, truth["one"][1], 255)
    np.testing.assert_array_equal(data.y[0], expected[:8, :8])
    np.testing.assert_array_equal(data.y[5], expected[12:, 4:])
    np.testing.assert_array_equal(data.x[-1], truth["two"][0][1:, 8:])


def test_scenes_of_different_sizes_need_tiles(scenes):
    with pytest.raises(ValueError, match="all pictures must have one size"):
        read_folders(scenes[0])
    with pytest.raises(ValueError, match=r"size is 10, but .*two.tif has only 9 pixels"):
        read_folders(scenes[0], tile=10)


def test_255_of_a_grey_mask_means_not_labelled_unless_a_class_has_it(tmp_path):
    for folder, pixels in {"images": np.zeros((2, 2)), "masks": [[0, 1], [255, 255]]}.items():
        (tmp_path / folder).mkdir()
        Image.fromarray(np.array(pixels, np.uint8)).save(tmp_path / folder / "a.png")
    assert read_folders(tmp_path, ("a", "b")).y[0].tolist() == [[0, 1], [255, 255]]
    assert read_folders(tmp_path, {"a": 0, "b": 1, "c": 255}).y[0].tolist() == [[0, 1], [2, 2]]
    assert read_folders(tmp_path, {"a": 0, "c": 255, None: 1}).y[0].tolist() == [[0, 255], [1, 1]]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0 0 255", "line 1: expected one number or three .* found '0 0 255'"),
        ("# x\nbuilding 0 0 255", "line 2: expected one number or three"),
        ("0 0 building", "line 1: expected one number or three"),
        ("0 a\n1 a", "line 2: the class 'a' has a value already"),
        ("0 a\n0 b", "do not tell pixels apart"),
        ("0 a\n300 b", "do not tell pixels apart"),
        ("0 a\n1 2 3 b", "do not tell pixels apart"),
        ("0 -", "do not tell pixels apart"),
        ("", "do not tell pixels apart"),
    ],
)
def test_palettes_that_mean_nothing_are_refused_by_line(tmp_path, text, sentence):
    file = tmp_path / "palette.txt"
    file.write_text(text)
    with pytest.raises(ValueError, match=sentence):
        read_palette(file)


def test_a_palette_that_is_no_text_is_refused(tmp_path):
    file = tmp_path / "palette.txt"
    file.write_bytes(b"0 \xff\xfe")
    with pytest.raises(ValueError, match="is no text in UTF-8"):
        read_palette(file)
    with pytest.raises(FileNotFoundError, match="does not exist; expected a text file"):
        read_palette(tmp_path / "none.txt")


# ---- labels of pixels ----


def test_a_set_without_a_labelled_pixel_is_refused():
    x = np.zeros((1, 2, 2, 1), np.uint8)
    Dataset("some", x, np.array([[[255, 0], [255, 255]]]), ("a",))
    with pytest.raises(ValueError, match="no pixel is labelled"):
        Dataset("none", x, np.full((1, 2, 2), 255), ("a",))
    with pytest.raises(ValueError, match=r"label 254 in row 0 .* \(255: not labelled\)"):
        Dataset("wrong", x, np.full((1, 2, 2), 254), ("a",))
    with pytest.raises(ValueError, match="label 255 in row 0 is out of range"):
        Dataset("rows", x, np.array([255]), ("a",))
