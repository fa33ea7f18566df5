"""MPI over a real network: hosts that are network namespaces, joined by a switch, on links of a known rate."""

import os
import pickle

import mpi_programs
import pytest
from hosts import hosts, unavailable
from threads import Threads

from dlmini.comm.launch import launch
from dlmini.comm.mpi import mpiexec as start
from dlmini.comm.mpi.mpiexec import missing, mpiexec, version
from dlmini.comm.network import Link, Switch, gigabit
from dlmini.sim.simulated import Simulated

LONG = bool(os.environ.get("DLMINI_LONG"))
ROUNDS = 20 if LONG else 5
pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True, scope="module")
def _possible():
    foreign = "" if missing() or "Open MPI" in version(mpiexec()) else "the settings of these hosts are for Open MPI"
    if why := missing() or foreign or unavailable():
        pytest.skip(why)


hundred_megabit = Switch(Link(100e-6, 11.7e6))  # gigabit's figures, a tenth of its rate


def launched(on_first, folder, size, program, argument):
    file = folder / "found"
    on_first(os.path.join(os.path.dirname(__file__), "on_hosts.py"), size, program, argument, file)
    return pickle.loads(file.read_bytes())


GIGABIT = pytest.param("1gbit", "256kb", gigabit, 2.0, id="1 Gbit/s")  # where few cores are a bottleneck too
HUNDRED_MEGABIT = pytest.param("100mbit", "128kb", hundred_megabit, 1.3, id="100 Mbit/s")


@pytest.mark.parametrize(
    ("rate", "burst", "network", "most"), [GIGABIT, HUNDRED_MEGABIT] if LONG else [HUNDRED_MEGABIT]
)
@pytest.mark.parametrize("size", [2, 4] if LONG else [2])
def test_an_allreduce_takes_as_long_as_the_simulator_says(tmp_path, size, rate, burst, network, most):
    with hosts(size, tmp_path, rate, burst) as on_first:
        measured = launched(on_first, tmp_path, size, "timed_sums", ROUNDS)[0]
    predicted = launch(mpi_programs.timed_sums, Simulated(size, network), (1,))[0]
    for how, seconds in measured.items():
        ratio = min(seconds) / predicted[how][0]
        print(f"{size} hosts, {rate}, {how}: {min(seconds):.4f} s measured, {predicted[how][0]:.4f} s simulated")
        assert ratio > 0.9, (how, ratio)  # a link's first bytes come in a burst: it may be a little faster
        assert not LONG or ratio < most, (how, ratio)  # only where nobody else wants the cores


def test_ranks_on_different_hosts_agree_bit_for_bit_with_threads(tmp_path):
    with hosts(3, tmp_path, "1gbit") as on_first:
        found = launched(on_first, tmp_path, 3, "everything", 3)
    truth = launch(mpi_programs.everything, Threads(3), (3,))
    assert found.values == truth.values
    assert found.books == truth.books


@pytest.mark.parametrize(("how", "words"), [("raise", "KeyError"), ("kill", "was lost before its program")])
def test_a_rank_that_fails_on_another_host_ends_the_job(tmp_path, how, words):
    with hosts(3, tmp_path, "1gbit") as on_first:
        assert words in launched(on_first, tmp_path, 3, "one_fails", how)


def test_the_key_of_a_run_is_not_among_what_mpiexec_sends_to_other_hosts(tmp_path):
    names = f"{start.HOME},{start.KEY},{start.FILE}"
    with hosts(2, tmp_path, "1gbit") as on_first:
        found = launched(on_first, tmp_path, 2, "initial_environment", names)
    assert found.values == [([True, False, True], [True, False, False])] * 2
