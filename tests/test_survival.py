"""A worker dies, at any moment: methods that wait for nobody in particular go on without it, the others say why not.

DLMINI_LONG=1 kills a random worker at a random moment a hundred times for each method and transport.
"""

import os
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import psutil
import pytest
from examples import LONG

from dlmini import SGD, Classify, Dense, Model, ReLU, blobs, split_iid
from dlmini.comm import Deadlock, DeadRank, RankFailed
from dlmini.comm.control import Control
from dlmini.comm.processes import Processes
from dlmini.events import Fault, Measured, Round
from dlmini.recipe import Recipe
from dlmini.run import train
from dlmini.sim import Cluster, Simulated
from dlmini.sync import Asynchronous, BulkSynchronous, Downpour, LocalSGD, PartlySynchronous, StaleSynchronous
from dlmini.topology import AllReduce, AsyncGossip, Gossip, ParameterServer, PushSum, Star

WORKERS, ROUNDS, POINTS = 4, 150, 0.02
KILLS = 100 if LONG else 3
SURVIVING = {
    "asynchronous": Recipe(Asynchronous(), ParameterServer(), rounds=ROUNDS),
    "two servers": Recipe(Asynchronous(), ParameterServer(2), rounds=ROUNDS, evaluate_every=10),
    "stale-synchronous": Recipe(StaleSynchronous(2), ParameterServer(), rounds=ROUNDS),
    "partly synchronous": Recipe(PartlySynchronous(3), ParameterServer(quorum=2), rounds=ROUNDS),
    "Downpour": Recipe(Downpour(2, 1, warm_start=5), ParameterServer(), rounds=ROUNDS),
    "gossip of updates": Recipe(BulkSynchronous(), Gossip(), rounds=ROUNDS, evaluate_every=10, all_workers=True),
    "gossip of weights": Recipe(LocalSGD(2), Gossip("ring", "weights"), rounds=ROUNDS, evaluate_every=7),
    "asynchronous gossip": Recipe(LocalSGD(10), AsyncGossip(), rounds=ROUNDS),
}
ENDING = {
    "all-reduce": Recipe(rounds=ROUNDS),
    "Local-SGD": Recipe(LocalSGD(4), AllReduce(), rounds=ROUNDS),
    "star": Recipe(topology=Star(), rounds=ROUNDS),
    "a server that waits for all": Recipe(topology=ParameterServer(), rounds=ROUNDS),
    "no bound left": Recipe(StaleSynchronous(0), ParameterServer(), rounds=ROUNDS),
    "push-sum": Recipe(topology=PushSum(), rounds=ROUNDS),
}


def task_of(split=split_iid):
    """Five clouds on a circle that overlap a little: nobody is right by chance, and nobody is always right."""
    rows, test = blobs(2000, 5, 0.6, seed=1), blobs(2000, 5, 0.6, seed=2)
    return Classify(Model([Dense(32), ReLU(), Dense(5)], rows.shape), rows, test, batch=16, split=split)


@pytest.fixture(scope="module")
def task():
    return task_of()


def learning(name):
    return replace(SURVIVING[name], optimizer=SGD(0.05))


@cache
def without(name, dead):
    """What the same recipe reaches with the data of the survivors alone."""

    def theirs(rows, parts, seed):
        return [part for rank, part in enumerate(split_iid(rows, WORKERS, seed=seed)) if rank != dead]

    recipe = learning(name)
    return train(task_of(theirs), recipe, Simulated(WORKERS - 1 + recipe.topology.servers)).result(240).accuracy


def check_survived(outcome, name, dead):
    """All others have ended their last round, were tried after it, and have learned what their data hold."""
    last = {event.rank: event.t for event in outcome.events if isinstance(event, Round)}
    assert {rank for rank, t in last.items() if t == ROUNDS - 1} >= set(range(WORKERS)) - {dead}
    looks = [event.t for event in outcome.events if isinstance(event, Measured)]
    assert looks == sorted(set(looks))
    assert looks[-1] == ROUNDS - 1
    assert outcome.stopped == ""
    assert outcome.accuracy >= without(name, dead) - POINTS


@cache
def seconds(name):
    """How long a run takes in virtual time if nobody dies."""
    recipe = learning(name)
    return train(task_of(), recipe, Simulated(WORKERS + recipe.topology.servers)).result(240).seconds


@pytest.mark.parametrize("kill", range(KILLS if LONG else 4))
@pytest.mark.parametrize("name", SURVIVING)
def test_simulated_workers_die_at_any_time_and_the_others_go_on(name, kill, task):
    coin = np.random.default_rng([kill, len(name)])
    dead, at = int(coin.integers(WORKERS)), float(coin.uniform(0, 1.1) * seconds(name))
    recipe = learning(name)
    on = Simulated(WORKERS + recipe.topology.servers, Cluster(crash={dead: at}), seed=kill)
    outcome = train(task, recipe, on).result(240)
    assert outcome.gone in ([dead], []) if at > seconds(name) / 2 else outcome.gone == [dead]
    check_survived(outcome, name, dead)


@pytest.mark.parametrize("kill", range(KILLS))
@pytest.mark.parametrize("name", SURVIVING)
def test_worker_processes_are_killed_at_any_moment_and_the_others_go_on(name, kill, task):
    coin, recipe = np.random.default_rng([kill, len(name)]), learning(name)
    dead, after = int(coin.integers(WORKERS)), int(coin.integers(WORKERS * ROUNDS * 3 // 4))
    on, before = Processes(WORKERS + recipe.topology.servers), relatives()
    outcome = killed_after(task, recipe, on, dead, after)
    assert outcome.gone in ([dead], [])  # it may have been done already
    check_survived(outcome, name, dead)
    if outcome.gone:
        assert relatives() <= before  # nothing is left behind
    assert not list(Path("/dev/shm").glob(f"dlmini-{os.getpid()}-*"))


def relatives():
    """Processes that stem from this one."""
    family = {*psutil.Process().children(recursive=True)}
    return {one.pid for one in family if one.is_running() and one.status() != psutil.STATUS_ZOMBIE}


def killed_after(task, recipe, on, dead, rounds):
    """The outcome of a run in which a rank is killed when all have ended so many rounds together; after 0: at once."""
    control = Control(on.size)
    run = train(task, recipe, on, control=control)
    heard = 0
    for event in run.history:
        heard += isinstance(event, Round)
        if heard >= rounds:
            with suppress(RuntimeError):  # all is done already
                control.kill(dead)
            break
    return run.result(240)


@pytest.mark.parametrize("name", SURVIVING)
def test_two_of_four_may_die(name, task):
    recipe = learning(name)
    on = Simulated(WORKERS + recipe.topology.servers, Cluster(crash={0: seconds(name) / 4, 2: seconds(name) / 3}))
    outcome = train(task, recipe, on).result(240)
    assert outcome.gone == [0, 2]
    last = {event.rank: event.t for event in outcome.events if isinstance(event, Round)}
    assert last[1] == last[3] == ROUNDS - 1


@pytest.mark.parametrize("name", ENDING)
def test_who_waits_for_everybody_ends_with_a_sentence(name, task):
    recipe = ENDING[name]
    size = WORKERS + recipe.topology.servers
    with pytest.raises(RankFailed, match="rank 1 was killed by SIGKILL") as killed:
        killed_after(task, recipe, Processes(size), 1, 40)
    with pytest.raises((DeadRank, Deadlock)) as crashed:
        train(task, recipe, Simulated(size, Cluster(crash={1: 0.001}))).result(240)
    for caught in (killed, crashed):
        [lesson] = [note for note in caught.value.__notes__ if "waits for everybody" in note]
        assert "rank 1 has died" in lesson
        assert "asynchronous, stale-synchronous and Downpour" in lesson


@pytest.mark.parametrize("kill", range(KILLS if LONG else 1))
@pytest.mark.parametrize("name", ENDING)
def test_who_waits_for_everybody_ends_whoever_dies_and_whenever(name, kill, task):
    coin, recipe = np.random.default_rng([kill, len(name), 1]), ENDING[name]
    dead, after = int(coin.integers(WORKERS)), int(coin.integers(WORKERS * ROUNDS // 2))
    on, before = Processes(WORKERS + recipe.topology.servers), relatives()
    outcome, notes = None, []
    try:
        outcome = killed_after(task, recipe, on, dead, after)
    except RankFailed as failed:
        notes = failed.__notes__
    if outcome is not None:  # it was done already
        assert (outcome.gone, outcome.measured[-1].t) == ([], ROUNDS - 1)
    else:
        assert any(f"rank {dead} has died, and this recipe waits for everybody" in note for note in notes)
        assert relatives() <= before  # nothing is left behind
    assert not list(Path("/dev/shm").glob(f"dlmini-{os.getpid()}-*"))


@cache
def seconds_alive(name):
    """How long such a run takes in virtual time if nobody dies."""
    recipe = ENDING[name]
    return train(task_of(), recipe, Simulated(WORKERS + recipe.topology.servers)).result(240).seconds


@pytest.mark.parametrize("kill", range(KILLS))
@pytest.mark.parametrize("name", ENDING)
def test_who_waits_for_everybody_ends_also_in_virtual_time_whoever_dies_and_whenever(name, kill, task):
    coin, recipe = np.random.default_rng([kill, len(name), 2]), ENDING[name]
    dead, at = int(coin.integers(WORKERS)), float(coin.uniform(0, 0.9) * seconds_alive(name))
    on = Simulated(WORKERS + recipe.topology.servers, Cluster(crash={dead: at}), seed=kill)
    with pytest.raises((DeadRank, Deadlock)) as ended:
        train(task, recipe, on).result(240)
    assert any(f"rank {dead} has died, and this recipe waits for everybody" in note for note in ended.value.__notes__)


def test_a_dead_server_ends_the_run_and_says_so(task):
    recipe = learning("asynchronous")
    with pytest.raises(RankFailed, match="rank 4 was killed by SIGKILL") as killed:
        killed_after(task, recipe, Processes(5), 4, 40)
    with pytest.raises((DeadRank, Deadlock)) as crashed:
        train(task, recipe, Simulated(5, Cluster(crash={4: 0.001}))).result(240)
    for caught in (killed, crashed):
        assert "rank 4 is a server, and the weights that it kept are lost with it" in caught.value.__notes__


def test_when_the_last_worker_dies_the_run_ends(task):
    recipe = learning("asynchronous")
    with pytest.raises(RankFailed, match="nobody is left to go on"):
        train(task, recipe, Simulated(3, Cluster(crash={0: 0.001, 1: 0.002}))).result(240)


@pytest.mark.parametrize("name", ["gossip of weights", "asynchronous gossip"])
def test_where_nobody_could_tell_it_where_to_go_on_a_worker_that_would_come_back_stays_away(name, task):
    on = Simulated(4, Cluster(crash={1: seconds(name) / 4}, back={1: seconds(name) / 2}))
    outcome = train(task, learning(name), on).result(240)
    assert outcome.gone == [1]
    check_survived(outcome, name, 1)


SERVED = [name for name, recipe in SURVIVING.items() if recipe.topology.servers]


@pytest.mark.parametrize("moment", range(8))
@pytest.mark.parametrize("name", SERVED)
def test_servers_take_back_a_worker_that_returns_at_any_time(name, moment, task):
    coin, recipe = np.random.default_rng([moment, len(name)]), learning(name)
    dead, died = int(coin.integers(WORKERS)), float(coin.uniform(0, 0.8) * seconds(name))
    back = died + float(coin.uniform(0.001, 0.6) * seconds(name))
    on = Simulated(WORKERS + recipe.topology.servers, Cluster(crash={dead: died}, back={dead: back}), seed=moment)
    outcome = train(task, recipe, on).result(240)
    assert outcome.gone == []
    check_survived(outcome, name, dead)
    again = [e for e in outcome.events if isinstance(e, Round) and e.rank == dead and e.at > back]
    if back < 0.8 * seconds(name):
        assert again[-1].t == ROUNDS - 1


def test_one_that_returns_goes_on_where_the_slowest_of_the_others_is(task):
    name = "asynchronous"
    on = Simulated(5, Cluster(crash={1: seconds(name) / 4}, back={1: seconds(name) / 2}))
    outcome = train(task, learning(name), on).result(240)
    rounds = [e for e in outcome.events if isinstance(e, Round)]
    first = next(e for e in rounds if e.rank == 1 and e.at > seconds(name) / 2)
    slowest = min(max(e.t for e in rounds if e.rank == rank and e.at < seconds(name) / 2) for rank in (0, 2, 3))
    assert 0 <= first.t - slowest <= 3


def test_downpour_with_eight_of_which_three_die_and_two_return_loses_less_than_a_point(task):
    recipe = replace(learning("Downpour"), topology=ParameterServer(2), outer=None)
    whole = train(task, recipe, Simulated(10)).result(240)
    for seed in range(5):
        coin = np.random.default_rng(seed)
        dead = coin.choice(8, 3, replace=False).tolist()
        crash = {rank: float(coin.uniform(0.1, 0.6) * whole.seconds) for rank in dead}
        back = {rank: crash[rank] + 0.2 * whole.seconds for rank in dead[:2]}
        outcome = train(task, recipe, Simulated(10, Cluster(crash=crash, back=back), seed=seed)).result(240)
        assert outcome.gone == dead[2:]
        assert outcome.accuracy > whole.accuracy - 0.01


def test_after_a_death_no_checkpoint_is_made_and_a_sentence_says_so(task, tmp_path):
    recipe = replace(learning("stale-synchronous"), checkpoint_every=10)
    whole = train(task, recipe, Simulated(5), folder=tmp_path / "whole").result(240)
    on = Simulated(5, Cluster(crash={1: whole.seconds / 2}))
    outcome = train(task, recipe, on, folder=tmp_path / "half").result(240)
    kept = sorted(file.name for file in (tmp_path / "half").iterdir())
    assert 0 < len(kept) < ROUNDS / 10
    assert kept == sorted(file.name for file in (tmp_path / "whole").iterdir())[: len(kept)]
    [unkept] = [event.text for event in outcome.events if isinstance(event, Fault) and event.kind == "unkept"]
    assert unkept.startswith("rank 1 is gone, and no run could go on from a checkpoint without it")
    resumed = train(task, recipe, Simulated(5), folder=tmp_path / "half", resume=tmp_path / "half").result(240)
    assert resumed.gone == []


def test_a_run_that_was_killed_can_be_saved_stopped_and_started_again(task, tmp_path):
    recipe, control = replace(learning("asynchronous"), rounds=10**6, evaluate_every=20), Control(5)
    run = train(task, recipe, Processes(5), control=control)
    for event in run:
        if isinstance(event, Measured) and not run.gone:
            control.kill(0)
        elif isinstance(event, Measured) and event.rank == 1:  # who shows in its place
            control.pause()
            control.resume()
            run.stop()
    outcome = run.result(60)
    assert outcome.stopped == "somebody stopped it"
    assert outcome.gone == type(outcome).load(outcome.save(tmp_path / "run")).gone == [0]
    again = train(task, learning("asynchronous"), Processes(5)).result(240)
    assert again.gone == []
