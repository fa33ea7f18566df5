"""Every published figure has a row, no cell is empty, and a ratio is ours by theirs."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from dlmini.cli import app
from dlmini.configurations import Point
from dlmini.configurations import Row as Configuration
from dlmini.nn import mlp
from dlmini.plan import flush_sizes, sheet_of
from dlmini.studies.claims import CLAIMS, points
from dlmini.studies.classroom.published import TABLE
from dlmini.studies.published_levels.timing import teams, timed
from dlmini.studies.reproduction import distbelief, levels, levels_as_published, report, simulator
from dlmini.studies.reproduction.row import Row

QUICK = ("S1", "S2")
PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"
LINES = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
WRITTEN = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in LINES if not line.startswith("| figure")]


def commands() -> list[str]:
    """Every command that the page, and the rows which take no computing, name."""
    quick = [row for rows in report.reproduced(QUICK).values() for row in rows] + levels_as_published.cifar()
    return sorted({row[-1].strip("`") for row in WRITTEN} | {row.command for row in quick})


def parsed(command: str) -> dict:
    """What the command line understands, without doing it; whatever it does not is an error."""
    first, *words = command.split()
    assert first == "dlmini"
    found, context = typer.main.get_command(app), None
    while hasattr(found, "commands"):
        found, words = found.commands[words[0]], words[1:]
        context = typer.Context(found, parent=context)
    return found.make_context(command, words).params


@pytest.fixture(scope="module")
def found():
    return report.reproduced(QUICK)


def test_no_row_is_empty(found):
    for rows in found.values():
        for row in rows:
            assert all((row.what, row.said(row.published), row.said(row.here), row.command))
            assert row.command.startswith("dlmini ")


def test_a_ratio_is_ours_by_theirs_where_both_are_numbers():
    assert Row("x", 4.0, 2.0, "dlmini x").ratio == 0.5
    assert Row("x", "words", 2.0, "dlmini x").ratio is None
    assert Row("x", 0, 2.0, "dlmini x").ratio is None


PUBLISHED = {  # as the documents write them, to the digit
    "S1": {
        "message, int8 + deflate: less than float32": "208 x",
        "message, int8 + deflate: less than int8": "52 x",
        "epoch of 6 PCs, float32": "96.996 s",
        "epoch of 6 PCs, float16": "67.51 s",
        "epoch of 6 PCs, int8": "52.57 s",
        "epoch of 6 PCs, int8 + deflate": "43.62 s",
        "speed-up of 6 PCs, float32": "2.14 x",
        "speed-up of 6 PCs, int8 + deflate": "4.76 x",
        "epochs to 80 %, 1 and 6 PCs": "28 and 6",
        "epochs to an error of 0.5, 1 and 6 PCs": "48 and 9",
        "epochs to 80 % by mini-batches of 6 and of 24": "31 and 36",
    },
    "S2": {"weights of the largest network": "1,700,000,000", "fully connected: gain there": "2.2 x"},
    "S0": {"success, VM": "94.87 %", "weights": "258,794", "good results": "19,000", "failed results": "1,027"},
    "S4": {"cores for each device, real time": "0.2", "cores for each device, 6 times faster": "1"},
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_figure_stands_as_its_document_writes_it(name, found):
    written = {row[0]: row[1] for row in WRITTEN}
    made = {row.what: row.cells()[1] for row in found.get(name, [])}
    for what, said in PUBLISHED[name].items():
        assert written[what] == said
        assert made.get(what, said) == said


def test_the_page_has_the_rows_that_take_no_computing_as_they_are_made(found):
    text = PAGE.read_text(encoding="utf-8")
    for rows in found.values():
        assert report.table(rows) in text
    assert all(" | ".join(row.cells()) in text for row in levels_as_published.cifar())


def test_the_two_rows_that_were_fitted_fit_and_the_others_are_within_a_quarter(found):
    ratios = {row.what: row.ratio for row in found["S1"] if row.what.startswith("synchronisation, star")}
    assert len(ratios) == len(TABLE)
    assert [ratios[f"synchronisation, star, {name}"] for name in ("float32", "float16")] == pytest.approx([1, 1])
    assert all(0.75 < ratio < 1.25 for ratio in ratios.values())


def test_every_claim_of_the_ten_configurations_is_set_beside_ours():
    like = Configuration(1, 1, "AllReduce", "None_()", 0.8, 10.0, 5.0, 4.0, 1.0, 100.0, 10)
    rows = {n: replace(like, number=n, accuracy=0.8 - n / 100, communication=4.0 / n) for n in range(1, 11)}
    for claim in CLAIMS:
        made = levels.claim_row(claim, rows, "dlmini compare")
        assert made.published == claim.band
        assert made.here not in ("", "–")
    assert levels.claim_row(CLAIMS[2], rows, "dlmini compare").here == "×9"


def test_the_command_writes_a_page_and_refuses_what_it_does_not_know(tmp_path):
    done = CliRunner().invoke(app, ["reproduce", "--only", "S1", "--out", str(tmp_path / "page.md")])
    assert done.exit_code == 0, done.output
    assert "68.7 s" in (tmp_path / "page.md").read_text(encoding="utf-8")
    again = CliRunner().invoke(app, ["reproduce", "--only", "S1", "--out", str(tmp_path / "page.md")])
    assert again.exit_code != 0
    assert CliRunner().invoke(app, ["reproduce", "--only", "S7"]).exit_code != 0


def test_ctrl_c_keeps_the_documents_that_are_done(tmp_path, monkeypatch):
    def stopped(long):
        raise KeyboardInterrupt

    monkeypatch.setattr(distbelief, "rows", stopped)
    done = CliRunner().invoke(app, ["reproduce", "--only", "S1,S2,S4", "--out", str(tmp_path / "page.md")])
    assert done.exit_code == 130
    assert "--only S2,S4 makes the rest" in done.output
    assert "68.7 s" in (tmp_path / "page.md").read_text(encoding="utf-8")
    nothing = CliRunner().invoke(app, ["reproduce", "--only", "S2", "--out", str(tmp_path / "other.md")])
    assert nothing.exit_code != 0
    assert not (tmp_path / "other.md").exists()


def test_the_sizes_of_zero_2_come_out_of_the_command_that_their_row_names(tmp_path):
    words = simulator.SENT.replace("FOLDER", str(tmp_path / "plan")).split()[1:]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    written = (tmp_path / "plan" / "plan.md").read_text(encoding="utf-8")
    assert all(f"{2 * count / 1e6:.1f} MB" in written for count in flush_sizes(sheet_of(simulator.MODEL)))


def test_every_named_command_is_one():
    assert len(commands()) > 10
    for command in commands():
        assert isinstance(parsed(command), dict), command
    with pytest.raises(Exception, match="No such option"):
        parsed("dlmini compare --as-publicised")


def test_the_page_has_every_document_and_no_empty_row():
    """What, published, here and by which command are always said; a ratio only where both are numbers."""
    assert len(WRITTEN) > 60
    for row in WRITTEN:
        assert len(row) == 6, row
        assert all((row[0], row[1], row[2], row[5])), row
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"## {document.TITLE}" in text for document in report.DOCUMENTS.values())
    assert not re.search(r"[-−]0\.0\b", text)


def test_what_is_rounded_to_nothing_has_no_sign():
    assert [points(value) for value in (-0.04, 0.04, 0.06, -0.06, 0)] == ["0.0", "0.0", "+0.1", "-0.1", "0.0"]


def test_the_claims_are_set_beside_the_documents_own_algorithms_too():
    like = Configuration(1, 1, "AllReduce", "None_()", 0.8, 10.0, 5.0, 4.0, 1.0, 100.0, 10)
    rows = {n: replace(like, number=n, accuracy=0.8 - n / 100, communication=4.0 / n) for n in range(1, 11)}
    rows[3] = replace(rows[3], megabytes=10.0)
    made = levels_as_published.claimed(rows, 50)
    assert len(made) == len(CLAIMS) + 2
    assert made[-2].here == pytest.approx(95)  # a twentieth of the numbers, each of twice the bytes
    assert all(row.published and row.here for row in made)


def test_a_configuration_takes_as_long_as_its_bytes_say():
    rows = timed(mlp(), "lomonosov2", 6, only=(1, 2, 3, 9))
    assert rows[3].megabytes == pytest.approx(rows[2].megabytes / 10, rel=0.05)  # 5 % of 4 bytes, as 8 bytes each
    assert rows[9].megabytes == pytest.approx(rows[3].megabytes / 16, rel=0.01)
    assert rows[1].seconds > rows[9].seconds
    assert rows[1].compute == pytest.approx(rows[9].compute, rel=0.2)


def test_teams_of_threads_talk_less():
    by_ranks = teams(mlp(), "polus", 1)
    assert list(by_ranks) == [20, 1]
    assert by_ranks[20] > by_ranks[1] == 0


def test_another_reading_is_compared_after_the_same_number_of_epochs():
    like = Configuration(9, 16, "Gossip", "Threshold(value=1.0)", 0.8, 10.0, 5.0, 4.0, 1.0, 100.0, 10)
    usual = replace(like, curve=(Point(10.0, 1.0, 1.0, 0.6), Point(20.0, 2.0, 1.0, 0.8)))
    (row,) = levels_as_published.read_otherwise({"own=whole": [replace(like, accuracy=0.63)]}, {9: usual}, 10)
    assert row.here == "9: +3.0"
    assert row.command.endswith("--epochs 10 --reading own=whole --only 9")
    assert isinstance(parsed(row.command), dict)
