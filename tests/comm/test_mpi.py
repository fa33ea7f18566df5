"""Ranks of MPI against ranks that are threads or live in virtual time: the same bits, the same books."""

import os
import subprocess
import sys
import threading

import mpi_programs
import numpy as np
import pytest
from threads import Threads

from dlmini.comm.launch import launch
from dlmini.comm.mpi import Mpi
from dlmini.comm.mpi.mpiexec import missing
from dlmini.sim.simulated import Simulated

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "MPI is here")
LIMIT = 120  # seconds: a test that hangs should say so itself


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_every_collective_and_random_talk_agree_bit_for_bit_with_other_transports(size):
    found = launch(mpi_programs.everything_and_native, Mpi(size, timeout=LIMIT), (size,))
    exact, errors = zip(*found, strict=True)
    assert all(here["aliasing"] for here in exact)
    assert max(errors) <= size  # eps
    for on in (Threads(size), Simulated(size)):
        for rank, truth in enumerate(launch(mpi_programs.everything, on, (size,))):
            for name, expected in truth.items():
                assert exact[rank][name] == expected, (type(on).__name__, rank, name)


@pytest.mark.parametrize("size", [2, 3])
def test_the_books_are_those_of_other_transports(size):
    found = launch(mpi_programs.everything_and_native, Mpi(size, timeout=LIMIT), (size,)).books
    for on in (Threads(size), Simulated(size)):
        assert found == launch(mpi_programs.everything_and_native, on, (size,)).books, type(on).__name__


def test_what_is_longer_than_mpi_can_count_travels_in_parts():
    assert all(launch(mpi_programs.in_parts, Mpi(3, timeout=LIMIT), (30_001,)))


@pytest.mark.parametrize("size", [2, 3])
def test_arrays_of_every_kind_and_size_arrive_whoever_comes_first(size):
    found = launch(mpi_programs.all_kinds, Mpi(size, timeout=LIMIT))
    assert all(fine and count == 13 * 6 * 4 * 2 for count, fine in found)


def test_a_message_is_the_sender_s_again_when_send_returns_also_if_the_receiver_has_waited_for_it():
    (direct, _), (_, fine) = launch(mpi_programs.handed_over, Mpi(2, timeout=LIMIT), (100,))
    assert fine
    assert direct == 100


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads /proc")
@pytest.mark.parametrize(("count", "nbytes"), [(10_000, 2**16), (2_000, 2**17), (200, 2**22)])
def test_nothing_is_kept_of_letters_that_were_taken(count, nbytes):
    for still, grown in launch(mpi_programs.kept, Mpi(2, timeout=LIMIT), (count, nbytes)):
        assert still == 0
        assert grown < count / 4  # letters


def test_a_run_tells_events_clocks_phases_and_prints(capfd):
    heard = []
    results = launch(mpi_programs.observed, Mpi(3, timeout=LIMIT), (4,), listen=heard.append)
    assert sorted((e.rank, e.t) for e in heard) == [(rank, t) for rank in range(3) for t in range(4)]
    assert results.events == []  # who listens keeps what he wants
    gaps, seen, here, threads, folders = zip(*results, strict=True)
    apart = max(gaps) - min(gaps)  # exactly, since all ranks share this machine's clock; how little: test_mpi_clock.py
    assert all(sent <= came + apart for sent, came in zip(seen, here, strict=True))
    assert set(threads) == {"1"}
    assert len(set(folders)) == 1
    assert 0 < max(here) <= results.seconds
    assert all(phases.compute > 0 for phases in results.phases)
    assert sorted(capfd.readouterr().out.splitlines()) == [f"rank {rank} was here" for rank in range(3)]


NOTEBOOK = """
from dataclasses import dataclass
from dlmini.comm.launch import launch
from dlmini.comm.mpi import Mpi
from dlmini.events import Event

@dataclass(frozen=True)
class Said(Event):
    word: str

class Answer:
    def __init__(self, total):
        self.total = total

factor = 10

def program(comm, x):
    comm.emit(Said("hello"))
    return Answer(factor * sum(comm.allgather(x * comm.rank)))

heard = []
results = launch(program, Mpi(2, timeout=100), (3,), listen=heard.append)
assert all(type(answer) is Answer and answer.total == 30 for answer in results)
assert [(type(e), e.word) for e in heard] == [(Said, "hello")] * 2
"""


def test_functions_and_classes_of_a_cell_travel():
    subprocess.run([sys.executable, "-c", NOTEBOOK], check=True, timeout=LIMIT)


def test_numbers_of_ranks_that_make_no_sense_are_refused():
    for nonsense in (0, -1, 2.0, True):
        with pytest.raises((ValueError, TypeError), match=r"size is .* a whole number of at least 1: ranks"):
            Mpi(nonsense)
    with pytest.raises(ValueError, match="finds its ranks only inside mpiexec"):
        Mpi()
    with pytest.raises(ValueError, match="places for 3 ranks, but there are 4"):
        Mpi(4, hosts=["a:1", "b:2"])
    with pytest.raises(TypeError, match="a list of names"):
        Mpi(4, hosts="a")


def test_what_cannot_travel_is_refused_before_anything_starts():
    with pytest.raises(TypeError, match="cannot travel"):
        launch(lambda comm, lock: None, Mpi(2), (threading.Lock(),))


def test_vectors_that_differ_are_refused_as_elsewhere():
    def program(comm):
        try:
            comm.allreduce(np.ones(4 + comm.rank))
        except ValueError as error:
            first = str(error)
        try:
            comm.reduce_scatter(np.ones(4, "f4" if comm.rank else "f8"))
        except ValueError as error:
            return first, str(error)

    lengths, kinds = launch(program, Mpi(2, timeout=LIMIT))[1]
    assert "same length, but rank 0 brings 4 float64 to allreduce; rank 1 brings 5" in lengths
    assert "one kind, but rank 0 brings 4 float64 to reduce_scatter; rank 1 brings 4 float32" in kinds
