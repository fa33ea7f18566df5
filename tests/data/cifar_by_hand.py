"""Small CIFAR files, written from the published description byte by byte: pickles as Python 2 wrote them."""

import io
import struct
import tarfile

import numpy as np

PER_FILE = 3
TEN = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
FINE, COARSE = [f"fine{i}" for i in range(100)], [f"coarse{i}" for i in range(20)]


def old(value, fortran=False):
    """The instructions of pickle protocol 2 that make `value`, as Python 2 and its NumPy wrote them."""
    if isinstance(value, str):
        return b"T" + struct.pack("<i", len(value)) + value.encode()
    if isinstance(value, int):
        return b"J" + struct.pack("<i", value)
    if isinstance(value, list):
        return b"](" + b"".join(map(old, value)) + b"e"
    if isinstance(value, dict):
        return b"}(" + b"".join(old(k) + old(v) for k, v in value.items()) + b"u"
    return old_array(value, fortran)


def old_array(array, fortran):
    data = array.tobytes("F" if fortran else "C")
    parts = (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01btR(K\x01",
        b"(" + b"".join(map(old, array.shape)) + b"t",
        b"cnumpy\ndtype\n(U\x02" + array.dtype.str[1:].encode() + b"K\x00K\x01tR",
        b"(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb",
        b"\x88" if fortran else b"\x89",
        b"T" + struct.pack("<i", len(data)) + data + b"tb",
    )
    return b"".join(parts)


def pickled(value):
    return b"\x80\x02" + old(value) + b"."


def rows(number, classes=10):
    """Pixels and labels of file `number`, all different from those of the other files."""
    draw = np.random.default_rng([number, classes])
    return draw.integers(0, 256, (PER_FILE, 3072), dtype=np.uint8), draw.integers(0, classes, PER_FILE).tolist()


def ten_python(number):
    x, y = rows(number)
    which = f"training batch {number} of 5" if number else "testing batch 1 of 1"
    return {"batch_label": which, "labels": y, "data": x, "filenames": ["a.png"] * PER_FILE}


def hundred_python(number):
    x, y = rows(number, 100)
    which = "training batch 1 of 1" if number else "testing batch 1 of 1"
    return {"filenames": ["a"], "batch_label": which, "fine_labels": y, "coarse_labels": [k // 5 for k in y], "data": x}


def ten_binary(number):
    x, y = rows(number)
    return b"".join(bytes([label]) + row.tobytes() for label, row in zip(y, x, strict=True))


def hundred_binary(number):
    x, y = rows(number, 100)
    return b"".join(bytes([label // 5, label]) + row.tobytes() for label, row in zip(y, x, strict=True))


def lines(names):
    return "\n".join([*names, ""]).encode()


NUMBERS = {f"data_batch_{i}": i for i in range(1, 6)} | {"test_batch": 0}
FILES = {
    "cifar-10-batches-py": {k: pickled(ten_python(i)) for k, i in NUMBERS.items()}
    | {"batches.meta": pickled({"num_cases_per_batch": 10000, "label_names": TEN, "num_vis": 3072})},
    "cifar-10-batches-bin": {f"{k}.bin": ten_binary(i) for k, i in NUMBERS.items()} | {"batches.meta.txt": lines(TEN)},
    "cifar-100-python": {
        "train": pickled(hundred_python(1)),
        "test": pickled(hundred_python(0)),
        "meta": pickled({"fine_label_names": FINE, "coarse_label_names": COARSE}),
    },
    "cifar-100-binary": {
        "train.bin": hundred_binary(1),
        "test.bin": hundred_binary(0),
        "fine_label_names.txt": lines(FINE),
        "coarse_label_names.txt": lines(COARSE),
    },
}


def folder(tmp_path, form, **changed):
    home = tmp_path / form
    home.mkdir(exist_ok=True)
    for name, data in (FILES[form] | changed).items():
        (home / name).write_bytes(data)
    return home


def archive(form, mode="w:gz"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as tar:
        for name, data in reversed(FILES[form].items()):
            member = tarfile.TarInfo(f"{form}/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()
