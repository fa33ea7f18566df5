"""Six classroom computers in three worlds: what is reckoned, what virtual time says, what is learned and written."""

import os
from dataclasses import replace

import numpy as np
import pytest

from dlmini import SGD, Adam, Int8, LowRank, Segment, Simulated, TopK, aerial, launch, unet
from dlmini.compression import Half, None_, PerLayer
from dlmini.studies.classroom import (
    learning,
    many_runs,
    packets_kept,
    pictures,
    real,
    reckoned,
    report,
    study,
    timing,
    unsaid,
)
from dlmini.studies.classroom.published import COMPUTE, DEFLATE, PARAMETERS, PCS, SYNCS, TABLE
from dlmini.studies.hosts import unavailable
from dlmini.topology import Star

TINY = learning.Form(16, 2, 2, 12, 4, 1, 1, (0, 1), (1, 6), Adam(0.01))


# ---- reckoned ----


def test_two_rows_give_the_room_and_the_others_are_predicted_within_a_quarter():
    rows = reckoned.rows()
    for row, column in zip(rows[:2], TABLE, strict=False):
        assert row.synchronisation == pytest.approx(column.synchronisation, rel=1e-12)
    for row, column in zip(rows[2:4], TABLE[2:], strict=True):
        assert abs(row.synchronisation / column.synchronisation - 1) < 0.25
        assert row.off == row.synchronisation / row.published - 1


def test_a_ring_without_any_loss_would_have_cost_what_their_int8_star_did():
    (ring,) = [row for row in reckoned.rows() if row.name == "ring, float32"]
    assert 20 <= ring.synchronisation <= 24
    assert "| ring, float32 | 14.56 |" in reckoned.table(reckoned.rows())


def test_packets_are_as_long_as_the_library_makes_them():
    u = np.linspace(-1, 1, PARAMETERS, dtype=np.float32)
    for codec, nbytes in ((None_(), reckoned.WHOLE), (Half(), reckoned.HALF), (Int8(), reckoned.INT8)):
        assert codec.encode(u).nbytes == nbytes
    assert TopK(0.01).encode(u).nbytes == reckoned.TOP_K
    assert reckoned.INT8 == 2_184_010


def test_the_bytes_of_power_sgd_are_those_that_it_sends():
    net = unet(input=(32, 32, 3))
    shapes = tuple(shape for part in net.parts for shape in part)
    layout = LowRank(2).layout(net.size, shapes)
    small = sum(high - low for low, high, _, _ in layout)
    first, second = reckoned.low_rank_bytes(2)
    assert first == 4 * (net.size - small + sum(2 * n for _, _, n, _ in layout))
    assert second == 4 * sum(2 * m for *_, m in layout)


# ---- virtual time ----


@pytest.fixture
def small_unet(monkeypatch):
    task = Segment(unet(2, 2, input=(16, 16, 3)), aerial(6, 16), aerial(1, 16, seed=1), batch=1)
    monkeypatch.setattr(timing, "whole_unet", lambda: task)
    return task


@pytest.mark.parametrize("name", ["float32", "float16", "int8", "top-k 1 %"])
def test_virtual_time_is_what_the_formula_says(small_unet, name):
    """fixed + 2 (N - 1) packets through one port; the first packet tells how long all are."""
    room, found = reckoned.calibrated(), timing.timed(name)
    assert found.synchronisation == pytest.approx(room.synchronisation(reckoned.star(found.packet)), rel=1e-9)
    assert found.nbytes == timing.ROUNDS * 2 * (PCS - 1) * found.packet
    assert found.epoch == COMPUTE + found.synchronisation


def test_a_cable_that_works_on_while_its_computer_does_carries_n_packets_in_a_row(small_unet):
    """From the second round on: who is answered first says its next gradient first."""
    room, found = reckoned.calibrated(), timing.timed("float32")
    assert found.flowing == pytest.approx(room.synchronisation(PCS * found.packet), rel=1e-6)


def test_virtual_time_of_a_ring_is_what_the_formula_says(small_unet):
    room, found = reckoned.calibrated(), timing.timed("ring, float32")
    assert found.synchronisation == pytest.approx(room.synchronisation(reckoned.ring(4 * small_unet.size)), rel=2e-3)


def test_power_sgd_pays_the_fixed_part_of_two_synchronisations(small_unet):
    room, found = reckoned.calibrated(), timing.timed("ring twice, PowerSGD of rank 2")
    least = 2 * SYNCS * room.fixed
    assert least < found.synchronisation < least + 2 * SYNCS * reckoned.ring(4 * small_unet.size) / room.bandwidth


def test_deflating_is_charged_once_on_either_way(small_unet):
    room, found = reckoned.calibrated(), timing.timed("int8 + deflate")
    least = SYNCS * (room.fixed + 2 * DEFLATE)
    assert least < found.synchronisation < least + 2 * SYNCS * reckoned.star(found.packet) / room.bandwidth


def test_on_the_cable_alone_nothing_but_bytes_and_latencies_is_paid(small_unet):
    found = timing.timed("int8", cable=True)
    assert found.synchronisation == pytest.approx(SYNCS * (2 * 1e-4 + 10 * found.packet / 117e6), rel=1e-6)


# ---- learning ----


def test_a_mean_that_is_divided_again_and_again_hears_one_worker_and_a_half():
    shares = learning.Diluted().shares(6)
    assert sum(shares) ** 2 / sum(s * s for s in shares) == pytest.approx(1.4, abs=0.01)
    u = np.random.default_rng(0).standard_normal((6, 50)).astype(np.float32)
    total = u[0].astype(np.float64)
    for other in u[1:]:
        total = (total + other) / 6
    np.testing.assert_allclose(shares @ u.astype(np.float64), total, rtol=1e-12)
    np.testing.assert_array_equal(learning.Diluted().matrix(6, 0)[3], shares)
    assert learning.Diluted().shares(1) == [1.0]


def test_programs_have_the_mistakes_that_are_asked_for():
    right, star = learning.program(())
    assert (right.compression, right.memory, star) == (PerLayer(Int8()), True, Star)
    wrong, star = learning.program(learning.MISTAKES)
    assert (wrong.compression, wrong.memory, star) == (Int8(10), False, learning.Diluted)
    assert len({*learning.choices()}) == 7
    assert len({*learning.choices(all_of_them=True)}) == 16
    assert learning.choices(True)[0] == ()
    assert learning.named(("one scale", "no memory")) == "one scale + no memory"


@pytest.fixture(scope="module")
def learned():
    """Every way of a tiny form, one seed or two."""
    names = ("float32", "int8", "21 levels, feedback")
    jobs = [(learning.learn, TINY, name, learning.WAYS[name], seed) for name in names for seed in TINY.seeds]
    return many_runs.spread(jobs)


def test_six_computers_learn_and_every_packet_is_counted(learned):
    first, int8 = learned[0], learned[2]
    rounds = round(TINY.epochs * TINY.syncs)
    assert rounds == TINY.syncs == 12
    assert first.nbytes == rounds * 2 * (PCS - 1) * first.packet
    assert int8.packet == first.packet // 4 + 20
    assert [look.epochs for look in first.curve] == [0.5, 1.0]
    assert first.epochs_to(accuracy=2) == float("inf")
    assert first.epochs_to(accuracy=0.0) == 0.5


def test_seeds_are_averaged_by_way(learned):
    rows = many_runs.means(learned)
    assert [row.name for row in rows] == ["float32", "int8", "21 levels, feedback"]
    assert rows[0].accuracy == pytest.approx((learned[0].accuracy + learned[1].accuracy) / 2)
    assert rows[0].spread > 0
    assert rows[0].curve[0].loss == pytest.approx((learned[0].curve[0].loss + learned[1].curve[0].loss) / 2)


def test_ways_are_compared_seed_by_seed():
    """Seeds differ by ten points, ways by two and four: what is told is three, give or take 1.4."""
    one = learning.Learned("float32", 0, (learning.Look(1.0, 0.5, 0.8),), 1, 1)
    runs = {("float32", 0): 0.8, ("float32", 1): 0.9, ("int8", 0): 0.78, ("int8", 1): 0.86, ("int8", 2): 0.1}
    found = [
        replace(one, name=name, seed=seed, curve=(learning.Look(1.0, 0.5, accuracy),))
        for (name, seed), accuracy in runs.items()
    ]
    gap = many_runs.points(found, "int8", "float32")  # seed 2 has nobody to be compared with
    assert gap == (pytest.approx(-3.0), pytest.approx(2**0.5), 2)
    assert str(gap) == "-3.0 ± 1.4"
    assert str(many_runs.points(found[:3], "int8", "float32")) == "-2.0"


def test_one_computer_sees_as_many_pictures_as_six():
    found = learning.alone(replace(TINY, epochs=0.5), 6)
    assert found.curve[-1].epochs == 3.0
    assert found.name == "batch 6"


def test_finished_trainings_are_kept_and_not_done_again(tmp_path):
    tiny, calls = replace(TINY, epochs=0.1), []

    def work(form, seed):
        calls.append(seed)
        return learning.Learned("float32", seed, (learning.Look(0.5, 1.25, 0.75),), 10, 200)

    jobs = [(work, tiny, 0), (work, tiny, 1)]
    first = many_runs.spread(jobs, kept=tmp_path / "kept")
    assert many_runs.spread(jobs, kept=tmp_path / "kept") == first
    assert calls == [0, 1]
    many_runs.spread([(work, replace(tiny, width=3), 0)], kept=tmp_path / "kept")
    assert calls == [0, 1, 0]  # another form is another run
    for file in (tmp_path / "kept").iterdir():
        file.write_text("{}")
    with pytest.raises(ValueError, match=r"is no finished run .*delete it"):
        many_runs.spread(jobs, kept=tmp_path / "kept")


def test_what_a_packet_keeps_is_told_with_zeros_and_energy():
    task = TINY.task()
    rows = {row.name: row for row in packets_kept.kept(task, task.initial(), 0)}
    assert rows["21 levels, one scale"].zeros > rows["255 levels, one scale"].zeros
    assert rows["21 levels, one scale"].energy < rows["255 levels, one scale"].energy <= 1
    assert rows["21 levels, one scale"].ratio > rows["255 levels, one scale"].ratio > 4
    assert rows["21 levels, a scale each"].energy > rows["21 levels, one scale"].energy
    for row in rows.values():
        assert row.ratio == pytest.approx(4 * task.size / row.nbytes)


def test_what_is_unsaid_is_told_in_gradients_of_each_layer():
    grads, own = np.array([[3, 4, 9, 0, 5], [3, 4, 9, 5, 0]], "f4"), np.array([[6, 8, 7, 0, 0], [0, 5, 7, 0, 5]], "f4")
    rows = unsaid.told([(2, 1), (1,), (1, 2)], grads, own, np.array([0, 10, 7, 3, 4], "f4"))
    assert rows[0] == ("2x1", pytest.approx(1.5), pytest.approx(2.0))  # two gradients on one computer, one on the other
    assert rows[1] == ("1x2", pytest.approx(0.5), pytest.approx(2**0.5))
    assert len(rows) == 2


def test_on_one_scale_small_layers_are_late():
    one, each = (unsaid.unsaid_by_layer(TINY, codec, 12) for codec in unsaid.CODECS.values())
    assert [row.layer for row in one] == [row.layer for row in each]
    assert max(row.own for row in one) > 2 * max(row.own for row in each)
    assert "| one scale: a computer | the server | a scale each: a computer | the server |" in report.unsaid_table(
        {"one scale": one, "a scale each": each}
    )


# ---- the third world, and the report ----


def run_of(seconds, nbytes=10, weights="a"):
    way = {
        "seconds": [seconds, 9.0, seconds / 2],
        "packet": 5,
        "round": 1.0,
        "synchronisation": 0.4,
        "weights": weights,
        "handling": 0.5,
    }
    return {"ways": dict.fromkeys(real.NAMES, way), "pairs": {"0 to 1": [1, nbytes]}, "equal": True}


def test_two_worlds_are_compared_by_medians_bytes_and_weights():
    found = real.compared(run_of(1.8), run_of(1.0))
    assert found.rows[0].ratio == pytest.approx(1.8 / (1.0 + 0.5))  # the wires, and what worker 0 has to do
    assert found.rows[0].epoch == SYNCS
    assert (found.same_bytes, found.same_weights) == (True, True)
    assert not real.compared(run_of(1.1, nbytes=11), run_of(1.0)).same_bytes
    assert not real.compared(run_of(1.1, weights="b"), run_of(1.0)).same_weights


def test_the_program_of_the_third_world_runs_in_virtual_time_too(small_unet, monkeypatch):
    from dlmini.studies.classroom import exchange

    monkeypatch.setattr(exchange, "whole_unet", lambda: small_unet)
    found = exchange.results(Simulated(3), 2)
    assert found["equal"]
    assert set(found["ways"]) == set(real.NAMES)
    assert found["ways"]["int8"]["packet"] == small_unet.size + 20
    assert len(found["pairs"]) > 3


def test_who_is_not_root_is_told_so(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    assert unavailable() == "network namespaces need root"


@pytest.mark.slow
def test_real_links_carry_the_same_bytes_and_give_the_same_weights():
    """Six hosts at 1 Gbit/s. How long it takes is for `dlmini classroom --world real` to tell, on a quiet machine."""
    if why := real.obstacle():
        pytest.skip(why)
    found = real.measured(rounds=2)
    for row in found.rows:
        print(f"{row.name}: {1000 * row.exchange:.0f} ms measured, {1000 * row.predicted:.0f} ms simulated")
    assert found.same_bytes
    assert found.same_weights
    assert [row.packet for row in found.rows[:3]] == [8_735_960, 4_367_980, 2_184_010]
    assert all(row.ratio > 0.9 for row in found.rows)  # nobody is faster than the cable


def test_the_report_sets_ours_beside_what_was_published(learned, tmp_path):
    one = learning.Learned("batch 1", 0, learned[0].curve, 0, 0)
    found = report.Found(TINY, ways=learned, batches=[one, one], computers=[one, learned[0]])
    found.mistakes, found.real = [replace(learned[0], name="none"), learned[2]], real.compared(run_of(1.1), run_of(1.0))
    found.timed = found.cable = [timing.Timed("int8", 2_184_010, 1, 26.5, 20.0)]
    found.kept = packets_kept.kept(TINY.task(), TINY.task().initial(), 0)
    report.write(found, tmp_path / "out")
    text = (tmp_path / "out" / "classroom.md").read_text("utf-8")
    for words in ("| float32 | 96.996 | 68.7 | 8.33 | x1 | 96.9 | 68.7 |", "54.7 | 26.5 | 2,184,010", "to the byte"):
        assert words in text
    drawn = {file.stem for file in (tmp_path / "out").glob("*.png")}
    assert {"epochs", "figure_3_batches", "figure_4_computers", "figure_5_compression", "mistakes"} <= drawn
    with pytest.raises(FileExistsError):
        report.write(found, tmp_path / "out")


def test_a_world_that_was_not_asked_for_is_left_out():
    assert "Not run" not in report.text(report.Found(TINY))
    assert "Not run: no root." in report.text(report.Found(TINY, skipped="no root"))
    assert pictures.epoch_bars(report.Found(TINY))._repr_png_().startswith(b"\x89PNG")


def test_the_whole_study_runs_world_after_world(monkeypatch):
    said = []
    monkeypatch.setattr(real, "obstacle", lambda: "this is a test")
    monkeypatch.setattr(learning, "WAYS", {"float32": learning.WAYS["float32"]})
    monkeypatch.setattr(learning, "choices", lambda whole: [()])
    monkeypatch.setattr(timing, "recipes", lambda: {})
    found = study.study(replace(TINY, seeds=(0,), epochs=0.5), study.WORLDS, say=said.append)
    assert found.skipped == "this is a test"
    assert [one.name for one in found.batches] == ["batch 1", "batch 6"]
    assert [one.name for one in found.computers] == ["batch 6", "float32"]
    assert len(found.kept) == 8
    assert [*found.unsaid] == ["one scale", "a scale each"]
    assert any("learning" in line for line in said)


def test_a_part_of_the_second_world_can_be_had_alone(monkeypatch):
    """One computer and six: two trainings, and no other table."""
    monkeypatch.setattr(timing, "timed", lambda *_: pytest.fail("nobody asked for times"))
    found = study.study(replace(TINY, epochs=0.5), ["simulated"], say=lambda line: None, parts=["computers"])
    assert [one.name for one in found.computers] == ["batch 6", "float32"]
    assert not found.ways + found.mistakes + found.batches + found.kept + found.timed
    text = report.text(found)
    assert "| 6 | 96.996 | 6 | not reached | 9 |" in text
    assert "mistakes" not in text


def test_what_belongs_to_two_parts_is_trained_once():
    every = study.jobs(TINY)
    assert every["computers"][1] in every["ways"]
    assert every["computers"][0] in every["batches"]  # a batch of six is what six computers see in a step
    assert len(study.jobs(learning.LONG)["mistakes"]) == 16 * 3


def test_exchanges_of_the_star_are_those_of_the_protocol():
    """Nobody sends weights: what comes back is the mean."""

    def said(comm):
        from dlmini.loop import program

        task = TINY.task()
        recipe = replace(learning.recipe_of(TINY, learning.WAYS["int8"], 0), rounds=2, optimizer=SGD(0.1))
        return program(comm, task, recipe)

    books = launch(said, on=Simulated(PCS)).books.per_pair()
    size = TINY.task().size + 20
    assert books == {(r, 0): (2, 2 * size) for r in range(1, PCS)} | {(0, r): (2, 2 * size) for r in range(1, PCS)}
