import gzip
import struct

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from dlmini.data import read_idx
from dlmini.data.idx import read_idx_pair, write_idx

KINDS = {0x08: "B", 0x09: "b", 0x0B: "h", 0x0C: "i", 0x0D: "f", 0x0E: "d"}
NATIVE = {0x08: "u1", 0x09: "i1", 0x0B: "i2", 0x0C: "i4", 0x0D: "f4", 0x0E: "f8"}
NUMBERS = [1, 2, 3, 100, 5, 6]


def by_hand(kind=0x08, shape=(2, 3), numbers=tuple(NUMBERS)):
    """An IDX file built from the definition, with struct instead of NumPy."""
    head = struct.pack(f">BBBB{len(shape)}I", 0, 0, kind, len(shape), *shape)
    return head + struct.pack(f">{len(numbers)}{KINDS[kind]}", *numbers)


@pytest.fixture
def write(tmp_path):
    def to(data, name="some-idx"):
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return to


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_every_type_of_the_standard_is_read(write, kind, pack):
    found = read_idx(write(pack(by_hand(kind))))
    assert found.dtype == np.dtype(NATIVE[kind])
    assert found.dtype.isnative
    np.testing.assert_array_equal(found, np.reshape(NUMBERS, (2, 3)))


@examples(40)
@given(kind=st.sampled_from(list(KINDS)), shape=st.lists(st.integers(0, 4), min_size=1, max_size=4), gz=st.booleans())
def test_what_is_written_is_what_is_read(tmp_path_factory, kind, shape, gz):
    array = np.random.default_rng(0).integers(-100, 100, shape).astype(NATIVE[kind])
    path = tmp_path_factory.mktemp("idx") / ("a.gz" if gz else "a")
    write_idx(path, array)
    found = read_idx(path)
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)


def test_the_same_array_gives_the_same_gzip_bytes(tmp_path):
    write_idx(tmp_path / "a.gz", np.arange(9, dtype=np.uint8))
    write_idx(tmp_path / "b.gz", np.arange(9, dtype=np.uint8))
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_file_cut_anywhere_is_refused_by_name(write, pack):
    whole = pack(by_hand())
    for length in range(len(whole)):
        with pytest.raises(ValueError, match=r"some-idx.*expected"):
            read_idx(write(whole[:length]))


def refused(path, truth):
    """Whether the file was refused by name; if it was read, then rightly."""
    try:
        found = read_idx(path)
    except ValueError as error:
        return path.name in str(error)
    np.testing.assert_array_equal(found, truth)
    return False


def test_a_flipped_bit_in_a_gzip_file_never_gives_another_array(write):
    whole, truth, count = gzip.compress(by_hand()), np.reshape(NUMBERS, (2, 3)), 0
    for bit in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        count += refused(write(bytes(damaged)), truth)
    assert count > 4 * len(whole)  # the other bits belong to the gzip header and say nothing about the numbers


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "not an IDX file: it begins with nothing"),
        (b"\x89PNG\r\n\x1a\n", "not an IDX file: it begins with 89 50 4e 47"),
        (b"\0\0\x0a\x01" + bytes(8), "not an IDX file: it begins with 00 00 0a 01"),
        (b"\0\0\x08\x00", "truncated or damaged.*found 0 dimensions"),
        (by_hand() + b"x", "too long: its header promises 2x3 numbers of 1 bytes, expected 18 bytes in all, found 19"),
        (by_hand()[:-1], "truncated: .* expected 18 bytes in all, found 17"),
        (by_hand(shape=(2**32 - 1,) * 3, numbers=()), "truncated"),
    ],
)
def test_other_files_are_refused_with_a_sentence(write, data, sentence):
    with pytest.raises(ValueError, match=f"some-idx.*{sentence}"):
        read_idx(write(data))


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_idx(tmp_path / "nowhere")


def test_types_outside_the_standard_are_not_written(tmp_path):
    with pytest.raises(TypeError, match="not 1-dimensional complex128"):
        write_idx(tmp_path / "a", np.zeros(3, complex))


IMAGES = by_hand(shape=(2, 1, 3))
LABELS = by_hand(shape=(2,), numbers=(1, 0))


def test_images_and_labels_make_a_dataset(write):
    data = read_idx_pair(write(IMAGES, "x"), write(LABELS, "y"), "toy", ("a", "b"))
    assert (data.name, data.x.shape, data.x.dtype, data.y.tolist()) == ("toy", (2, 1, 3, 1), np.uint8, [1, 0])


@pytest.mark.parametrize(
    ("images", "labels", "sentence"),
    [
        (LABELS, IMAGES, "images-file does not hold images: expected 3 dimensions of uint8, found 1"),
        (IMAGES, IMAGES, "labels-file does not hold labels: expected 1 dimensions of uint8, found 3"),
        (by_hand(0x0D, (2, 1, 3)), LABELS, "images-file does not hold images.*found 3 of float32"),
        (IMAGES, by_hand(shape=(3,), numbers=(0, 1, 0)), "2 images but .*labels-file 3 labels"),
        (
            IMAGES,
            by_hand(shape=(2,), numbers=(0, 2)),
            "labels-file does not hold labels of toy: expected 0 to 1, found 2",
        ),
    ],
)
def test_files_that_do_not_belong_together_are_refused(write, images, labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_idx_pair(write(images, "images-file"), write(labels, "labels-file"), "toy", ("a", "b"))
