"""Pictures in folders: one folder for each class; or `images/` and `masks/` side by side, of the same names.

    pets/cat/001.jpg         pets/dog/001.jpg
    street/images/001.jpg    street/masks/001.png    street/palette.txt
Pillow reads the files; it is imported here and nowhere else.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from dlmini.data.checks import path_of
from dlmini.data.dataset import Dataset
from dlmini.data.palettes import FILE, meaning_of, names_of, read_palette, to_classes, values_of
from dlmini.data.tiles import tiles_of

SUFFIXES = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp"}
IMAGE_CHANNELS = {"L": 1, "RGB": 3}
EXPECTED = "a folder for each class, or the folders images and masks"
MASK_MODES = {"1", "L", "P"}


def read_folders(
    path,
    classes: Iterable[str] | Mapping | None = None,
    name: str | None = None,
    tile: int | None = None,
    stride: int | None = None,
) -> Dataset:
    """A dataset of the pictures under `path`.

    With a folder for each class, the folders' names are the classes, in order of the alphabet; `classes` may name some
    of them, class 0 first. With `images` and `masks`, every pixel has its class, and `classes` says what masks mean:
        ("sky", "ground")                      a mask's numbers are class numbers already
        {"background": 0, "cell": 255}         grey level 255 is a cell
        VAIHINGEN                              a mapping of names to colours (red, green, blue)
        None                                   the folder holds a palette.txt that says so (palettes.py)
    Pixels that nobody labelled (255, or what the palette calls so) have label 255. Files are taken in the order of
    their names. All images must have one size, unless `tile` cuts them into squares of so many pixels, one every
    `stride` (tiles.py).
    """
    path = folder_of(path)
    if not any((path / part).is_dir() for part in ("images", "masks")):
        return read_class_folders(path, classes, name)
    meaning = masks_meaning(path, classes)
    images, masks = stems(path / "images"), stems(path / "masks")
    if images.keys() != masks.keys():
        alone = sorted(images.keys() ^ masks.keys())
        raise ValueError(
            f"{path}: expected a mask for each image and an image for each mask, found {len(images)} images and "
            f"{len(masks)} masks, and {len(alone)} names without a partner: {', '.join(alone[:5])}"
        )
    x, y = [], []
    for stem in sorted(images):
        image = read_image(images[stem])
        mask = same_shape(masks[stem], read_mask(masks[stem], meaning), [image[..., 0]])
        pieces = [(image, mask)] if tile is None else tiles_of(image, mask, tile, stride, str(images[stem]))
        x += [same_shape(images[stem], one, x) for one, _ in pieces]
        y += [one for _, one in pieces]
    return Dataset(name or path.name, np.stack(x), np.stack(y), names_of(meaning))


def masks_meaning(path: Path, classes) -> dict:
    """What masks mean: as somebody says, or as the folder's own palette does."""
    if classes is not None:
        return meaning_of(classes)
    if not (path / FILE).is_file():
        raise TypeError(
            f"{path} holds images and masks; say what masks mean: classes=('sky', 'ground'), in order, or put a {FILE} "
            "beside them"
        )
    return read_palette(path / FILE)


def folder_of(path) -> Path:
    if not path_of(path).is_dir():
        raise FileNotFoundError(f"{path} does not exist; expected a folder with {EXPECTED}")
    return Path(path)


def read_class_folders(path: Path, classes, name: str | None) -> Dataset:
    """The pictures of every class, each labelled with the place of its folder among `classes`."""
    found = [folder.name for folder in sorted(path.iterdir()) if folder.is_dir() and not folder.name.startswith(".")]
    wanted = found if classes is None else list(meaning_of(classes))
    if not found or not set(wanted) <= set(found):
        here, lacking = ", ".join(found) or "no folders", ", ".join(str(one) for one in wanted if one not in found)
        raise FileNotFoundError(f"{path} holds {here}; expected {lacking if found else EXPECTED}")
    x, y = [], []
    for label, folder in enumerate(wanted):
        for file in pictures(path / folder):
            x.append(same_shape(file, read_image(file), x))
            y.append(label)
    return Dataset(name or path.name, np.stack(x), np.array(y), tuple(wanted))


def stems(folder: Path) -> dict[str, Path]:
    """The pictures of a folder by their names without suffix."""
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} does not exist; expected the folders images and masks in {folder.parent}")
    found: dict[str, Path] = {}
    for file in pictures(folder):
        if file.stem in found:
            raise ValueError(f"{file} and {found[file.stem].name} have the same name but for the suffix; keep one")
        found[file.stem] = file
    return found


def pictures(folder: Path) -> list[Path]:
    """The pictures of a folder in the order of their names; other files, and hidden ones, do not count."""
    here = sorted(folder.iterdir())
    found = [file for file in here if file.suffix.lower() in SUFFIXES and not file.name.startswith(".")]
    if not found:
        inner = [one.name for one in here if one.is_dir()]
        deeper = f", but folders ({', '.join(inner[:5])}): perhaps you want read_folders({str(folder)!r})"
        endings = f"; expected files ending in {', '.join(sorted(SUFFIXES))}"
        raise ValueError(f"{folder} holds no pictures{deeper if inner else endings}")
    return found


def opened(file: Path):
    """The picture, decoded. Reading it twice is the price of knowing that its checksums hold."""
    from PIL import Image

    try:
        with Image.open(file) as picture:
            picture.verify()
        with Image.open(file) as picture:
            picture.load()
            return picture
    # Decoders of damaged files fail in many ways, not in a common one.
    except Exception as error:
        raise ValueError(f"{file} is damaged: expected a whole picture, but it does not open ({error})") from error


def read_image(file: Path) -> np.ndarray:
    """Grey or colour levels (height, width, 1 or 3)."""
    picture = opened(file)
    if picture.mode == "P":
        picture = picture.convert("RGB")
    if picture.mode not in IMAGE_CHANNELS:
        raise ValueError(f"{file} has pixels of mode {picture.mode}, expected 8-bit grey (L) or RGB; convert it")
    return np.asarray(picture).reshape(picture.height, picture.width, IMAGE_CHANNELS[picture.mode])


def read_mask(file: Path, meaning: Mapping) -> np.ndarray:
    """Class numbers (height, width)."""
    picture, in_colour = opened(file), np.ndim(values_of(meaning)[0]) == 1
    if in_colour and picture.mode == "P":
        picture = picture.convert("RGB")
    if picture.mode not in ({"RGB"} if in_colour else MASK_MODES):
        wanted = "colours (RGB)" if in_colour else "one number for each pixel (L or P)"
        raise ValueError(f"{file} has pixels of mode {picture.mode}, but the classes were given as {wanted}")
    return to_classes(file, np.atleast_3d(np.asarray(picture)).astype(np.int64), meaning)


def same_shape(file: Path, found: np.ndarray, others: list[np.ndarray]) -> np.ndarray:
    if others and found.shape != others[0].shape:
        raise ValueError(f"{file} has shape {found.shape}, expected {others[0].shape}: all pictures must have one size")
    return found
