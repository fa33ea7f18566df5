"""A board thins what runs say to what a picture needs, and loses nothing that counts."""

import numpy as np
import pytest

from dlmini.events import Fault, Measured, Phases, Round, Served, Spread
from dlmini.show.board import POINTS, WINDOW, Board


def said(t, rank, loss=1.0, at=0.0, compute=0.0, waiting=0.0, communication=0.0, sent=0, messages=0):
    return Round(t, loss, 0, Phases(compute, waiting, communication), sent, messages, rank=rank, at=at)


def rounds(count, workers, loss=lambda t, rank: 1.0):
    return [said(t, rank, loss(t, rank), at=float(t + 1)) for t in range(count) for rank in range(workers)]


def test_a_short_run_has_a_point_per_round_which_is_the_mean_of_its_workers():
    board = Board(ranks=2, workers=2, rounds=5)
    board.take(rounds(5, 2, lambda t, rank: t + rank))
    assert [row[0] for row in board.curves["loss"]] == [1, 2, 3, 4, 5]
    assert [row[3] for row in board.curves["loss"]] == [t + 0.5 for t in range(5)]


def test_a_long_run_is_thinned_while_it_goes_on():
    board, told = Board(ranks=3, workers=3, rounds=10_000), 0
    events = rounds(10_000, 3)
    for i in range(0, len(events), 90):
        board.take(events[i : i + 90])
        told += len(board.news().get("loss", ()))
        assert len(board.curves["loss"]) <= 2 * POINTS + 30
        assert i >= 3 * 2 * POINTS - 90 or board.every == 1, "at first there is a point for every round"
    assert len(board.curves["loss"]) >= POINTS
    assert told < 8 * POINTS


def test_thinning_keeps_means():
    board, coin = Board(ranks=2, workers=2, rounds=2 * POINTS), np.random.default_rng(0)
    events = rounds(2 * POINTS, 2, lambda t, rank: coin.random())
    board.take(events)
    assert len(board.news()["loss"]) == 2 * POINTS
    assert len(board.everything()["loss"]) == POINTS
    assert np.mean(board.everything()["loss"][:, 3]) == pytest.approx(np.mean([e.loss for e in events]), rel=1e-5)


def test_curves_never_turn_back_even_if_ranks_tell_theirs_in_parcels():
    board = Board(ranks=2, workers=2, rounds=50)
    fast, slow = ([said(t, rank, at=(1 + 3 * rank) * (t + 1.0)) for t in range(50)] for rank in range(2))
    board.take([*slow[:5], *fast[:20]])
    board.take([*fast[20:], *slow[5:12]])
    x = np.array(board.curves["loss"])[:, :2]
    assert (np.diff(x, axis=0) >= 0).all()
    assert x[:, 0].max() <= 50


def test_only_new_points_are_told_and_everything_is_told_to_who_asks():
    board = Board(ranks=1, workers=1, rounds=10)
    board.take(rounds(4, 1))
    assert len(board.news()["loss"]) == 4
    assert board.news() == {}
    board.take([*rounds(6, 1)[4:], Measured(5, 0.5, 0.75, rank=0, at=6.0), Spread(5, 0.25, at=6.0)])
    news = board.news()
    assert {name: len(rows) for name, rows in news.items()} == {"loss": 2, "accuracy": 1, "spread": 1}
    assert news["accuracy"].dtype == np.float32
    assert news["accuracy"][0].tolist() == [6, 5, 0, 0.75]  # time begins with the first round, at 1 s
    assert len(board.everything()["loss"]) == 6


def test_bytes_and_messages_are_sums_of_what_the_ranks_last_said():
    board = Board(ranks=3, workers=2, rounds=5)
    board.take([said(0, 0, sent=100, messages=1), said(0, 1, sent=50, messages=2), said(1, 0, sent=200, messages=2)])
    board.take([Served(0, 0, 1, Phases(), 1000, 7, rank=2)])
    facts = board.facts()
    assert (facts["nbytes"], facts["messages"]) == (1250, 11)
    assert (facts["round"], facts["slowest"]) == (2, 1)


def test_bars_show_the_last_looks_while_it_runs_and_all_of_it_at_the_end():
    board = Board(ranks=1, workers=1, rounds=100)
    for t in range(50):
        board.take([said(t, 0, compute=1.0 * t, waiting=10.0 if t >= 40 else 0.0)])
    assert board.shares()[0].tolist() == [WINDOW - 1, 10, 0, 0]
    assert board.shares(whole=True)[0].tolist() == [49, 10, 0, 0]
    before = board.shares().tolist()
    for _ in range(2 * WINDOW):
        board.take([])
    assert board.shares().tolist() == before, "a run that stands still keeps its bars"


def test_seconds_of_a_bar_add_up_to_what_passed_and_a_pause_is_nobody_s():
    board = Board(ranks=2, workers=2, rounds=10)
    board.take([said(0, rank, at=5.0 + rank, compute=0.5, waiting=0.25) for rank in range(2)])
    board.take([said(1, 0, at=8.0, compute=1.5, waiting=0.5, communication=0.5)])
    assert board.shares(whole=True)[0].tolist() == [1.5, 0.5, 0.5, 1.25]
    assert board.shares(whole=True).sum(1).tolist() == [8.0 - 4.25, 0.75]
    board.skip(10.0)
    board.take([said(2, 0, at=19.0, compute=2.0, waiting=0.5, communication=0.5)])
    assert board.shares(whole=True)[0].tolist() == [2.0, 0.5, 0.5, 1.75]
    assert board.shares(whole=True).sum(1).tolist() == [19.0 - 10.0 - 4.25, 0.75]


def test_staleness_is_counted_and_faults_are_kept():
    board = Board(ranks=3, workers=2, rounds=5)
    board.take([Served(0, 0, s, rank=2) for s in (0, 3, 3, 1)] + [Fault("crashed", "rank 1 died", rank=1)])
    assert board.facts()["staleness"] == [(0, 1), (1, 1), (3, 2)]
    assert [fault.text for fault in board.faults] == ["rank 1 died"]


def test_time_begins_with_the_first_round_and_pauses_take_none():
    board = Board(ranks=1, workers=1, rounds=9)
    board.take([said(0, 0, at=7.5, compute=0.25, waiting=0.25)])
    assert board.curves["loss"][0][1] == pytest.approx(0.5)
    board.skip(100.0)
    board.take([said(1, 0, at=108.5, compute=0.5)])
    assert board.curves["loss"][1][1] == pytest.approx(1.5)


def test_facts_can_travel_to_a_browser():
    import json

    board = Board(ranks=2, workers=1, rounds=2)
    board.take([*rounds(2, 1), Served(0, 0, 0, rank=1), Measured(1, 1.0, 0.5)])
    assert json.loads(json.dumps(board.facts()))["accuracy"] == 0.5
