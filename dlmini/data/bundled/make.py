"""Make the bundled part of MNIST or Fashion-MNIST from the full files.

    python dlmini/data/bundled/make.py /usr/share/datasets/fashion-mnist fashion-mnist
    python dlmini/data/bundled/make.py <folder of the full MNIST files>  mnist

From every class the same number of rows is drawn at random; the rows keep their order.
The same input always gives the same bytes.
"""

import sys
from pathlib import Path

import numpy as np

from dlmini.data.catalogue import existing
from dlmini.data.idx import read_idx, write_idx
from dlmini.data.sources import SOURCES

ROWS = {"fashion-mnist": (10_000, 2_000), "mnist": (5_000, 1_000)}
SEED = 2026


def chosen(labels: np.ndarray, rows: int, part: int) -> np.ndarray:
    """Row numbers of a balanced sample: rows / 10 of every class."""
    draw = np.random.default_rng([SEED, part])
    each = [draw.choice(np.flatnonzero(labels == k), rows // 10, replace=False) for k in range(10)]
    return np.sort(np.concatenate(each))


def make(source: Path, name: str) -> None:
    target = Path(__file__).resolve().parent / name
    target.mkdir(exist_ok=True)
    names = list(SOURCES[name].files)
    for part, rows in enumerate(ROWS[name]):
        pair = names[2 * part : 2 * part + 2]
        images, labels = (read_idx(existing(source, SOURCES[name].forms(file))) for file in pair)
        keep = chosen(labels, rows, part)
        for file, array in zip(pair, (images, labels), strict=True):
            write_idx(target / file, array[keep])
            print(f"{target.name}/{file}: {array[keep].shape}, {(target / file).stat().st_size:,} bytes")


if __name__ == "__main__":
    make(Path(sys.argv[1]), sys.argv[2])
