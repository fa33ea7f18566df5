"""Ranks die and come back; what they said stays said, what they knew is lost."""

import numpy as np
import pytest

from dlmini.comm import CommError, DeadRank, launch
from dlmini.events import Fault
from dlmini.sim import Cluster, Simulated


def faults(results):
    return [(e.kind, e.rank, e.at) for e in results.events if isinstance(e, Fault)]


def test_a_rank_dies_in_the_middle_of_its_work():
    def program(comm):
        for _ in range(10):
            comm.compute("work", None, flops=1e9)
        return "done"

    results = launch(program, Simulated(3, Cluster(crash={1: 4.5})))
    assert results.values == ["done", None, "done"]
    assert faults(results) == [("crashed", 1, 4.5)]


def test_a_rank_dies_while_it_waits():
    def program(comm):
        if comm.rank == 1:
            return comm.recv(0)
        comm.compute("work", None, flops=5e9)
        comm.send(1, "too late")
        return "sent"

    results = launch(program, Simulated(2, Cluster(crash={1: 2.0})))
    assert results.values == ["sent", None]
    assert faults(results) == [("crashed", 1, 2.0)]


def test_what_was_sent_before_death_arrives():
    def program(comm):
        if comm.rank == 1:
            comm.send(0, "testament")
            comm.compute("work", None, flops=1e9)
            comm.send(0, "never")
            return None
        first = comm.recv(1)
        with pytest.raises(DeadRank):
            comm.recv(1)
        return first, comm.now()

    assert launch(program, Simulated(2, Cluster(crash={1: 0.5})))[0] == ("testament", 0.5)


def test_a_rank_comes_back_and_begins_anew():
    def program(comm):
        if comm.rank == 0:
            return [comm.recv(1) for _ in range(4)], comm.now()
        for step in range(3):
            comm.compute("work", None, flops=1e9)
            comm.send(0, (comm.life, step))
        return comm.life

    results = launch(program, Simulated(2, Cluster(crash={1: 1.5}, back={1: 10.0})))
    heard, now = results[0]
    assert heard == [(0, 0), (1, 0), (1, 1), (1, 2)]
    assert now == pytest.approx(13, abs=1e-3)
    assert results[1] == 1
    assert faults(results) == [("crashed", 1, 1.5), ("returned", 1, 10.0)]


def test_messages_to_a_dead_rank_are_lost_and_later_ones_arrive():
    def program(comm):
        if comm.rank == 0:
            for second in range(6):
                comm.send(1, second)
                comm.compute("work", None, flops=1e9)
            return None
        heard = [comm.recv(0)]
        while comm.life == 0 or heard[-1] < 5:
            heard.append(comm.recv(0))
        return heard

    results = launch(program, Simulated(2, Cluster(crash={1: 1.5}, back={1: 3.5})))
    assert results[1] == [4, 5]


def test_a_message_that_comes_after_death_is_not_received_by_running_ahead():
    def program(comm):
        if comm.rank == 0:
            comm.send(1, np.zeros(117_000_000, np.uint8))
            return None
        comm.recv(0)
        return "received"

    assert launch(program, Simulated(2, Cluster(crash={1: 0.9}))).values == [None, None]
    assert launch(program, Simulated(2, Cluster(crash={1: 1.1}))).values == [None, "received"]


def test_cleaning_up_in_a_dying_rank_sends_nothing():
    def program(comm):
        if comm.rank == 1:
            try:
                comm.compute("work", None, flops=1e9)
            finally:
                comm.send(0, "from the grave")
            return None
        with pytest.raises(DeadRank):
            comm.recv(1)
        return "alone"

    assert launch(program, Simulated(2, Cluster(crash={1: 0.5}))).values == ["alone", None]


def test_a_fault_tolerant_program_goes_on_without_the_dead():
    def program(comm):
        alive, total = list(range(comm.size)), 0
        for t in range(4):
            comm.compute("work", None, flops=1e9)
            if comm.rank:
                comm.send(0, comm.rank, tag=t)
                continue
            for other in alive[1:]:
                try:
                    total += comm.recv(other, tag=t)
                except DeadRank:
                    alive.remove(other)
        return total, alive

    results = launch(program, Simulated(4, Cluster(crash={2: 2.5})))
    assert results[0] == (4 * (1 + 3) + 2 * 2, [0, 1, 3])


def test_a_posted_collective_dies_with_its_rank():
    def program(comm):
        comm.compute("work", None, flops=1e9 * comm.rank)
        pending = comm.allreduce(np.ones(4), wait=False)
        comm.compute("work", None, flops=3e9)
        try:
            return pending.wait()[0]
        except CommError:  # rank 1 is dead, or the other has given up because of it
            return "alone"

    results = launch(program, Simulated(3, Cluster(crash={1: 1.5})))
    assert results.values == ["alone", None, "alone"]
    assert faults(results) == [("crashed", 1, 1.5)]
    assert launch(program, Simulated(3, Cluster(crash={1: 1.5}, priced=False))) == results


def test_crashes_are_the_same_for_the_same_seed():
    def program(comm):
        heard = []
        for t in range(5):
            comm.compute("work", None, flops=1e9)
            comm.send((comm.rank + 1) % comm.size, (comm.rank, comm.life, t))
        while comm.poll():
            heard.append(comm.recv_any())
        return heard

    cluster = Cluster(crash={0: 2.2, 2: 3.3}, back={0: 4.0}, jitter=0.2, link_jitter=1.0)
    runs = [launch_quietly(program, Simulated(4, cluster, seed=9)) for _ in range(2)]
    assert runs[0] == runs[1]


def launch_quietly(program, on):
    """Results, or the words of the error (here messages remain unread)."""
    try:
        return launch(program, on).values
    except RuntimeError as error:
        return str(error)
