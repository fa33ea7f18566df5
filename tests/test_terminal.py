"""What a person sees: a live board where there is a terminal, plain lines where there is none."""

import io

import pytest
from rich.console import Console

from dlmini import terminal
from dlmini.events import Measured, Phases, Round, Served

EVENTS = [
    Round(0, 0.75, 500, Phases(3.0, 1.0, 0.0), 2_000_000, 4, rank=0, at=4.0),
    Served(0, 0, 1, Phases(0.0, 0.0, 4.0), 1_000_000, 2, rank=2, at=4.0),
    Measured(0, 0.5, 0.875, rank=0, at=4.0),
    Round(0, 0.7, 500, Phases(0.0, 2.0, 2.0), 500_000, 4, rank=1, at=4.5),
]


def shown(thing, **options):
    console = Console(file=io.StringIO(), width=100, **options)
    console.print(thing)
    return console.file.getvalue()


def test_the_board_shows_loss_accuracy_bytes_and_a_bar_for_each_rank():
    board = terminal.Board(10)
    for event in EVENTS:
        board.hear(event)
    lines = shown(board).splitlines()
    assert lines[0].startswith("round 1/10  loss 0.750  test accuracy 87.5%  3.5 MB sent")
    bars = [line for line in lines if line.startswith("rank")]
    assert [line.count("█") for line in bars] == [40, 40, 40]
    assert bars[0].endswith("3.00 + 0.00 + 1.00 + 0.00 = 4.00 s")  # compute, communication, waiting, other


def test_more_ranks_than_fit_are_counted():
    assert terminal.phase_lines([Phases(1.0)] * 20, [1.0] * 20)[-1] == "... and 4 ranks more"


def test_seconds_add_up_and_what_is_left_has_a_name():
    """Of rank 0: ready at 1.5 s, 4 s booked and 0.5 s unbooked between two rounds; the run itself took 7 s."""
    board = terminal.Board(10)
    board.hear(Round(0, 0.75, 500, Phases(1.0, 0.5, 0.5), 0, 4, rank=0, at=3.5))
    board.hear(Round(1, 0.70, 500, Phases(2.0, 1.0, 1.0), 0, 4, rank=0, at=6.0))
    assert board.lines()[-1].endswith("2.00 + 1.00 + 1.00 + 0.50 = 4.50 s")
    assert terminal.time_told(7.0, board) == "7.00 s = 4.50 s of training + 2.50 s to start and end the ranks"
    assert terminal.time_told(4.5, board) == "4.50 s"
    assert terminal.time_told(float("nan"), board) == "4.50 s of training"


@pytest.mark.parametrize("tty", [True, False])
def test_only_a_terminal_gets_the_board(monkeypatch, tty):
    console = Console(file=io.StringIO(), width=100, force_terminal=tty, color_system=None)
    monkeypatch.setattr(terminal, "console", console)
    terminal.watch(EVENTS, terminal.Board(10))
    text = console.file.getvalue()
    assert "round 1: test accuracy 87.5% at 4.00 s" in text
    assert ("MB sent" in text) == tty
