"""The two ways in which a CIFAR file holds its rows: each turns bytes into (pixels, labels), or says what is wrong."""

from dataclasses import dataclass

import numpy as np

from dlmini.data.plain_pickle import read_plain_pickle, text

PIXELS = 3 * 32 * 32  # red, then green, then blue


@dataclass(frozen=True)
class Records:
    """Binary: each row is `labels` bytes of labels, then the pixels. The label we want is byte number `wanted`."""

    labels: int
    wanted: int

    def rows(self, file: str, data: bytes, _remark: str) -> tuple[np.ndarray, np.ndarray]:
        width = self.labels + PIXELS
        if len(data) % width:
            raise ValueError(
                f"{file} is truncated or not what its name says: expected records of {width} bytes, "
                f"found {len(data):,} bytes, which make {len(data) / width:.2f} records"
            )
        table = np.frombuffer(data, np.uint8).reshape(-1, width)
        return table[:, self.labels :], table[:, self.wanted]

    def names(self, _file: str, data: bytes) -> tuple[str, ...]:
        return tuple(data.decode("latin-1").split())


@dataclass(frozen=True)
class Pickles:
    """A dict of Python 2: `data` (N, 3072), a list of labels under the key `labels`, and which batch this is."""

    labels: str
    classes: str

    def rows(self, file: str, data: bytes, remark: str) -> tuple[np.ndarray, np.ndarray]:
        content = read_plain_pickle(file, data)
        found = text(content.get("batch_label", remark))
        if found != remark:
            raise ValueError(f"{file} is not what its name says: expected the {remark}, found {found!r}")
        x, y = entry(file, content, "data", np.ndarray), entry(file, content, self.labels, list)
        if x.ndim != 2 or x.shape[1] != PIXELS:
            raise ValueError(f"{file} is damaged: expected rows of {PIXELS} bytes, found data of shape {x.shape}")
        if not all(type(label) is int for label in y):
            raise ValueError(f"{file} is damaged: expected whole numbers as {self.labels}, found something else")
        return x, np.array(y, np.int64)

    def names(self, file: str, data: bytes) -> tuple[str, ...]:
        content = entry(file, read_plain_pickle(file, data), self.classes, list)
        return tuple(text(name) for name in content)


def entry(file: str, content: dict, key: str, kind: type):
    value = content.get(key)
    if not isinstance(value, kind):
        raise ValueError(
            f"{file} is not what its name says: expected a {kind.__name__} under {key!r}, "
            f"found {type(value).__name__}; its keys are {', '.join(sorted(content)) or 'none'}"
        )
    return value
