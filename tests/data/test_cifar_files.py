import os
import pickle

import numpy as np
import pytest
from cifar_by_hand import (
    COARSE,
    FILES,
    FINE,
    PER_FILE,
    TEN,
    archive,
    folder,
    hundred_python,
    lines,
    old,
    pickled,
    rows,
    ten_binary,
    ten_python,
)

from dlmini.data import cifar, read_cifar


def check(found, numbers, classes, y_of=lambda y: y):
    """Compare with pixels picked one by one: red, green and blue planes of 32 rows of 32."""
    x, y = zip(*(rows(i, classes) for i in numbers), strict=True)
    x, y = np.concatenate(x), [label for part in y for label in part]
    assert (found.x.shape, found.x.dtype) == ((len(x), 32, 32, 3), np.uint8)
    for image, flat in zip(found.x, x, strict=True):
        for row, column, channel in ((0, 0, 0), (3, 31, 1), (31, 5, 2), (17, 0, 2)):
            assert image[row, column, channel] == flat[channel * 1024 + row * 32 + column]
    assert found.y.tolist() == [y_of(label) for label in y]


@pytest.mark.parametrize("form", ["cifar-10-batches-py", "cifar-10-batches-bin"])
def test_cifar10_is_read_from_both_forms(tmp_path, form):
    train, test = read_cifar(folder(tmp_path, form), complete=False)
    assert (train.name, test.name, train.classes) == ("cifar10/train", "cifar10/test", tuple(TEN))
    check(train, range(1, 6), 10)
    check(test, [0], 10)


@pytest.mark.parametrize("form", ["cifar-100-python", "cifar-100-binary"])
@pytest.mark.parametrize(("coarse", "classes"), [(False, FINE), (True, COARSE)])
def test_cifar100_is_read_with_fine_and_coarse_labels(tmp_path, form, coarse, classes):
    train, test = read_cifar(folder(tmp_path, form), coarse=coarse, complete=False)
    assert (train.name, train.classes) == ("cifar100/train", tuple(classes))
    check(train, [1], 100, (lambda y: y // 5) if coarse else (lambda y: y))
    check(test, [0], 100, (lambda y: y // 5) if coarse else (lambda y: y))


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("mode", ["w:gz", "w"])
def test_an_archive_is_read_like_its_folder(tmp_path, form, mode):
    (tmp_path / "archive").write_bytes(archive(form, mode))
    for ours, truth in zip(
        read_cifar(tmp_path / "archive", complete=False),
        read_cifar(folder(tmp_path, form), complete=False),
        strict=True,
    ):
        np.testing.assert_array_equal(ours.x, truth.x)
        np.testing.assert_array_equal(ours.y, truth.y)


def test_arrays_in_fortran_order_and_pickles_of_todays_python_are_read_too(tmp_path):
    content = ten_python(1)
    fortran = (
        b"\x80\x02}("
        + b"".join(old(k) + old(v, fortran=k == "data") for k, v in content.items() if k != "filenames")
        + b"u."
    )
    content["data"] = np.ascontiguousarray(content["data"])
    for data in (fortran, pickle.dumps(content, protocol=3)):
        train, _ = read_cifar(folder(tmp_path, "cifar-10-batches-py", data_batch_1=data), complete=False)
        check(train, range(1, 6), 10)


def test_a_complete_set_has_50000_and_10000_rows(tmp_path, monkeypatch):
    home = folder(tmp_path, "cifar-10-batches-bin")
    with pytest.raises(ValueError, match=r"data_batch_1.bin.*expected 10,000 images and labels, found 3 images"):
        read_cifar(home)
    monkeypatch.setattr(cifar, "ROWS", {"train": 5 * PER_FILE, "test": PER_FILE})
    assert [len(part) for part in read_cifar(home)] == [15, 3]
    (home / "data_batch_4.bin").write_bytes(ten_binary(4)[: 2 * 3073])
    with pytest.raises(ValueError, match=r"data_batch_4.bin.*expected 3 images and labels, found 2 images"):
        read_cifar(home)


@pytest.mark.parametrize("form", FILES)
def test_a_missing_file_is_named(tmp_path, form):
    for name in FILES[form]:
        home = folder(tmp_path, form)
        (home / name).unlink()
        if name == "coarse_label_names.txt":
            continue  # nobody needs it for the fine labels
        with pytest.raises(FileNotFoundError, match=rf"{form} is not a whole.*{name} cannot be found.*dlmini data get"):
            read_cifar(home, complete=False)


def test_a_truncated_file_is_named_wherever_it_was_cut(tmp_path):
    draw = np.random.default_rng(0)
    for form, name in (("cifar-10-batches-py", "data_batch_2"), ("cifar-10-batches-bin", "data_batch_2.bin")):
        whole = FILES[form][name]
        for length in [0, 1, 2, 10, len(whole) - 1, *draw.integers(0, len(whole), 40)]:
            if form.endswith("bin") and length % 3073 == 0 and length:
                continue
            with pytest.raises(ValueError, match=rf"{name}.*expected"):
                read_cifar(folder(tmp_path, form, **{name: whole[:length]}), complete=False)


def refused(path, truth):
    """Whether the archive was refused by name; if it was read, then rightly."""
    try:
        found = read_cifar(path, complete=False)
    except (ValueError, FileNotFoundError) as error:
        return path.name in str(error)
    for ours, right in zip(found, truth, strict=True):
        np.testing.assert_array_equal(ours.x, right.x)
        np.testing.assert_array_equal(ours.y, right.y)
    return False


def test_a_damaged_archive_never_gives_another_array(tmp_path):
    path, whole, draw, count = tmp_path / "a.tar.gz", archive("cifar-100-python"), np.random.default_rng(1), 0
    path.write_bytes(whole)
    truth = read_cifar(path, complete=False)
    for place in [len(whole) - 5, *draw.integers(10, len(whole), 60)]:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(draw.integers(8))
        path.write_bytes(damaged)
        count += refused(path, truth)
    assert count > 50


def test_a_truncated_archive_is_refused_by_name(tmp_path):
    whole = archive("cifar-10-batches-py")
    for length in (0, 1, 20, 5000, len(whole) // 2, len(whole) - 8, len(whole) - 1):
        (tmp_path / "a.tar.gz").write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"a.tar.gz is damaged: expected a whole .tar.gz archive, found"):
            read_cifar(tmp_path / "a.tar.gz")


class Evil:
    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (pickled(ten_python(2)), "expected the training batch 1 of 5, found 'training batch 2 of 5'"),
        (pickled(ten_python(0)), "expected the training batch 1 of 5, found 'testing batch 1 of 1'"),
        (
            pickled(hundred_python(1) | {"batch_label": "training batch 1 of 5"}),
            "expected a list under 'labels'.*fine_labels",
        ),
        (pickled(["not", "a", "dict"]), "expected a dict, found a list"),
        (pickled(ten_python(1) | {"labels": [0, 1, 10]}), "expected labels 0 to 9, found 10 in row 2"),
        (pickled(ten_python(1) | {"labels": [0, -1, 1]}), "expected labels 0 to 9, found -1 in row 1"),
        (pickled(ten_python(1) | {"labels": [0, 1]}), "found 3 images and 2 labels"),
        (pickled(ten_python(1) | {"labels": ["0", "1", "2"]}), "expected whole numbers as labels"),
        (pickled(ten_python(1) | {"data": np.zeros((3, 3071), np.uint8)}), r"expected rows of 3072 bytes.*\(3, 3071\)"),
        (pickled(ten_python(1) | {"data": np.zeros((0, 3072), np.uint8), "labels": []}), "found 0 images and 0 labels"),
        (pickled(ten_python(1) | {"data": np.zeros((3, 3072), np.int8)}), "an array of i1, expected uint8"),
        (
            b"\x80\x02}("
            + old("data")
            + b"cnumpy.core.multiarray\n_reconstruct\n)R"
            + old("labels")
            + old([0])
            + b"u.",
            "under 'data'",
        ),
        (b"a web page instead of the file", "expected a pickle of plain lists"),
        (ten_binary(1), "expected a pickle of plain lists"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused(tmp_path, data, sentence):
    home = folder(tmp_path, "cifar-10-batches-py", data_batch_1=data)
    with pytest.raises(ValueError, match=f"data_batch_1 .*{sentence}"):
        read_cifar(home, complete=False)


def test_a_pickle_that_calls_functions_is_refused_before_it_can(tmp_path):
    evil = pickle.dumps({"data": Evil(tmp_path / "made by evil")}, protocol=2)
    with pytest.raises(ValueError, match=r"data_batch_1 cannot be read.*a call of (posix|nt)\.mkdir"):
        read_cifar(folder(tmp_path, "cifar-10-batches-py", data_batch_1=evil))
    assert not (tmp_path / "made by evil").exists()


def test_binary_labels_out_of_range_are_refused(tmp_path):
    bad = {"test_batch.bin": bytes([10]) + ten_binary(0)[1:]}
    with pytest.raises(ValueError, match=r"test_batch.bin.*expected labels 0 to 9, found 10 in row 0"):
        read_cifar(folder(tmp_path, "cifar-10-batches-bin", **bad), complete=False)


def test_a_wrong_number_of_class_names_is_refused(tmp_path):
    few = {"batches.meta.txt": lines(TEN[:9])}
    with pytest.raises(ValueError, match=r"batches.meta.txt is damaged: expected 10 names, found 9"):
        read_cifar(folder(tmp_path, "cifar-10-batches-bin", **few), complete=False)


def test_a_path_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere does not exist"):
        read_cifar(tmp_path / "nowhere")


@pytest.mark.parametrize("fortran", [False, True])
@pytest.mark.parametrize("keys", [str, str.encode])
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_of_every_protocol_are_read(tmp_path, protocol, keys, fortran):
    """Whoever saves a part of the set with today's Python writes one of these; keys are bytes or text."""
    for name, content in {
        **{f"data_batch_{i}": ten_python(i) for i in range(1, 6)},
        "test_batch": ten_python(0),
    }.items():
        if fortran:
            content["data"] = np.asfortranarray(content["data"])
        content["nothing"] = b""
        (tmp_path / name).write_bytes(pickle.dumps({keys(k): v for k, v in content.items()}, protocol))
    (tmp_path / "batches.meta").write_bytes(pickle.dumps({keys("label_names"): TEN}, protocol))
    train, test = read_cifar(tmp_path, complete=False)
    check(train, range(1, 6), 10)
    check(test, [0], 10)
