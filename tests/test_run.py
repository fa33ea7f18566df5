"""`train`: a run in the background that can be watched, stopped, and kept."""

import json
import subprocess
import sys

import numpy as np
import pytest

from dlmini import SGD
from dlmini.comm.launch import launch
from dlmini.events import Measured, Round
from dlmini.loop import program
from dlmini.recipe import Recipe
from dlmini.run import train
from dlmini.sim.simulated import Simulated
from dlmini.sync import LocalSGD
from dlmini.topology import Gossip, ParameterServer


def test_a_run_gives_what_launch_gives_and_measures_on_the_way(task):
    recipe = Recipe(sync=LocalSGD(2), topology=Gossip(), optimizer=SGD(0.1), rounds=10, evaluate_every=4)
    outcome = train(task, recipe, Simulated(4)).result(240)
    np.testing.assert_array_equal(outcome.weights, launch(program, Simulated(4), (task, recipe))[0])
    assert [m.t for m in outcome.measured] == [3, 7, 9]
    assert outcome.accuracy == task.evaluate(outcome.weights)["accuracy"]
    assert outcome.messages == 4 * 2 * 5 + 4 * 1 * 5  # at distance 1 two partners, at distance 2 one
    assert outcome.nbytes == outcome.messages * 4 * task.size
    assert outcome.seconds > 0


def test_events_can_be_watched_as_they_come(task):
    events = list(train(task, Recipe(rounds=5, evaluate_every=1), Simulated(3)))
    assert sum(isinstance(e, Round) for e in events) == 15
    assert [e.t for e in events if isinstance(e, Measured)] == [0, 1, 2, 3, 4]


def test_a_run_can_be_stopped_and_keeps_what_it_has_learned(task):
    run = train(task, Recipe(rounds=10**6, evaluate_every=1), Simulated(2))
    for event in run:
        if isinstance(event, Measured) and event.t == 3:
            run.stop()
    outcome = run.result(240)
    assert outcome.stopped == "somebody stopped it"
    assert outcome.measured[-1].t >= 3
    assert outcome.accuracy == task.evaluate(outcome.weights)["accuracy"]


def test_a_run_ends_when_the_accuracy_is_reached(task):
    outcome = train(task, Recipe(optimizer=SGD(0.2), rounds=10**6, evaluate_every=5), Simulated(2), until=0.6).result(
        240
    )
    assert outcome.accuracy >= 0.6
    assert "accuracy 60.0% reached" in outcome.stopped
    assert all(m.accuracy < 0.6 for m in outcome.measured[:-1])


def test_a_run_ends_when_the_test_error_rises(task):
    recipe = Recipe(optimizer=SGD(1.5), rounds=10**6, evaluate_every=1)
    outcome = train(task, recipe, Simulated(2), patience=5).result(240)
    assert "rising" in outcome.stopped
    losses = [m.loss for m in outcome.measured]
    assert min(losses) == losses[-6]


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_what_goes_wrong_in_a_rank_reaches_the_caller(task):
    run = train(task, Recipe(optimizer=SGD(1e30), rounds=50), Simulated(2))
    with pytest.raises(FloatingPointError, match="lower the learning rate"), np.errstate(all="ignore"):
        run.result(240)


def test_pieces_that_do_not_fit_are_refused_before_anything_starts(task):
    with pytest.raises(ValueError, match="leave no worker"):
        train(task, Recipe(topology=ParameterServer(2)), Simulated(2))


def test_an_outcome_is_kept_as_plain_files(task, tmp_path):
    outcome = train(task, Recipe(rounds=3), Simulated(2)).result(240)
    folder = outcome.save(tmp_path / "run")
    rows = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    assert {row["event"] for row in rows} == {"Round", "Measured", "Done"}
    assert json.loads((folder / "summary.json").read_text())["accuracy"] == outcome.accuracy
    np.testing.assert_array_equal(np.load(folder / "weights.npy"), outcome.weights)
    with pytest.raises(FileExistsError):
        outcome.save(folder)


ENDLESS = """
from dlmini import *
sets = blobs(96, seed=1), blobs(48, seed=2)
run = train(Classify(Model([Dense(3)], sets[0].shape), *sets, batch=8), Recipe(rounds=10**7), {on})
next(iter(run))
{last}
"""


@pytest.mark.parametrize("on", ["Simulated(3)", "Processes(2)"])
@pytest.mark.parametrize(("last", "code"), [("raise SystemExit(3)", 3), ("1 / 0", 1), ("del run", 0)])
def test_python_ends_well_while_a_run_goes_on(on, last, code):
    done = subprocess.run(
        [sys.executable, "-c", ENDLESS.format(on=on, last=last)], capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert "terminate" not in done.stderr
