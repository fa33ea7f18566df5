"""Replicas are slow, doubled, killed at every possible message, and come back: the weights are the same, to the bit.

DLMINI_LONG=1 walks the deaths of every replica, with and without a return, at every point; otherwise of one.
"""

import os
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import psutil
import pytest
from examples import LONG
from sandblaster_tasks import Bowl

from dlmini import Cluster, Processes, Sandblaster, Simulated, train
from dlmini.comm import RankFailed
from dlmini.comm.control import Control
from dlmini.events import Fault, Portion, Round
from dlmini.sandblaster.program import program

REPLICAS, SHARDS = 3, 2
SIZE = REPLICAS + SHARDS + 1
TASK = Bowl(dtype=np.float32, rows=20)
RECIPE = Sandblaster(portions=5, shards=SHARDS, rounds=3, history=3, tolerance=0)
COSTS = {"overhead": 1e-5, "seconds": {"gradient": 1e-3}}  # an overhead: every send has a moment of its own


def run(crash=(), back=(), seed=0, recipe=RECIPE, log=False, **cluster):
    place = Cluster(**COSTS, crash=dict(crash), back=dict(back), **cluster)
    mortal = range(REPLICAS)
    return Simulated(SIZE, place, seed, log=log).run(program, (TASK, recipe), may_die=mortal, may_return=mortal)


def weights(results):
    return np.concatenate([results[REPLICAS + shard] for shard in range(SHARDS)])


@cache
def whole():
    return run(log=True)


def moments(replica):
    """Before, between and after all that a replica sends and hears."""
    log = whole().log
    times = {m.sent for m in log if m.source == replica} | {m.here for m in log if m.dest == replica}
    times = sorted(times)
    between = [(a + b) / 2 for a, b in pairwise(times)]
    return [0.0, *sorted([*between, *(t + 1e-9 for t in times)])]


@pytest.mark.parametrize("returns", [None, 2e-4, 5e-3])
@pytest.mark.parametrize("replica", range(REPLICAS) if LONG else [1])
def test_a_replica_dies_at_every_message_and_nothing_changes(replica, returns):
    truth, deaths = weights(whole()), 0
    for moment in moments(replica):
        back = {replica: moment + returns} if returns else {}
        results = run({replica: moment}, back)
        assert (weights(results) == truth).all(), f"killed at {moment!r}, back {back}"
        deaths += any(isinstance(event, Fault) and event.deadly for event in results.events)
    assert deaths > 50


def test_no_portion_is_lost_or_counted_twice_wherever_a_replica_dies():
    for moment in moments(0)[:: 1 if LONG else 4]:
        events = [event for event in run({0: moment}).events if isinstance(event, Portion)]
        counted = [(event.number, event.portion) for event in events if event.what == "counted"]
        assert len(counted) == len(set(counted))
        numbers = {number for number, _ in counted}
        assert set(counted) == {(number, portion) for number in numbers for portion in range(5)}


def test_two_hundred_orders_give_the_same_bits():
    """Ties, late messages, slow and doubled replicas, and in every other order a death, half of them with a return."""
    truth = weights(whole())
    for seed in range(200):
        coin = np.random.default_rng(seed)
        terms = {
            "jitter": 0.3 * coin.integers(3),
            "link_jitter": 1.0 * coin.integers(3),
            "speed": {0: 0.05 if seed % 3 else 1},
        }
        crash = {int(coin.integers(REPLICAS)): float(coin.uniform(0, 0.02))} if seed % 2 else {}
        back = {rank: time + 0.002 for rank, time in crash.items()} if seed % 4 == 3 else {}
        results = run(crash, back, seed, **terms)
        assert (weights(results) == truth).all(), f"seed {seed}"


def test_two_of_three_may_die_and_all_three_may_not():
    truth = weights(whole())
    assert (weights(run({0: 0.002, 2: 0.004})) == truth).all()
    with pytest.raises(RankFailed, match="nobody is left to go on"):
        run({0: 0.002, 1: 0.003, 2: 0.004})


def test_all_die_and_one_returns():
    results = run({0: 0.002, 1: 0.003, 2: 0.004}, {1: 0.006})
    assert (weights(results) == weights(whole())).all()


@pytest.mark.parametrize("begins", [0.005, 0.016, 1.0])
def test_a_replica_that_begins_late_finds_work_or_is_sent_home_once(begins):
    """In the middle, near the end, and when all is done without it."""
    results = run(start={0: begins})
    assert (weights(results) == weights(whole())).all()
    assert results.seconds >= begins


def test_a_slow_replica_is_copied_and_its_late_answer_dropped():
    results = run(speed={1: 0.01})
    what = {event.what for event in results.events if isinstance(event, Portion)}
    assert "copied" in what
    assert (weights(results) == weights(whole())).all()


# ---- as a run ----


def relatives():
    """Processes that stem from this one."""
    family = {*psutil.Process().children(recursive=True)}
    return {one.pid for one in family if one.is_running() and one.status() != psutil.STATUS_ZOMBIE}


@pytest.fixture(scope="module")
def served():
    """The server that workers are born of is there: it stays, whoever is killed."""
    train(TASK, Sandblaster(portions=8, rounds=1), Processes(4)).result(900)


@pytest.mark.parametrize("kill", range(20 if LONG else 3))
def test_a_replica_process_is_killed_and_the_weights_are_the_same(kill, served):
    coin, recipe = np.random.default_rng(kill), Sandblaster(portions=8, shards=2, rounds=30, tolerance=0)
    truth = train(TASK, recipe, Simulated(SIZE)).result(900).weights
    dead, after, before, control = int(coin.integers(REPLICAS)), int(coin.integers(20)), relatives(), Control(SIZE)
    going = train(TASK, recipe, Processes(SIZE), control=control)
    heard = 0
    for event in going.history:
        heard += isinstance(event, Round) and event.rank == SIZE - 1
        if heard > after:
            with suppress(RuntimeError):  # all is done already
                control.kill(dead)
            break
    outcome = going.result(900)
    assert outcome.gone in ([dead], [])
    assert (outcome.weights == truth).all()
    if outcome.gone:
        assert relatives() <= before
    assert not list(Path("/dev/shm").glob(f"dlmini-{os.getpid()}-*"))


@pytest.mark.filterwarnings("ignore:portions")
def test_checkpoints_are_made_though_a_replica_is_gone(tmp_path):
    recipe = Sandblaster(portions=5, shards=2, rounds=12, checkpoint_every=3, tolerance=0)
    on = Simulated(SIZE, Cluster(**COSTS, crash={1: 0.004}))
    outcome = train(TASK, recipe, on, folder=tmp_path).result(900)
    assert outcome.gone == [1]
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.filterwarnings("ignore:portions")
def test_one_that_returns_is_not_gone():
    on = Simulated(SIZE, Cluster(**COSTS, crash={1: 0.004}, back={1: 0.006}))
    outcome = train(TASK, Sandblaster(portions=5, shards=2, rounds=12, tolerance=0), on).result(900)
    assert outcome.gone == []
    assert [event.kind for event in outcome.events if isinstance(event, Fault)] == ["crashed", "returned"]
    assert max(event.t for event in outcome.events if isinstance(event, Round) and event.rank == 1) == 11
