"""Every method can be gone on with; a damaged or foreign checkpoint is one sentence, and costs no good one."""

import io
import json
import pickle
import subprocess
import sys
import warnings
import zipfile
from dataclasses import replace
from functools import partial

import numpy as np
import psutil
import pytest
from test_recipe_text import FOREIGN, K

from dlmini import (
    SGD,
    AllReduce,
    Choco,
    Gossip,
    Hierarchical,
    LocalSGD,
    LowRank,
    Momentum,
    Own,
    PerLayer,
    PushSum,
    Recipe,
    Simulated,
    Star,
    TopK,
    Tracking,
    cosine,
    doubling,
    halving_doubling,
    naive,
    ring,
    split_by_label,
    train,
    tree,
    warm_up,
)
from dlmini.checkpoints import Unusable, load
from dlmini.outcome import Outcome

SCHEDULES = {"ring": ring, "tree": tree, "doubling": doubling, "halving": halving_doubling, "naive": naive}
CASES = {f"all-reduce by {name}": {"topology": AllReduce(how)} for name, how in SCHEDULES.items()} | {
    "two levels": {"topology": AllReduce(Hierarchical(np.int32(2)))},
    "low rank by ring": {"topology": LowRank(1, ring), "optimizer": Momentum(0.05)},
    "gossip by a matrix": {"topology": Gossip(Own(K))},
    "gossip of weights by a matrix": {"topology": Gossip(Own(K), "weights"), "sync": LocalSGD(2)},
    "choco by a matrix": {"topology": Choco(TopK(0.3), Own(K))},
    "push-sum": {"topology": PushSum("random_push")},
    "gradient tracking": {"topology": Tracking("one_peer")},
    "brief there and back": {"topology": AllReduce(back=TopK(0.3)), "compression": TopK(0.2)},
    "star": {"topology": Star(), "compression": PerLayer(TopK(np.float32(0.2)))},
    "schedules": {"optimizer": Momentum(warm_up(cosine(np.float32(0.1), 10), 3), np.float64(0.8))},
    "numbers of numpy": {"optimizer": SGD(np.float16(0.1)), "rounds": np.int64(6), "checkpoint_every": np.uint8(3)},
}


@pytest.mark.parametrize("pieces", CASES.values(), ids=CASES)
def test_whatever_was_kept_is_resumed_and_ends_with_the_same_bits(task, pieces, tmp_path):
    recipe = Recipe(**{"optimizer": SGD(0.1), "rounds": 6, "checkpoint_every": 3, **pieces})
    whole = train(task, recipe, Simulated(3), folder=tmp_path).result()
    file = tmp_path / "round-000003.npz"
    kept = load(file).recipe
    assert kept == recipe
    for again in (recipe, kept):
        resumed = train(task, again, Simulated(3), resume=file).result()
        np.testing.assert_array_equal(resumed.weights, whole.weights)
    whole.save(tmp_path / "run")
    assert Outcome.load(tmp_path / "run").recipe == recipe


@pytest.mark.parametrize("recipe", FOREIGN.values(), ids=FOREIGN)
def test_what_could_not_be_resumed_is_refused_before_it_runs(task, recipe, tmp_path):
    with pytest.raises(ValueError, match=r"no run could go on .* leave checkpoint_every= out"):
        train(task, replace(recipe, checkpoint_every=2), Simulated(3), folder=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_run_with_a_function_in_its_recipe_is_saved_and_loaded(task, tmp_path):
    outcome = train(task, Recipe(optimizer=SGD(lambda t: 0.1), rounds=3), Simulated(2)).result()
    again = Outcome.load(outcome.save(tmp_path / "run"))
    np.testing.assert_array_equal(again.weights, outcome.weights)
    assert "<lambda>" in repr(again.recipe)


@pytest.fixture(scope="module")
def kept(task, tmp_path_factory):
    """A folder with three good checkpoints, and what made them."""
    folder, recipe = tmp_path_factory.mktemp("kept"), Recipe(rounds=9, checkpoint_every=3, optimizer=Momentum(0.05))
    train(task, recipe, Simulated(2), folder=folder).result()
    return folder, replace(recipe, rounds=12)


def sentence(error) -> bool:
    text = str(error.value)
    return "\n" not in text and len(text) < 500 and ";" in text and "pickle" not in text


def test_a_file_cut_anywhere_is_refused_with_a_sentence(kept, tmp_path):
    data, file = (kept[0] / "round-000009.npz").read_bytes(), tmp_path / "cut.npz"
    ends = {0, 1, 3, 4, 22, 29, 30, len(data) - 1, len(data) - 22, *range(0, len(data), max(1, len(data) // 150))}
    for end in sorted(ends - {len(data)}):
        file.write_bytes(data[:end])
        with pytest.raises(Unusable, match="is no checkpoint, or it is damaged") as error:
            load(file)
        assert sentence(error)
        assert str(file) not in [opened.path for opened in psutil.Process().open_files()]


def test_a_file_with_any_byte_changed_is_refused_or_means_the_same(kept, tmp_path):
    """Some bytes mean nothing, such as the time of day in a zip file."""
    whole, file = load(kept[0] / "round-000009.npz"), tmp_path / "changed.npz"
    data, coin = bytearray((kept[0] / "round-000009.npz").read_bytes()), np.random.default_rng(0)
    places = {*coin.integers(0, len(data), 200).tolist(), *range(60), *range(len(data) - 300, len(data))}
    for place in places:
        data[place] ^= 1 << int(coin.integers(8))
        file.write_bytes(data)
        data[place] = (kept[0] / "round-000009.npz").read_bytes()[place]
        try:
            found = load(file)
        except Unusable:
            continue
        assert (found.t, found.size, found.recipe, found.task) == (whole.t, whole.size, whole.recipe, whole.task)
        for mine, other in zip(found.memories, whole.memories, strict=True):
            assert mine.keys() == other.keys()
            assert all(np.array_equal(mine[name], other[name]) for name in mine)


def rewritten(file, target, **other):
    """The same checkpoint, but for some entries; None leaves one out."""
    with np.load(file) as opened:
        entries = {name: opened[name] for name in opened.files} | other
    np.savez(target, **{name: entry for name, entry in entries.items() if entry is not None})


def headed(file, target, **other):
    with np.load(file) as opened:
        said = json.loads(str(opened["checkpoint"])) | other
    said = {name: value for name, value in said.items() if value is not None}
    rewritten(file, target, checkpoint=np.array(json.dumps(said)))


def archive(target, names):
    with zipfile.ZipFile(target, "w") as opened:
        for name in names:
            opened.writestr(name, "text")


def saved(array) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


class Bomb:
    """What a pickle could do: here it only says that it was done."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was opened",))


DAMAGES = {
    "empty": lambda good, bad: bad.write_bytes(b""),
    "junk": lambda good, bad: bad.write_bytes(b"\x80\x04junk" * 100),
    "text": lambda good, bad: bad.write_text("round 9"),
    "a pickle": lambda good, bad: bad.write_bytes(pickle.dumps(Bomb())),
    "an array": lambda good, bad: bad.write_bytes(saved(np.ones(3))),
    "pickled objects": lambda good, bad: rewritten(good, bad, **{"0:w": np.array([Bomb()], object)}),
    "a pickled header": lambda good, bad: rewritten(good, bad, checkpoint=np.array([Bomb()], object)),
    "another zip": lambda good, bad: archive(bad, ["letter.txt"]),
    "an empty zip": lambda good, bad: archive(bad, []),
    "text in place of arrays": lambda good, bad: archive(bad, ["checkpoint.npy", "0:w.npy"]),
    "weights of a model": lambda good, bad: np.savez(bad, w=np.ones(3), layers=np.array("()"), input=np.array([3])),
    "no recipe": lambda good, bad: headed(good, bad, recipe=None),
    "another recipe's text": lambda good, bad: headed(good, bad, recipe="SGD(0.1)"),
    "a recipe of code": lambda good, bad: headed(good, bad, recipe="__import__('os')"),
    "no task": lambda good, bad: headed(good, bad, task=None),
    "no round": lambda good, bad: headed(good, bad, t=None),
    "more ranks": lambda good, bad: headed(good, bad, size=10**12),
    "an array is missing": lambda good, bad: rewritten(good, bad, **{"1:w": None}),
    "a header of another kind": lambda good, bad: rewritten(good, bad, checkpoint=np.array("[]")),
    "another format": lambda good, bad: headed(good, bad, format="a diary"),
    "a folder": lambda good, bad: bad.mkdir(),
}
OTHER_VERSIONS = {
    "version 1": lambda good, bad: np.savez(bad, t=3, size=2, recipe="Recipe()"),
    "version 3": lambda good, bad: headed(good, bad, version=3),
}


@pytest.mark.parametrize("damage", [*DAMAGES, *OTHER_VERSIONS])
def test_a_bad_checkpoint_is_named_and_the_newest_good_one_used(task, kept, tmp_path, damage):
    good, bad = kept[0] / "round-000006.npz", tmp_path / "round-000009.npz"
    (DAMAGES | OTHER_VERSIONS)[damage](kept[0] / "round-000009.npz", bad)
    with pytest.raises(Unusable, match="has version" if damage in OTHER_VERSIONS else "no checkpoint") as error:
        load(bad)
    assert sentence(error)
    if bad.is_file():
        with pytest.raises(Unusable, match="round-000009"):
            train(task, kept[1], Simulated(2), resume=bad)
    with pytest.raises(Unusable, match="round-000009"):
        train(task, kept[1], Simulated(2), resume=tmp_path)
    (tmp_path / "round-000006.npz").write_bytes(good.read_bytes())
    with pytest.warns(UserWarning, match=r"going on from .*round-000006.npz, for newer ones are bad: .*round-000009"):
        run = train(task, kept[1], Simulated(2), resume=tmp_path)
    whole = train(task, replace(kept[1], checkpoint_every=0), Simulated(2)).result()
    np.testing.assert_array_equal(run.result().weights, whole.weights)


def test_the_newest_is_that_of_the_latest_round_whatever_else_lies_there(task, kept, tmp_path):
    for name in ("round-000009.npz", "round-1000000.npz"):  # as words, the other way round
        headed(kept[0] / "round-000009.npz", tmp_path / name, t=int(name[6:-4]) - 1)
    for name in ("round-x.npz", "notes.txt", ".round-9999999.npz.12ab.part"):
        (tmp_path / name).write_text("nothing to do with it")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="after round 1000000"):
            train(task, kept[1], Simulated(2), resume=tmp_path)


def points(seed):
    from dlmini import blobs

    return blobs(480, seed=seed)


OTHERS = {
    "batch": lambda task: replace(task, batch=16),
    "data": lambda task: replace(task, train=points(7)),
    "split": lambda task: replace(task, split=partial(split_by_label, shards_per_part=1)),
}


@pytest.mark.parametrize("what", OTHERS)
def test_another_batch_other_data_and_another_split_are_refused(task, kept, what):
    with pytest.raises(ValueError, match=f"made with another {what} .* resume with the same task"):
        train(OTHERS[what](task), kept[1], Simulated(2), resume=kept[0])


def test_another_number_of_workers_is_refused_in_words(task, kept):
    with pytest.raises(ValueError, match=r"keeps the memories of 2 ranks, and here 3 ranks would have to go on"):
        train(task, kept[1], Simulated(3), resume=kept[0])
    with pytest.raises(ValueError, match=r"another split \(rows were dealt out to another number of workers"):
        train(OTHERS["split"](task), kept[1], Simulated(2), resume=kept[0])


def test_another_model_is_refused_and_another_test_set_is_not(task, kept):
    from dlmini import Dense, Model, Tanh

    other = Model([Dense(16), Tanh(), Dense(len(task.train.classes))], task.train.shape)
    with pytest.raises(ValueError, match="made with another model"):
        train(replace(task, model=other), kept[1], Simulated(2), resume=kept[0])
    train(replace(task, test=points(8)), kept[1], Simulated(2), resume=kept[0]).result()


def test_a_task_of_ones_own_need_not_know_of_fingerprints(task, tmp_path):
    class Plain:
        """A task that says no more than a loop asks."""

        def __init__(self, batch):
            self.inner = replace(task, batch=batch)

        def __getattr__(self, name):
            if name == "fingerprint" or name.startswith("__"):
                raise AttributeError(name)
            return getattr(self.inner, name)

    recipe = Recipe(rounds=4, checkpoint_every=2)
    train(Plain(8), recipe, Simulated(2), folder=tmp_path).result()
    train(Plain(8), recipe, Simulated(2), resume=tmp_path / "round-000002.npz").result()
    with pytest.raises(ValueError, match="another batch"):
        train(Plain(9), recipe, Simulated(2), resume=tmp_path / "round-000002.npz")


def test_another_process_finds_the_same_fingerprint(task):
    code = (
        "from dlmini import *; train = blobs(480, seed=1);"
        "print(Classify(Model([Dense(16), Dense(len(train.classes))], train.shape), train, train, 8).fingerprint(3, 0))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert said == str(task.fingerprint(3, 0))


def test_a_full_disk_ends_the_run_with_a_sentence_and_keeps_the_last_checkpoint(task, kept, tmp_path, monkeypatch):
    from dlmini import files

    def full(stream):
        stream.error = OSError(28, "No space left on device")

    write = files.write
    (tmp_path / "round-000003.npz").write_bytes((kept[0] / "round-000003.npz").read_bytes())
    monkeypatch.setattr(files, "write", lambda file, content: write(file, lambda s: (full(s), content(s))))
    with pytest.raises(OSError, match=r"round-000006.npz could not be written: of [\d,]+ bytes 0 fitted"):
        train(task, kept[1], Simulated(2), folder=tmp_path, resume=tmp_path).result()
    assert [file.name for file in tmp_path.iterdir()] == ["round-000003.npz"]
    load(tmp_path / "round-000003.npz")


@pytest.mark.parametrize("damage", ["cut", *(name for name in DAMAGES if "recipe" not in name)])
def test_damaged_weights_are_one_sentence(task, kept, tmp_path, damage):
    """The same damages done to what a model has saved; another file's entries are no weights either."""
    bad, w = tmp_path / "w.npz", task.initial(1)
    task.model.save(bad, w)
    data = bad.read_bytes()
    if damage == "cut":
        cuts = [data[:end] for end in range(0, len(data), 97)]
    else:
        bad.unlink()
        DAMAGES[damage](kept[0] / "round-000009.npz", bad)
        cuts = [bad.read_bytes()] if bad.is_file() else []
    for cut in cuts:
        bad.write_bytes(cut)
        with pytest.raises(ValueError, match=r"not a file that model.save wrote|of another network") as error:
            task.model.load(bad)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["summary.json", "events.jsonl", "weights.npy"])
def test_a_damaged_outcome_is_one_sentence(task, tmp_path, name):
    folder = train(task, Recipe(rounds=3, topology=AllReduce(ring)), Simulated(2)).result().save(tmp_path / "run")
    data = (folder / name).read_bytes()
    lines = [i + 1 for i, byte in enumerate(data[:-1]) if byte == ord("\n")]
    cuts = [data[:end] for end in (0, 1, len(data) // 2, len(data) - 2, *lines[:3])]
    for bad in [*cuts, b"junk", b"[]", b"{}\n", b"null", pickle.dumps(Bomb()), b"\xff\xfe" * 20]:
        (folder / name).write_bytes(bad)
        with pytest.raises(ValueError, match=rf"{name} is damaged, or no file of a saved run") as error:
            Outcome.load(folder)
        assert sentence(error)
    (folder / name).unlink()
    with pytest.raises((ValueError, FileNotFoundError), match=name):
        Outcome.load(folder)
    (folder / name).write_bytes(data)
    assert Outcome.load(folder).recipe.topology == AllReduce(ring)
