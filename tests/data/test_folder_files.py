import numpy as np
import pytest
from PIL import Image

from dlmini.data import VAIHINGEN, read_folders

CELLS = {"background": 0, "cell": 255}


@pytest.fixture
def put(tmp_path):
    """put("images/a.png", array) saves a picture below the temporary folder."""

    def save(name, pixels, mode=None):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        picture = Image.fromarray(np.asarray(pixels, np.uint8))
        (picture.convert(mode) if mode else picture).save(path)
        return path

    return save


def noise(shape, seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def test_images_and_masks_meet_by_name_in_sorted_order(put, tmp_path):
    truth = {}
    for i, name in enumerate(["b", "a", "c"]):
        truth[name] = noise((4, 5, 3), i), np.full((4, 5), i)
        put(f"images/{name}.bmp", truth[name][0])
        put(f"masks/{name}.png", truth[name][1])
    data = read_folders(tmp_path, ("zero", "one", "two"), name="toy")
    assert (data.name, data.x.shape, data.y.shape) == ("toy", (3, 4, 5, 3), (3, 4, 5))
    for i, name in enumerate("abc"):
        np.testing.assert_array_equal(data.x[i], truth[name][0])
        np.testing.assert_array_equal(data.y[i], truth[name][1])


def test_grey_images_have_one_channel_and_grey_levels_may_stand_for_classes(put, tmp_path):
    put("images/a.png", noise((3, 2)))
    put("masks/a.png", [[0, 255], [255, 0], [0, 0]])
    data = read_folders(tmp_path, CELLS)
    assert (data.x.shape, data.classes) == ((1, 3, 2, 1), ("background", "cell"))
    assert data.y[0].tolist() == [[0, 1], [1, 0], [0, 0]]


@pytest.mark.parametrize("mode", [None, "P"])
def test_colours_become_classes(put, tmp_path, mode):
    truth = np.random.default_rng(0).integers(0, 6, (8, 9))
    put("images/top.png", noise((8, 9, 3)))
    path = put("masks/top.tif", np.array(list(VAIHINGEN.values()), np.uint8)[truth])
    if mode:
        with Image.open(path) as picture:
            picture.quantize(16).save(path.with_suffix(".png"))
        path.unlink()
    data = read_folders(tmp_path, VAIHINGEN)
    np.testing.assert_array_equal(data.y[0], truth)
    assert data.classes == ("impervious surfaces", "building", "low vegetation", "tree", "car", "clutter")


def test_two_colour_pictures_of_one_bit_are_masks_too(put, tmp_path):
    put("images/a.png", noise((2, 2, 3)))
    put("masks/a.png", [[0, 255], [255, 0]], mode="1")
    assert read_folders(tmp_path, ("no", "yes")).y[0].tolist() == [[0, 1], [1, 0]]


def test_other_files_in_the_folders_do_not_matter(put, tmp_path):
    put("images/a.png", noise((2, 2, 3)))
    put("masks/a.PNG", [[0, 0], [0, 0]])
    for name in ("images/Thumbs.db", "images/.b.png", "masks/notes.txt"):
        (tmp_path / name).write_text("nothing")
    assert len(read_folders(tmp_path, ("only",))) == 1


@pytest.fixture
def good(put, tmp_path):
    put("images/a.png", noise((4, 4, 3)))
    put("masks/a.png", np.zeros((4, 4)))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "pixels", "mode", "sentence"),
    [
        ("images/b.png", noise((4, 4, 3)), None, "found 2 images and 1 masks, and 1 names without a partner: b"),
        ("masks/b.png", np.zeros((4, 4)), None, "found 1 images and 2 masks, and 1 names without a partner: b"),
        ("images/a.bmp", noise((4, 4, 3)), None, "a.png and a.bmp have the same name"),
        ("images/a.png", noise((4, 5, 3)), None, r"masks.a.png has shape \(4, 4\), expected \(4, 5\)"),
        ("images/a.png", noise((4, 4, 4)), None, "images.a.png has pixels of mode RGBA, expected 8-bit grey"),
        ("images/a.png", noise((4, 4)), "I;16", "images.a.png has pixels of mode I;16"),
        ("masks/a.png", np.full((4, 4), 7), None, r"masks.a.png: 16 pixels belong to no class.*value \[7\]"),
        (
            "masks/a.png",
            noise((4, 4, 3)),
            None,
            "masks.a.png has pixels of mode RGB, but the classes were given as one",
        ),
    ],
)
def test_pictures_that_do_not_fit_are_refused_by_name(good, put, name, pixels, mode, sentence):
    put(name, pixels, mode)
    with pytest.raises(ValueError, match=sentence):
        read_folders(good, ("ground", "sky"))


def test_images_of_different_sizes_are_refused(good, put):
    put("images/b.png", noise((4, 5, 3)))
    put("masks/b.png", np.zeros((4, 5)))
    with pytest.raises(ValueError, match=r"images.b.png has shape \(4, 5, 3\), expected \(4, 4, 3\)"):
        read_folders(good, ("ground",))


def test_a_colour_outside_the_palette_is_refused_with_its_place(good, put):
    pixels = np.full((4, 4, 3), 255)
    pixels[2, 3] = (255, 254, 0)
    put("masks/a.png", pixels)
    with pytest.raises(ValueError, match=r"1 pixels belong to no class.*\[255, 254, 0\] at row 2, column 3"):
        read_folders(good, VAIHINGEN)


def test_grey_masks_are_refused_where_colours_were_promised(good):
    with pytest.raises(ValueError, match=r"mode L, but the classes were given as colours \(RGB\)"):
        read_folders(good, VAIHINGEN)


def refused(folder, file, truth):
    """Whether the file was refused by name; if it was read, then rightly."""
    try:
        found = read_folders(folder, ("ground",)).x
    except ValueError as error:
        return file.name in str(error)
    np.testing.assert_array_equal(found, truth)
    return False


def test_a_truncated_or_damaged_picture_never_gives_another_array(good):
    file = good / "images" / "a.png"
    whole, truth, count = file.read_bytes(), read_folders(good, ("ground",)).x, 0
    cases = [whole[:n] for n in range(len(whole))]
    cases += [whole[:i] + bytes([whole[i] ^ 16]) + whole[i + 1 :] for i in range(len(whole))]
    for data in cases:
        file.write_bytes(data)
        count += refused(good, file, truth)
    assert count > 0.9 * len(cases)  # the last 12 bytes of a PNG only say that it is over


@pytest.mark.parametrize(
    ("classes", "error", "sentence"),
    [
        ("ground", TypeError, "classes is 'ground'; it must be a row of names"),
        ({"a": 0, "b": 0}, ValueError, r"a different grey level \(0 to 255\) for each name"),
        ({"a": 0, "b": (1, 2, 3)}, ValueError, "do not tell pixels apart"),
        ({"a": (0, 256, 0), "b": (1, 0, 0)}, ValueError, "do not tell pixels apart"),
        ({"a": (1, 2)}, ValueError, "do not tell pixels apart"),
        ({}, ValueError, "do not tell pixels apart"),
    ],
)
def test_classes_that_do_not_tell_pixels_apart_are_refused(good, classes, error, sentence):
    with pytest.raises(error, match=sentence):
        read_folders(good, classes)


def test_missing_and_empty_folders_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no folders; expected a folder for each class, or the folders"):
        read_folders(tmp_path, ("a",))
    (tmp_path / "masks").mkdir()
    with pytest.raises(FileNotFoundError, match="images does not exist; expected the folders images and masks"):
        read_folders(tmp_path, ("a",))
    (tmp_path / "images").mkdir()
    with pytest.raises(ValueError, match=r"images holds no pictures; expected files ending in \.bmp"):
        read_folders(tmp_path, ("a",))


def test_a_folder_for_each_class_gives_labels(put, tmp_path):
    truth = {}
    for i, name in enumerate(["dog/1.png", "cat/b.png", "cat/a.png", "dog/0.png"]):
        truth[name] = noise((4, 5, 3), i)
        put(name, truth[name])
    (tmp_path / "notes.txt").write_text("not a class")
    (tmp_path / ".cache").mkdir()
    data = read_folders(tmp_path)
    assert (data.name, data.classes, data.y.tolist()) == (tmp_path.name, ("cat", "dog"), [0, 0, 1, 1])
    for row, name in zip(data.x, ["cat/a.png", "cat/b.png", "dog/0.png", "dog/1.png"], strict=True):
        np.testing.assert_array_equal(row, truth[name])
    other = read_folders(tmp_path, ("dog", "cat"), name="pets")
    assert (other.name, other.classes, other.y.tolist()) == ("pets", ("dog", "cat"), [0, 0, 1, 1])
    assert read_folders(tmp_path, ["dog"]).y.tolist() == [0, 0]


def test_class_folders_that_do_not_fit_are_named(put, tmp_path):
    put("cat/a.png", noise((4, 5, 3)))
    with pytest.raises(FileNotFoundError, match="holds cat; expected cow"):
        read_folders(tmp_path, ("cat", "cow"))
    (tmp_path / "dog").mkdir()
    with pytest.raises(ValueError, match="dog holds no pictures; expected files ending in"):
        read_folders(tmp_path)
    (tmp_path / "dog" / "puppies").mkdir()
    with pytest.raises(
        ValueError, match=r"dog holds no pictures, but folders \(puppies\): perhaps you want read_folders"
    ):
        read_folders(tmp_path)
    put("dog/b.png", noise((4, 6, 3)))
    with pytest.raises(ValueError, match="all pictures must have one size"):
        read_folders(tmp_path)


def test_masks_need_to_be_told_what_they_mean(put, tmp_path):
    put("images/a.png", noise((3, 2)))
    put("masks/a.png", np.zeros((3, 2)))
    with pytest.raises(TypeError, match="say what masks mean: classes="):
        read_folders(tmp_path)
