"""The command: a page, a table, entries that can be replayed."""

import csv
import json
from functools import partial

import pytest
from capstone_entries import HONEST
from rich.text import Text
from typer.testing import CliRunner

from dlmini.cli import app
from dlmini.commands.leaderboard import plain
from dlmini.grade.reading.names import slug
from dlmini.grade.sandbox.levels import choose
from dlmini.grade.secret import keep
from dlmini.leaderboard import worlds
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
