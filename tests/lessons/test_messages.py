"""Lesson 00: what its experiments compute is what its text says, by hand or by formula."""

import re
from pathlib import Path

import numpy as np
import pytest

from dlmini import Cluster, Processes, Simulated, gigabit, home_internet, launch, wifi
from dlmini.comm import Link, Switch
from dlmini.lessons.data_parallelism.classroom import MIB, TABLE
from dlmini.lessons.meet_the_lab.messages import (
    Line,
    Point,
    everybody_to_zero,
    fastest,
    fit,
    message_times,
    one_is_late,
    ping_pong,
    stream,
    stuck,
)
from dlmini.lessons.meet_the_lab.pictures import Bench, cost_lines, published, shards
from dlmini.lessons.meet_the_lab.shards import RULES, mean_of, shard
from dlmini.lessons.student_code import own

PNG = b"\x89PNG"
TEXT = Path(__file__).parents[2] / "course" / "00_meet_the_lab.md"


@pytest.mark.parametrize(("network", "alpha", "bandwidth"), [(gigabit, 1e-4, 117e6), (wifi, 2e-3, 30e6)])
def test_the_fit_finds_the_two_numbers_of_the_network(network, alpha, bandwidth):
    line = fit(message_times(Simulated(2, network), [1, 1000, 100_000, 10_000_000]))
    assert (line.alpha, 1 / line.beta) == pytest.approx((alpha, bandwidth), rel=1e-9)
    assert line.half == pytest.approx(alpha * bandwidth, rel=1e-9)


def test_uploads_set_the_price_on_a_home_line():
    assert message_times(Simulated(2, home_internet), [2_400_000])[0].seconds == pytest.approx(1.015, rel=1e-12)


def test_both_fits_agree_without_noise_and_only_the_relative_one_keeps_a_small_latency_with_it():
    sizes = np.array([1, 1, 10_000_000, 10_000_000])
    exact = [Point(n, 1e-6 + 1e-9 * n) for n in sizes]
    assert fit(exact) == pytest.approx(fit(exact, relative=True), rel=1e-6)
    noisy = [Point(n, t * (1 + e)) for (n, t), e in zip(exact, (0, 0, 0.02, -0.02), strict=True)]
    three = [noisy[0], Point(5_000_000, 5.2e-3), *noisy[2:]]
    assert abs(fit(three, relative=True).alpha - 1e-6) < 1e-7 < abs(fit(three).alpha - 1e-6)


def test_the_fastest_of_each_size_is_kept():
    assert fastest([Point(1, 3.0), Point(8, 2.0), Point(1, 2.5)]) == [Point(1, 2.5), Point(8, 2.0)]


def test_messages_overlap_unless_each_is_answered():
    one, many, answered = (
        launch(stream, on=Simulated(2, gigabit), args=args).seconds
        for args in ((1_000_000, 1, False), (1_000, 1_000, False), (1_000, 1_000, True))
    )
    assert (one, many) == pytest.approx((1e-4 + 1e6 / 117e6,) * 2, rel=1e-9)
    assert answered == pytest.approx(1000 * (2e-4 + 1000 / 117e6), rel=1e-9)


def test_messages_to_one_rank_queue_at_its_port():
    run = launch(everybody_to_zero, on=Simulated(5, gigabit), args=(1_000_000,))
    assert run[0] == pytest.approx(1e-4 + 4e6 / 117e6, rel=1e-12)


def test_waiting_ends_when_the_partner_sends():
    work = Cluster(Switch(Link(0.25, 1e6)), seconds={"long work": 1.0, "short work": 0.4})
    phases = launch(one_is_late, on=Simulated(2, work), args=(500_000,)).phases[1]
    assert (phases.compute, phases.waiting, phases.communication) == pytest.approx((0.4, 0.6, 0.75))


def test_a_polite_ring_is_diagnosed_and_a_good_one_is_not():
    def polite(comm):
        comm.recv((comm.rank - 1) % comm.size)
        comm.send((comm.rank + 1) % comm.size, 0)

    assert {(wait.rank, wait.on) for wait in stuck(polite, Simulated(3)).waits} == {(0, (2,)), (1, (0,)), (2, (1,))}
    with pytest.raises(ValueError, match="nobody is stuck"):
        stuck(lambda comm: None, Simulated(3))


@pytest.mark.parametrize(("n", "size"), [(10, 4), (10, 7), (3, 5), (0, 3), (12, 4)])
def test_shards_are_complete_disjoint_and_even(n, size):
    owned = [range(*shard(n, size, rank)) for rank in range(size)]
    assert [row for rows in owned for row in rows] == list(range(n))
    assert max(map(len, owned)) - min(map(len, owned)) <= 1


def test_the_other_two_rules_have_the_faults_that_the_lesson_names():
    lost, lopsided, _ = RULES.values()
    assert sum(hi - lo for lo, hi in (lost(10, 4, r) for r in range(4))) == 8
    assert [hi - lo for lo, hi in (lopsided(10, 7, r) for r in range(7))] == [2, 2, 2, 2, 2, 0, 0]


@pytest.mark.parametrize("on", [Simulated(4), Processes(4)], ids=["simulated", "processes"])
def test_the_mean_by_shards_is_the_mean_on_every_rank(on):
    x = np.arange(1001.0)
    assert launch(mean_of, on=on, args=(x,)).values == [500.0] * 4


def test_the_straggler_sets_the_pace():
    x = np.zeros(40_000)
    run = launch(mean_of, on=Simulated(4, Cluster(speed={3: 0.5})), args=(x,))
    assert run.seconds == pytest.approx(2e-3 + 2 * (1e-4 + 8 / 117e6), abs=1e-6)
    assert run.phases[1].waiting > 1e-3 > run.phases[3].waiting


def test_ones_own_piece_is_used_as_soon_as_it_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("DLMINI_WORK", str(tmp_path))
    file = tmp_path / "exercises" / "00_meet_the_lab.py"
    file.parent.mkdir()
    file.write_text('def ping_pong(comm, payload, rounds):\n    raise NotImplementedError("not done yet: ping_pong")\n')
    assert own("00_meet_the_lab", "ping_pong", ping_pong)[0] is ping_pong
    file.write_text("def ping_pong(comm, payload, rounds):\n    return 42.0\n")
    mine, whose = own("00_meet_the_lab", "ping_pong", ping_pong)
    assert message_times(Simulated(2), [1], program=mine) == [Point(1, 42.0)]
    assert "your ping_pong" in whose


def test_the_line_through_the_seeds_table_is_the_one_in_the_text():
    line = fit((row.mib * MIB, row.synchronisation) for row in TABLE)
    assert (line.alpha, line.beta * MIB) == pytest.approx((13.0, 6.55), abs=0.05)
    assert published(TABLE, line)._repr_png_().startswith(PNG)


def test_the_bench_draws_what_was_sent_and_forgets_it_when_cleared():
    bench = Bench()
    for size in (1e3, 1e6):
        bench.payload.value = size
        bench.virtual()
    assert [p.nbytes for p in bench.sent["virtual"]] == [1000, 1_000_000]
    assert fit(bench.sent["virtual"]).alpha == pytest.approx(1e-4, rel=1e-6)
    assert "8.65 ms" in bench.words.value
    assert bench.picture.bundle["image/png"].startswith(PNG)
    bench.network.value = "infiniband"
    assert not bench.sent["virtual"]


def test_the_bench_sends_for_real():
    bench = Bench(rounds=1)
    bench.real()
    assert len(bench.sent["real"]) == 5
    assert all(p.seconds > 0 for p in bench.sent["real"])


def test_figures_are_drawn_even_for_a_line_that_makes_no_sense():
    points = [Point(1, 1e-5), Point(1000, 2e-5)]
    assert cost_lines({"points": points}, {"odd": Line(-1e-5, 1e-9)})._repr_png_().startswith(PNG)
    assert shards(7, 3)._repr_png_().startswith(PNG)


def test_the_lesson_checks_every_exercise_of_its_solution():
    tasks = re.findall(r"^def (\w+)", (TEXT.parents[1] / "solutions" / "00_meet_the_lab.py").read_text("utf-8"), re.M)
    assert {f'check("00.{task}")' for task in tasks} <= set(TEXT.read_text("utf-8").splitlines())
