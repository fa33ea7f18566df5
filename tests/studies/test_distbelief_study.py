"""DistBelief's figure: machines, methods, the search, races in virtual time, one network on several machines."""

from dataclasses import replace
from functools import cache
from itertools import product
from math import inf, sqrt

import numpy as np
import pytest

from dlmini import Downpour, Grid, ParameterServer, Recipe, Simulated, Split, launch
from dlmini.comm import DeadRank, RankFailed
from dlmini.loop import program
from dlmini.sandblaster import Sandblaster
from dlmini.studies.distbelief import methods, pictures, racing, report, scaling, study
from dlmini.studies.distbelief.machines import SECONDS, SPEEDS, cluster, one, speeds
from dlmini.studies.distbelief.methods import ADAGRAD, ALONE, DOWNPOUR, GRAPHICS, SANDBLASTER, SHORT
from dlmini.studies.distbelief.published import CLAIMS, DIFFERENCES, SPEECH

TINY = replace(
    SHORT, hidden=(16,), seconds=0.8, target=0.5, many=(2, 4, 8), replicas=(2, 4), sand=(4, 8), real=30.0, seeds=(0,)
)


# ---- the setting ----


def test_the_rows_to_choose_by_are_neither_learned_from_nor_the_test_rows():
    rows, held, test = SHORT.sets
    assert (len(rows), len(held), len(test)) == (4000, 1000, 1000)
    seen = [{row.tobytes() for row in part.x} for part in (rows, held)]
    assert not seen[0] & seen[1]
    assert SHORT.task(choosing=True).test is held
    assert SHORT.task().test is test


def test_machines_are_ordinary_fast_slow_and_one_in_eight_straggles():
    assert sum(SPEEDS) == pytest.approx(8.1)
    assert speeds(16)[0] == 1.0
    assert [rank for rank, speed in speeds(16).items() if speed < 0.2] == [7, 15]
    task = TINY.task()
    assert cluster(task, 4).cost("gradient", task.flops) == pytest.approx(SECONDS)


def test_servers_and_the_coordinator_are_machines_too():
    assert [m.machines(n) for m, n in ((ALONE, 1), (DOWNPOUR, 2), (ADAGRAD, 16), (SANDBLASTER, 64))] == [1, 3, 20, 73]
    assert isinstance(SANDBLASTER.recipe(10, 16, 0), Sandblaster)
    assert ADAGRAD.recipe(0.05, 4, 0).outer.rate == 0.05


def test_each_method_has_one_number_to_choose_and_five_values_to_try():
    assert {len(set(method.tried)) for method in methods.METHODS} == {5}
    assert all(tuple(sorted(method.tried)) == method.tried for method in methods.METHODS)


# ---- races ----


@cache
def raced(method, value, replicas=1, **options):
    return racing.race(TINY, method, value, replicas, **options)


def test_a_machine_ten_times_as_fast_draws_the_same_curve_ten_times_as_fast():
    task, fast, slow = TINY.task(), one(TINY.task(), 10.0), one(TINY.task())
    recipe = replace(ALONE.recipe(0.1, 1, 0), rounds=40)
    looks = [racing.timed(task, recipe, place, 10.0, None) for place in (slow, fast)]
    assert [look.accuracy for look in looks[0]] == [look.accuracy for look in looks[1]]
    ratio = looks[0][-1].seconds / looks[1][-1].seconds
    assert ratio == pytest.approx(10.0)


def test_races_end_by_the_clock_and_those_of_the_search_at_the_target():
    whole, ended = raced(DOWNPOUR, 0.1, 4), raced(DOWNPOUR, 0.1, 4, ends=True)
    assert 0.7 < whole.looks[-1].seconds <= TINY.seconds
    assert ended.looks == whole.looks[: len(ended.looks)]
    assert ended.looks[-1].seconds == ended.seconds == whole.seconds < inf
    assert whole.name == "Downpour, 4 replicas"


def test_a_rate_at_which_the_loss_is_lost_comes_last():
    broken = raced(ALONE, 1e6)
    good = raced(ALONE, 0.1)
    assert broken.seconds == inf
    choice = racing.Choice(ALONE, 1, (broken, good))
    assert choice.best is good
    far = replace(good, looks=tuple(look._replace(accuracy=0.3) for look in good.looks))
    assert racing.Choice(ALONE, 1, (broken, far)).best is far


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("method", [DOWNPOUR, ADAGRAD])
def test_a_loss_lost_by_several_is_a_race_and_a_lost_machine_is_an_error(method):
    assert raced(method, 1e30, 2).seconds == inf
    task, recipe = TINY.task(), method.recipe(0.05, 2, 0)
    broken = replace(cluster(task, 2), crash={2: 0.1})
    with pytest.raises((RankFailed, DeadRank), match="rank 2"):
        racing.timed(task, recipe, Simulated(3, broken), 1.0, None)


def test_the_search_tries_the_same_number_of_values_for_all_and_says_if_the_best_is_at_the_edge():
    found = racing.search(replace(TINY, seconds=0.6), ALONE, 1)
    assert sorted(race.value for race in found.races) == list(ALONE.tried)
    assert found.races[0].value == ALONE.tried[2]
    assert found.at_the_edge == (found.value in (ALONE.tried[0], ALONE.tried[-1]))
    slower = [race for race in found.races if race.looks and race.looks[-1].seconds > found.best.seconds]
    assert all(race.seconds > found.best.seconds for race in slower)


def test_sandblasters_path_does_not_depend_on_how_many_replicas_there_are():
    few, many = (racing.race(replace(TINY, seconds=1.5), SANDBLASTER, 10, n) for n in (8, 16))
    shared = min(len(few.looks), len(many.looks))
    assert shared >= 2
    np.testing.assert_allclose(
        [look.loss for look in few.looks[:shared]], [look.loss for look in many.looks[:shared]], rtol=1e-3
    )
    assert many.looks[shared - 1].seconds < few.looks[shared - 1].seconds


# ---- one network on several machines ----


def test_the_speech_network_has_the_paper_s_number_of_weights():
    net = scaling.FullyConnected()
    assert net.units == SPEECH
    assert round(net.weights / 1e6) == 42
    assert 1.5e9 < scaling.LocallyConnected().weights < 1.7e9


@pytest.mark.parametrize("batch", [1, 4, 16])
@pytest.mark.parametrize("machines", [1, 2, 4, 8, 32])
def test_virtual_time_of_a_fully_connected_network_is_what_the_formula_says(machines, batch):
    net, by = scaling.FullyConnected(), scaling.Machines()
    exact = scaling.reckoned(net, machines, batch, by)
    assert scaling.simulated(net, machines, batch, by) == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize("machines", [1, 9, 36, 81])
def test_virtual_time_of_a_locally_connected_network_is_what_the_formula_says(machines):
    net, by = scaling.LocallyConnected(), scaling.Machines()
    exact = scaling.reckoned(net, machines, 4, by)
    assert scaling.simulated(net, machines, 4, by) == pytest.approx(exact, rel=0.02)


def test_a_fully_connected_network_gains_and_then_loses_and_a_locally_connected_one_goes_on():
    full = study.gains_of(scaling.FullyConnected(), study.FULL)
    local = study.gains_of(scaling.LocallyConnected(), study.LOCAL)
    for kind in ("reckoned", "simulated", "jittered"):
        gains = [getattr(point, kind) for point in full]
        best = max(range(len(gains)), key=gains.__getitem__)
        assert 4 <= full[best].machines <= 16
        assert gains[-1] < gains[best] / 1.5
    for kind in ("reckoned", "simulated"):
        gains = [getattr(point, kind) for point in local]
        assert gains == sorted(gains)
    assert all(point.jittered < point.simulated for point in local)  # who varies waits


def test_neighbours_on_a_torus_hear_from_whom_they_tell():
    net = scaling.LocallyConnected()
    for machines in (1, 4, 9, 25):
        told = [net.partners(rank, machines) for rank in range(machines)]
        assert all(told[other].count(rank) == row.count(other) for rank, row in enumerate(told) for other in row)
        assert {len(row) for row in told} == {0 if machines == 1 else 4}
    assert net.numbers(81)[0] == pytest.approx(96 / sqrt(81) * 5 * 24)


# ---- the report ----


@pytest.fixture(scope="module")
def found():
    """The whole study, tiny: the search of two values."""
    said = []
    with pytest.MonkeyPatch.context() as patch:
        for method in methods.METHODS:
            patch.setitem(vars(method), "tried", method.tried[2:4])
        result = study.study(TINY, ("reckoned", "simulated"), say=said.append)
    assert any("the search: 6 times" in line for line in said)
    return result


def test_the_whole_study_runs_and_sets_ours_beside_what_was_published(found, tmp_path):
    report.write(found, tmp_path / "out")
    text = (tmp_path / "out" / "distbelief.md").read_text("utf-8")
    for words in (
        *(claim.text for claim in CLAIMS),
        *(row.about for row in DIFFERENCES),
        "an assumption",
        "42 million",
    ):
        assert words in text
    drawn = {file.stem for file in (tmp_path / "out").glob("*.png")}
    assert drawn == {"figure_1_accuracy", "figure_2_machines", "scaling"}
    assert {claim.holds for claim in CLAIMS} == set(report.BY_NAME)


def test_figure_one_has_six_curves_and_figure_two_all_machines(found):
    assert [race.name for race in found.first] == [
        "SGD, one machine",
        GRAPHICS.name,
        "Downpour, 2 replicas",
        "Downpour + Adagrad, 2 replicas",
        "Downpour + Adagrad, 4 replicas",
        "Sandblaster L-BFGS, 8 replicas",
    ]
    assert [machines for machines, _ in found.trace(SANDBLASTER)] == [6, 10]
    assert report.least([(3, 2.0), (5, 1.0)], 4) == 2.0
    assert report.least([(3, 2.0)], 2) == inf


def test_the_same_programs_run_on_processes():
    form = replace(TINY, target=0.15)
    races = [racing.race(form, m, v, 2, ends=True, real=True) for m, v in ((DOWNPOUR, 0.05), (SANDBLASTER, 10))]
    assert all(race.looks and 0 < race.looks[-1].seconds <= form.real for race in races)
    assert pictures.accuracy(races, TINY, "seconds")._repr_png_().startswith(b"\x89PNG")
    assert "processes" in report.text(report.Found(TINY, real=races))


def test_a_machine_of_a_replica_talks_only_to_the_servers_of_its_own_slice():
    """Three replicas of two machines each, by Downpour; for each slice two servers."""
    grid, recipe = Grid(data=3 + 2, pipe=2), Recipe(Downpour(), ParameterServer(2), rounds=4)
    books = launch(program, Simulated(grid.size), (Split(TINY.task(), grid), recipe)).books
    pairs = {pair for pair, traffic in books.per_pair().items() if traffic.messages}
    for a, b in pairs:
        here, there = grid.place(a), grid.place(b)
        assert here.data == there.data or here.pipe == there.pipe
    for replica, stage, server in product(range(3), range(2), (3, 4)):
        assert (grid.rank(replica, stage), grid.rank(server, stage)) in pairs
