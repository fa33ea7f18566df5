"""The command: a page, a table, entries that can be replayed."""

import csv
import json

import pytest
from capstone_entries import HONEST
from typer.testing import CliRunner

from dlmini.cli import app
from dlmini.grade.secret import keep
from dlmini.leaderboard import worlds
from dlmini.leaderboard.page import slug


@pytest.fixture
def short(monkeypatch):
    """Worlds of eight steps."""
    monkeypatch.setattr(worlds, "STEPS", 8)
    monkeypatch.setattr(worlds.draw, "__defaults__", (4, 8))


@pytest.mark.slow
def test_a_board_is_written_and_an_entry_replayed(short, tmp_path):
    for name in ("<b>Eve</b>", "ada"):
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
    assert {row["name"] for row in rows} >= {"plain", "composed", "ours", "ada"}
    assert len({row["score"] for row in rows if row["name"] in ("ada", "<b>Eve<_b>")}) == 1
    again = CliRunner().invoke(app, ["leaderboard", "-o", str(out), "--replay", "ada"])
    assert again.exit_code == 0, again.output
    kept = out / "entries" / "ada.json"
    told = json.loads(kept.read_text())
    told["trials"][0]["looks"][0]["accuracy"] += 1e-12
    kept.write_text(json.dumps(told))
    assert CliRunner().invoke(app, ["leaderboard", "-o", str(out), "--replay", "ada"]).exit_code != 0


def test_names_become_files_of_their_own():
    assert slug("ada") == "ada"
    assert slug("../x") != slug("--/x")
    assert "/" not in slug("a/b")
