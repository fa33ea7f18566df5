"""Lesson 11: what plans cost, runs played again, who wins where, what fits together, and the game."""

import importlib.util
import re
from itertools import product
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import pytest

from dlmini import Classify, blobs, gigabit, home_internet, mlp, wifi
from dlmini.comm.network import Link, Switch
from dlmini.lessons.composing import game, rates, winners
from dlmini.lessons.composing import plans as composing
from dlmini.lessons.composing.network_bench import network_bench, priced
from dlmini.lessons.composing.pictures import fronts, gains, meddling, what_fits, wins
from dlmini.lessons.composing.runs import all_ten, everywhere, others, repriced, trained
from dlmini.recipe import Recipe

PNG = b"\x89PNG"
HOME = Path(__file__).parents[2]
TEXT = HOME / "course" / "11_composing.md"
SHARED = {"latency": 0.0, "bandwidth": 1e6, "shared": True}
CABLES = {"latency": 3e-4, "bandwidth": 1e7, "shared": False}


def plan(whom, kept=1.0, partners=2, period=1, **more):
    return {"name": whom, "whom": whom, "partners": partners, "period": period, "kept": kept, "curve": [], **more}


@pytest.fixture(scope="module")
def task():
    data = blobs(320, seed=1)
    return Classify(mlp((8,), input=(2,), classes=3), data, data, batch=5)


@pytest.fixture(scope="module")
def runs(task):
    return {**all_ten(task, 32), **others(task, 32, (11, 13))}


@pytest.mark.parametrize(("whom", "kept"), list(product(["ring", "gossip", "star"], [1.0, 0.05])))
def test_one_exchange_takes_what_the_table_says(whom, kept):
    size = 4800  # equal chunks for 8 workers
    for network in (SHARED, CABLES):
        formula = composing.run_seconds(plan(whom, kept), network, 8, size, 0.0, 1)
        assert composing.played(plan(whom, kept), network, 8, size).seconds == pytest.approx(formula, rel=1e-9)
    sent = composing.played(plan(whom, kept), CABLES, 8, size).books.total().nbytes
    assert composing.traffic(plan(whom, kept), 8, size).total == sent


@pytest.mark.parametrize("whom", ["ring", "gossip"])
def test_on_cables_ring_and_gossip_keep_step_so_rounds_add_up(whom):
    given = plan(whom, period=3), CABLES, 6, 600
    assert composing.played(*given, 0.01, 5).seconds == pytest.approx(composing.run_seconds(*given, 0.01, 15), rel=1e-9)


@pytest.mark.parametrize(("whom", "network"), [("star", CABLES), ("gossip", SHARED)])
def test_where_workers_spread_out_the_sum_is_an_upper_bound(whom, network):
    given = plan(whom), network, 8, 4800
    assert composing.played(*given, 0.05, 20).seconds < composing.run_seconds(*given, 0.05, 20)


def test_the_librarys_functions_are_those_of_the_solution():
    spec = importlib.util.spec_from_file_location("solution_11", HOME / "solutions" / "11_composing.py")
    solution = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(solution)
    curve = [(16, 0.4), (32, 0.6)]
    plans = [
        plan(w, k, period=p, name=f"{w}{k}{p}", curve=curve) for w, k, p in product(["ring", "star"], [1, 0.1], [1, 4])
    ]
    for deadline, megabytes in product([1e-9, 0.3, 0.5, 1e9], [1e-9, 0.3, 1e9]):
        given = plans, CABLES, 4, 1000, 0.01, deadline, megabytes
        assert composing.choose_plan(*given) == solution.choose_plan(*given)


# ---- played again ----


@pytest.mark.parametrize("number", [1, 2, 3, 6, 10, 11, 13])
def test_a_run_played_again_takes_the_same_seconds_to_the_bit(task, runs, number):
    run = runs[number]
    for network in (wifi, home_internet):
        again = trained(task, run.recipe, number, network)
        row = repriced(run, network)
        assert row.seconds == again.row.seconds
        assert (row.megabytes, row.messages) == (again.row.megabytes, again.row.messages)
        assert again.row.accuracy == run.row.accuracy


def test_the_first_steps_of_a_run_cost_less(runs):
    assert repriced(runs[4], gigabit, steps=16).megabytes == pytest.approx(repriced(runs[4], gigabit).megabytes / 2)


def test_a_plan_that_cannot_be_played_again_is_refused(task):
    with pytest.raises(ValueError, match="use AllReduce or Gossip"):
        repriced(others(task, 4, [15])[15], gigabit)


# ---- who wins ----


def test_the_formula_of_the_map_is_what_the_simulator_takes(task, runs):
    """Gossip of whole vectors and rings; with long latencies, since tiny vectors of unequal chunks blur bytes."""
    link = Link(5e-3, 1e9)
    for number in (1, 2, 4, 8, 13):
        steps = runs[number].curve[-1][0]
        seconds = winners.race({number: runs[number]}, runs[number].curve[-1][1], link.latency, link.bandwidth)
        whole = steps / winners.steps_to(runs[number].curve, runs[number].curve[-1][1]) * seconds[0]
        assert repriced(runs[number], Switch(link)).seconds == pytest.approx(whole, rel=1e-3)


@pytest.mark.parametrize("number", [2, 5, 8])
def test_rotating_partners_cost_as_many_vectors_as_the_map_takes_them_for(task, runs, number):
    """Without latency only bytes count. Two rounds of period 16 are the distances 1 and 2: no single partner yet."""
    run, beta, step = runs[number], 1e-6, 1e-3
    rounds = len(run.said)
    vectors = winners.ROTATING if rounds % 8 == 0 else 2
    took = repriced(run, Switch(Link(0.0, 1 / beta)), step).seconds
    assert took == pytest.approx(32 * step + rounds * vectors * 4 * task.size * beta, rel=1e-9)


def test_who_never_reaches_the_goal_never_wins():
    assert winners.steps_to([(4, 0.2), (8, 0.5), (12, 0.4)], 0.3) == 8
    assert winners.steps_to([(4, 0.2)], 0.3) == float("inf")


def test_what_fits_is_what_recipes_accept():
    counts = winners.fitting()
    refused = sum(count for count, _ in winners.kinds_of_refusal().values())
    assert counts.sum() + refused == counts.size * len(winners.HOW_BRIEFLY)
    for when, whom in product(winners.WHEN, winners.WITH_WHOM):
        if counts[winners.WHEN.index(when), winners.WITH_WHOM.index(whom)] == len(winners.HOW_BRIEFLY):
            Recipe(when, whom, winners.HOW_BRIEFLY[-1]).check(6)


# ---- the game ----


def test_a_careful_choice_gets_more_than_a_fixed_one(runs):
    def total(choose):
        return sum(p.points for p in game.play(choose, runs))

    assert total(composing.choose_plan) == 9
    assert total(game.always(1)) < 9


def test_points_are_for_kept_budgets_and_accuracy():
    job = game.Played("", "", 1, 0.7, 0.705, 1.0, 2.0, 1.0, 2.0)
    assert [job.points, job._replace(best=0.74).points, job._replace(best=0.8).points] == [3, 2, 1]
    assert job._replace(seconds=3.0).points == job._replace(megabytes=3.0).points == 0


def test_a_choice_that_is_no_offer_is_said_to_be_none(runs):
    with pytest.raises(ValueError, match="name of a plan"):
        game.play(lambda *_: ("nobody", 3), runs)


@pytest.mark.parametrize(("folder", "whose"), [("solutions", "your choose_plan"), ("exercises", "Not done yet")])
def test_the_students_choice_takes_the_librarys_place(folder, whose, tmp_path, monkeypatch, runs):
    (tmp_path / "exercises").mkdir()
    text = (HOME / folder / "11_composing.py").read_text("utf-8")
    (tmp_path / "exercises" / "11_composing.py").write_text(text, encoding="utf-8")
    monkeypatch.setenv("DLMINI_WORK", str(tmp_path))
    choose, said = game.mine()
    assert whose in said
    assert sum(p.points for p in game.play(choose, runs)) == 9


# ---- pictures ----


def test_figures_are_drawn(runs):
    ten = {n: run for n, run in runs.items() if n <= 10}
    tables = everywhere({n: runs[n] for n in (1, 9)}, {"gigabit": gigabit, "home": home_internet})
    figures = (
        fronts(tables),
        gains(tables),
        meddling({"a": ten, "b": ten}),
        what_fits(),
        wins({"a": (runs, 0.3)}, points=20),
    )
    assert all(figure._repr_png_().startswith(PNG) for figure in figures)


def test_the_bench_follows_its_sliders_and_presets(runs):
    bench = network_bench({"a": runs})
    before = bench.picture.value
    bench.choices["network"].value = "home_internet"
    assert bench.choices["bandwidth"].value == pytest.approx(2.4)
    assert bench.picture.value not in ("", before)
    assert "image/png" in bench._repr_mimebundle_()


def test_the_bench_prices_as_the_simulator_does(runs):
    row = priced({2: runs[2]}, 5e-3, 1e9, 5e-3)[0]
    assert row.seconds == pytest.approx(repriced(runs[2], Switch(Link(5e-3, 1e9))).seconds, rel=1e-3)


def test_the_lesson_checks_every_exercise_of_its_solution():
    tasks = re.findall(r"^def (\w+)\(", (HOME / "solutions" / "11_composing.py").read_text("utf-8"), re.M)
    assert {f'check("11.{task}")' for task in tasks} <= set(TEXT.read_text("utf-8").splitlines())


def test_the_table_of_the_lesson_is_that_of_the_functions():
    """N = 16, S = 1600 bytes, Q = 164: the table's rows by hand."""
    assert np.allclose(composing.traffic(plan("ring"), 16, 400), (30, 2 * 15 / 16 * 1600, 30 * 1600))
    assert np.allclose(composing.traffic(plan("ring", 0.05), 16, 400), (15, 15 * 164, 240 * 164))
    assert np.allclose(composing.traffic(plan("gossip", 0.05), 16, 400), (1, 2 * 164, 32 * 164))
    assert np.allclose(composing.traffic(plan("star", 0.05), 16, 400), (2, 15 * 1764, 15 * 1764))


# ---- a rate for each plan ----


def test_a_plan_chooses_its_rate_by_the_images_held_back_and_never_by_the_test_images():
    held = {0.05: (70.0, 80.0), 0.1: (79.0, 73.0)}  # means 75 and 76
    runs = [
        rates.Tried("equal", 1, rate, seed, right, 99.0 - 100 * rate)
        for rate, both in held.items()
        for seed, right in enumerate(both)
    ]
    assert rates.tuned(runs) == [rates.Tuned("equal", 1, 0.1, (94.0, 94.0), (89.0, 89.0))]


def test_kept_runs_are_every_plan_at_every_rate_with_every_seed(tmp_path):
    runs = rates.kept()
    wanted = set(product(rates.SPLITS, rates.PLANS, rates.RATES, range(rates.SEEDS)))
    assert len(runs) == len(wanted)
    assert {run[:4] for run in runs} == wanted
    rates.keep(reversed(runs), tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == rates.FILE.read_bytes()


def test_a_kept_run_trained_anew_learns_the_same():
    """Other processors round otherwise: a point, about one standard error of 2,000 images."""
    before = next(run for run in rates.kept() if run[:4] == ("skewed", 10, 0.1, 0))
    again = rates.one(rates.images(), (0, "skewed", 10, 0.1), None)
    assert again[:4] == before[:4]
    assert again[4:] == pytest.approx(before[4:], abs=1.0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_rate_that_breaks_the_descent_counts_nothing():
    assert rates.one(rates.images(), (0, "equal", 10, 1e30), None)[4:] == (0.0, 0.0)


def test_what_the_text_says_of_rates_is_what_the_kept_runs_say():
    found = {(row.data, row.number): row for row in rates.tuned(rates.kept())}
    gains = [mean(row.own) - mean(row.common) for row in found.values()]
    one, two, five, eight, nine = (found["skewed", n] for n in (1, 2, 5, 8, 9))
    behind, before = (
        [a - b for a, b in zip(getattr(one, rate), getattr(nine, rate), strict=True)] for rate in ("own", "common")
    )
    at = {(run.data, run.number, run.rate, run.seed): run.test for run in rates.kept()}
    equal, skewed = (
        mean(at[data, 2, 0.05, seed] - at[data, 2, 0.2, seed] for seed in range(rates.SEEDS)) for data in rates.SPLITS
    )
    text = TEXT.read_text("utf-8")
    for sentence in (
        f"At 0.05 configuration 9 is {mean(before):.1f} points behind configuration 1",
        f"An own rate gives {min(gains):.0f} to {max(gains):.1f} points",
        f"9 is {mean(behind):.1f} points behind 1 (± {stdev(behind):.1f})",
        f"at the common rate {mean(before):.1f} (± {stdev(before):.1f})",
        f"at 0.2 has {equal:.1f} points less with equal data, {skewed:.1f} with skewed data",
        f"since it is {len(rates.kept())} runs",
    ):
        assert sentence in text
    assert {row.rate for row in found.values()} <= set(rates.RATES[1:-1])
    assert (one.rate, two.rate, five.rate, eight.rate) == (0.2, 0.05, 0.1, 0.1)
    assert [round(mean(row.own) - mean(two.own)) for row in (five, eight)] == [4, 4]
    assert [sum(a > b for a, b in zip(row.own, two.own, strict=True)) for row in (five, eight)] == [2, 2]
