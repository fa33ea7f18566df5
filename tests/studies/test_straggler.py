"""One slow worker: who waits for it, and who does not."""

import pytest

from dlmini import SGD, Asynchronous, BulkSynchronous, ParameterServer, Recipe, StaleSynchronous
from dlmini.studies.straggler import picture, straggler, ways

ROUNDS, GRADIENT, SLOWER, BOUND = 20, 0.01, 5, 3


@pytest.fixture(scope="module")
def races(task):
    recipe = Recipe(topology=ParameterServer(), optimizer=SGD(0.05), rounds=ROUNDS, evaluate_every=2)
    ran = ways(recipe, BSP=BulkSynchronous(), SSP=StaleSynchronous(BOUND), free=Asynchronous())
    never = 1.1
    return {r.label: r for r in straggler(task, ran, never, workers=4, slower=SLOWER, gradient=GRADIENT)}


@pytest.mark.parametrize(
    ("way", "slow_rounds"),
    [("BSP", ROUNDS), ("SSP", ROUNDS - BOUND), ("free", ROUNDS / SLOWER)],
)
def test_an_ordinary_worker_waits_for_as_many_slow_rounds_as_its_synchronisation_demands(races, way, slow_rounds):
    assert races[way].looks[-1].at == pytest.approx(slow_rounds * SLOWER * GRADIENT, rel=0.07)


def test_the_picture_has_a_curve_for_each_and_the_target(races):
    axes = picture(list(races.values()), 0.9).axes[0]
    assert len(axes.lines) == 4
    assert axes.lines[-1].get_ydata()[0] == 0.9


def test_the_race_ends_where_the_target_is_reached(task):
    recipe = Recipe(topology=ParameterServer(), rounds=50, evaluate_every=1)
    (race,) = straggler(task, {"BSP": recipe}, 0.9, workers=2)
    assert race.looks[-1].accuracy >= 0.9
    assert race.seconds == race.looks[-1].at


def test_a_target_that_is_never_reached_takes_for_ever(races):
    assert all(race.seconds == float("inf") for race in races.values())
    assert "not reached" in picture([races["BSP"]], 0.5).axes[0].lines[0].get_label()
