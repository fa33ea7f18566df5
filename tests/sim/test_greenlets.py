"""C code may look up from a rank's program: there are honest frames above it, on every Python."""

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from greenlet import getcurrent, greenlet

from dlmini.comm import launch
from dlmini.sim import Cluster, Simulated
from dlmini.sim import rank as together

ASKED = 10  # how many callers NumPy asks for


class Place(ctypes.Structure):
    """What `dladdr` tells of an address: the file it was loaded from, and more."""

    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("at", ctypes.c_void_p),
    ]


def frames_below_the_start() -> int:
    """How many C frames there are from here up to greenlet's own, which is the last that may be looked at."""
    c = ctypes.PyDLL(None)
    for asked in range(1, 200):
        found, place = (ctypes.c_void_p * asked)(), Place()
        assert c.backtrace(found, asked) == asked
        c.dladdr(ctypes.c_void_p(found[-1]), ctypes.byref(place))
        if b"greenlet" in Path(place.file.decode()).name.encode():
            return asked
    raise AssertionError("no greenlet is running")


@pytest.fixture
def bare():
    """The same in a greenlet that was made without care."""
    if not hasattr(ctypes.PyDLL(None), "backtrace"):
        pytest.skip("no backtrace() in this C library: NumPy does not look up here")
    return greenlet(frames_below_the_start).switch()


def test_a_program_has_ten_frames_more_than_a_bare_greenlet(bare):
    found = launch(lambda comm: frames_below_the_start(), Simulated(3))
    assert all(frames - bare >= ASKED for frames in found)


def test_a_rank_that_came_back_has_them_too(bare):
    def program(comm):
        comm.compute("work", None, flops=1e9)
        return comm.life, frames_below_the_start()

    results = launch(program, Simulated(2, Cluster(crash={1: 0.5}, back={1: 1.0})))
    assert results[1][0] == 1
    assert results[1][1] - bare >= ASKED


def test_a_stream_of_posted_collectives_has_them_too(bare, monkeypatch):
    found, play = [], together.ACTS["allreduce"]

    def looking_up(comm, plan, x):
        found.append((getcurrent(), frames_below_the_start()))
        return play(comm, plan, x)

    def program(comm):
        comm.allreduce(np.ones(8), wait=False).wait()
        return getcurrent()

    monkeypatch.setitem(together.ACTS, "allreduce", looking_up)
    ranks = launch(program, Simulated(3, Cluster(priced=False)))
    assert len(found) == 3
    assert not {stream for stream, _ in found} & set(ranks.values)
    assert all(frames - bare >= ASKED for _, frames in found)


@pytest.mark.parametrize("name", ["student", "posted", "returned", "training"])
def test_large_temporaries_do_not_kill_the_process(name):
    """300 KB and more, again and again in one process."""
    program = Path(__file__).with_name("elision_programs.py")
    done = subprocess.run([sys.executable, "-X", "faulthandler", program, name], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr
