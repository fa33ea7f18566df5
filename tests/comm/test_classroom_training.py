"""Training in a room: events, snapshots, stops and checkpoints as on every other transport."""

import numpy as np
import pytest
from classrooms import another, classroom

from dlmini import Gossip, LocalSGD, Recipe, Simulated, TopK, train
from dlmini.events import Gathering, Measured, Round


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    with classroom(3, tmp_path_factory.mktemp("room")) as (found, _):
        yield found


def test_a_training_gives_the_weights_bytes_and_looks_of_virtual_time(room, task):
    recipe = Recipe(LocalSGD(2), Gossip(), TopK(0.2), rounds=12, evaluate_every=4)
    ours, theirs = (train(task, recipe, on).result(120) for on in (room, Simulated(3)))
    np.testing.assert_array_equal(ours.weights, theirs.weights)
    assert (ours.nbytes, ours.messages) == (theirs.nbytes, theirs.messages)
    looks = [[(e.t, e.loss, e.accuracy) for e in o.events if isinstance(e, Measured)] for o in (ours, theirs)]
    assert looks[0] == looks[1]
    assert sum(isinstance(event, Round) for event in ours.events) == 36


def test_a_training_can_be_stopped_and_the_next_one_runs(room, task):
    run = train(task, Recipe(rounds=100_000, evaluate_every=5), room)
    next(event for event in run if isinstance(event, Measured))
    run.stop()
    assert run.result(60).stopped
    assert train(task, Recipe(rounds=5), room).result(60).accuracy > 0


def test_a_checkpoint_of_a_room_is_resumed_to_the_bit_elsewhere(room, task, tmp_path):
    recipe = Recipe(rounds=10, checkpoint_every=5)
    whole = train(task, recipe, room, folder=tmp_path / "kept").result(60)
    first = sorted((tmp_path / "kept").glob("*.npz"))[0]
    again = train(task, recipe, Simulated(3), resume=first).result(60)
    np.testing.assert_array_equal(whole.weights, again.weights)


def test_a_run_that_waits_for_pcs_says_so_and_can_be_stopped(room, task):
    run = train(task, Recipe(rounds=5), another(room, 4))
    waiting = next(event for event in run if isinstance(event, Gathering))
    assert waiting.text.startswith("waiting for 1 of 4 PCs; here: pc-")
    run.stop()
    assert run.result(30).stopped
