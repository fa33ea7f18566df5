"""Waiting for a message, but not for ever: what comes first, the message or the time."""

import pytest

from dlmini import Cluster, Mpi, Processes, Simulated, launch
from dlmini.comm import DeadRank, Link, Switch
from dlmini.comm.mpi.mpiexec import missing

TRANSPORTS = [Simulated, Processes] + ([] if missing() else [Mpi])


@pytest.mark.parametrize("on", TRANSPORTS)
def test_it_says_whether_a_message_is_here_in_time(on):
    def program(comm):
        if comm.rank == 1:
            comm.recv(0, tag=1)
            comm.send(0, "at last", tag=2)
            return None
        early = comm.arrives(0.01, tag=2)
        comm.send(1, "go", tag=1)
        there = comm.arrives(60.0, tag=2)
        again = comm.arrives(0.0, tag=2)  # it was not taken
        return early, there, again, comm.recv(1, tag=2), comm.arrives(0.0, tag=2)

    assert launch(program, on(2))[0] == (False, True, True, "at last", False)


def test_in_virtual_time_it_takes_what_it_waits_and_no_more():
    def program(comm):
        if comm.rank == 1:
            comm.compute("work", None, flops=1.0)
            comm.send(0, "hello")
            return None
        found = [(comm.arrives(0.25), comm.now()), (comm.arrives(5.0), comm.now())]
        comm.recv(1)
        return found, comm.phases.waiting

    place = Cluster(flops=1.0, network=Switch(Link(0.5, float("inf"))))
    (found, waiting), _ = launch(program, Simulated(2, place))
    assert found == [(False, 0.25), (True, 1.5)]
    assert waiting == 1.5


def test_in_a_group_only_its_own_messages_count():
    def program(comm):
        group = comm.group([0, 1])
        if comm.rank == 1:
            comm.send(0, "of the world")
            comm.recv(0)
            group.send(0, "of the group")
            return None
        comm.arrives(60.0)
        before = group.arrives(0.01)
        comm.send(1, "go on")
        return before, group.arrives(60.0), comm.recv(1), group.recv(1)

    for on in (Simulated(2), Processes(2)):
        assert launch(program, on)[0] == (False, True, "of the world", "of the group")


def test_whoever_waits_so_is_told_of_a_death_in_virtual_time():
    def program(comm):
        if comm.rank == 1:
            comm.compute("work", None, flops=1e12)
        if comm.rank == 0:
            with pytest.raises(DeadRank):
                comm.arrives(60.0)
            return comm.gone()
        return None

    assert launch(program, Simulated(3, Cluster(crash={1: 2.0})), may_die=range(3))[0] == {1}


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), "soon"])
def test_a_time_that_is_none_is_refused(seconds):
    with pytest.raises((ValueError, TypeError), match="seconds"):
        launch(lambda comm: comm.arrives(seconds), Simulated(1))
