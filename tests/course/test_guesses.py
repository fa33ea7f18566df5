"""Guesses: what counts as close, and what is kept, whatever happens to the files."""

import json
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dlmini
from dlmini import guess, see
from dlmini.course import guess_record, guesses, progress
from dlmini.course.book.cells import displayed
from dlmini.course.guesses import DOTS, closeness, question
from dlmini.course.lessons import Lesson
from dlmini.show import guess_cards

SECONDS = question("04.a", "How long?", "s", (0.01, 100))
POINTS = question("04.b", "How much?", "points", (-10, 30))
POSITIVE = st.floats(1e-3, 1e3)


@pytest.fixture(autouse=True)
def work(tmp_path, monkeypatch):
    """A course folder and a session of one's own."""
    monkeypatch.setenv("DLMINI_WORK", str(tmp_path))
    monkeypatch.setattr(guess_cards, "_asked", {})
    monkeypatch.setattr(guess_cards, "_unsaved", {})
    return tmp_path


# ---- how close is close ----


@pytest.mark.parametrize(
    ("guessed", "level", "words"),
    [
        (10, 3, "exactly right"),
        (10.4, 3, "within 5 %"),
        (12, 3, "within 20 %"),
        (5, 2, "within a factor of two"),
        (1.1, 1, "the right order of magnitude"),
        (1000, 0, "off by a factor of 100"),
        (1e300, 0, "off by more than a million times"),
        (-10, 0, "not even the sign is right"),
    ],
)
def test_what_is_surely_above_zero_is_judged_by_its_ratio(guessed, level, words):
    assert closeness(SECONDS, guessed, 10) == (level, words)


@pytest.mark.parametrize(("guessed", "level"), [(0, 3), (2, 3), (-2, 3), (6, 2), (-6, 2), (14, 1), (15, 0), (500, 0)])
def test_other_numbers_are_judged_by_the_share_of_the_range(guessed, level):
    assert closeness(POINTS, guessed, 0).level == level


def test_a_choice_is_right_or_not():
    which = question("04.c", "Which?", of=("ring", "tree"))
    assert [closeness(which, word, "ring").level for word in which.of] == [3, 0]


@given(POSITIVE, POSITIVE, POSITIVE)
def test_neither_the_unit_nor_who_is_first_changes_a_ratio(guessed, measured, unit):
    level = closeness(SECONDS, guessed, measured).level
    assert closeness(SECONDS, measured, guessed).level == level
    factor = max(guessed / measured, measured / guessed)
    if all(abs(factor / limit - 1) > 1e-9 for limit in (1.2, 2, 10)):
        assert closeness(SECONDS, unit * guessed, unit * measured).level == level


@given(st.sampled_from([SECONDS, POINTS]), st.floats(-1e308, 1e308), st.floats(-1e308, 1e308))
def test_whatever_is_guessed_is_judged_in_a_few_words(asked, guessed, measured):
    assert len(closeness(asked, guessed, measured).words) < 60


@given(st.sampled_from([SECONDS, POINTS]), POSITIVE, st.floats(1, 50), st.floats(1, 50))
def test_a_guess_further_off_is_never_better(asked, measured, near, far):
    near, far = sorted((near, far))
    assert closeness(asked, measured * near, measured).level >= closeness(asked, measured * far, measured).level


@pytest.mark.parametrize(("value", "shown"), [(11_700, "11,700"), (-0.0, "0"), (0.25, "0.25"), (5.28e-7, "5.28e-07")])
def test_numbers_are_shown_as_one_would_say_them(value, shown):
    assert guesses.number(value) == shown


# ---- asked, answered, seen ----


def test_a_guess_by_hand_stands_beside_the_measurement():
    guess("07.a", "How much?", unit="points", between=(0, 30))
    assert repr(see("07.a", 8)) == "How much? measured 8 points: no guess this time"
    assert repr(guess("07.a", 5)) == "noted: 5 points"
    card = see("07.a", 8)
    assert repr(card) == "How much? you guessed 5 points, measured 8 points: near: 10 % of the range apart"
    assert "you guessed <b>5 points</b> · measured <b>8 points</b>" in card._repr_html_()


def test_without_widgets_one_line_says_how_to_guess(monkeypatch):
    monkeypatch.setitem(sys.modules, "dlmini.show.guess_widget", None)
    number, choice = guess("07.a", "How much?", "ms", (1, 30)), guess("07.b", "Which?", of=("ring", "tree"))
    assert repr(number) == 'How much? Between 1 and 30 ms. To guess, run guess("07.a", your number).'
    assert repr(choice) == 'Which? One of: ring, tree. To guess, run guess("07.b", your answer, in quotes).'
    guess("07.b", "tree")
    assert see("07.b", "tree").verdict == "right"


def test_an_untouched_widget_is_no_guess_and_a_touched_one_is(work):
    asked = guess("07.a", "How long?", unit="ms", between=(0.1, 1000))
    assert not (work / ".dlmini").exists()
    assert see("07.a", 10).guess is None
    asked.slider.value = 20.0
    assert (asked.box.value, see("07.a", 10).guess) == ("20", 20)
    asked.box.value = "12.5"
    assert (round(asked.slider.value, 6), see("07.a", 10).guess) == (12.5, 12.5)
    for nonsense in ("much", "nan", "inf", "1,5", "1e999"):
        asked.box.value = nonsense
        assert "is no number" in asked.note.value
    assert see("07.a", 10).guess == 12.5
    asked.box.value = "5000"  # beyond what the slider can do
    assert (asked.slider.value, see("07.a", 10).guess) == (1000, 5000)
    asked.box.value = " "
    assert see("07.a", 10).guess is None


@pytest.mark.parametrize("between", [(-1.0, 1.0), (0, 4), (0, 1000), (0.1, 1000), (1e-12, 0.1), (1, 1_000_000)])
def test_a_hand_gets_from_one_end_of_the_slider_to_the_other_in_small_steps(between):
    """As the arrow keys do it: each step is another guess, and the slider stays where the hand has put it."""
    asked = guess("07.a", "Where?", between=between)
    logarithmic = between[0] > 0
    places, found = (2 if between == (0, 4) else 20), []
    for k in range(1, places + 1):
        low = asked.slider.min + k * asked.slider.step
        asked.slider.value = asked.slider.base**low if logarithmic else low
        found.append(see("07.a", 1).guess)
        assert asked.slider.value == pytest.approx(asked.slider.base**low if logarithmic else low)
    assert found == sorted(set(found))


def test_a_cell_that_is_run_again_shows_the_guess_that_stands():
    guess("07.a", "Which?", of=("ring", "tree")).answers[0].value = "tree"
    assert guess("07.a", "Which?", of=("ring", "tree")).answers[0].value == "tree"
    assert guess("07.a", "Which?", of=("star", "tree")).answers[0].value is None  # another question by now


def test_what_was_asked_yesterday_is_still_known(monkeypatch):
    guess("07.a", "How much?", unit="points", between=(0, 30))
    guess("07.a", 5)
    monkeypatch.setattr(guess_cards, "_asked", {})
    assert repr(see("07.a", 5)) == "How much? you guessed 5 points, measured 5 points: exactly right"
    assert repr(see("07.b", 5)) == "07.b measured 5: no guess this time"


@pytest.mark.parametrize("between", [(0, 30), (1, 30)])
@pytest.mark.parametrize("nothing", ["nan", "inf", "-inf"])
def test_a_measurement_that_is_no_number_is_shown_and_not_counted(between, nothing):
    guess("07.a", "How much?", between=between)
    guess("07.a", 5)
    assert repr(see("07.a", float(nothing))) == f"How much? you guessed 5, measured {nothing}: nothing to compare with"
    assert guess_record.record() == []


def test_a_text_of_the_student_is_shown_as_text():
    guess("07.a", "<b>&</b>?", unit="<i>", between=(0, 30))
    guess("07.a", 5)
    see("07.a", 5)
    shown = (
        see("07.a", 5)._repr_html_()
        + progress.Progress([Lesson("07_a", "A", "?")], {}, guess_record.record())._repr_html_()
    )
    assert "<i>" not in shown
    assert "&lt;i&gt;" in shown


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: guess("accuracy", "?", between=(0, 1)), "the name of a guess is 'accuracy'"),
        (lambda: guess("07.../../x", "?", between=(0, 1)), "the name of a guess is"),
        (lambda: guess("07.a", "?", between=(1, 1)), "between, in 07.a, is"),
        (lambda: guess("07.a", "?", between=(0, 1), of=("a", "b")), "give one of them"),
        (lambda: guess("07.a", "?", of=("a", "a")), "at least two different words"),
        (lambda: guess("07.a", 5), "07.a has not been asked yet"),
        (lambda: (guess("07.a", "?", between=(0, 1)), guess("07.a", float("nan"))), "the answer to 07.a is nan"),
        (lambda: (guess("07.a", "?", of=("a", "b")), guess("07.a", "c")), "must be one of a, b"),
        (lambda: (guess("07.a", "?", of=("a", "b")), see("07.a", "c")), "what was measured for 07.a is 'c'"),
        (lambda: see("x", 1), "the name of a guess is 'x'"),
    ],
)
def test_what_makes_no_sense_is_refused(call, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        call()


# ---- what is kept ----


def test_the_first_measurement_that_a_guess_meets_counts():
    guess("07.a", "How much?", between=(0, 30))
    guess("07.a", 5)
    see("07.a", 20)
    guess("07.a", 20)
    assert see("07.a", 20).verdict == "exactly right"
    (one,) = guess_record.record()
    assert (one.first, one.closeness.level) == ((5, 20), 0)


@pytest.mark.parametrize(
    "harm",
    [b"", b"[", b"[]", b"null", b"\xff\xfe", b'{"guess": 1}', b"[" * 100_000, json.dumps({"question": 3}).encode()],
)
def test_a_damaged_file_costs_one_guess(work, harm):
    for name in ("07.a", "07.b"):
        guess(name, "How much?", between=(0, 30))
        guess(name, 5)
        see(name, 5)
    (work / ".dlmini/guesses/07.a.json").write_bytes(harm)
    (work / ".dlmini/guesses/notes.json").write_bytes(b"mine")
    assert [one.question.name for one in guess_record.record()] == ["07.b"]
    assert see("07.a", 5).guess is None
    guess("07.a", 6)
    assert see("07.a", 5).guess == 6


def test_every_value_of_a_file_may_be_changed_by_hand(work):
    """Whatever stands there: it is read, or it is no guess; nothing breaks."""
    guess("07.a", "How much?", between=(0, 30))
    guess("07.a", 5)
    see("07.a", 5)
    file = work / ".dlmini/guesses/07.a.json"
    whole = json.loads(file.read_text())
    for key in whole:
        for strange in (None, [], {}, "x", -1, 1e400, True, [1], [1, "x"], {"of": 3}):
            file.write_text(json.dumps({**whole, key: strange}))
            repr(see("07.a", 7))
            repr(progress.Progress([Lesson("07_a", "A", "?")], {}, guess_record.record()))


def test_a_disk_that_refuses_costs_the_record_and_not_the_card(work):
    (work / ".dlmini").mkdir()
    (work / ".dlmini/guesses").write_text("a file where a folder should be")
    guess("07.a", "How much?", between=(0, 30))
    assert guess("07.a", 5).startswith("noted for now: 5; ")
    assert see("07.a", 5).guess == 5
    assert guess_record.record() == []


WRITER = """
import sys
from dlmini.course.guess_record import give, meet
from dlmini.course.guesses import question
for i in range(25):
    for name in (f"07.{sys.argv[1]}{i}", "07.shared"):
        asked = question(name, "?", "", (0, 30))
        give(asked, i)
        meet(asked, i)
"""


def test_two_notebooks_at_once_lose_nothing_of_each_other():
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, letter]) for letter in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    names = {f"07.{letter}{i}" for letter in "abc" for i in range(25)} | {"07.shared"}
    assert {one.question.name for one in guess_record.record()} == names


def test_guesses_lie_with_the_progress_and_git_does_not_see_them(work):
    guess("07.a", "How much?", between=(0, 30))
    guess("07.a", 5)
    assert (work / ".dlmini/.gitignore").read_text() == "*\n"
    assert [file.name for file in (work / ".dlmini/guesses").iterdir()] == ["07.a.json"]


# ---- the record ----


def met(*pairs, lesson="04"):
    for i, (guessed, measured) in enumerate(pairs):
        asked = question(f"{lesson}.q{i}", "How long?", "s", (0.01, 100))
        guess_record.give(asked, guessed)
        guess_record.meet(asked, measured)


def test_the_index_shows_a_dot_for_each_guess_and_whether_they_become_better():
    met((1, 10.1), (1, 50), (5, 1), (10, 10), (10, 11), (10, 15))
    lessons = [Lesson("03_a", "03 · A", "?"), Lesson("04_b", "04 · B", "?")]
    shown = progress.Progress(lessons, {}, guess_record.record(), {"03": 9, "04": 13})
    dots = f"{DOTS[0]}{DOTS[0]}{DOTS[1]}{DOTS[3]}{DOTS[3]}{DOTS[2]}"
    assert f"04  B: no checks yet; guesses {dots} (6 of 13)" in repr(shown)
    assert "Of your first 3 guesses 0 were ● or ◐, of your last 3 it is 3." in repr(shown)
    assert "0 of 9" in shown._repr_html_()
    assert "You guessed 1 s, measured 10.1 s: off by a factor of 10." in shown._repr_html_()


def test_an_index_without_guesses_is_as_it_was():
    assert repr(progress.Progress([Lesson("03_a", "03 · A", "?")], {})) == "03  A: no checks yet"


def test_paper_shows_the_question_and_leaves_room():
    page = displayed(guess("07.a", "How much?", unit="ms", between=(0, 30))._repr_mimebundle_())
    assert "How much?" in page
    assert "____ ms" in page
    assert "Live in the notebook" not in page
    assert "☐ ring" in displayed(guess("07.b", "Which?", of=("ring", "tree"))._repr_mimebundle_())


def test_the_names_are_public():
    assert {"guess", "see"} <= {*dlmini.__all__}
