"""CIFAR-10 and CIFAR-100 in both published forms, python pickles and binary records.

A. Krizhevsky, Learning multiple layers of features from tiny images, 2009; https://www.cs.toronto.edu/~kriz/cifar.html
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dlmini.checks import truth
from dlmini.data.checks import path_of
from dlmini.data.cifar_forms import Pickles, Records
from dlmini.data.dataset import Dataset
from dlmini.data.packed_files import files_in

ROWS = {"train": 50_000, "test": 10_000}


@dataclass(frozen=True)
class Layout:
    """Which files make up one published form, and how to read them."""

    name: str
    classes: int
    form: Records | Pickles
    train: tuple[str, ...]
    test: tuple[str, ...]
    names: str  # the file with the names of the classes
    coarse: bool = False

    @property
    def files(self) -> tuple[str, ...]:
        return (*self.train, *self.test, self.names)


TEN = tuple(f"data_batch_{i}" for i in range(1, 6))
TEN_BIN = tuple(f"{name}.bin" for name in TEN)
FINE, COARSE = Pickles("fine_labels", "fine_label_names"), Pickles("coarse_labels", "coarse_label_names")
LAYOUTS = (
    Layout("cifar10", 10, Pickles("labels", "label_names"), TEN, ("test_batch",), "batches.meta"),
    Layout("cifar10", 10, Records(1, 0), TEN_BIN, ("test_batch.bin",), "batches.meta.txt"),
    Layout("cifar100", 100, FINE, ("train",), ("test",), "meta"),
    Layout("cifar100", 100, Records(2, 1), ("train.bin",), ("test.bin",), "fine_label_names.txt"),
    Layout("cifar100", 20, COARSE, ("train",), ("test",), "meta", coarse=True),
    Layout("cifar100", 20, Records(2, 0), ("train.bin",), ("test.bin",), "coarse_label_names.txt", coarse=True),
)


def read_cifar(path, *, coarse: bool = False, complete: bool = True) -> tuple[Dataset, Dataset]:
    """The training and the test set in `path`: a published .tar.gz, or the folder that was in it.

    `coarse` takes the 20 superclasses of CIFAR-100. `complete=False` accepts a cut-down copy with fewer rows.
    An archive is checked to the last bit (gzip's checksum), loose files by their structure, sizes and labels.
    """
    path = path_of(path)
    coarse, complete = truth(coarse, "coarse"), truth(complete, "complete")
    layouts = [layout for layout in LAYOUTS if layout.coarse == coarse]
    files = files_in(path, {name for layout in layouts for name in layout.files})
    layout = layout_of(path, files, layouts)
    classes = layout.form.names(f"{path}/{layout.names}", files[layout.names])
    if len(classes) != layout.classes:
        raise ValueError(f"{path}/{layout.names} is damaged: expected {layout.classes} names, found {len(classes)}")
    return tuple(read_part(path, files, layout, part, classes, complete) for part in ROWS)


def layout_of(path: Path, files: dict[str, bytes], layouts: list[Layout]) -> Layout:
    """The layout whose files are all there; otherwise name what the likeliest one lacks."""
    lacking = {layout: [name for name in layout.files if name not in files] for layout in layouts}
    best = min(layouts, key=lambda layout: len(lacking[layout]) / len(layout.files))
    if lacking[best]:
        raise FileNotFoundError(
            f"{path} is not a whole {best.name} set: expected {', '.join(best.files)}; {', '.join(lacking[best])} "
            f"cannot be found there. Copy all files, or run `dlmini data get {best.name}`"
        )
    return best


def read_part(path: Path, files: dict[str, bytes], layout: Layout, part: str, classes, complete: bool) -> Dataset:
    """All files of one part end to end, as images (N, 32, 32, 3)."""
    names = getattr(layout, part)
    pieces = []
    for number, name in enumerate(names, 1):
        x, y = layout.form.rows(f"{path}/{name}", files.pop(name), f"{part}ing batch {number} of {len(names)}")
        check_rows(f"{path}/{name}", x, y, len(classes), ROWS[part] // len(names) if complete else len(x))
        pieces.append((x.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), y))
    x, y = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
    return Dataset(f"{layout.name}/{part}", x, y, classes)


def check_rows(file: str, x: np.ndarray, y: np.ndarray, classes: int, expected: int) -> None:
    if not len(x) == len(y) == expected > 0:
        raise ValueError(
            f"{file} is truncated or not what its name says: expected {max(expected, 1):,} images and labels, "
            f"found {len(x):,} images and {len(y):,} labels"
        )
    wrong = np.flatnonzero((y < 0) | (y >= classes))
    if len(wrong):
        raise ValueError(
            f"{file} is damaged or not what its name says: expected labels 0 to {classes - 1}, "
            f"found {y[wrong[0]]} in row {wrong[0]}"
        )
