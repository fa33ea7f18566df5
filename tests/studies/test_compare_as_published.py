"""`dlmini compare --as-published`: both tens side by side; the user's CIFAR files, here generated ones of that form."""

import csv
import io
import tarfile

import numpy as np
import pytest
from typer.testing import CliRunner

from dlmini.cli import app
from dlmini.studies.published_levels import hybrid
from dlmini.studies.reproduction import levels_as_published

SMALL = ("--model", "softmax_regression", "--workers", "4", "--batch", "10", "--epochs", "2")
TEN, FINE, COARSE = (
    [f"class{i}" for i in range(10)],
    [f"fine{i}" for i in range(100)],
    [f"coarse{i}" for i in range(20)],
)


def records(count, classes, number):
    """Rows as published: one byte of label, or two, then red, green and blue."""
    coin = np.random.default_rng([number, classes])
    labels = coin.integers(0, classes, (count, 1), np.uint8)
    pixels = coin.integers(0, 256, (count, 3072), np.uint8) // 2 + labels
    return np.hstack([labels // 5, labels, pixels] if classes == 100 else [labels, pixels]).tobytes()


def ten_files(rows=30):
    found = {f"data_batch_{i}.bin": records(rows, 10, i) for i in range(1, 6)}
    return found | {"test_batch.bin": records(20, 10, 0), "batches.meta.txt": "\n".join(TEN).encode()}


def hundred_files(rows=30):
    names = {"fine_label_names.txt": "\n".join(FINE).encode(), "coarse_label_names.txt": "\n".join(COARSE).encode()}
    return names | {"train.bin": records(5 * rows, 100, 1), "test.bin": records(20, 100, 0)}


def run(*words):
    done = CliRunner().invoke(app, ["compare", "--as-published", *map(str, words)])
    assert done.exit_code == 0, f"{done.output}\n{done.exception!r}"
    return done.output


def test_both_tens_are_compared_and_kept_side_by_side(tmp_path):
    out = tmp_path / "both"
    text = run(*SMALL, "--data", "mnist", "--only", "3", "--cluster", "polus", "--out", out)
    assert "polus: 2 nodes" in text.replace("\n", " ")
    rows = list(csv.DictReader((out / "as_published_table.csv").open()))
    assert [(row["number"], row["compression"]) for row in rows] == [("3", "Threshold(value=1.0)")]
    looks = list(csv.DictReader((out / "as_published_curves.csv").open()))
    assert [look["epochs"] for look in looks] == ["1.0", "2.0"]
    assert (out / "side_by_side.md").read_text().count("3  Local-SGD(1)") == 1
    assert "own=sent, advance=iteration" in (out / "side_by_side.md").read_text()
    assert (out / "ours_accuracy.png").stat().st_size > 1000


@pytest.mark.parametrize(("files", "classes"), [(ten_files, 10), (hundred_files, 100)])
def test_a_folder_of_cifar_is_read_and_learned_from(tmp_path, files, classes):
    for name, data in files().items():
        (tmp_path / name).write_bytes(data)
    text = run(*SMALL, "--only", "9", "--cifar", tmp_path).replace("\n", " ")
    assert f"cifar{classes} (150 of its 50,000 images)" in text


def test_an_archive_of_cifar_does_too(tmp_path):
    with tarfile.open(tmp_path / "cifar-10-binary.tar.gz", "w:gz") as tar:
        for name, data in ten_files().items():
            member = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    assert "cifar10" in run(*SMALL, "--only", "1", "--cifar", tmp_path / "cifar-10-binary.tar.gz")


def test_readings_rate_and_threshold_are_heard(tmp_path):
    words = (*SMALL, "--data", "mnist", "--only", "3", "--threshold", "0.5", "--rate", "0.001")
    text = run(*words, "--reading", "own=whole,loss=mean").replace("\n", " ")
    assert "own=whole" in text
    assert "threshold 0.5" in text
    assert "rate 0.001 of a mean" in text


@pytest.mark.parametrize("number", range(3))
def test_the_commands_that_the_report_names_work_on_files_of_this_form(tmp_path, number):
    row = levels_as_published.cifar()[number]
    for name, data in (hundred_files if "CIFAR-100" in row.what else ten_files)(45).items():
        (tmp_path / name).write_bytes(data)
    first, verb, flag, *words = row.command.replace("FOLDER", str(tmp_path)).split()
    assert (first, verb, flag) == ("dlmini", "compare", "--as-published")
    text = run(*words, "--model", "softmax_regression", "--batch", "1", "--epochs", "1", "--only", "9")
    assert text.count("as published:") == 3
    assert f"{words[-1].split(',')[-1]} workers" in text.replace("\n", " ")


@pytest.mark.parametrize(("words", "why"), [("--cluster polus --workers 4,61", "60 cores"), ("--workers 4,210", "210")])
def test_what_cannot_be_run_is_said_before_the_first_run(words, why, monkeypatch):
    monkeypatch.setattr("dlmini.commands.compare_published.run_tables", lambda *_: pytest.fail("it was run"))
    done = CliRunner().invoke(app, ["compare", "--as-published", *words.split()])
    assert why in str(done.exception)


def test_ranks_and_threads_share_one_batch():
    assert hybrid.ways_of(4) == [(4, 1), (2, 2), (1, 4)]
    ways = hybrid.measured(2, steps=2, tries=1)
    assert [(way.ranks, way.threads) for way in ways] == [(2, 1), (1, 2)]
    assert all(way.images > 0 for way in ways)
