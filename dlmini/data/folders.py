"""Pictures in folders: one folder for each class; or `images/` and `masks/` side by side, of the same names.

    pets/cat/001.jpg         pets/dog/001.jpg
    street/images/001.jpg    street/masks/001.png
Pillow reads the files; it is imported here and nowhere else.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from dlmini.checks import refuse
from dlmini.data.checks import path_of
from dlmini.data.dataset import Dataset

SUFFIXES = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp"}
IMAGE_CHANNELS = {"L": 1, "RGB": 3}
EXPECTED = "a folder for each class, or the folders images and masks"
MASK_MODES = {"1", "L", "P"}

# ISPRS 2D semantic labelling contest, Vaihingen and Potsdam.
VAIHINGEN = {
    "impervious surfaces": (255, 255, 255),
    "building": (0, 0, 255),
    "low vegetation": (0, 255, 255),
    "tree": (0, 255, 0),
    "car": (255, 255, 0),
    "clutter": (255, 0, 0),
}


def read_folders(path, classes: Iterable[str] | Mapping | None = None, name: str | None = None) -> Dataset:
    """A dataset of the pictures under `path`.

    With a folder for each class, the folders' names are the classes, in order of the alphabet; `classes` may name some
    of them, class 0 first. With `images` and `masks`, every pixel has its class, and `classes` says what masks mean:
        ("sky", "ground")                      a mask's numbers are class numbers already
        {"background": 0, "cell": 255}         grey level 255 is a cell
        VAIHINGEN                              a mapping of names to colours (red, green, blue)
    All images must have one size: cut large ones into tiles first. Files are taken in the order of their names.
    """
    path = folder_of(path)
    if not any((path / part).is_dir() for part in ("images", "masks")):
        return read_class_folders(path, classes, name)
    if classes is None:
        raise TypeError(f"{path} holds images and masks; say what masks mean: classes=('sky', 'ground'), in order")
    meaning = meaning_of(classes)
    images, masks = stems(path / "images"), stems(path / "masks")
    if images.keys() != masks.keys():
        alone = sorted(images.keys() ^ masks.keys())
        raise ValueError(
            f"{path}: expected a mask for each image and an image for each mask, found {len(images)} images and "
            f"{len(masks)} masks, and {len(alone)} names without a partner: {', '.join(alone[:5])}"
        )
    x, y = [], []
    for stem in sorted(images):
        x.append(same_shape(images[stem], read_image(images[stem]), x))
        y.append(same_shape(masks[stem], read_mask(masks[stem], meaning), [x[-1][..., 0]]))
    return Dataset(name or path.name, np.stack(x), np.stack(y), tuple(meaning))


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


def meaning_of(classes: Iterable[str] | Mapping) -> dict:
    """Class name to mask value, checked: all grey levels or all colours, no value twice."""
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        refuse(TypeError, "classes", classes, "a row of names, or a mapping of names to values")
    meaning = dict(classes) if isinstance(classes, Mapping) else {name: i for i, name in enumerate(classes)}
    values = [tuple(np.atleast_1d(value).tolist()) for value in meaning.values()]
    levels = all(level in range(256) for value in values for level in value)
    if {len(value) for value in values} not in ({1}, {3}) or len(set(values)) < len(values) or not levels:
        raise ValueError(
            f"classes {meaning} do not tell pixels apart: expected a different grey level (0 to 255) for each name, "
            f"or a different colour (red, green, blue) for each"
        )
    return meaning


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
    picture, in_colour = opened(file), np.ndim(next(iter(meaning.values()))) == 1
    if in_colour and picture.mode == "P":
        picture = picture.convert("RGB")
    if picture.mode not in ({"RGB"} if in_colour else MASK_MODES):
        wanted = "colours (RGB)" if in_colour else "one number for each pixel (L or P)"
        raise ValueError(f"{file} has pixels of mode {picture.mode}, but the classes were given as {wanted}")
    return to_classes(file, np.atleast_3d(np.asarray(picture)).astype(np.int64), meaning)


def to_classes(file: Path, pixels: np.ndarray, meaning: Mapping) -> np.ndarray:
    """Look every pixel up among the values of the classes. A value that means nothing is an error, not class 0."""
    codes, values = packed(pixels), packed(np.array([np.atleast_1d(value) for value in meaning.values()]))
    order = np.argsort(values)
    place = np.minimum(np.searchsorted(values, codes, sorter=order), len(values) - 1)
    strange = np.argwhere(values[order[place]] != codes)
    if len(strange):
        row, column = (int(i) for i in strange[0])
        raise ValueError(
            f"{file}: {len(strange):,} pixels belong to no class, the first with value {pixels[row, column].tolist()} "
            f"at row {row}, column {column}; expected {dict(meaning)}; save masks without loss (PNG), name every class"
        )
    return order[place].astype(np.min_scalar_type(len(values) - 1))


def packed(pixels: np.ndarray) -> np.ndarray:
    """One whole number for each pixel: red * 256^2 + green * 256 + blue."""
    return pixels @ (256 ** np.arange(pixels.shape[-1])[::-1])


def same_shape(file: Path, found: np.ndarray, others: list[np.ndarray]) -> np.ndarray:
    if others and found.shape != others[0].shape:
        raise ValueError(f"{file} has shape {found.shape}, expected {others[0].shape}: all pictures must have one size")
    return found
