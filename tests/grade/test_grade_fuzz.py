"""Random and mutated inputs, at every place where the judge reads what others have written: nothing leaves its guard.

Collecting is asked through its guard; frames come through pipes; requests reach the switch; journals are read again.
DLMINI_LONG=1 tries ten thousand and more.
"""

import json
import os
import random
import time
from contextlib import suppress
from types import SimpleNamespace

import pytest
from examples import LONG
from hypothesis import given, settings
from hypothesis import strategies as st
from strange_hand_ins import FILE, NOTEBOOKS, PLAIN, STEM, TEXTS, book, zipped

from dlmini.grade.journal import Journal, whole_lines
from dlmini.grade.lesson import World
from dlmini.grade.reading.class_list import class_of
from dlmini.grade.runner.ending import Raised
from dlmini.grade.runner.judge_pipes import Lost, Over, PatientPipes
from dlmini.grade.runner.values import Garbled, frame
from dlmini.grade.sandbox.limits import Limits
from dlmini.grade.submissions.guard import Guard, Refused
from dlmini.grade.switch import VERBS, Stuck, Switch
from dlmini.grade.verdict import FAILED, Verdict

TRIES = settings(max_examples=2000 if LONG else 40)  # of each of six
TASKS = ["shard", "fit_alpha_beta", "ping_pong"]
HONEST = {
    FILE: [PLAIN.encode(), b"# coding: cp1251\n" + PLAIN.encode(), b"\xef\xbb\xbf" + PLAIN.encode()],
    f"{STEM}.ipynb": [json.dumps(book(PLAIN, "%time x = 1", "!ls", "%%writefile a.py\nx = 1")).encode()],
    "work.zip": [
        zipped([(FILE, PLAIN), ("a/b.txt", "x" * 300)]),
        zipped([("in.zip", zipped([(FILE, PLAIN)]))]),
        zipped([(f"Ёж/{STEM}.ipynb", json.dumps(book(PLAIN)))]),
    ],
}
CHANGES = st.lists(st.tuples(st.integers(0, 10**6), st.binary(max_size=6), st.integers(0, 4)), min_size=1, max_size=8)


def changed(data, changes):
    """Some bytes replaced by others, perhaps fewer or more."""
    data = bytearray(data)
    for at, new, cut in changes:
        at %= len(data) + 1
        data[at : at + cut] = new
    return bytes(data)


@pytest.fixture(scope="module")
def guard():
    with Guard() as made:
        yield made


def asked(guard, root, place):
    """The guard's answer, or its refusal: a sentence in either case."""
    try:
        found = guard.ask("hand_in", root=str(root), places=[place], stem=STEM, tasks=TASKS)
    except Refused as error:
        return str(error)
    assert (found["source"] is None) == bool(found["problem"])
    return found["source"] or found["problem"]


@TRIES
@given(st.sampled_from([(n, d) for n, some in HONEST.items() for d in some]), CHANGES, st.booleans())
def test_a_mutated_hand_in_is_read_or_refused(tmp_path_factory, guard, honest, changes, as_class):
    (name, data), folder = honest, tmp_path_factory.getbasetemp() / "mutated"
    (folder / "ann").mkdir(parents=True, exist_ok=True)
    for old in (folder / "ann").iterdir():
        old.unlink()
    (folder / "ann" / name).write_bytes(changed(data, changes))
    said = asked(guard, folder, ["ann"]) if not as_class else asked(guard, folder / "ann", [name])
    assert said.encode() is not None


@TRIES
@given(
    st.sampled_from([FILE, f"{STEM}.ipynb", "work.zip", "x", "a.py"]), st.binary(max_size=400), st.integers(0, 10**9)
)
def test_a_random_hand_in_is_read_or_refused(tmp_path_factory, guard, name, data, seed):
    coin, folder = random.Random(seed), tmp_path_factory.getbasetemp() / "random"
    if seed % 8 == 0:  # of the families that are quickly made
        families = [f for f in (*TEXTS, *NOTEBOOKS) if "compiler" not in f.__name__ and f.__name__ != "nested_json"]
        data = coin.choice(families)(coin)
    (folder / "ann").mkdir(parents=True, exist_ok=True)
    for old in (folder / "ann").iterdir():
        old.unlink()
    (folder / "ann" / name).write_bytes(data)
    assert asked(guard, folder, ["ann"]).encode() is not None


NAMES = st.text(st.characters(blacklist_characters="/\0", blacklist_categories=("Cs",)), min_size=1, max_size=20)
PIECES = st.sampled_from(
    ["_17_assignsubmission_file_", "_LATE_12_34_", "submission_3", "2026-01-01_10-00", ".zip", ".", FILE]
)
PATHS = st.lists(st.lists(NAMES | PIECES, min_size=1, max_size=3).map("".join), min_size=1, max_size=4).map("/".join)


@TRIES
@given(st.lists(PATHS, min_size=1, max_size=6, unique=True), st.text(max_size=200), CHANGES)
def test_the_zip_of_a_class_with_any_names_is_listed_or_refused(tmp_path_factory, guard, names, metadata, changes):
    place = tmp_path_factory.getbasetemp() / "class.zip"
    data = zipped([*((name, PLAIN) for name in names), ("submission_metadata.yml", metadata)])
    place.write_bytes(data)
    found = class_of(place, STEM)
    assert found.members or found.stray
    place.write_bytes(changed(data, changes))
    with suppress(Refused):
        listed = guard.ask("class", root=str(place), stem=STEM, one=False)
        assert set(listed) == {"root", "members", "stray"}


# ---- frames ----

ATOMS = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=9) | st.binary(max_size=9)
)
VALUES = st.recursive(
    ATOMS, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(), v, max_size=2), max_leaves=6
)
FRAMES = st.lists(st.tuples(VALUES, VALUES).map(frame), min_size=1, max_size=3).map(b"".join)


@pytest.mark.skipif(os.name != "posix", reason="pipes are waited for")
@TRIES
@given(FRAMES | st.binary(max_size=300), CHANGES | st.none(), st.binary(max_size=60))
def test_any_bytes_from_a_child_are_frames_or_are_refused(data, changes, muttered):
    ends = [os.pipe() for _ in range(3)]
    (_, stdin), (stdout, child), (stderr, host) = ends
    named = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
    process = SimpleNamespace(**{name: SimpleNamespace(fileno=lambda fd=fd: fd) for name, fd in named.items()})
    pipes = PatientPipes(process, time.monotonic() + 60)
    pipes.turn_to(b"\1" * 8, time.monotonic() + 60)
    try:
        os.write(child, changed(data, changes) if changes else data)
        os.write(host, muttered + b"\nover 0101010101010101 0 0.5\n")
        for _ in range(20):
            assert type(pipes.hear()) is tuple
    except (Garbled, Lost, Over):
        pass
    finally:
        for fd in (fd for pair in ends for fd in pair):
            os.close(fd)


# ---- requests of a rank ----

ODD = st.sampled_from(
    [None, 0, 1, 2, -1, 10**6, 2**31, "x", [0, 1], [0, 0], [1, 0], [], {}, float("inf"), float("nan"), 1.5]
)
VERB = st.sampled_from([*VERBS, "answer", "raised", "over", "eval", "__class__", ""])
REQUESTS = st.lists(st.tuples(VERB, st.lists(ODD | VALUES, max_size=6)), max_size=6)


class Rank:
    """Says what it is told to say, then answers."""

    hopeless, pipes = False, SimpleNamespace(table=100)

    def __init__(self, requests):
        self.requests = [*requests, ("answer", [[1], [[]], ""])]

    def hear(self):
        verb, rest = self.requests.pop(0)
        return (verb, *rest)

    def say(self, *value):
        frame(value)


@TRIES
@given(REQUESTS, REQUESTS, st.booleans())
def test_any_requests_end_in_an_answer_or_in_a_word_about_them(one, other, collectives):
    ranks = [Rank(one), Rank(other)]
    with suppress(Garbled, Lost, Raised, Stuck):
        found = Switch(ranks, World(2, [(), ()]), Limits(), collectives).run()
        assert len(found.values) == 2


# ---- journals ----


@TRIES
@given(CHANGES, st.integers(0, 5))
def test_a_mutated_journal_gives_only_verdicts_that_were_written(tmp_path_factory, changes, lines):
    file, terms = tmp_path_factory.mktemp("journal") / "journal.jsonl", {"lesson": "98_made_up"}
    journal = Journal(file, terms, resume=False)
    for number in range(lines):
        journal.add(
            f"ann {number}", "x", Verdict("f", "t", FAILED, 0.5, 1, "public", "x", printed="\u2028", seed=number)
        )
    if lines == 5:
        journal.strike(["ann 0"], [])
    journal.close()
    written = dict(journal.known) | {
        ("ann 0", "x", "t"): Verdict("f", "t", FAILED, 0.5, 1, "public", "x", printed="\u2028")
    }
    file.write_bytes(changed(file.read_bytes(), changes))
    if whole_lines(file)[:1] not in ([], [terms]):
        with pytest.raises(ValueError, match="name another folder"):
            Journal(file, terms, resume=True)
        return
    again = Journal(file, terms, resume=True)
    again.close()
    for key, verdict in again.known.items():
        assert repr(written[key]) == repr(verdict)
