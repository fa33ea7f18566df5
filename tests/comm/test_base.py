"""What every transport inherits from Comm: booking, groups, checks. Run on threads, the smallest transport."""

import numpy as np
import pytest
from threads import Threads

from dlmini.comm.channels import ALLREDUCE, checked_tag, context_of, name_of, tag_of
from dlmini.comm.launch import launch
from dlmini.comm.schedules import ring
from dlmini.events import PHASES, Round, Span, totals


def test_messages_of_one_source_and_tag_keep_their_order():
    def program(comm):
        if comm.rank == 0:
            for i in range(20):
                comm.send(1, i, tag=i % 2)
            return None
        odd = [comm.recv(0, tag=1) for _ in range(10)]
        return odd, [comm.recv(0, tag=0) for _ in range(10)]

    assert launch(program, Threads(2))[1] == (list(range(1, 20, 2)), list(range(0, 20, 2)))


def test_the_ledger_books_messages_and_bytes_per_pair_and_tag():
    def program(comm):
        comm.send((comm.rank + 1) % 3, np.zeros(10, np.float32), tag=5)
        comm.send((comm.rank + 1) % 3, np.zeros(5, np.float32), tag=5)
        comm.send(comm.rank, "self", tag=6)
        comm.recv((comm.rank - 1) % 3, tag=5), comm.recv((comm.rank - 1) % 3, tag=5), comm.recv(comm.rank, tag=6)

    books = launch(program, Threads(3)).books
    assert books.per_pair()[0, 1] == (2, 60)
    assert books.per_pair()[2, 2] == (1, 4)
    assert books.per_tag() == {5: (6, 180), 6: (3, 12)}
    assert books.per_sender()[1] == (3, 64)
    assert books.total() == (9, 192)


def test_a_ring_books_exactly_its_closed_form():
    results = launch(lambda comm: comm.allreduce(np.ones(1000, np.float32), how=ring), Threads(5))
    for sent in results.books.per_sender().values():
        assert sent == (2 * 4, 2 * 4 * 4000 // 5)
    assert set(results.books.per_tag()) == {ALLREDUCE}


def test_spans_add_up_to_the_phases():
    def program(comm):
        comm.compute("outer", lambda: comm.compute("inner", comm.barrier))
        comm.emit(Round(0, 0.5, 12))

    on = Threads(3, spans=True)
    launch(program, on)
    for comm in on.comms:
        told = totals(comm.told)[comm.rank]
        for phase in PHASES:
            assert getattr(told, phase) == pytest.approx(getattr(comm.phases, phase), abs=1e-9)
        assert {e.label for e in comm.told if isinstance(e, Span)} - {"sum", ""} == {"outer", "inner"}
        assert [e.rank for e in comm.told if isinstance(e, Round)] == [comm.rank]


def test_groups_are_renumbered_and_their_messages_never_meet_the_world_s():
    def program(comm):
        half = comm.group([r for r in reversed(range(comm.size)) if r % 2 == comm.rank % 2])
        comm.send((comm.rank + 2) % comm.size, "world")
        half.send((half.rank - 1) % half.size, "half")
        inner = half.group([half.rank])
        inner.send(0, "inner")
        words = inner.recv(0), half.recv_any()[1], comm.recv((comm.rank - 2) % comm.size)
        return half.rank, half.size, half.allgather(comm.rank), words, half.allreduce(np.array([1 << comm.rank]))

    results = launch(program, Threads(6))
    assert results[0] == (2, 3, [4, 2, 0], ("inner", "half", "world"), 0b010101)
    assert results[5] == (0, 3, [5, 3, 1], ("inner", "half", "world"), 0b101010)


def test_a_group_s_traffic_is_booked_in_the_world_s_ranks():
    def program(comm):
        if comm.rank:
            comm.group([2, 1]).barrier()

    assert set(launch(program, Threads(3)).books.per_pair()) == {(1, 2), (2, 1)}


def test_poll_says_whether_a_receive_would_wait():
    def program(comm):
        if comm.rank == 0:
            comm.send(0, "x", tag=3)
            return comm.poll(0, tag=3), comm.poll(tag=3), comm.poll(0, tag=4), comm.poll(1, tag=3), comm.recv(0, tag=3)
        return None

    assert launch(program, Threads(2))[0] == (True, True, False, False, "x")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda c: c.send(3, 1), ValueError, "rank 0 wants to send to rank 3, but the ranks are 0 ... 2"),
        (lambda c: c.recv(-1), ValueError, "receive from rank -1"),
        (lambda c: c.send(1, 1, tag=-1), ValueError, "negative tags belong to the collectives"),
        (lambda c: c.send(1, 1, tag="a"), TypeError, "a tag is a whole number"),
        (lambda c: c.group([1, 2]), ValueError, "to which it does not belong"),
        (lambda c: c.group([0, 1, 1]), ValueError, "once"),
        (lambda c: c.allreduce(1.0), TypeError, r"np.array\(\[x\]\)"),
        (lambda c: c.allreduce(np.array(["a"])), TypeError, "an array of <U1"),
        (lambda c: c.bcast(1, root=9), ValueError, "broadcast from rank 9"),
    ],
)
def test_nonsense_is_refused_with_a_sentence(call, error, words):
    with pytest.raises(error, match=words):
        launch(lambda comm: call(comm) if comm.rank == 0 else None, Threads(3))


def test_numpy_integers_are_tags_too():
    assert checked_tag(np.int64(5)) == 5


def test_vectors_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="vectors of the same length"):
        launch(lambda comm: comm.allreduce(np.ones(4 + comm.rank)), Threads(2))


def test_only_transports_and_functions_are_launched():
    with pytest.raises(TypeError, match="it must be a transport"):
        launch(print, 4)
    with pytest.raises(TypeError, match="must be a function"):
        launch(7, Threads(2))


def test_a_channel_is_a_group_and_a_tag():
    context = context_of([3, 1])
    assert context != context_of([1, 3])
    for tag in (0, 7, 2**31 - 1, ALLREDUCE):
        assert tag_of(context + tag) == tag_of(tag) == tag
    assert name_of(context + ALLREDUCE) == "allreduce of a group"
    assert name_of(4) == "tag 4"
