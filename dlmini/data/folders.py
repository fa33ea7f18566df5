"""Pictures and their masks: `images/` and `masks/` side by side, one mask for each image, of the same name.

    street/images/001.jpg    street/masks/001.png
Pillow reads the files; it is imported here and nowhere else.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from dlmini.data.dataset import Dataset

SUFFIXES = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp"}
IMAGE_CHANNELS = {"L": 1, "RGB": 3}
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


def read_folders(path, classes: Iterable[str] | Mapping, name: str | None = None) -> Dataset:
    """A dataset with a class number for each pixel.

    `classes` says what the masks mean, class 0 first:
        ("sky", "ground")                      a mask's numbers are class numbers already
        {"background": 0, "cell": 255}         grey level 255 is a cell
        VAIHINGEN                              a mapping of names to colours (red, green, blue)
    All images must have one size: cut large ones into tiles first. Files are taken in the order of their names.
    """
    path = Path(path)
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


def meaning_of(classes: Iterable[str] | Mapping) -> dict:
    """Class name to mask value, checked: all grey levels or all colours, no value twice."""
    if isinstance(classes, str):
        raise TypeError(f"classes must be a row of names or a mapping of names to values, not {classes!r}")
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
    """The pictures of a folder by their names without suffix; other files, and hidden ones, do not count."""
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} does not exist; expected the folders images and masks in {folder.parent}")
    found: dict[str, Path] = {}
    for file in sorted(folder.iterdir()):
        if file.suffix.lower() in SUFFIXES and not file.name.startswith("."):
            if file.stem in found:
                raise ValueError(f"{file} and {found[file.stem].name} have the same name but for the suffix; keep one")
            found[file.stem] = file
    if not found:
        raise ValueError(f"{folder} holds no pictures; expected files ending in {', '.join(sorted(SUFFIXES))}")
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
