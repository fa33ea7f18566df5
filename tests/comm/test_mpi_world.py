"""Inside an mpiexec that somebody else has started, Mpi() finds the ranks that are there."""

import re
import subprocess
import sys

import pytest

from dlmini.comm.mpi.mpiexec import environment, missing, mpiexec

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "MPI is here")

SCRIPT = """
import sys
import numpy as np
from dlmini.comm.launch import launch
from dlmini.comm.mpi import Mpi
from dlmini.events import Round

def program(comm, how):
    for t in range(3):
        comm.emit(Round(t, 0.0))
    if how == "raise" and comm.rank == 1:
        raise KeyError("the reason")
    return comm.rank, float(comm.allreduce(np.array([comm.rank]))[0])

on, heard = Mpi(), []
first = launch(program, on, (sys.argv[1],), listen=heard.append)
second = launch(program, Mpi(on.size), ("again",))
assert first.values == second.values == [(rank, 3.0) for rank in range(3)], first
assert first.books == second.books
assert first.events == [] and len(heard) == len(second.events) and len(heard) in (0, 9)
try:
    Mpi(2)
except ValueError as error:
    assert "an mpiexec with 3 ranks" in str(error)
print(f"fine, {len(heard)} events")
"""


def start(how):
    words = [mpiexec(), "-n", "3", sys.executable, "-c", SCRIPT, how]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, env=environment(3, None), check=False)


def test_every_rank_has_all_results_and_rank_0_the_events():
    done = start("well")
    assert done.returncode == 0, done.stderr
    assert sorted(re.findall(r"fine, (\d) events", done.stdout)) == ["0", "0", "9"]


def test_a_rank_that_raises_ends_the_job_with_its_traceback():
    done = start("raise")
    assert done.returncode != 0
    assert "rank 1 of 3 ends the job:\nTraceback" in done.stderr
    assert "KeyError: 'the reason'" in done.stderr
    assert "fine" not in done.stdout
