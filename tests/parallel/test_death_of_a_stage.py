"""A stage that dies ends the run: its rank and its place are said, and nothing is left behind."""

import os
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from dlmini import Cluster, Gossip, Grid, Processes, Recipe, Simulated, Split, train
from dlmini.comm.control import Control
from dlmini.comm.errors import Deadlock, DeadRank, RankFailed
from dlmini.events import Round

PLACE = "rank 3 was stage 1 of 2 in replica 1 of 2, with layers 1 to 1: the others cannot go on"


def relatives():
    """Processes that stem from this one."""
    family = {*psutil.Process().children(recursive=True)}
    return {one.pid for one in family if one.is_running() and one.status() != psutil.STATUS_ZOMBIE}


@pytest.mark.parametrize("pieces", [{}, {"topology": Gossip("ring", "weights")}], ids=["all-reduce", "gossip"])
def test_a_stage_that_is_killed_is_named_even_where_whole_workers_might_die(pieces, task):
    split, control = Split(task, Grid(data=2, pipe=2)), Control(4)
    on, before = Processes(4), relatives()
    run = train(split, Recipe(rounds=100_000, **pieces), on, control=control)
    with suppress(StopIteration):
        next(event for event in run.history if isinstance(event, Round) and event.t == 5)
    control.kill(3)
    with pytest.raises(RankFailed, match="rank 3 was killed by SIGKILL") as killed:
        run.result(240)
    with pytest.raises((DeadRank, Deadlock, RankFailed)) as crashed:
        train(split, Recipe(rounds=1000, **pieces), Simulated(4, Cluster(crash={3: 0.001}))).result(240)
    for caught in (killed, crashed):
        assert any(PLACE in note for note in caught.value.__notes__), caught.value.__notes__
    assert relatives() <= before  # nothing is left behind
    assert not list(Path("/dev/shm").glob(f"dlmini-{os.getpid()}-*"))


def test_a_split_run_can_be_stopped(task):
    run = train(Split(task, Grid(pipe=2)), Recipe(rounds=1_000_000, evaluate_every=20), Processes(2))
    next(event for event in run.history if isinstance(event, Round) and event.t >= 25)
    run.stop()
    outcome = run.result(240)
    assert outcome.stopped == "somebody stopped it"
    assert outcome.weights.shape == (task.size,)
