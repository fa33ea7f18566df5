"""The command: a page, a table, entries that can be replayed."""

import csv
import json
from dataclasses import replace
from functools import partial

import pytest
from capstone_entries import HONEST
from rich.text import Text
from typer.testing import CliRunner

from dlmini.cli import app
from dlmini.commands.leaderboard import plain
from dlmini.grade.protections import Protections
from dlmini.grade.reading.names import slug
from dlmini.grade.runner.process import Broken
from dlmini.grade.sandbox.levels import choose
from dlmini.grade.secret import keep
from dlmini.leaderboard import worlds
from dlmini.leaderboard.judge import Look, Trial
from dlmini.leaderboard.kept import known
from dlmini.leaderboard.page import write_board
from dlmini.leaderboard.race import Entry, race


@pytest.fixture
def short(monkeypatch):
    """Worlds of eight steps."""
    monkeypatch.setattr(worlds, "STEPS", 8)
    monkeypatch.setattr(worlds.draw, "__defaults__", (4, 8))


@pytest.mark.slow
def test_a_board_is_written_and_an_entry_replayed(short, tmp_path):
    for name in ("<b>Eve</b>", "ada", "ours"):
        (tmp_path / "class" / name.replace("/", "_")).mkdir(parents=True)
        (tmp_path / "class" / name.replace("/", "_") / "17_capstone.py").write_text(HONEST)
    out = tmp_path / "board"
    out.mkdir()
    keep(out / "secret.txt", bytes(32))
    done = CliRunner().invoke(app, ["leaderboard", str(tmp_path / "class"), "-o", str(out), "--worlds", "1"])
    assert done.exit_code == 0, done.output
    page = (out / "leaderboard.html").read_text()
    assert "<b>Eve" not in page
    assert "http" not in page.replace("http://www.w3.org", "")
    rows = list(csv.DictReader((out / "leaderboard.csv").open()))
    assert {row["name"] for row in rows} >= {"plain", "composed", "ours", "ada", "ours (handed in)"}
    assert len(list((out / "entries").glob("*.py"))) == len(rows) == 6
    assert len({row["score"] for row in rows if row["name"] in ("ada", "<b>Eve<_b>")}) == 1
    again = CliRunner().invoke(app, ["leaderboard", "-o", str(out), "--replay", "ada"])
    assert again.exit_code == 0, again.output
    kept = out / "entries" / "ada.json"
    text = kept.with_suffix(".py").read_text()
    kept.with_suffix(".py").write_text(text + "# a better thought\n")
    other = CliRunner().invoke(app, ["leaderboard", "-o", str(out), "--replay", "ada"])
    assert "not the text that was judged" in str(other.exception)
    kept.with_suffix(".py").write_text(text)
    told = json.loads(kept.read_text())
    told["trials"][0]["looks"][0]["accuracy"] += 1e-12
    kept.write_text(json.dumps(told))
    assert CliRunner().invoke(app, ["leaderboard", "-o", str(out), "--replay", "ada"]).exit_code != 0


def test_who_has_handed_in_nothing_can_be_replayed_too(short, tmp_path):
    write_board(tmp_path, race([Entry("eve", None, "a page of text")], worlds.draw(bytes(32), 1), choose("auto")))
    keep(tmp_path / "secret.txt", bytes(32))
    again = CliRunner().invoke(app, ["leaderboard", "-o", str(tmp_path), "--replay", "eve"])
    assert again.exit_code == 0, again.output


def test_a_race_that_is_ended_keeps_who_has_run(short, tmp_path):
    def entries():
        yield Entry("eve", None, "a page of text")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        race(entries(), worlds.draw(bytes(32), 1), choose("auto"), keep=partial(write_board, tmp_path))
    assert "eve" in (tmp_path / "leaderboard.csv").read_text()


def test_names_become_files_of_their_own():
    assert slug("ada") == "ada"
    assert slug("../x") != slug("--/x")
    assert slug("Ada").lower() != slug("ada")
    assert "/" not in slug("a/b")


def test_a_name_is_shown_as_it_is():
    for name in (r"\[red]eve", "[red]eve[/]", "eve"):
        assert Text.from_markup(plain(name) + " ").plain == name + " "


def judged_by(monkeypatch, answer):
    """Who asks for a trial gets `answer(name)` at once; returns the names that were asked for."""
    asked = []

    def judge(source, name, world, sandbox):
        asked.append(name)
        return replace(answer(name), world=world.kind, seed=world.seed, terms=world.terms.as_dict())

    monkeypatch.setattr("dlmini.leaderboard.race.judge", judge)
    return asked


def some(name):
    return Trial("", 0, "a recipe", (Look(1.0, 2.0, 0.5, 0.25, True),))


def falls_over(name):
    if name == "eve.py":
        raise Broken("a runner did not start")
    return some(name)


def test_a_judge_that_fails_costs_that_entry_alone_and_a_resumed_race_judges_it_again(short, tmp_path, monkeypatch):
    entries, drawn = [Entry(name, "x = 1") for name in ("ada", "eve", "zoe")], worlds.draw(bytes(32), 1)
    keep_board = partial(write_board, tmp_path)
    asked = judged_by(monkeypatch, falls_over)
    found = {r.entry.name: r for r in race(entries, drawn, None, keep=keep_board)}
    assert asked == ["ada.py", "ada.py", "eve.py", "eve.py", "zoe.py", "zoe.py"]  # twice each; eve's first never ended
    assert [found[name].score for name in ("ada", "eve", "zoe")] == [0.25, 0.1, 0.25]
    assert "--resume judges it again" in found["eve"].why
    asked = judged_by(monkeypatch, some)
    again = race(entries, drawn, None, keep=keep_board, known=partial(known, tmp_path, drawn))
    assert asked == ["eve.py", "eve.py"]
    assert {r.score for r in again} == {0.25}
    assert [r for r in again if r.entry.name != "eve"] == [r for r in found.values() if r.entry.name != "eve"]


TWO = (Look(1.0, 2.0, 0.5, 0.25, True), Look(2.0, 4.0, 1.0, 0.5, True))
SECOND = {  # what the second judging comes to -> the score
    "the same": (Trial("", 0, "a recipe", TWO), 0.5),
    "ended earlier": (Trial("", 0, "a recipe", TWO[:1], "it ended early"), 0.25),
    "ended at once": (Trial("", 0, why="it ended early"), 0.1),
    "another recipe": (Trial("", 0, "another", TWO), 0.1),
    "another look": (Trial("", 0, "a recipe", (TWO[0], replace(TWO[1], accuracy=0.6))), 0.1),
    "another look, and ended earlier": (Trial("", 0, "a recipe", (replace(TWO[0], accuracy=0.6),)), 0.1),
}


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("second", SECOND)
def test_of_two_judgings_only_what_both_came_to_counts(second, first, short, monkeypatch):
    again, score = SECOND[second]
    answers = [Trial("", 0, "a recipe", TWO), again][:: -1 if first and again.looks else 1]
    asked = judged_by(monkeypatch, lambda name: answers[len(asked) % 2 - 1])
    (found,) = race([Entry("ada", "x = 1")], worlds.draw(bytes(32), 2), None)
    assert asked == ["ada.py"] * 4
    assert found.score == score


def test_an_entry_whose_second_judging_the_judge_does_not_end_is_judged_again(short, monkeypatch):
    def answer(name):
        if len(asked) > 1:
            raise Broken("no process left")
        return some(name)

    asked = judged_by(monkeypatch, answer)
    (found,) = race([Entry("ada", "x = 1")], worlds.draw(bytes(32), 1), None)
    assert found.trials[0].broken
    assert found.score == 0.1


def test_an_entry_that_stops_the_judge_costs_itself_alone(short, tmp_path, monkeypatch):
    def stops(name):
        return [][0] if name == "eve.py" else some(name)

    judged_by(monkeypatch, stops)
    drawn = worlds.draw(bytes(32), 1)
    found = {r.entry.name: r for r in race([Entry(name, "x = 1") for name in ("ada", "eve", "zoe")], drawn, None)}
    assert [found[name].score for name in ("ada", "eve", "zoe")] == [0.25, 0.1, 0.25]
    assert "IndexError" in found["eve"].why
    assert found["eve"].trials[0].broken


def test_strict_goes_on_only_if_nothing_is_open(tmp_path):
    words = ["leaderboard", "-o", str(tmp_path), "--sandbox", "strict"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dlmini.grade.protections.protections", lambda held: Protections([], ["network"], True))
        done = CliRunner().invoke(app, words)
    assert "the network can be reached" in str(done.exception)
    assert not list(tmp_path.iterdir())


def test_only_the_same_text_in_the_same_worlds_is_known(short, tmp_path, monkeypatch):
    judged_by(monkeypatch, some)
    drawn = worlds.draw(bytes(32), 1)
    race([Entry("ada", "x = 1")], drawn, None, keep=partial(write_board, tmp_path))
    assert known(tmp_path, drawn, Entry("ada", "x = 1")).score == 0.25
    assert known(tmp_path, drawn, Entry("ada", "x = 2")) is None
    assert known(tmp_path, drawn, Entry("eve", "x = 1")) is None
    assert known(tmp_path, worlds.draw(bytes(31) + b"x", 1), Entry("ada", "x = 1")) is None
    assert known(tmp_path, worlds.draw(bytes(32), 2), Entry("ada", "x = 1")) is None


def test_what_was_judged_with_another_numpy_is_judged_again_and_a_replay_says_why(short, tmp_path, monkeypatch):
    """Sums then differ in their last digits: places on one board would depend on where a race went on."""
    judged_by(monkeypatch, some)
    drawn = worlds.draw(bytes(32), 1)
    race([Entry("ada", "x = 1")], drawn, None, keep=partial(write_board, tmp_path))
    keep(tmp_path / "secret.txt", bytes(32))
    file = tmp_path / "entries" / "ada.json"
    told = json.loads(file.read_text())
    file.write_text(json.dumps(told | {"made_with": told["made_with"].replace("numpy ", "numpy 99.")}))
    assert known(tmp_path, drawn, Entry("ada", "x = 1")) is None
    words = ["leaderboard", "-o", str(tmp_path), "--replay", "ada"]
    assert CliRunner().invoke(app, words).exit_code == 0  # which comes to the same may be from anywhere
    judged_by(monkeypatch, lambda name: Trial("", 0, "a recipe", (Look(1.0, 2.0, 0.5, 0.26, True),)))
    assert "numpy 99." in str(CliRunner().invoke(app, words).exception)
    assert "replay it where it was judged" in str(CliRunner().invoke(app, words).exception)
    file.write_text(json.dumps(told))
    assert "it is not repeatable" in str(CliRunner().invoke(app, words).exception)


def test_a_board_of_an_earlier_version_can_be_replayed(short, tmp_path, monkeypatch):
    judged_by(monkeypatch, some)
    entries = [Entry("ada", "x = 1"), Entry("eve", None, "a page of text")]
    race(entries, worlds.draw(bytes(32), 1), None, keep=partial(write_board, tmp_path))
    keep(tmp_path / "secret.txt", bytes(32))
    for name in ("ada", "eve"):
        file = tmp_path / "entries" / f"{name}.json"
        told = json.loads(file.read_text())
        del told["text"], told["made_with"]
        for trial in told["trials"]:
            del trial["broken"]
        file.write_text(json.dumps(told))
        done = CliRunner().invoke(app, ["leaderboard", "-o", str(tmp_path), "--replay", name])
        assert done.exit_code == 0, f"{done.output} {done.exception!r}"
    for damaged in ("[1, 2]", json.dumps(told | {"trials": [{}]}), json.dumps(told | {"trials": [3]}), "", '{"trials'):
        file.write_text(damaged)
        wrong = CliRunner().invoke(app, ["leaderboard", "-o", str(tmp_path), "--replay", name])
        assert "no entry of a board" in str(wrong.exception), damaged
        with pytest.raises(ValueError, match="no entry of a board"):
            known(tmp_path, worlds.draw(bytes(32), 1), Entry(name, None, "a page of text"))


def test_what_has_no_meaning_together_is_refused(tmp_path):
    nowhere = CliRunner().invoke(app, ["leaderboard", "-o", str(tmp_path / "none"), "--resume"])
    assert "there is none" in str(nowhere.exception)
    both = CliRunner().invoke(app, ["leaderboard", "-o", str(tmp_path), "--replay", "ada", "--resume"])
    assert "leave submissions and --resume out" in str(both.exception)
