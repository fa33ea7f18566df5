"""The command line trains, lists, and turns mistakes into sentences."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from dlmini import Outcome, mlp, softmax_regression
from dlmini.command_words import read_topology


def dlmini(*words, **env):
    return subprocess.run(
        [sys.executable, "-m", "dlmini", *words],
        env={**os.environ, "COLUMNS": "200", **env},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=240,
    )


def test_train_shows_progress_and_writes_weights(tmp_path):
    file = tmp_path / "w.npz"
    done = dlmini("train", "--model", "mlp", "--data", "mnist", "--epochs", "2", "--save", str(file))
    assert done.returncode == 0, done.stderr
    assert "epoch 2: loss" in done.stdout
    assert "images/s" in done.stdout
    assert np.isfinite(mlp().load(file)).all()


def test_distbelief_is_reckoned_at_once(tmp_path):
    done = dlmini("distbelief", "--world", "reckoned", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "| 8 | 2.09 | 2.09 |" in (tmp_path / "out" / "distbelief.md").read_text("utf-8")
    assert [file.name for file in (tmp_path / "out").glob("*.png")] == ["scaling.png"]
    wrong = dlmini("distbelief", "--world", "imagined")
    assert "--world 'imagined': choose some of reckoned, simulated, processes, or all" in wrong.stdout


def test_the_classroom_is_reckoned_at_once(tmp_path):
    done = dlmini("classroom", "--out", str(tmp_path / "out"), COLUMNS="80")
    assert done.returncode == 0, done.stderr
    assert "| float32 | 96.996 | 68.7 | 8.33 | x1 | 96.9 | 68.7 |" in done.stdout  # whole, in a narrow terminal too
    assert "| ring, float32 | 14.56 | 21.9 |" in (tmp_path / "out" / "classroom.md").read_text("utf-8")
    assert (tmp_path / "out" / "epochs.png").is_file()
    wrong = dlmini("classroom", "--world", "imagined")
    assert "--world 'imagined': choose some of reckoned, simulated, real, or all" in wrong.stdout
    wrong = dlmini("classroom", "--part", "ways")
    assert "--part ways is a part of the simulated world: add --world simulated" in wrong.stdout


def test_train_segments_tiles_of_a_folder(tmp_path):
    """Scenes with a palette, cut into tiles; workers exchange int8 both ways."""
    from PIL import Image

    from dlmini import VAIHINGEN, aerial, unet

    for folder in ("images", "masks"):
        (tmp_path / folder).mkdir()
    scene = aerial(2, (32, 48))
    for i, (image, mask) in enumerate(zip(scene.x, scene.y, strict=True)):
        Image.fromarray(image).save(tmp_path / "images" / f"{i}.png")
        Image.fromarray(np.array([*VAIHINGEN.values()], np.uint8)[mask]).save(tmp_path / "masks" / f"{i}.png")
    lines = [f"{' '.join(map(str, colour))} {name}" for name, colour in VAIHINGEN.items()]
    (tmp_path / "palette.txt").write_text("\n".join(lines))
    file, words = tmp_path / "w.npz", ("--data", str(tmp_path), "--tile", "32", "--save", str(tmp_path / "w.npz"))
    two = ("--workers", "2", "--topology", "star:int8", "--compress", "int8", "--on", "simulated", "--batch", "1")
    done = dlmini("train", "--task", "segment", "--epochs", "1", *words, *two)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "unet: 2,183,990 parameters · 3 images" in done.stdout
    assert "impervious surfaces" in done.stdout
    net = unet(input=(32, 32, 3))
    assert np.isfinite(net.load(file)).all()
    assert net.load_statistics(file).size == net.measured


def test_training_ends_when_enough_is_right_or_the_error_rises(tmp_path):
    """The classroom's criteria: a number of epochs, an accuracy that is reached, an error that does not fall."""
    words = ("train", "--model", "softmax_regression", "--optimizer", "sgd", "--on", "simulated", "--epochs", "9")
    reached = dlmini(*words, "--until", "0.5", "--out", str(tmp_path / "out"))
    assert reached.returncode == 0, reached.stderr + reached.stdout
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["accuracy"] >= 0.5
    assert "Ended: accuracy 50.0% reached in round" in reached.stdout
    assert "nan" not in reached.stdout
    rising = dlmini(*words, "--patience", "1", "--rate", "3")  # far too large a step
    assert "Ended: the test error has been rising since round" in rising.stdout


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("--task", "guess"), "--task guess: choose one of classify, segment"),
        (("--task", "segment", "--data", "nowhere"), "a folder with images, masks and a palette.txt"),
        (("--task", "segment", "--model", "lenet", "--tile", "16"), "needs (16, 16, 6): a score for each pixel"),
        (("--model", "resnet"), "choose one of softmax_regression, mlp, lenet"),
        (("--data", "imagenet"), "expected one of fashion-mnist, mnist"),
        (("--optimizer", "lion"), "choose one of sgd, momentum"),
        (("--batch", "100000"), "10000 images are all there are; give at most so many"),
        (("--rate", "nan"), "rate is nan; it must be a finite number of at least 0"),
        (("--seed", "-1"), "seed is -1; it must be a whole number of at least 0"),
        (("--sync", "local:4"), "one worker talks to nobody"),
        (("--topology", "nonsense"), "there is no topology called 'nonsense'"),
        (("--rate", "-1"), "rate"),
        (("--model", "cifar_net", "--data", "cifar10"), "dlmini data get cifar10"),
    ],
)
def test_a_mistake_gets_a_sentence_and_no_traceback(words, advice, tmp_path):
    done = dlmini("train", *words, DLMINI_DATA=str(tmp_path), DLMINI_CACHE=str(tmp_path))
    assert done.returncode == 1
    assert advice in done.stdout.replace("\n", " ")
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("topology", "place"), [("gossip", ("simulated", "--network", "gigabit")), ("allreduce:ring", ("processes",))]
)
def test_workers_train_together_and_leave_files(tmp_path, topology, place):
    words = [
        "--model",
        "softmax_regression",
        "--data",
        "mnist",
        "--epochs",
        "1",
        "--workers",
        "3",
        "--sync",
        "local:4",
        "--topology",
        topology,
    ]
    more = ["--compress", "topk:0.1", "--on", *place, "--out", str(tmp_path / "run"), "--save", str(tmp_path / "w.npz")]
    done = dlmini("train", *words, *more)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "MB" in done.stdout
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["accuracy"] > 0.5
    assert Outcome.load(tmp_path / "run").recipe.topology == read_topology(topology)
    np.testing.assert_array_equal(
        softmax_regression().load(tmp_path / "w.npz"), np.load(tmp_path / "run" / "weights.npy")
    )


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("--workers", "0"), "at least one"),
        (("--save", "nowhere/w.npz"), "no folder that may be written to"),
        (("--workers", "2", "--out", "."), "is there already; results go to a new folder"),
        (("--workers", "2", "--sync", "sometimes"), "choose one of bsp, local"),
        (("--workers", "2", "--topology", "bus"), "choose one of allreduce, server"),
        (("--workers", "2", "--compress", "topk:2"), "above 0 and at most 1"),
        (("--workers", "2", "--sync", "ssp:3", "--on", "simulated"), "use ParameterServer"),
        (("--workers", "2", "--on", "moon"), "choose one of simulated, processes, mpi"),
        (("--workers", "2", "--on", "simulated", "--network", "pigeon"), "choose one of gigabit"),
    ],
)
def test_a_wrong_piece_gets_a_sentence(words, advice):
    done = dlmini("train", *words)
    assert done.returncode == 1
    assert advice in done.stdout.replace("\n", " ")
    assert "Traceback" not in done.stdout + done.stderr


def test_configurations_are_compared_and_kept(tmp_path):
    words = ["--model", "softmax_regression", "--data", "mnist", "--workers", "4", "--epochs", "2", "--only", "1,9"]
    done = dlmini("compare", *words, "--network", "gigabit", "--repeat", "2", "--out", str(tmp_path / "table"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "±" in done.stdout
    assert (tmp_path / "table" / "table.csv").read_text().count("\n") == 3
    assert "numbers from 1 to 10" in dlmini("compare", "--only", "11").stdout


def test_data_list_names_every_set():
    done = dlmini("data", "list")
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["fashion-mnist", "mnist", "cifar10", "cifar100"]


def test_warm_up_compiles_into_the_cache(tmp_path):
    done = dlmini("warm-up", "optimisers", DLMINI_CACHE=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.rglob("*.nbc"))) >= 5
    assert "choose one of networks, optimisers" in dlmini("warm-up", "everything").stdout.replace("\n", " ")


def test_import_dlmini_is_light():
    code = "import sys, dlmini; print([m for m in ('numpy', 'numba', 'rich', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)
    assert done.stdout.strip() == "[]"
