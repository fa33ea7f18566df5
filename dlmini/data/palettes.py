"""What the numbers or colours of a mask mean: a mapping of class names to values, or a file of such lines.

    # palette.txt: the value of the mask, then the name of the class; a dash for pixels that nobody labelled
    255 255 255   impervious surfaces
    0 0 255       building
    0 0 0         -
In Python the name of what is not labelled is None: {"building": (0, 0, 255), None: (0, 0, 0)}; several values of it are
a list. Of masks with one number per pixel, 255 means not labelled unless a class has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from dlmini.checks import refuse
from dlmini.data.checks import UNLABELLED, path_of

FILE = "palette.txt"

# ISPRS 2D semantic labelling contest, Vaihingen and Potsdam.
VAIHINGEN = {
    "impervious surfaces": (255, 255, 255),
    "building": (0, 0, 255),
    "low vegetation": (0, 255, 255),
    "tree": (0, 255, 0),
    "car": (255, 255, 0),
    "clutter": (255, 0, 0),
}


def read_palette(path) -> dict:
    """The meaning of masks, from a file of lines: one number or three (red, green, blue), then the class's name."""
    path, found = path_of(path), {}
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist; expected a text file with lines such as '0 0 255  building'")
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no text in UTF-8 ({error.reason}); save it as plain text") from error
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            value, name = entry(path, number, line)
            if name == "-":
                found.setdefault(None, []).append(value)
            elif name in found:
                raise ValueError(f"{path}, line {number}: the class {name!r} has a value already; name each class once")
            else:
                found[name] = value
    return meaning_of(found)


def entry(path: Path, number: int, line: str) -> tuple:
    """(value, name) of one line."""
    words = line.replace(",", " ").split()
    count = next((i for i, word in enumerate(words) if not word.isdecimal()), len(words))
    count = 3 if count > 3 else count  # a name may begin with a number
    if count not in (1, 3) or count == len(words):
        raise ValueError(
            f"{path}, line {number}: expected one number or three (red, green, blue) and a class's name, such as "
            f"'0 0 255  building', found {line.strip()!r}"
        )
    value = tuple(map(int, words[:count]))
    return value if count == 3 else value[0], " ".join(words[count:])


def meaning_of(classes: Iterable[str] | Mapping) -> dict:
    """Class name to mask value, checked: all grey levels or all colours, no value twice. None: a list of values."""
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        refuse(TypeError, "classes", classes, "a row of names, or a mapping of names to values")
    meaning = dict(classes) if isinstance(classes, Mapping) else {name: i for i, name in enumerate(classes)}
    void = meaning.pop(None, [])
    meaning |= {None: list(void) if isinstance(void, list) else [void]} if void != [] else {}
    values = [tuple(np.atleast_1d(value).tolist()) for value in values_of(meaning)]
    levels = all(level in range(256) for value in values for level in value)
    alike = {len(value) for value in values} in ({1}, {3}) and len(set(values)) == len(values)
    if not (alike and levels and names_of(meaning)):
        raise ValueError(
            f"classes {meaning} do not tell pixels apart: expected a different grey level (0 to 255) for each name, "
            f"or a different colour (red, green, blue) for each"
        )
    return meaning


def values_of(meaning: Mapping) -> list:
    """All values: those of the classes in their order, then those of what is not labelled."""
    return [value for name, value in meaning.items() if name is not None] + list(meaning.get(None, []))


def names_of(meaning: Mapping) -> tuple[str, ...]:
    return tuple(name for name in meaning if name is not None)


def to_classes(file, pixels: np.ndarray, meaning: Mapping) -> np.ndarray:
    """Look every pixel (rows, columns, 1 or 3) up. A value that means nothing is an error, not class 0."""
    values, names = [np.atleast_1d(value) for value in values_of(meaning)], names_of(meaning)
    if pixels.shape[-1] == 1 and UNLABELLED not in {int(v[0]) for v in values}:
        values.append(np.array([UNLABELLED]))
    labels = np.full(len(values), UNLABELLED)
    labels[: len(names)] = range(len(names))
    codes, known = packed(pixels), packed(np.array(values))
    order = np.argsort(known)
    place = np.minimum(np.searchsorted(known, codes, sorter=order), len(known) - 1)
    strange = np.argwhere(known[order[place]] != codes)
    if len(strange):
        row, column = (int(i) for i in strange[0])
        raise ValueError(
            f"{file}: {len(strange):,} pixels belong to no class, the first with value {pixels[row, column].tolist()} "
            f"at row {row}, column {column}; expected {meaning}; save masks without loss (PNG), name every class, "
            f"and what is not labelled by None (in {FILE} by a dash)"
        )
    return labels[order[place]].astype(np.uint8)


def packed(pixels: np.ndarray) -> np.ndarray:
    """One whole number for each pixel: red * 256^2 + green * 256 + blue."""
    return pixels @ (256 ** np.arange(pixels.shape[-1])[::-1])
