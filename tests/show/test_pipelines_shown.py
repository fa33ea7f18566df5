"""Bubble diagrams and memory over time: from a schedule, and from what a run has measured."""

import numpy as np
import pytest
from small_tasks import small_task

from dlmini import (
    SGD,
    AllReduce,
    BulkSynchronous,
    Grid,
    None_,
    Recipe,
    Simulated,
    Split,
    bubbles,
    gpipe,
    memory_over_time,
    one_f_one_b,
    pipedream,
    train,
)
from dlmini.events import Round
from dlmini.parallel import price, zero_bubble
from dlmini.show.board import Board
from dlmini.show.live_run import Plan
from dlmini.show.pipelines import idle_share, in_flight


def measured(schedule=one_f_one_b, rounds=1):
    split = Split(small_task("mlp"), Grid(pipe=2), schedule, None if schedule is pipedream else 4)
    return train(split, Recipe(rounds=rounds), Simulated(2, spans=True)).result().events


def test_a_schedule_and_a_run_stand_one_above_the_other():
    planned = price(gpipe.plan(2, 4))
    figure = bubbles({"planned": planned, "measured": measured()})
    titles = [ax.get_title("left") for ax in figure.axes]
    assert titles[0] == f"planned: idle {planned.idle_share:.1%}"
    assert titles[1].startswith("measured: idle ")
    boxes = [sum(len(c.get_paths()) for c in ax.collections) for ax in figure.axes]
    assert boxes == [2 + 2 * 16, 2 + 2 * 16]  # a hatched row for each rank; each job twice, on white
    assert [c.get_hatch() for c in figure.axes[0].collections][:2] == ["////", "////"]


@pytest.mark.parametrize("schedule", [gpipe, one_f_one_b, zero_bubble], ids=repr)
def test_memory_follows_what_is_in_flight(schedule):
    timetable = schedule.plan(4, 8)
    priced = price(timetable)
    assert idle_share(priced.slots) == pytest.approx(priced.idle_share)
    for rank, (times, counts) in in_flight(priced.slots).items():
        assert max(counts) == timetable.in_flight(rank)
        assert times == sorted(times)
        assert counts[-1] == 0
    figure = memory_over_time({"plan": priced}, kept=[4e6, 3e6, 2e6, 1e6], fixed=1e6)
    line = figure.axes[0].lines[0]
    assert max(line.get_ydata()) == pytest.approx(1 + 4 * timetable.in_flight(0))
    assert figure.axes[0].get_ylabel() == "MB"


def test_what_has_no_jobs_is_refused_by_a_sentence():
    for wrong in ({}, {"a": []}, [1], {"a": 3}):
        with pytest.raises((TypeError, ValueError), match="runs"):
            bubbles(wrong)
    with pytest.raises(ValueError, match="kept is"):
        memory_over_time({"a": price(gpipe.plan(2, 2))}, kept=[1, 2, 3])


def test_a_pipeline_that_fills_tells_no_loss_and_none_is_drawn():
    events = measured(pipedream, 6)
    assert any(np.isnan(e.loss) for e in events if isinstance(e, Round))
    board = Board(2, 2, 6)
    board.take(events)
    assert board.curves["loss"]
    assert not np.isnan([row[3] for row in board.curves["loss"]]).any()


@pytest.mark.parametrize("split", [(Grid(data=2, pipe=2),), (Grid(shard=4),), (Grid(pipe=4), pipedream)], ids=str)
def test_a_dashboard_runs_a_split_task(split):
    plan = Plan(Split(small_task("mlp"), *split), SGD(0.05), steps=12, looks=3)
    pieces = {"sync": BulkSynchronous(), "topology": AllReduce(), "compression": None_()}
    run, board, doubts = plan.begun("simulated", {}, **pieces, workers=4, network=None)
    kind, said = run.verdict()
    assert (kind, doubts) == ("good", []), said
    board.take(run.events)
    assert len(board.curves["accuracy"]) == 3
    assert board.curves["loss"][-1][3] < board.curves["loss"][0][3]
    assert board.facts()["round"] == 12
