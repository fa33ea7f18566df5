"""Datasets by name: `train, test = load("fashion-mnist")`.

A set is looked for in the folder of its name in each place in turn: the folders of DLMINI_DATA (separated like those
of PATH), the user's cache, where `dlmini data get` puts it, and /usr/share/datasets, where Debian puts it.
"""

import os
from pathlib import Path

import platformdirs

from dlmini.checks import truth
from dlmini.data.cifar import read_cifar
from dlmini.data.dataset import Dataset
from dlmini.data.idx import read_idx_pair
from dlmini.data.sources import SOURCES, source_of

BUNDLED = Path(__file__).resolve().parent / "bundled"
SYSTEM = Path("/usr/share/datasets")
Pair = tuple[Dataset, Dataset]


def load(name: str, *, full: bool = False) -> Pair:
    """The training and the test set called `name`: fashion-mnist, mnist, cifar10 or cifar100.

    Of fashion-mnist (10,000 / 2,000 rows) and mnist (5,000 / 1,000) a balanced part comes with dlmini, the same
    everywhere; `full=True` asks for the published 60,000 / 10,000. CIFAR must be fetched once, 170 MB.
    """
    source = source_of(name)
    if name in bundled() and not truth(full, "full"):
        return read(name, [BUNDLED / name / file for file in source.files])
    files = whereabouts(name)
    if not files:
        raise FileNotFoundError(missing(name))
    return published(name, files[0].parent, read(name, files))


def search_path() -> list[Path]:
    """Where sets are looked for, in this order."""
    named = [Path(place).expanduser() for place in os.environ.get("DLMINI_DATA", "").split(os.pathsep) if place]
    return [*named, data_cache(), SYSTEM]


def data_cache() -> Path:
    """Where fetched sets are kept: in DLMINI_CACHE, or in the user's cache folder."""
    base = os.environ.get("DLMINI_CACHE") or platformdirs.user_cache_dir("dlmini", appauthor=False)
    return Path(base) / "data"


def bundled() -> list[str]:
    return [name for name in SOURCES if (BUNDLED / name).is_dir()]


def whereabouts(name: str) -> list[Path]:
    """The files of the whole set, from the first place that has them all; none if no place does."""
    source = source_of(name)
    for place in search_path():
        files = [existing(place / name, source.forms(file)) for file in source.files]
        if None not in files:
            return files
    return []


def existing(folder: Path, names: tuple[str, ...]) -> Path | None:
    return next((folder / name for name in names if (folder / name).exists()), None)


def read(name: str, files: list[Path]) -> Pair:
    if len(files) == 1:
        return read_cifar(files[0])
    classes = source_of(name).classes
    train_images, train_labels, test_images, test_labels = files
    return (
        read_idx_pair(train_images, train_labels, f"{name}/train", classes),
        read_idx_pair(test_images, test_labels, f"{name}/test", classes),
    )


def published(name: str, folder: Path, pair: Pair) -> Pair:
    """Make sure that these rows are the set whose name they bear."""
    train, test = pair
    begins = source_of(name).begins
    if train.name != f"{name}/train":
        raise ValueError(
            f"{folder} does not hold {name}: expected its files, found those of {train.name.removesuffix('/train')}"
        )
    if begins and (len(train), len(test)) != (60_000, 10_000):
        found = f"{len(train):,} and {len(test):,}"
        raise ValueError(f"{folder} does not hold the full {name}: expected 60,000 and 10,000 rows, found {found}")
    if tuple(train.y[: len(begins)]) != begins:
        raise ValueError(
            f"{folder} does not hold {name}: expected labels that begin with {begins}, found "
            f"{tuple(train.y[: len(begins)].tolist())}; perhaps another set with the same file names was copied there"
        )
    return pair


def missing(name: str) -> str:
    here = [f"{n} (the bundled part)" for n in bundled()] + [f"{n} (full)" for n in SOURCES if whereabouts(n)]
    places = ", ".join(str(place / name) for place in search_path())
    return (
        f"the full {name} is not on this machine; looked in {places}. Run `dlmini data get {name}` "
        f"({source_of(name).megabytes} MB), or name the folder that has a folder {name} in DLMINI_DATA. "
        f"Ready to load are: {', '.join(here)}"
    )
