"""Every argument of every public name gets what does not belong there: it works rightly, or one sentence says why not.

Never a message of NumPy's or Numba's own, never a hang, a crash, or silence.
"""

import functools
import inspect
import math
import traceback
from pathlib import Path

import hostile
import numpy as np
import pytest

import dlmini

HOUSE = str(Path(dlmini.__file__).parent)
read_only = np.zeros(3)
read_only.flags.writeable = False
STRANGE = {
    "text": "seven",
    "empty text": "",
    "bytes": b"7",
    "none": None,
    "truth": True,
    "zero": 0,
    "negative": -1,
    "huge": 10**30,
    "huge fraction": 10**400,
    "half": 2.5,
    "float count": 2.0,
    "nan": math.nan,
    "infinity": math.inf,
    "complex": 1j,
    "list": [1, 2],
    "empty list": [],
    "empty tuple": (),
    "dict": {},
    "class": int,
    "function": print,
    "object": object(),
    "nan of NumPy": np.float32(np.nan),
    "truth of NumPy": np.bool_(True),
    "no axis": np.array(1.5),
    "empty array": np.zeros(0),
    "array": np.zeros(3),
    "read-only": read_only,
    "stride": np.zeros((6, 6))[::2, ::2],
    "objects": np.array([None, "a"]),
    "letters": np.array(["a", "b"]),
    "ragged": [[1, 2], [3]],
    "recipe": dlmini.Recipe(),
    "optimiser class": dlmini.SGD,
}
TABLE = {**{getattr(dlmini, name): row for name, row in hostile.ROWS.items()}, **hostile.PARTS}
NAMES = {made: made.__name__ for made in TABLE}
CASES = [
    pytest.param(made, argument, id=f"{NAMES[made]}-{argument}")
    for made, row in TABLE.items()
    for argument in hostile.ONLY_REFUSE.get(NAMES[made], row)
]


FIGURES = {  # what is drawn: the first argument
    "timeline": "events",
    "curves": "runs",
    "pareto": "rows",
    "time_split": "rows",
    "speed_up": "rows",
    "mixing_matrix": "K",
    "link_heatmap": "books",
    "wait_graph": "diagnosis",
    "segmentation": "task",
    "bubbles": "runs",
    "memory_over_time": "runs",
    "dashboard": "task",
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """A text may be a good name of a file: it is written here."""
    monkeypatch.chdir(tmp_path)


def takes(made) -> set[str]:
    """The names of the arguments, but for what is handed through."""
    found = inspect.signature(made).parameters.values()
    return {p.name for p in found if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}


def call(made, **changed):
    """The good call of the table, with some arguments changed, to its end."""
    row = TABLE[made]
    found = made(**{name: argument.good for name, argument in row.items()} | changed)
    if hasattr(found, "result"):
        found.result()
    return found


def test_every_public_name_has_a_row_with_all_its_arguments():
    public = {n for n in dlmini.__all__ if callable(getattr(dlmini, n)) and n not in hostile.HANDED_OUT}
    assert public == {*hostile.ROWS, *FIGURES}
    for made, row in TABLE.items():
        assert set(row) == takes(made), NAMES[made]


@pytest.mark.parametrize(("made", "argument"), CASES)
def test_what_does_not_belong_is_refused_by_a_sentence_that_names_it(made, argument):
    rule = TABLE[made][argument]
    refused(lambda value: call(made, **{argument: value}), rule, argument, (ValueError, TypeError, FileNotFoundError))


def refused(call, rule, argument, errors):
    """That call(value) raises one of these errors, by a clear sentence, for each strange value that is not fine."""
    silent, wrong = [], []
    for kind, value in STRANGE.items():
        if rule.fine(value) or value is rule.good:
            continue
        try:
            call(value)
            silent += [] if rule.unsaid else [kind]
        except errors as error:
            if fault := unclear(error, argument):
                wrong.append(f"{kind}: {fault}: {type(error).__name__}: {error}")
        except Exception as error:
            wrong.append(f"{kind}: {type(error).__name__}: {error}")
    assert not silent, f"taken without a word: {silent}"
    assert not wrong, "\n".join(wrong[:3])


def unclear(error: Exception, argument: str) -> str:
    """What is wrong with a refusal: who says it, and how."""
    last, said = traceback.extract_tb(error.__traceback__)[-1], str(error)
    if not last.filename.startswith(HOUSE) or not last.line.startswith("raise"):
        return f"said by {last.filename}, not by a check"
    if "\n" in said or not 20 < len(said) < 400:
        return "not one sentence"
    names = {argument.lower().rstrip("s"), *hostile.ALSO_CALLED.get(argument, ())}
    return "" if any(name in said.lower() for name in names) else "does not name the argument"


@pytest.mark.parametrize(
    ("made", "argument"), [case for case in CASES if NAMES[case.values[0]] not in hostile.ONLY_REFUSE]
)
def test_what_is_meant_to_work_works(made, argument):
    rule = TABLE[made][argument]
    for value in (rule.good, *(value for value in STRANGE.values() if rule.fine(value))):
        if affordable(made, argument, value):
            call(made, **{argument: value})


def affordable(made, argument: str, value) -> bool:
    """Ranks, rounds and epochs beyond number are legal, but not made here."""
    return not isinstance(value, type) and (not isinstance(value, int) or abs(value) < 10**6)


@pytest.mark.parametrize(("made", "argument"), [c for c in CASES if TABLE[c.values[0]][c.values[1]].number])
def test_numbers_of_numpy_mean_the_same_as_pythons(made, argument):
    """The same repr too: recipes are written down, and read back."""
    good = TABLE[made][argument].good
    for kind in (np.int64, np.int32, np.uint8) if isinstance(good, int) else (np.float64,):
        if isinstance(good, (int, float)) and kind(good) == good:
            plain, found = call(made, **{argument: good}), call(made, **{argument: kind(good)})
            if " at 0x" not in repr(plain):
                assert repr(found) == repr(plain)


@pytest.mark.parametrize("name", FIGURES)
def test_what_cannot_be_drawn_is_refused_by_a_sentence(name):
    draw, wrong = getattr(dlmini, name), []
    assert FIGURES[name] == next(iter(inspect.signature(draw).parameters))
    for kind, value in STRANGE.items():
        error = error_of(draw, value)
        if error is None and (name, kind) not in {("mixing_matrix", "stride")}:
            wrong.append(f"{kind} was drawn")
        elif error is not None and (not isinstance(error, (ValueError, TypeError)) or unclear(error, "")):
            wrong.append(f"{kind}: {error!r}")
    assert not wrong, "\n".join(wrong)


RANK = {"text": "a", "none": None, "half": 0.5, "truth": True, "list": [0], "beyond": 7, "below": -2, "huge": 10**30}
VERBS = {
    "send": lambda comm, rank: comm.send(rank, 1),
    "recv": lambda comm, rank: comm.recv(rank),
    "poll": lambda comm, rank: comm.poll(rank),
    "bcast": lambda comm, rank: comm.bcast(1, rank),
    "gather": lambda comm, rank: comm.gather(1, rank),
    "group": lambda comm, rank: comm.group([rank]),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_rank_that_is_none_is_refused_and_numpys_are_taken(verb):
    for kind, rank in RANK.items():
        error = error_of(dlmini.launch, VERBS[verb], dlmini.Simulated(1), (rank,))
        assert isinstance(error, (ValueError, TypeError)), (kind, error)
        assert traceback.extract_tb(error.__traceback__)[-1].line.startswith("raise"), (kind, error)
    if verb not in ("send", "recv"):  # these two would wait for each other
        dlmini.launch(VERBS[verb], dlmini.Simulated(1), (np.int64(0),))


@pytest.mark.parametrize("how", ["ring", 3, None, [1], dlmini.SGD, dlmini.gigabit])
@pytest.mark.parametrize("verb", ["allreduce", "allgather", "reduce_scatter"])
def test_a_schedule_that_is_none_is_refused(verb, how):
    with pytest.raises(TypeError, match="how is"):
        dlmini.launch(lambda comm: getattr(comm, verb)(np.ones(2), how), dlmini.Simulated(2))


PIECES = {
    "sync": dlmini.LocalSGD(4),
    "topology": dlmini.Gossip("ring"),
    "compression": dlmini.DGC(),
    "optimizer": dlmini.Adam(),
}


@pytest.mark.parametrize("place", [*PIECES, "outer"])
@pytest.mark.parametrize("belongs", PIECES)
def test_a_piece_in_anothers_place_is_told_where_it_belongs(place, belongs):
    if belongs == place or (place, belongs) == ("outer", "optimizer"):
        return
    piece = PIECES[belongs]
    with pytest.raises(TypeError, match=f"{place} is .* this belongs to {belongs}="):
        dlmini.Recipe(**{place: piece})
    with pytest.raises(TypeError, match=rf"{place} is the class {type(piece).__name__}; make one of it"):
        dlmini.Recipe(**{place: type(piece)})


def test_checkpoints_need_rounds_and_a_folder(tmp_path):
    recipe, keeping = dlmini.Recipe(rounds=2), dlmini.Recipe(rounds=2, checkpoint_every=1)
    with pytest.raises(ValueError, match="checkpoint_every=1 makes checkpoints, but there is no place for them"):
        dlmini.train(hostile.TASK, keeping, dlmini.Simulated(2))
    with pytest.raises(ValueError, match="is for checkpoints, but none are made"):
        dlmini.train(hostile.TASK, recipe, dlmini.Simulated(2), folder=tmp_path / "kept")
    with pytest.raises(ValueError, match="checkpoint_every=3 never comes in 2 rounds"):
        dlmini.train(
            hostile.TASK, dlmini.Recipe(rounds=2, checkpoint_every=3), dlmini.Simulated(2), folder=tmp_path / "kept"
        )
    assert not (tmp_path / "kept").exists()


def test_a_model_and_rows_that_do_not_fit_are_refused_before_a_run():
    with pytest.raises(
        ValueError, match=r"rows of \(2,\), but the model takes \(28, 28, 1\); make it with input=\(2,\)"
    ):
        dlmini.Classify(dlmini.lenet(), hostile.DATA, hostile.DATA)


@pytest.mark.parametrize("strange", [[[0.0, 1.0]], "rows", None, np.array([[None, 1]]), 3])
def test_lists_and_other_things_for_arrays_are_refused_by_name(strange):
    net, w, grad = hostile.NET, hostile.W, hostile.NET.zeros()
    for name, call in {
        "x": lambda: net.loss_and_grad(w, strange, hostile.Y, grad),
        "y": lambda: net.loss_and_grad(w, hostile.X, "ab" if strange is None else strange, grad),
        "vector": lambda: net.views(strange),
        "update": lambda: dlmini.Feedback(dlmini.TopK(), 2).encode(strange),
    }.items():
        with pytest.raises((TypeError, ValueError), match=name) as caught:
            call()
        assert not unclear(caught.value, name)


WORDS = {
    "read_sync": ("bsp", "local", "async", "ssp", "partly", "downpour"),
    "read_topology": ("allreduce", "server", "star", "gossip", "push_sum", "async_gossip", "choco", "low_rank"),
    "read_compression": (
        "int8",
        "deflate",
        "qsgd",
        "one_bit",
        "terngrad",
        "threshold",
        "topk",
        "randomk",
        "strom",
        "dgc",
    ),
}
TYPED = (
    "nonsense",
    "-1",
    "2.5x",
    "1,2,3,4,5,6,7,8,9",
    "other=3",
    "=",
    "(",
    ")",
    "nan",
    "-inf",
    "true",
    "ring(",
    "int8(9",
)


@pytest.mark.parametrize(("reader", "word"), [(reader, word) for reader, all_ in WORDS.items() for word in all_])
def test_a_word_with_strange_values_gets_a_sentence(reader, word):
    """What is typed in a terminal: an object, or a ValueError of one line that the house says."""
    from dlmini import command_words as words

    for typed in TYPED:
        error = error_of(getattr(words, reader), f"{word}:{typed}")
        if error is not None:
            assert isinstance(error, ValueError), f"{word}:{typed}: {error!r}"
            assert traceback.extract_tb(error.__traceback__)[-1].line.startswith("raise"), f"{word}:{typed}: {error}"
            assert "\n" not in str(error)


def error_of(call, *given) -> Exception | None:
    try:
        call(*given)
    except Exception as error:
        return error
    return None


def test_native_is_priced_as_the_simulator_plays_it():
    assert dlmini.price(dlmini.native, 4, 1000).seconds == dlmini.price(dlmini.ring, 4, 1000).seconds


def test_a_way_to_deal_out_rows_that_wants_more_is_refused_before_anything_runs():
    split = dlmini.split_dirichlet
    with pytest.raises(TypeError, match=r"split=split_dirichlet cannot be called .*'alpha'; give the rest beforehand"):
        dlmini.Classify(hostile.NET, hostile.DATA, hostile.DATA, 4, split)
    task = dlmini.Classify(hostile.NET, hostile.DATA, hostile.DATA, 4, functools.partial(split, alpha=0.5))
    assert len(next(task.batches(0, 2, seed=0)).x)
