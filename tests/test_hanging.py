"""A rank's process is stopped, and hangs: it is named and ended, and others go on where they can. Nothing is left."""

import os
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from dlmini import (
    SGD,
    Classify,
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
    launch,
    train,
)
from dlmini.comm import RankFailed
from dlmini.comm.processes.workers import hang_watch
from dlmini.comm.processes.workers.failures import whereabouts
from dlmini.comm.processes.workers.hang_watch import HangWatch
from dlmini.comm.processes.workers.protocol import Silent
from dlmini.events import Fault

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be stopped here")
HUNG = "hung: its process was stopped (SIGSTOP) and did not go on, so it was ended"
MARK = "DLMINI_TEST_LEFT"  # in the environment of everything that a run starts
GONE = 120  # seconds after which a process that should have ended never will


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(hang_watch, "EVERY", 0.1)
    monkeypatch.setattr(hang_watch, "LOOKS", 3)


@dataclass(frozen=True)
class Stopping(Classify):
    """Whoever computes a gradient when the file is not there makes it, and is stopped."""

    file: str = ""

    def loss_and_grad(self, w, batch, grad, ready=None):
        if self.file:
            try:
                os.close(os.open(self.file, os.O_CREAT | os.O_EXCL))
                os.kill(os.getpid(), signal.SIGSTOP)
            except FileExistsError:
                pass
        return super().loss_and_grad(w, batch, grad, ready)


def task_of(file=""):
    sets = blobs(400, 5, 0.6, seed=1), blobs(400, 5, 0.6, seed=2)
    return Stopping(Model([Dense(8), Tanh(), Dense(5)], sets[0].shape), *sets, batch=16, file=str(file))


def stops(comm, victim, says=0):
    if comm.rank == victim:
        os.kill(os.getpid(), signal.SIGSTOP)
    return comm.allgather(says)


@pytest.mark.parametrize("victim", [0, 2])
def test_a_rank_that_hangs_is_named_and_ended(victim):
    with pytest.raises(RankFailed, match="hung: its process was stopped") as caught:
        launch(stops, Processes(3), (victim,))
    assert (caught.value.rank, caught.value.died) == (victim, True)
    assert launch(stops, Processes(3), (-1, 7))[0] == [7, 7, 7]


def waits(comm):
    """Rank 1 waits for a message, is stopped from outside, asleep: everybody is at rest, yet it is no deadlock."""
    if comm.rank == 0:
        pid = comm.recv(1)
        os.kill(pid, signal.SIGSTOP)
        comm.recv(1)
    else:
        comm.send(0, os.getpid())
        comm.recv(0)


def test_one_that_is_stopped_while_it_waits_is_not_taken_for_a_deadlock():
    with pytest.raises(RankFailed, match="rank 1 hung"):
        launch(waits, Processes(2))


def test_when_time_is_up_who_is_stopped_is_told_from_who_is_busy():
    said = whereabouts({0: Silent("", stopped=True), 1: Silent("")})
    assert said == "rank 0 is stopped (SIGSTOP)\nrank 1 is busy"


def test_sandblaster_goes_on_without_a_replica_that_hangs_and_ends_with_the_same_bits(tmp_path):
    recipe = Sandblaster(portions=12, shards=2, rounds=8)
    truth = train(task_of(), recipe, Simulated(6)).result(60)
    outcome = train(task_of(tmp_path / "stopped"), recipe, Processes(6)).result(120)
    assert (outcome.weights == truth.weights).all()
    [fault] = [event for event in outcome.events if isinstance(event, Fault) and event.deadly]
    assert fault.text == f"rank {fault.rank} {HUNG}"
    assert outcome.gone == [fault.rank]


def test_downpour_goes_on_without_a_worker_that_hangs(tmp_path):
    recipe = Recipe(Downpour(), ParameterServer(), optimizer=SGD(0.02), rounds=60)
    outcome = train(task_of(tmp_path / "stopped"), recipe, Processes(4)).result(120)
    assert len(outcome.gone) == 1
    assert any(isinstance(event, Fault) and HUNG in event.text for event in outcome.events)


def test_a_recipe_that_waits_for_everybody_begins_again(tmp_path):
    recipe = Recipe(optimizer=SGD(0.05), rounds=20, checkpoint_every=5)
    whole = train(task_of(), recipe, Simulated(3), folder=tmp_path / "whole").result(60)
    task = task_of(tmp_path / "stopped")
    outcome = train(task, recipe, Processes(3), folder=tmp_path / "kept", restarts=1).result(120)
    assert (outcome.weights == whole.weights).all()
    assert [event.kind for event in outcome.events if isinstance(event, Fault)] == ["restored"]


def test_looks_in_a_row_are_counted(monkeypatch):
    class Process:
        pid = os.getpid()

    monkeypatch.setattr(hang_watch, "EVERY", 0.0)
    states = iter([True, True, False, True, True, True])
    monkeypatch.setattr(hang_watch, "is_stopped", lambda pid: next(states))
    watch = HangWatch([Process()])
    assert [watch.look([0]) for _ in range(6)] == [[], [], [], [], [], [0]]


SCRIPT = """
from dlmini import Classify, Dense, Model, Processes, Sandblaster, Tanh, blobs, train
from dlmini.comm.control import Control
from dlmini.events import Round

if __name__ == "__main__":
    sets = blobs(400, 5, 0.6, seed=1), blobs(400, 5, 0.6, seed=2)
    task = Classify(Model([Dense(8), Tanh(), Dense(5)], sets[0].shape), *sets, batch=16)
    recipe = Sandblaster(portions=12, shards=2, rounds=10**6, checkpoint_every=3, tolerance=0)
    control, killed, restored = Control(6), False, 0
    run = train(task, recipe, Processes(6), control=control, folder={folder!r}, restarts=1)
    for event in run:
        if isinstance(event, Round) and event.t > 5 and not killed:
            killed = True
            control.kill({victim})
        restored += getattr(event, "kind", "") == "restored"
        if restored:
            run.stop()
    print(restored)
"""


def marked(mark: str) -> list[int]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (psutil.Error, OSError):  # somebody else's, or just gone
            continue
    return found


@pytest.mark.parametrize("victim", [4, 5])
def test_a_run_whose_shard_or_coordinator_was_killed_leaves_no_process_and_no_shared_memory(victim, tmp_path):
    script, mark = tmp_path / "run.py", uuid.uuid4().hex
    script.write_text(SCRIPT.format(tests=str(Path(__file__).parent), victim=victim, folder=str(tmp_path / "kept")))
    done = subprocess.Popen([sys.executable, str(script)], env={**os.environ, MARK: mark}, stdout=subprocess.PIPE)
    said, _ = done.communicate(timeout=300)
    assert (done.returncode, said.strip()) == (0, b"1")
    end = time.monotonic() + GONE
    while marked(mark) and time.monotonic() < end:
        time.sleep(0.05)
    assert marked(mark) == []
    assert not list(Path("/dev/shm").glob(f"dlmini-{done.pid}-*"))
