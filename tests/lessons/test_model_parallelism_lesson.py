"""Lesson 12: what it counts, plays and draws; and that its judge's truth is the library's."""

import pytest
from small_tasks import small_task

from dlmini import Grid, Recipe, Simulated, Split, one_f_one_b, train
from dlmini.lessons.model_parallelism import splits
from dlmini.lessons.model_parallelism.desk import SCHEDULES, desk, drawn, planned
from dlmini.lessons.model_parallelism.grading import greedy
from dlmini.lessons.model_parallelism.pictures import grid_bars, memory_bars
from dlmini.parallel import price


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6, 8])
def test_greedy_ranks_that_keep_little_do_one_forward_and_one_backward(ranks):
    for micros in (1, 2, 3, 5, 8, 12):
        rows = greedy(ranks, micros)
        assert rows == [splits.library_order(rank, ranks, micros) for rank in range(ranks)]


def test_pairs_send_three_sums_where_everyone_hears_every_output():
    task = small_task("mlp")
    for ranks in (2, 3):
        assert splits.sent(task, "pairs", ranks).messages == 1 * 2 * ranks * (ranks - 1)  # a pair, and a layer alone
        assert splits.sent(task, "every output", ranks).messages == (3 + 2 * 2) * ranks * (ranks - 1)


def test_an_order_of_one_s_own_trains_a_network_to_the_bit():
    task, recipe = small_task("mlp"), Recipe(rounds=5)
    yours = Split(task, Grid(pipe=2), splits.Ordered(splits.library_order), 4)
    found, right = (
        train(s, recipe, Simulated(2)).result().weights for s in (yours, Split(task, Grid(pipe=2), one_f_one_b, 4))
    )
    assert (found == right).all()
    with pytest.raises(ValueError, match="yours: rank 0 never does backward of micro-batch 0"):
        splits.timetable(lambda rank, ranks, micros: [("forward", i) for i in range(micros)], 2, 2)


def test_the_table_says_that_model_parallelism_stores_the_data_everywhere():
    rows = {row.name: row for row in splits.table(small_task("mlp"), 2)}
    assert rows["layers (stages)"].data == rows["neurons of each layer"].data == 2 * rows["data"].data
    assert rows["numbers (ZeRO 3)"].data == rows["data"].data
    assert rows["numbers (ZeRO 3)"].megabytes == pytest.approx(1.5 * rows["data"].megabytes)
    assert rows["numbers (ZeRO 3)"].held < rows["data"].held


def test_jobs_of_the_last_step_are_measured():
    jobs = splits.measured(small_task("mlp"), one_f_one_b, 4)
    assert len(jobs) == 2 * 2 * 4
    assert {job.rank for job in jobs} == {0, 1}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_desk_draws_every_schedule_by_its_law(schedule):
    stages, micros, chunks = 4, 8, 2
    v = chunks if schedule == "interleaved" else 1
    found = price(planned(schedule, stages, micros, chunks), 1 / v, 1 / v, 1 / v)
    law = {"zero_bubble": 1 - 3 * 8 / (3 * 8 + 3 * 1)}.get(schedule, 3 / (v * 8 + 3))
    assert found.idle_share == pytest.approx(law)
    title = drawn(schedule, stages, micros, chunks, 2.0).axes[0].get_title("left")
    assert title.endswith(f"idle {law:.1%}")


def test_the_desk_moves_with_its_sliders_and_leaves_a_picture():
    made = desk(schedule="gpipe", stages=2, micros=2)
    before = made.picture.value
    made.choices["micros"].value = 6
    assert made.picture.value != before
    assert made._repr_mimebundle_()["image/png"]
    made.choices["schedule"].value = "interleaved"
    made.choices["micros"].value = 5  # rounded up to a multiple of the stages
    assert "6 micro-batches" in made.figure.axes[0].get_title("left")


def test_pictures_name_what_they_show():
    from dlmini import meter

    task = small_task("mlp")
    figure = grid_bars(task.model, 32, 8, splits.GIGABIT, 1e9)
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["1 x 8", "2 x 4", "4 x 2", "8 x 1"]
    bars = memory_bars({"plain": meter(task, splits.ADAM, 2)[0]})
    total = sum(patch.get_width() for patch in bars.axes[0].patches)
    assert total == pytest.approx(meter(task, splits.ADAM, 2)[0].total / 1e6)
