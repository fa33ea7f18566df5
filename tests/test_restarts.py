"""A rank is lost that the others need: all begin again from the last checkpoint, and the run says so."""

import os
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from examples import LONG

from dlmini import (
    SGD,
    Classify,
    Cluster,
    Dense,
    Downpour,
    Model,
    ParameterServer,
    Processes,
    Recipe,
    Sandblaster,
    Simulated,
    Tanh,
    blobs,
    train,
)
from dlmini.comm import Deadlock, RankFailed
from dlmini.comm.control import Control
from dlmini.events import Fault, Measured, Round
from dlmini.sim.cluster import Cluster as Machines

SAND = Sandblaster(portions=12, shards=2, rounds=16, evaluate_every=4, checkpoint_every=3)
POUR = Recipe(Downpour(), ParameterServer(2), optimizer=SGD(0.02), rounds=80, evaluate_every=10, checkpoint_every=20)
BSP = Recipe(optimizer=SGD(0.05), rounds=40, checkpoint_every=8)
SIZE = 6  # three replicas, two shards and a coordinator; or four workers and two servers


@pytest.fixture(scope="module")
def task():
    sets = blobs(400, 5, 0.6, seed=1), blobs(400, 5, 0.6, seed=2)
    return Classify(Model([Dense(8), Tanh(), Dense(5)], sets[0].shape), *sets, batch=16)


@pytest.fixture(scope="module")
def truth(task):
    return train(task, SAND.__class__(portions=12, shards=2, rounds=16), Simulated(SIZE)).result(60)


def told(outcome, kind="restored"):
    return [event.text for event in outcome.events if isinstance(event, Fault) and event.kind == kind]


@pytest.mark.parametrize("lost", [3, 4, 5])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.62, 0.95])
def test_whichever_shard_is_lost_and_whenever_sandblaster_ends_with_the_same_bits(lost, share, task, truth, tmp_path):
    on = Simulated(SIZE, Cluster(crash={lost: share * truth.seconds}))
    outcome = train(task, SAND, on, folder=tmp_path, restarts=1).result(60)
    assert (outcome.weights == truth.weights).all()
    [said] = told(outcome)
    assert said.startswith(f"rank {lost} was lost: all go on from")
    assert outcome.gone == [lost]
    assert outcome.seconds > truth.seconds
    assert outcome.messages > truth.messages / 2


def test_time_goes_on_and_a_shard_that_returns_is_waited_for(task, truth, tmp_path):
    died, back = 0.5 * truth.seconds, 2.0 * truth.seconds
    on = Simulated(SIZE, Cluster(crash={4: died}, back={4: back}))
    outcome = train(task, SAND, on, folder=tmp_path, restarts=1).result(60)
    assert (outcome.weights == truth.weights).all()
    looks = [(event.t, event.at) for event in outcome.events if isinstance(event, Measured)]
    assert [at for _, at in looks] == sorted(at for _, at in looks)
    assert not any(died < at < back for _, at in looks)
    assert back < outcome.seconds < back + truth.seconds
    rounds = [event for event in outcome.events if isinstance(event, Round) and event.rank == 0]
    assert [event.sent for event in rounds] == sorted(event.sent for event in rounds)  # so far, over both launches


def test_downpour_goes_on_from_its_checkpoint_and_says_what_was_lost(task, tmp_path):
    whole = train(task, POUR, Simulated(SIZE), folder=tmp_path / "whole").result(60)
    on = Simulated(SIZE, Cluster(crash={5: 0.7 * whole.seconds}))
    outcome = train(task, POUR, on, folder=tmp_path / "half", restarts=1).result(60)
    [said] = told(outcome)
    assert "rank 5 was lost: all go on from the checkpoint after round 40;" in said
    assert "rounds that followed are done again" in said
    assert outcome.accuracy > whole.accuracy - 0.02


def test_a_recipe_that_waits_for_everybody_can_begin_again_too(task, tmp_path):
    whole = train(task, BSP, Simulated(3), folder=tmp_path / "whole").result(60)
    on = Simulated(3, Cluster(crash={1: 0.5 * whole.seconds}))
    outcome = train(task, BSP, on, folder=tmp_path / "half", restarts=1).result(60)
    assert (outcome.weights == whole.weights).all()
    assert len(told(outcome)) == 1


def test_two_are_lost_before_anybody_notices(task, truth, tmp_path):
    on = Simulated(SIZE, Cluster(crash={4: 0.3 * truth.seconds, 5: 0.8 * truth.seconds}))
    outcome = train(task, SAND, on, folder=tmp_path, restarts=1).result(60)
    assert (outcome.weights == truth.weights).all()
    assert told(outcome)[0].startswith("rank 4 and rank 5 were lost: all go on from the checkpoint after round")


def test_without_restarts_it_ends_with_a_sentence_and_a_checkpoint(task, truth, tmp_path):
    on = Simulated(SIZE, Cluster(crash={5: 0.8 * truth.seconds}))
    with pytest.raises(Deadlock) as caught:
        train(task, SAND, on, folder=tmp_path).result(60)
    lesson, way_on = caught.value.__notes__[-2:]
    assert lesson == "rank 5 is the coordinator, and without it nobody knows what to do next"
    kept = sorted(tmp_path.iterdir())[-1]
    assert way_on == f"resume={str(kept)!r} goes on from its last checkpoint"
    again = train(task, SAND, Simulated(SIZE), folder=tmp_path, resume=kept).result(60)
    assert (again.weights == truth.weights).all()


def killed(task, recipe, victim, after, **options):
    """The run of a rank's process that is killed when the last rank has told of so many rounds."""
    control, heard = Control(SIZE), 0
    run = train(task, recipe, Processes(SIZE), control=control, **options)
    for event in run.history:
        heard += isinstance(event, Round) and event.rank == (SIZE - 1 if recipe is SAND else 0)
        if heard > after:
            with suppress(RuntimeError):  # all is done already
                control.kill(victim)
            break
    return run


@pytest.mark.parametrize("victim", [3, 4, 5] if LONG else [4])
def test_a_shard_process_is_killed_and_training_resumes(victim, task, truth, tmp_path):
    outcome = killed(task, SAND, victim, 7, folder=tmp_path, restarts=1).result(120)
    assert (outcome.weights == truth.weights).all()
    assert len(told(outcome)) == 1
    assert not list(Path("/dev/shm").glob(f"dlmini-{os.getpid()}-*"))


@pytest.mark.parametrize("recipe", [SAND, POUR], ids=["Sandblaster", "Downpour"])
def test_without_restarts_a_killed_shard_ends_the_run_with_a_sentence_and_a_checkpoint(recipe, task, tmp_path):
    with pytest.raises(RankFailed, match="rank 4 was killed by SIGKILL") as caught:
        killed(task, recipe, 4, 7 if recipe is SAND else 30, folder=tmp_path).result(120)
    kept = sorted(tmp_path.iterdir())[-1]
    assert caught.value.__notes__[-1] == f"resume={str(kept)!r} goes on from its last checkpoint"
    assert train(task, recipe, Simulated(SIZE), folder=tmp_path, resume=kept).result(60).stopped == ""
    assert not list(Path("/dev/shm").glob(f"dlmini-{os.getpid()}-*"))


def test_restarts_without_checkpoints_are_refused(task):
    with pytest.raises(ValueError, match="restarts=1 begins again from checkpoints, but none are made"):
        train(task, SAND.__class__(), Simulated(4), restarts=1)


def test_machines_some_seconds_later():
    cluster = Machines(crash={0: 1.0, 1: 5.0, 2: 2.0}, back={0: 4.0, 1: 6.0, 2: 2.5}, start={3: 3.5, 4: 1.0})
    later = cluster.after(3.0)
    assert (later.crash, later.back) == ({1: 2.0}, {1: 3.0})
    assert later.start == {3: 0.5, 0: 1.0}
    assert np.isclose(Simulated(5, cluster).after(3.0).cluster.start[0], 1.0)
