"""Ranks that may die: the others are told, take all that was sent before, and go on."""

import os
import re
import signal

import numpy as np
import pytest
from examples import LONG

from dlmini.comm import DeadRank, RankFailed, launch
from dlmini.comm.control import Control
from dlmini.comm.network import gigabit
from dlmini.comm.processes import Processes
from dlmini.events import Fault
from dlmini.sim import Cluster, Simulated

KILLS = 100 if LONG else 4
TRANSPORTS = {
    "processes": Processes,
    "over a network": lambda size: Processes(size, network=gigabit),
    "simulated": lambda size: Simulated(size, Cluster(crash={1: 2.5})),
}


@pytest.fixture(params=TRANSPORTS)
def on(request):
    return TRANSPORTS[request.param]


def die(comm):
    """Rank 1 dies here; in the simulator its time comes while it works."""
    if comm.rank == 1 and isinstance(comm, SIMULATED):
        comm.compute("work", None, flops=3e9)
    elif comm.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)


SIMULATED = type(Simulated(1).open(lambda comm: None).engine.ranks[0])


def deaths(results):
    return [(event.rank, event.deadly) for event in results.events if isinstance(event, Fault)]


def test_a_receive_by_name_takes_all_that_was_sent_then_names_the_dead(on):
    def program(comm):
        if comm.rank == 1:
            for number in range(3):
                comm.send(0, np.full(50_000, number, np.float32))
            die(comm)
        if comm.rank == 0:
            heard = [float(comm.recv(1)[-1]) for _ in range(3)]
            with pytest.raises(DeadRank, match=r"rank 0 waits for .*rank 1, which .*died"):
                comm.recv(1)
            comm.send(1, "nobody hears this")
            return heard, comm.gone()
        return comm.rank

    results = launch(program, on(3), may_die=range(3))
    assert results.values == [([0, 1, 2], {1}), None, 2]
    assert deaths(results) == [(1, True)]


def test_a_receive_from_anybody_tells_of_each_death_once(on):
    def program(comm):
        if comm.rank:
            comm.send(0, comm.rank, tag=5)
            die(comm)
            comm.recv(0)
            comm.send(0, comm.rank, tag=5)
            return comm.rank
        heard = []
        while len(heard) < 4:  # three messages and a death
            try:
                heard.append(comm.recv_any(5)[0])
            except DeadRank as error:
                heard.append(str(error))
        for rank in (2, 3):
            comm.send(rank, "go on")
        return heard, sorted(comm.recv_any(5)[0] for _ in range(2))

    (heard, later), *values = launch(program, on(4), may_die=range(4))
    [told] = [text for text in heard if isinstance(text, str)]
    assert re.search(r"rank 0 waits for .*anybody, and rank 1 .*died", told)
    assert heard.index(1) < heard.index(told)  # what it sent was taken before
    assert sorted({*heard} - {told}) == [1, 2, 3]
    assert (later, values) == ([2, 3], [None, 2, 3])


def test_a_sum_that_needs_the_dead_says_so(on):
    def program(comm):
        die(comm)
        with pytest.raises(DeadRank, match=r"rank . .*died"):
            comm.allreduce(np.ones(4, np.float32))
        return "alone"

    assert launch(program, on(2), may_die=range(2)).values == ["alone", None]


def test_what_is_sent_to_the_dead_costs_no_memory_and_holds_nobody(on):
    """Several times what rings and cells can hold, to one rank and to all."""

    def program(comm):
        die(comm)
        if comm.rank == 0:
            with pytest.raises(DeadRank):
                comm.recv(1)
        big = np.zeros(2**20 if isinstance(comm, SIMULATED) else 2**22, np.float32)
        for turn in range(8):
            if comm.rank == 0:
                comm.send(1, big)
                comm.send(2, turn)
        return comm.rank if comm.rank == 0 else [comm.recv(0) for _ in range(8)]

    place = Processes(3) if on is TRANSPORTS["over a network"] else on(3)  # a gigabyte there would take its time
    assert launch(program, place, may_die=range(3)).values == [0, None, list(range(8))]


def test_who_gives_up_is_dead_to_the_others_and_what_it_sent_is_taken():
    def program(comm):
        if comm.rank == 1:
            comm.send(0, np.arange(3.0))
            comm.recv(0)  # it has come
            comm.group([0, 1]).give_up()
        if comm.rank == 2:
            return comm.recv(0)
        heard = comm.recv(1).tolist()
        comm.send(1, "go")
        with pytest.raises(DeadRank, match="rank 1"):
            comm.recv(1)
        comm.send(2, "on")
        return heard, sorted(comm.gone())

    for on in (Simulated(3), Processes(3), Processes(3, network=gigabit)):
        results = launch(program, on, may_die=range(3))
        assert results.values == [([0, 1, 2], [1]), None, "on"], on
        assert deaths(results) == [(1, True)], on


def test_the_last_of_those_who_may_die_must_not(on):
    def program(comm):
        die(comm)

    with pytest.raises(RankFailed, match=r"rank 1 .*(was killed|died)") as caught:
        launch(program, on(3), may_die=[1])
    assert (caught.value.rank, caught.value.died) == (1, True)


def test_who_may_not_die_ends_the_run_as_ever(on):
    def program(comm):
        die(comm)
        if comm.rank == 0:
            comm.recv(1)

    with pytest.raises((RankFailed, DeadRank), match="rank 1"):
        launch(program, on(3), may_die=[0, 2])


def test_a_deadlock_among_survivors_is_still_seen(on):
    def program(comm):
        die(comm)
        comm.recv((comm.rank + 2) % 4)

    with pytest.raises(RuntimeError, match="wait"):
        launch(program, on(4), may_die=[1, 3])


def test_what_a_dead_rank_left_unread_and_unsaid_is_no_error(on):
    def program(comm):
        if comm.rank == 1:
            comm.send(0, "nobody asks for this")
        die(comm)
        if comm.rank == 0:
            with pytest.raises(DeadRank):
                comm.recv(1, tag=7)
            comm.send(1, "nor for this")
        return comm.rank

    assert launch(program, on(3), may_die=range(3)).values == [0, None, 2]


def test_a_group_renumbers_the_dead():
    def program(comm):
        if comm.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        if comm.rank == 0:
            return None
        group = comm.group([2, 1])
        with pytest.raises(DeadRank):
            group.recv(1)
        return group.gone()

    assert launch(program, Processes(3), may_die=range(3))[2] == {1}


def test_a_cut_link_and_a_death_hold_nobody():
    """What the dead one sent over the cut link is lost; who waits for it is told."""

    def program(comm):
        if comm.rank == 1:
            comm.send(0, "held at the cut")
        die(comm)
        if comm.rank == 0:
            with pytest.raises(DeadRank):
                comm.recv(1)
        return comm.rank

    for on in (Processes(3), Simulated(3, Cluster(crash={1: 2.5}))):
        control = Control(3)
        control.cut(0, 1)
        assert launch(program, on, control=control, may_die=range(3)).values == [0, None, 2]


def test_a_transport_without_this_says_so():
    class Other:
        size = 2

        def run(self, program, args=(), listen=None):
            raise AssertionError

    with pytest.raises(ValueError, match="end with the first that dies; use Simulated, Processes or Classroom"):
        launch(print, Other(), may_die=[0])
    with pytest.raises(ValueError, match="may_die"):
        launch(print, Simulated(2), may_die=[2])


# ---- killed in the middle of a message ----


def chatter(comm, seed, rounds):
    """Everybody sends everybody long vectors of one number each, and takes what comes: whole, in order, or nothing."""
    coin, heard = np.random.default_rng([seed, comm.rank]), dict.fromkeys(range(comm.size), 0)
    for t in range(rounds):
        for other in set(range(comm.size)) - {comm.rank}:
            comm.send(other, np.full(coin.integers(1, 200_000), comm.size * t + comm.rank, np.float32), tag=1)
        if t == 0:
            comm.emit(Fault("begun", "", rank=comm.rank))
        for other in set(range(comm.size)) - {comm.rank}:
            try:
                vector = comm.recv(other, tag=1)
            except DeadRank:
                continue
            assert (vector == comm.size * heard[other] + other).all(), "a torn or misplaced message"
            heard[other] += 1
    return heard


@pytest.mark.parametrize("seed", range(KILLS))
def test_killed_in_the_middle_of_a_message_it_breaks_no_other(seed):
    """The parent kills when a random rank has begun: somewhere in its first rounds of sending and receiving."""
    coin, control, rounds = np.random.default_rng(seed), Control(4), 30
    victim, witness = coin.choice(4, 2, replace=False).tolist()

    def listen(event):
        if event.rank == witness and isinstance(event, Fault) and event.kind == "begun":
            control.kill(victim)
        found.append(event)

    found = []
    values = launch(chatter, Processes(4), (seed, rounds), listen, control, may_die=range(4)).values
    assert [event.rank for event in found if isinstance(event, Fault) and event.deadly] == [victim]
    for rank in {0, 1, 2, 3} - {victim}:
        others = {other: count for other, count in values[rank].items() if other not in (rank, victim)}
        assert set(others.values()) == {rounds}
        assert values[rank][victim] <= rounds
