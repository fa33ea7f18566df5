"""Whoever waits in vain hears about it at once: who waits for whom, with tags and lines, as text and as data."""

import sys

import numpy as np
import pytest

from dlmini.comm import CommError, Deadlock, DeadRank, RankFailed, Unreceived, Unserved, launch
from dlmini.comm.ghost import Ghost
from dlmini.sim import Cluster, Simulated


@pytest.fixture(params=[True, False], ids=["priced", "played"])
def on(request):
    return lambda n, **more: Simulated(n, Cluster(priced=request.param, **more), seed=5)


def failure(kind, program, on):
    with pytest.raises(kind) as caught:
        launch(program, on)
    assert type(caught.value) is kind
    return caught.value


def test_a_circle_of_receives_is_a_deadlock():
    def program(comm):
        comm.recv((comm.rank + 1) % comm.size, tag=7)  # the circle
        comm.send((comm.rank - 1) % comm.size, "too late", tag=7)

    error = failure(Deadlock, program, Simulated(3, seed=5))
    assert [(w.rank, w.on) for w in error.waits] == [(0, (1,)), (1, (2,)), (2, (0,))]
    text = str(error)
    assert "3 of 3 ranks wait, and nothing can happen any more (seed 5)" in text
    assert "rank 0 --> 1   at 0 s: receives from rank 1 (tag 7)" in text
    assert "# the circle" in text
    assert "a circle: 0 --> 1 --> 2 --> 0" in text


def test_a_wrong_tag_shows_the_unread_message():
    def program(comm):
        comm.send(1 - comm.rank, None, tag=1)
        comm.recv(1 - comm.rank, tag=2)

    assert "receives from rank 1 (tag 2); unread: from rank 1 (tag 1)" in str(failure(Deadlock, program, Simulated(2)))


def test_waiting_for_anybody_when_nobody_can_send_is_a_deadlock():
    error = failure(Deadlock, lambda comm: comm.recv_any(tag=4), Simulated(3))
    assert error.waits[0].on == (1, 2)
    assert "receives from anybody (tag 4)" in str(error)


def test_a_receive_from_a_rank_that_has_finished_fails_at_once():
    def program(comm):
        if comm.rank == 0:
            comm.recv(1, tag=3)  # never served
        if comm.rank == 2:
            comm.compute("long", None, flops=1e15)

    error = failure(Unserved, program, Simulated(3))
    assert "rank 0 waits for rank 1, which has finished" in str(error)
    assert "# never served" in str(error)
    assert "on rank 0 of 3" in error.__notes__[0]


def test_it_fails_at_once_even_if_others_go_on_for_ever():
    def program(comm):
        if comm.rank == 0:
            comm.recv(1)
        while comm.rank > 1:
            comm.send(5 - comm.rank, None)
            comm.recv(5 - comm.rank)

    failure(Unserved, program, Simulated(4))


def test_a_message_that_is_still_under_way_is_waited_for():
    def program(comm):
        if comm.rank == 1:
            comm.send(0, "last words")
            return None
        comm.compute("work", None, flops=1e3)
        return comm.recv(1)

    assert launch(program, Simulated(2))[0] == "last words"


def test_a_collective_without_a_rank_that_has_finished_fails(on):
    def program(comm):
        if comm.rank:
            comm.allreduce(np.ones(3))  # alone

    error = failure(Unserved, program, on(3))
    assert "waits for rank 0, which has finished" in str(error)
    assert "allreduce" in str(error)
    assert "# alone" in str(error)


def test_a_collective_that_some_never_reach_is_a_deadlock(on):
    def program(comm):
        if comm.rank == 0:
            comm.recv(1)
        comm.barrier()

    error = failure(Deadlock, program, on(3))
    assert "barrier" in str(error)
    assert {w.rank for w in error.waits} == {0, 1, 2}


def test_a_posted_collective_that_is_stuck_shows_where_it_was_posted():
    def program(comm):
        if comm.rank == 0:
            pending = comm.allreduce(np.ones(3), wait=False)  # posted here
            comm.recv(1)
            pending.wait()
        else:
            comm.recv(0)

    error = failure(Deadlock, program, Simulated(2, Cluster(priced=False)))
    assert "2 of 2 ranks wait" in str(error)
    assert [(w.rank, w.what.split(";")[0]) for w in error.waits] == [
        (0, "receives from rank 1 (tag 0)"),
        (1, "receives from rank 0 (tag 0)"),
        (0, "receives from rank 1 (allreduce)"),
    ]
    assert "# posted here" in error.waits[2].where


def test_messages_that_nobody_receives_are_listed_with_their_lines():
    def program(comm):
        if comm.rank == 0:
            for tag in range(25):
                comm.send(1, b"12345", tag=tag)  # unheard
            comm.group([0, 1]).send(1, "in a group")  # also unheard
        else:
            comm.group([1, 2]) if comm.rank == 2 else None

    error = failure(Unreceived, program, Simulated(3))
    assert len(error.messages) == 26
    assert error.messages[3][:4] == (0, 1, 3, 5)
    assert "26 messages were sent but never received" in str(error)
    assert "0 --> 1, tag 0, 5 bytes" in str(error)
    assert "# unheard" in error.messages[0].where
    assert "# also unheard" in error.messages[25].where
    assert "... and 6 more" in str(error)


def test_polling_for_ever_is_a_deadlock():
    def program(comm):
        while not comm.poll():
            pass

    assert "polls for ever" in str(failure(Deadlock, program, Simulated(3)))


def test_waiting_for_a_dead_rank_fails_at_the_time_of_its_death():
    def program(comm):
        if comm.rank == 1:
            comm.compute("long", None, flops=5e9)
            comm.send(0, "never")
            return None
        try:
            return comm.recv(1, tag=2)
        except DeadRank as error:
            return comm.now(), str(error)

    now, text = launch(program, Simulated(2, Cluster(crash={1: 2.5})))[0]
    assert now == 2.5
    assert "rank 0 waits for rank 1, which died at 2.5 s" in text
    assert "receives from rank 1 (tag 2), which is dead" in text


def test_a_dead_rank_ends_a_collective_with_an_error():
    def program(comm):
        comm.compute("work", None, flops=1e9)
        comm.allreduce(np.ones(4))

    assert "which died at 0.5 s" in str(failure(DeadRank, program, Simulated(4, Cluster(crash={2: 0.5}))))


def test_long_lists_are_cut_short():
    error = failure(Deadlock, lambda comm: comm.recv_any(), Simulated(40))
    assert "... and 20 more" in str(error)
    assert len(error.waits) == 40


def test_the_same_ranks_in_another_order_are_named_as_another_group():
    def program(comm):
        comm.group([2, 1, 0] if comm.rank == 1 else [0, 1, 2]).allreduce(np.zeros(3))

    with pytest.raises(Deadlock) as caught:
        launch(program, Simulated(3))
    said = "its group is [2, 1, 0], that of rank 0 is [0, 1, 2]: name them in the same order"
    assert said in {w.rank: w.what for w in caught.value.waits}[1]


@pytest.mark.parametrize("code", [None, 0, 3, "enough"])
def test_a_rank_that_leaves_by_exit_is_named_and_takes_nobody_with_it(code):
    def program(comm):
        if comm.rank == 2:
            sys.exit(code)
        comm.barrier()

    with pytest.raises(RankFailed, match=r"rank 2 left by sys\.exit\(.*\) at 0 s") as caught:
        launch(program, Simulated(4))
    assert caught.value.rank == 2
    assert "sys.exit(code)" in str(caught.value)
    assert __file__ in str(caught.value)


def test_a_rank_with_numbers_among_ghosts_is_told_so():
    def program(comm):
        comm.allreduce(np.zeros(3) if comm.rank == 1 else Ghost(3, "f8"))

    with pytest.raises(CommError, match=r"of 3 float64 in a ndarray, while rank 0 called .* of 3 float64 in a Ghost"):
        launch(program, Simulated(2))
