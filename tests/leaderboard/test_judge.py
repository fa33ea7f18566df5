"""The same entry always comes to the same; cheats gain nothing; what is wrong gets a sentence."""

import json
import subprocess
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from capstone_entries import CHEATS, COUNTING, DEAF, HONEST, LESS, LIAR, LOTS, SILENT, WRONG, changed
from ordinary_user import AS_NOBODY, NOBODY, python_for_all, surroundings

from dlmini.command_words import read_topology
from dlmini.grade.sandbox.levels import choose
from dlmini.leaderboard import voices
from dlmini.leaderboard.books import Books
from dlmini.leaderboard.judge import Look, Trial, judge, rehearse
from dlmini.leaderboard.plan import encoding_seconds, read_plan
from dlmini.leaderboard.race import Entry, front, one_trial, race, references
from dlmini.leaderboard.worlds import draw
from dlmini.loop import program
from dlmini.recipe import Recipe
from dlmini.sim import Simulated
from dlmini.sync import LocalSGD

WORLDS = draw(bytes(range(32)), 4, steps=8)


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    """Less patience with endless loops."""
    monkeypatch.setattr(voices, "LIMITS", replace(voices.LIMITS, cpu=3))


def near(source: str) -> ModuleType:
    module = ModuleType("entry")
    exec(source, module.__dict__)
    return module


@pytest.fixture(scope="module")
def honest() -> Trial:
    return judge(HONEST, "entry.py", WORLDS[0], choose("auto"))


def test_in_sandboxes_an_entry_comes_to_what_it_comes_to_at_home(honest):
    assert honest.why == ""
    assert honest == rehearse(near(HONEST), WORLDS[0])
    assert judge(HONEST, "entry.py", WORLDS[0], choose("auto")) == honest


ORDINARY = """
import json, os, sys
from dlmini.grade.sandbox.levels import choose
from dlmini.leaderboard.judge import judge
from dlmini.leaderboard.worlds import draw
trial = judge(sys.stdin.read(), "entry.py", draw(bytes(range(32)), 1, steps=8)[0], choose("auto"))
print(json.dumps([os.getuid(), choose("auto").name, trial.as_dict()]))
"""


def test_an_ordinary_user_judges_as_root_does(tmp_path):
    """Without compiled kernels, which each user has to make first."""
    python, found = python_for_all(), []
    env = {**surroundings(), "DLMINI_KERNELS": "numpy"}
    for who in ({}, AS_NOBODY):
        terms = {**who, "env": env, "cwd": "/", "input": HONEST, "text": True}
        done = subprocess.run([python, "-c", ORDINARY], capture_output=True, check=False, **terms)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    assert [one[0] for one in found] == [0, NOBODY]
    assert found[0][2]["looks"]
    assert found[0][2] == found[1][2]


def test_worlds_follow_from_their_secret():
    again, other = draw(bytes(range(32)), 4, steps=8), draw(bytes(32), 4, steps=8)
    for one, same, another in zip(WORLDS, again, other, strict=True):
        assert one.terms == same.terms != another.terms
        np.testing.assert_array_equal(one.task.train.y, same.task.train.y)
        np.testing.assert_array_equal(one.task.initial(one.seed), same.task.initial(same.seed))
        assert repr(one.on) == repr(same.on)


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_gets_a_sentence(name):
    this, that, word = WRONG[name]
    found = judge(changed((this, that)), "entry.py", WORLDS[0], choose("auto"))
    assert word in found.why
    assert found.accuracy == pytest.approx(0.1)


@pytest.mark.parametrize("name", CHEATS)
def test_there_is_nothing_to_be_found_outside(name):
    found = judge(changed(CHEATS[name]), "entry.py", WORLDS[0], choose("auto"))
    assert found.why
    assert not found.looks


def test_a_message_that_lies_about_its_length_is_not_taken():
    found = judge(changed(LIAR), "entry.py", WORLDS[0], choose("auto"))
    assert "cannot be sent" in found.why
    assert found.accuracy == pytest.approx(0.1)


def test_who_sends_nothing_learns_nothing_from_others():
    """Each rank then hears itself in the others' place, as if it trained alone."""
    found = judge(changed(SILENT, DEAF), "entry.py", WORLDS[0], choose("auto"))
    alone = changed(('"topology": "own", "compress": "own"', '"topology": "own", "compress": "none"'))
    lonely = rehearse(near(alone.replace("(i, i, i + 1, i - 1)", "(i, i, i, i)")), WORLDS[0])
    assert [look.accuracy for look in found.looks] == pytest.approx([look.accuracy for look in lonely.looks], abs=0.02)


def test_state_does_not_survive_a_world():
    """A counter in a module begins anew in every world and in every rank."""
    counting = changed(
        (
            "def say(update, seed):",
            "calls = []\n\ndef say(update, seed):\n    calls.append(0)\n    assert len(calls) < 6",
        )
    )
    for world in (WORLDS[0], WORLDS[0]):
        assert judge(counting, "entry.py", world, choose("auto")).why == ""


def test_who_hears_something_else_every_time_is_still_judged_alike(honest):
    """`hear` that counts its calls: each rank has its own count, which follows from the run alone. A race runs it twice
    in each world, and compares."""
    (found,) = race([Entry("counting", changed(COUNTING, LESS))], WORLDS[:1], choose("auto"))
    assert found.why == ""
    assert found.trials[0].looks
    assert found.trials[0].looks != honest.looks


@pytest.mark.parametrize("where", ['"own"', '"own" if terms["shared"] else "none"'], ids=["in all worlds", "in one"])
def test_of_who_draws_lots_that_cannot_be_drawn_again_nothing_counts(where):
    """Not even if it does so in one world alone: worlds can be told apart by their terms."""
    lots = changed(LOTS, ('"compress": "own"', f'"compress": {where}'))
    (found,) = race([Entry("lots", lots)], WORLDS[:2], choose("auto"))
    assert (WORLDS[0].terms.shared, WORLDS[1].terms.shared) == (False, True)
    assert found.score == pytest.approx(0.1)
    assert "came to something else" in found.why


STAR = 'def recipe(terms):\n    return {"sync": "local:8", "topology": "star", "rounds": 1}\n'
WHOLE = changed(
    ("return index.tobytes() + update[index].tobytes()", "return update.tobytes()"),
    ("half, vector = len(message) // 2, np.zeros(size, np.float32)", "return np.frombuffer(message, np.float32)"),
)


def test_a_look_is_charged_with_what_others_have_sent_in_the_middle_of_a_round():
    """Worker 0 of a star looks when it has heard all; nobody else has ended the round, and all have sent theirs."""
    terms = WORLDS[0].terms
    (look,) = rehearse(near(STAR), WORLDS[0]).looks
    assert 1e6 * look.megabytes >= 2 * (terms.workers - 1) * 4 * terms.numbers


AHEAD = changed(  # worker 0 waits for nobody before the last round
    ("        for j in (i, i, i + 1, i - 1):", "        apart = i and t < 7\n        for j in (i, i, i + 1, i - 1):"),
    ("K[i, j % size]", "K[i, 1 + (j - 1) % (size - 1) if apart else i if t < 7 else j % size]"),
)
STOPS = (
    "def say(update, seed):",
    "calls = []\n\ndef say(update, seed):\n    calls.append(0)\n"
    "    if len(calls) > %d:\n        raise ValueError('enough')",
)


@pytest.mark.parametrize("calls", [1, 6, 20, 40])
def test_who_ends_a_run_early_pays_for_a_look_what_others_pay(calls):
    """Ranks that are ahead of those who end it have looked before the others had sent anything."""
    (world,) = draw(bytes(range(32)), 1, steps=16)
    whole = rehearse(near(AHEAD), world)
    ended = rehearse(near(AHEAD.replace(STOPS[0], STOPS[1] % calls)), world)
    assert "enough" in ended.why
    assert len(ended.looks) < len(whole.looks) == 8
    assert ended.looks == whole.looks[: len(ended.looks)]


@pytest.mark.parametrize("topology", ["allreduce", "gossip", "star", "server", "choco:topk(0.1)", "async_gossip"])
def test_at_the_end_of_a_run_the_books_hold_what_ranks_have_booked(topology):
    inner, books = Simulated(5, WORLDS[0].on, seed=1), Books()
    recipe = Recipe(LocalSGD(2), read_topology(topology), rounds=3)
    going = inner.open(program, (WORLDS[0].task, recipe))
    books.open(going.engine)
    found = going.run()
    assert books.sent_by([found.seconds, -1.0]) == [found.books.total().nbytes, 0]
    assert found.books == inner.run(program, (WORLDS[0].task, recipe)).books


def test_an_entry_cannot_tell_which_weight_a_number_belongs_to():
    """What it says and hears is in an order of the world's own; who says everything loses nothing by that."""
    world, seen = WORLDS[0], []
    entry = near(WHOLE)
    entry.say = lambda update, seed: seen.append(update) or update.tobytes()
    found = rehearse(entry, world)
    plainly = rehearse(near(changed(('"compress": "own"', '"compress": "none"'))), world)
    assert [look.accuracy for look in found.looks] == [look.accuracy for look in plainly.looks]
    unmoved = rehearse(entry, replace(world, order=np.arange(world.task.size)))
    first, plain = seen[0], seen[len(seen) // 2]
    assert len(unmoved.looks) == len(found.looks)
    np.testing.assert_array_equal(first, plain[world.order])
    assert (np.sort(world.order) == np.arange(world.task.size)).all()
    assert (world.order != np.arange(world.task.size)).mean() > 0.9


PRICES = {  # what a recipe names -> nanoseconds per number whenever somebody encodes
    ("none", "allreduce"): 0,
    ("topk:0.1", "gossip"): 2.5,
    ("deflate:int8", "allreduce"): 61,
    ("per_layer:deflate(int8)", "allreduce"): 71,
    ("one-bit", "star:back=deflate(int8)"): 61,
    ("int8", "server:back=topk(0.1)"): 2.5,
    ("none", "choco:deflate(topk(0.1))"): 62.5,
    ("none", "low_rank:2"): 10,
    ("own", "own"): 10,
}


@pytest.mark.parametrize("words", PRICES)
def test_every_compressor_that_is_named_is_paid_for(words):
    brief, topology = words
    recipe = read_plan({"compress": brief, "topology": topology}, WORLDS[0].terms, 0, None, 0)
    assert encoding_seconds(recipe, 10**9) == PRICES[words]


def test_a_server_that_answers_briefly_takes_time_for_it():
    words = 'def recipe(terms):\n    return {"sync": "local:8", "topology": "server:back=%s", "rounds": 1}\n'
    world = replace(WORLDS[0], on=replace(WORLDS[0].on, jitter=0))
    (brief,), (costly,) = (rehearse(near(words % back), world).looks for back in ("int8", "deflate(int8)"))
    assert costly.seconds - brief.seconds > 60e-9 * world.terms.numbers


def test_what_an_entry_says_of_itself_cannot_move_a_terminal():
    raising = changed(("half, vector =", "raise ValueError('\\x1b[2J\\n' + 9999 * 'x')\n    half, vector ="))
    why = judge(raising, "entry.py", WORLDS[0], choose("auto")).why
    assert "ValueError" in why
    assert why.isprintable()
    assert len(why) <= 400


def test_what_comes_after_the_budget_does_not_count():
    terms = WORLDS[0].terms
    looks = (Look(0.1, 1, 0, 0.3, True), Look(0.2, 2, 0, 0.5, True), Look(0.3, 3, 0, 0.9, False))
    assert Trial("cable", 0, looks=looks).accuracy == 0.5
    assert Trial("cable", 0).accuracy == 0.1
    assert terms.affords(terms.workers, terms.seconds / 2, 0)
    assert not terms.affords(terms.workers, 1.01 * terms.seconds, 0)
    assert not terms.affords(terms.workers, 0, 1.01e6 * terms.megabytes)
    assert not terms.affords(10_000 * terms.workers, terms.seconds / 2, 0)


def test_who_waits_for_a_dead_machine_keeps_what_it_had():
    failing = WORLDS[3]
    assert failing.on.crash
    found = judge(references()[0].source, "plain.py", failing, choose("auto"))
    assert "died" in found.why
    assert rehearse(near(HONEST), failing).looks[-1].seconds > found.terms["seconds"] * 0.3


def test_the_front_is_what_nobody_beats_in_both():
    assert front([(1, 0.5), (2, 0.4), (3, 0.7), (3, 0.6), (0, 0.2)]) == [4, 0, 2]


def test_a_race_ranks_all_and_loses_nobody():
    entries = [Entry("empty", None, "nothing was handed in"), Entry("honest", HONEST), Entry("long", "#" * 70_000)]
    found = race(entries, WORLDS[:1], choose("auto"))
    assert found[0].entry.name == "honest"
    assert {one.entry.name for one in found} == {"empty", "honest", "long"}
    assert "characters" in one_trial(entries[2], WORLDS[0], choose("auto")).why
