"""When ranks fail: the parent says which and how, nobody hangs, nothing is left behind, and the next call works."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import cloudpickle
import numpy as np
import psutil
import pytest

from dlmini.comm import processes
from dlmini.comm.errors import CommError, RankFailed
from dlmini.comm.launch import launch
from dlmini.comm.processes import Processes
from dlmini.events import Round

cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture(autouse=True)
def interruptible():
    """Ctrl-C as in a terminal: a shell that runs tests in the background lets them ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


posix = pytest.mark.skipif(os.name != "posix", reason="signals are sent here as POSIX has them")


def healthy(size=2) -> bool:
    return launch(lambda comm: comm.allreduce(np.ones(1))[0], Processes(size)).values == [size] * size


def while_others_wait(fault):
    """A program whose last rank fails while the others wait for it in every way there is."""

    def program(comm):
        if comm.rank == comm.size - 1:
            comm.recv(0)
            fault(comm)
        comm.send(comm.size - 1, "go") if comm.rank == 0 else None
        [lambda: comm.recv(comm.size - 1), comm.barrier, comm.recv_any][comm.rank % 3]()

    return program


def segfault(comm):
    import ctypes

    ctypes.string_at(0)


def fill_memory(comm):
    np.ones(2**60, np.uint8)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        pytest.param(lambda c: os.kill(os.getpid(), 9), "was killed by SIGKILL .exit code -9.", marks=posix),
        pytest.param(segfault, "was killed by SIGSEGV(.|\n)*in segfault", marks=posix),
        (lambda c: os._exit(7), "ended with exit code 7"),
        (lambda c: sys.exit("enough"), "left by sys.exit..enough"),
        (fill_memory, "ran out of memory"),
    ],
    ids=["killed", "segfault", "_exit", "sys.exit", "memory"],
)
def test_a_lost_rank_is_named_with_the_reason_and_the_pool_heals(fault, words):
    with pytest.raises(RankFailed, match=f"rank 3 {words}") as caught:
        launch(while_others_wait(fault), Processes(4))
    assert caught.value.rank == 3
    assert healthy(4)


class Complicated(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def raise_complicated(comm):
    raise Complicated("this", "that")


def test_an_exception_is_raised_as_itself_with_rank_and_remote_traceback():
    def fault(comm):
        {}["no such key"]

    with pytest.raises(KeyError, match="no such key") as caught:
        launch(while_others_wait(fault), Processes(4))
    [note] = caught.value.__notes__
    assert note.startswith("raised on rank 3:\nTraceback")
    assert 'in fault\n    {}["no such key"]' in note
    assert healthy(4)


def test_an_exception_that_cannot_travel_is_told_in_words():
    with pytest.raises(RankFailed, match="Complicated: this and that") as caught:
        launch(while_others_wait(raise_complicated), Processes(4))
    assert "raise_complicated" in caught.value.__notes__[0]


def test_a_program_that_catches_everything_is_still_ended():
    def program(comm):
        if comm.rank == 1:
            raise ValueError("mine")
        while True:
            with contextlib.suppress(Exception):
                comm.barrier()

    with pytest.raises(ValueError, match="mine"):
        launch(program, Processes(2))
    assert healthy()


def test_ranks_that_answer_an_abort_are_kept():
    def pids():
        return launch(lambda comm: os.getpid(), Processes(3)).values

    before = pids()
    with pytest.raises(ZeroDivisionError):
        launch(lambda comm: 1 / comm.rank if comm.rank < 1 else comm.recv(0), Processes(3))
    assert pids() == before


def test_a_worker_killed_while_idle_is_replaced():
    pids = launch(lambda comm: os.getpid(), Processes(2)).values
    victim = psutil.Process(pids[1])
    victim.kill()
    psutil.wait_procs([victim], timeout=120)
    assert healthy()


def test_messages_of_a_failed_run_are_gone_in_the_next():
    def program(comm, fail):
        comm.send(1 - comm.rank, np.ones(500_000))
        comm.send(1 - comm.rank, fail, tag=1)
        if fail and comm.rank:
            raise ValueError("fail")
        return comm.recv(1 - comm.rank).sum(), comm.recv(1 - comm.rank, tag=1)

    for _ in range(3):
        with pytest.raises(ValueError, match="fail"):
            launch(program, Processes(2), (True,))
        assert launch(program, Processes(2), (False,)).values == [(5e5, False)] * 2


def spin_for_ever(comm):
    while True:
        pass


def test_a_hang_ends_with_the_timeout_and_says_where():
    with pytest.raises(RankFailed, match=r"not finished after 0\.5 s: rank 2") as caught:
        launch(while_others_wait(spin_for_ever), Processes(3, timeout=0.5))
    assert caught.value.rank == 2
    assert "rank 2 is busy" in str(caught.value)
    if os.name == "posix":
        assert "in spin_for_ever" in str(caught.value)
    assert healthy(3)


@posix
@pytest.mark.parametrize("busy", [False, True], ids=["waiting", "computing"])
def test_ctrl_c_ends_the_run_and_leaves_the_pool_usable(busy):
    def program(comm):
        comm.emit(Round(0, 0.0))
        spin_for_ever(comm) if busy and comm.rank == 0 else comm.recv(0)

    with pytest.raises(KeyboardInterrupt) as caught:
        launch(program, Processes(2), listen=lambda event: signal.raise_signal(signal.SIGINT))
    assert "rank 1 receives from rank 0" in caught.value.__notes__[0]
    assert healthy()


def test_a_run_can_be_cancelled_from_another_thread():
    on = Processes(2)

    def cancel(event):
        threading.Thread(target=on.cancel).start()

    def program(comm):
        comm.emit(Round(0, 0.0)) if comm.rank == 0 else None
        spin_for_ever(comm)

    with pytest.raises(CommError, match="cancelled"):
        launch(program, on, listen=cancel)
    assert healthy()


def test_a_listener_that_raises_ends_the_run():
    def program(comm):
        comm.emit(Round(0, 0.0))
        comm.recv(1 - comm.rank)

    def listen(event):
        raise LookupError("heard enough")

    with pytest.raises(LookupError, match="heard enough"):
        launch(program, Processes(2), listen=listen)
    assert healthy()


def test_two_threads_may_run_at_once():
    found = {}

    def run(name):
        found[name] = launch(lambda comm: comm.allgather(os.getpid())[0], Processes(2))[0]

    threads = [threading.Thread(target=run, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found["a"] in psutil.pids()
    assert found["b"] in psutil.pids()


def test_too_many_idle_workers_are_let_go(monkeypatch):
    monkeypatch.setattr(processes, "KEPT", 4)
    assert healthy(3)
    assert healthy(2)
    assert sum(pool.size for pool in processes._idle) <= 4


PARENT = """
import os, sys
from dlmini.comm.processes import Processes
from dlmini.events import Snapshot
import numpy as np

def endless():
    while True:
        pass

def program(comm, how):
    comm.emit(Snapshot(0, np.array([os.getpid()])))
    if how == "compiled":
        import numba
        numba.njit(endless)()
    elif how == "waiting" and comm.rank:  # for somebody who is busy: otherwise it would be a deadlock, and end
        comm.recv(0)
    elif how == "waiting":
        endless()
    elif how == "python":
        endless()

def listen(event):
    print(int(event.weights[0]), flush=True)

Processes(2).run(program, (sys.argv[1],), listen)
print("idle", flush=True)
sys.stdin.read()
"""


@posix
@pytest.mark.parametrize("how", ["compiled", "waiting", "python", "idle"])
def test_when_the_parent_is_killed_nothing_is_left(how):
    """Not even while compiled code holds Python's lock."""
    if how == "compiled" and sys.platform != "linux":
        pytest.skip("only Linux ends a process while compiled code holds Python's lock")
    command = [sys.executable, "-c", PARENT, how]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        workers = [psutil.Process(int(parent.stdout.readline())) for _ in range(2)]
        if how == "idle":
            assert parent.stdout.readline() == "idle\n"
        family = workers + psutil.Process(parent.pid).children(recursive=True)
        parent.kill()
        _, alive = psutil.wait_procs(family, timeout=120)
        assert not alive
    assert not list(Path("/dev/shm").glob(f"dlmini-{parent.pid}-*"))


INTERRUPTED = """
import os, signal
from dlmini.comm.processes import Processes
from dlmini.events import Round
import numpy as np

def program(comm):
    comm.emit(Round(0, 0.0))
    comm.recv(1 - comm.rank)

def pids():
    return Processes(2).run(lambda comm: os.getpid()).values

signal.signal(signal.SIGINT, signal.default_int_handler)
before = pids()
try:
    Processes(2).run(program, (), lambda event: os.killpg(0, signal.SIGINT))
except KeyboardInterrupt:
    print("interrupted", pids() == before)
"""


@posix
def test_the_interrupt_button_reaches_the_whole_group_and_workers_survive_it():
    command = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, start_new_session=True)
    assert done.stdout == "interrupted True\n", done.stderr


@posix
def test_an_idle_parent_ends_cleanly():
    code = """
    import psutil
    from dlmini.comm.processes import Processes
    Processes(3).run(lambda comm: None)
    print(*[child.pid for child in psutil.Process().children(recursive=True)])
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=240)
    family = [psutil.Process(int(pid)) for pid in done.stdout.split() if psutil.pid_exists(int(pid))]
    assert not psutil.wait_procs(family, timeout=120)[1]
    assert done.stderr == ""


def test_a_failure_is_reported_while_the_others_wait():
    """They would do so for ever. How soon: see the long form of test_processes_soak.py."""
    for fault in (lambda c: os._exit(3), raise_complicated, fill_memory):
        with pytest.raises(RankFailed):
            launch(while_others_wait(fault), Processes(4))
        assert healthy(4)


def test_a_rank_cannot_have_ranks_of_its_own():
    with pytest.raises(RuntimeError, match=r"use comm\.group"):
        launch(lambda comm: Processes(2), Processes(1))
