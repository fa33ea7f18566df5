"""What can go wrong with ranks of MPI: each is reported with its rank, nothing hangs, nothing is left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import mpi_programs
import pytest

from dlmini.comm.errors import RankFailed, Unreceived, Unserved
from dlmini.comm.launch import launch
from dlmini.comm.mpi import Mpi
from dlmini.comm.mpi.mpiexec import missing, mpiexec, version

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "MPI is here")
LIMIT = 120


def gone(pids, folders, patience=120):
    """Have these processes and directories disappeared, or do they within some seconds?"""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if not any(map(alive, pids)) and not any(map(os.path.exists, folders)):
            return True
        threading.Event().wait(0.01)  # the machine needs its cores to end them
    return False


def alive(pid):
    """A zombie is dead, whoever has yet to notice."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # gone in between, or a system without /proc
        return not os.path.isdir("/proc/self")


@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        ("raise", KeyError, "a key that is not there"),
        ("sys.exit", RankFailed, r"rank 1 left by sys.exit\(3\)"),
        ("exit", RankFailed, "rank 1 ended with exit code 4"),
        ("kill", RankFailed, "rank 1 was killed by SIGKILL"),
        ("return", Unserved, "waits for tag 0 from (rank 1, which has finished|itself)"),
    ],
)
def test_a_rank_that_fails_is_named_and_nothing_is_left(how, error, words):
    if how in ("exit", "kill") and "Open MPI" not in version(mpiexec()):
        words = "rank 1 was"  # others do not say how it ended
    heard = []
    with pytest.raises(error, match=words) as caught:
        launch(mpi_programs.one_fails, Mpi(3, timeout=LIMIT), (how,), listen=heard.append)
    if how == "raise":
        assert "raised on rank 1:\nTraceback" in caught.value.__notes__[0]
    assert gone([e.t for e in heard], [e.loss for e in heard if e.loss])


def test_a_run_that_takes_too_long_is_ended():
    heard = []
    with pytest.raises(RankFailed, match="not finished after 3 s: rank 0, 1"):
        launch(mpi_programs.one_fails, Mpi(2, timeout=3), ("hang",), listen=heard.append)
    assert gone([e.t for e in heard], [e.loss for e in heard if e.loss])


def test_messages_nobody_received_are_reported():
    with pytest.raises(Unreceived, match="2 of tag 7 from rank 1 to rank 0") as caught:
        launch(unread, Mpi(2, timeout=LIMIT))
    assert caught.value.messages == [(1, 7, 0, 2)]


def unread(comm):
    if comm.rank == 1:
        comm.send(0, "small", tag=7)
        comm.send(0, bytes(10**7), tag=7)


def test_a_collective_that_a_rank_never_joins_is_reported():
    with pytest.raises(Unserved, match="rank 0 waits in barrier for rank 1, finished"):
        launch(lambda comm: None if comm.rank else comm.barrier(), Mpi(2, timeout=LIMIT))


def test_what_mpiexec_says_is_passed_on_when_it_cannot_start():
    with pytest.raises(RankFailed, match=r"(?s)mpiexec ended with exit code.*no-such-option"):
        Mpi(2, options=["--no-such-option"], timeout=LIMIT).run(print)


PARENT = """
import sys
sys.path.insert(0, {folder!r})
import mpi_programs
from dlmini.comm.launch import launch
from dlmini.comm.mpi import Mpi

def listen(event):
    print(event.t, event.loss, flush=True)

try:
    launch(mpi_programs.one_fails, Mpi(3), ("hang",), listen=listen)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_neither_an_interrupt_nor_the_death_of_the_notebook_leaves_anything(sign):
    script = PARENT.format(folder=os.path.dirname(__file__))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        told = [parent.stdout.readline().split() for _ in range(2)]  # ranks 0 and 2: all are at work
        parent.send_signal(sign)
        rest = parent.stdout.read()
    assert rest == ("interrupted\n" if sign == signal.SIGINT else "")
    assert gone([int(pid) for pid, *_ in told], [folder[0] for _, *folder in told if folder])
