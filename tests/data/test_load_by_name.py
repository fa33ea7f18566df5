import os
from pathlib import Path

import numpy as np
import pytest
from cifar_by_hand import PER_FILE, TEN, archive

from dlmini.data import catalogue, cifar, load
from dlmini.data.idx import write_idx
from dlmini.data.sources import SOURCES

BUNDLED = [("fashion-mnist", 10_000, 2_000), ("mnist", 5_000, 1_000)]


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """No set of this machine takes part: all three kinds of places are empty folders."""
    found = {name: tmp_path / name for name in ("named", "other", "cache", "system")}
    for folder in found.values():
        folder.mkdir()
    monkeypatch.setenv("DLMINI_DATA", os.pathsep.join([str(found["named"]), str(found["other"])]))
    monkeypatch.setenv("DLMINI_CACHE", str(found["cache"]))
    monkeypatch.setattr(catalogue, "SYSTEM", found["system"])
    return found


@pytest.mark.parametrize(("name", "rows", "tests"), BUNDLED)
def test_bundled_sets_have_the_promised_size_balance_and_type(name, rows, tests):
    for data, n, part in zip(load(name), (rows, tests), ("train", "test"), strict=True):
        assert (data.name, data.x.shape, data.x.dtype) == (f"{name}/{part}", (n, 28, 28, 1), np.uint8)
        np.testing.assert_array_equal(np.bincount(data.y), [n // 10] * 10)
        assert len(data.classes) == 10
        assert (data.x.min(), data.x.max()) == (0, 255)


@pytest.mark.parametrize(("name", "rows", "tests"), BUNDLED)
def test_no_bundled_picture_occurs_twice(name, rows, tests):
    pictures = {image.tobytes() for data in load(name) for image in data.x}
    assert len(pictures) == rows + tests


@pytest.mark.parametrize(("name", "rows", "tests"), BUNDLED)
def test_labels_belong_to_their_pictures(name, rows, tests):
    """The nearest class mean is a poor classifier, but with labels of other pictures it would be right in a tenth."""
    train, test = (data.scaled() for data in load(name))
    means = np.stack([train.x[train.y == k].mean(0).ravel() for k in range(10)])
    distance = ((test.x.reshape(tests, 1, -1) - means) ** 2).sum(-1)
    assert (distance.argmin(1) == test.y).mean() > 0.6


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "fashion-mnist",
            ["Zalando SE", "MIT License", "Permission is hereby granted", "10,000 training and 2,000 test"],
        ),
        ("mnist", ["LeCun", "Cortes", "CC BY-SA 3.0", "5,000 training and 1,000 test", "a part of it"]),
    ],
)
def test_bundled_sets_carry_their_licence(name, words):
    text = (catalogue.BUNDLED / name / "LICENSE").read_text(encoding="utf-8")
    assert all(word in text for word in words)


def test_bundled_files_stay_small():
    files = [file for file in Path(catalogue.BUNDLED).rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) < 7e6


def put_idx(folder, name, rows=(60_000, 10_000), suffix=".gz", begins=None):
    """The four files of a set `name` with pictures of one pixel."""
    folder = folder / name
    folder.mkdir()
    for part, n in zip(("train", "t10k"), rows, strict=True):
        labels = np.resize(begins or SOURCES[name].begins, n).astype(np.uint8)
        write_idx(folder / f"{part}-images-idx3-ubyte{suffix}", np.ones((n, 1, 1), np.uint8))
        write_idx(folder / f"{part}-labels-idx1-ubyte{suffix}", labels)
    return folder


@pytest.mark.parametrize("place", ["named", "other", "system"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_the_full_set_is_found_on_the_search_path(places, place, suffix):
    put_idx(places[place], "mnist", suffix=suffix)
    assert [len(data) for data in load("mnist", full=True)] == [60_000, 10_000]
    assert [len(data) for data in load("mnist")] == [5_000, 1_000]


def test_the_search_path_is_named_folders_then_cache_then_system(places):
    assert catalogue.search_path() == [places["named"], places["other"], places["cache"] / "data", places["system"]]


def test_without_settings_the_users_cache_is_searched(monkeypatch):
    monkeypatch.delenv("DLMINI_DATA")
    monkeypatch.delenv("DLMINI_CACHE")
    first, _ = catalogue.search_path()
    assert first.parts[-1] == "data"
    assert "dlmini" in first.parts


def test_an_incomplete_folder_is_passed_over(places):
    (put_idx(places["named"], "mnist") / "t10k-labels-idx1-ubyte.gz").unlink()
    put_idx(places["system"], "mnist", suffix="")
    assert len(load("mnist", full=True)[0]) == 60_000


def test_one_set_under_the_name_of_another_is_refused(places):
    put_idx(places["named"], "fashion-mnist", begins=SOURCES["mnist"].begins)
    with pytest.raises(ValueError, match=r"does not hold fashion-mnist: expected .* \(9, 0, 0.*found \(5, 0, 4"):
        load("fashion-mnist", full=True)


def test_a_part_under_the_name_of_the_whole_is_refused(places):
    put_idx(places["named"], "mnist", rows=(500, 100))
    with pytest.raises(ValueError, match="expected 60,000 and 10,000 rows, found 500 and 100"):
        load("mnist", full=True)


@pytest.fixture
def few_rows(monkeypatch):
    monkeypatch.setattr(cifar, "ROWS", {"train": 5 * PER_FILE, "test": PER_FILE})


def put_archive(places, name, file, form):
    (places["named"] / name).mkdir()
    (places["named"] / name / file).write_bytes(archive(form))


@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize("form", [("python", "cifar-10-batches-py"), ("binary", "cifar-10-batches-bin")])
def test_cifar_is_loaded_from_its_archive(places, form):
    put_archive(places, "cifar10", f"cifar-10-{form[0]}.tar.gz", form[1])
    train, test = load("cifar10")
    assert (len(train), len(test), train.classes) == (15, 3, tuple(TEN))


def test_cifar100_under_the_name_of_cifar10_is_refused(places, monkeypatch):
    monkeypatch.setattr(cifar, "ROWS", {"train": PER_FILE, "test": PER_FILE})
    put_archive(places, "cifar10", "cifar-10-python.tar.gz", "cifar-100-python")
    with pytest.raises(ValueError, match="does not hold cifar10: expected its files, found those of cifar100"):
        load("cifar10")


def test_a_missing_set_is_an_error_that_says_where_what_and_how(places):
    put_idx(places["system"], "mnist")
    with pytest.raises(FileNotFoundError) as caught:
        load("cifar10")
    sentence = str(caught.value)
    for expected in (str(places["other"] / "cifar10"), "`dlmini data get cifar10`", "170 MB", "DLMINI_DATA"):
        assert expected in sentence
    assert "fashion-mnist (the bundled part), mnist (the bundled part), mnist (full)" in sentence


def test_an_unknown_name_is_an_error_that_lists_the_names():
    with pytest.raises(ValueError, match=r"no dataset called 'Fashion_MNIST'.*mnist, cifar10.*mean 'fashion-mnist'"):
        load("Fashion_MNIST")
