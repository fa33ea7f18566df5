"""Every published figure has a row, no cell is empty, and a ratio is ours by theirs."""

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from dlmini.cli import app
from dlmini.configurations import Row as Configuration
from dlmini.plan import flush_sizes, sheet_of
from dlmini.studies.claims import CLAIMS
from dlmini.studies.classroom.published import TABLE
from dlmini.studies.reproduction import levels, report, simulator
from dlmini.studies.reproduction.row import Row

QUICK = ("S1", "S2")


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


def test_the_sizes_of_zero_2_come_out_of_the_command_that_their_row_names(tmp_path):
    words = simulator.SENT.replace("FOLDER", str(tmp_path / "plan")).split()[1:]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    written = (tmp_path / "plan" / "plan.md").read_text(encoding="utf-8")
    assert all(f"{2 * count / 1e6:.1f} MB" in written for count in flush_sizes(sheet_of(simulator.MODEL)))
