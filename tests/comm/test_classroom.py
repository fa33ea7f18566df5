"""Ranks on PCs of a room against ranks that are threads or live in virtual time: the same bits, the same books."""

import os
import threading
import time

import mpi_programs
import numpy as np
import pytest
from classrooms import another, classroom
from threads import Threads

from dlmini.comm import Deadlock, RankFailed, Unreceived, Unserved, launch, ring
from dlmini.comm.classroom import Classroom
from dlmini.comm.control import Control
from dlmini.events import Round
from dlmini.sim.simulated import Simulated


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    with classroom(5, tmp_path_factory.mktemp("room")) as (found, _):
        yield found


@pytest.mark.parametrize(
    ("size", "encrypt", "other"), [(1, False, Threads), (2, True, Simulated), (3, True, Threads), (5, False, Threads)]
)
def test_every_collective_and_random_talk_agree_bit_for_bit_with_other_transports(room, size, encrypt, other):
    found = launch(mpi_programs.everything_and_native, another(room, size, encrypt=encrypt), (size,))
    truth = launch(mpi_programs.everything_and_native, other(size), (size,))
    for (here, error), (there, _) in zip(found, truth, strict=True):
        assert here["aliasing"]
        assert error <= size  # eps
        assert here == there
    assert found.books == truth.books


@pytest.mark.parametrize("size", [3, 4])
@pytest.mark.parametrize("length", [0, 1, 2, 5, 1000, 200_001])
def test_native_sums_are_those_of_the_ring_to_the_bit_and_in_the_books(room, size, length):
    """Whichever way the chunks take."""

    def program(comm, how):
        x = np.random.default_rng([comm.rank, length]).standard_normal(length).astype(np.float32)
        hows = {} if how is None else {"how": how}
        return comm.allreduce(x, **hows), comm.reduce_scatter(x, **hows), comm.allgather(x[: comm.rank], **hows)

    ours, rings = (launch(program, another(room, size), (how,)) for how in (None, ring))
    for rank in range(size):
        for mine, right in zip(ours[rank][:2], rings[rank][:2], strict=True):
            np.testing.assert_array_equal(mine, right)
        for mine, right in zip(ours[rank][2], rings[rank][2], strict=True):
            np.testing.assert_array_equal(mine, right)
    assert ours.books == rings.books


def posted(comm):
    """Sums that are posted, worked on beside other work and messages, and waited for out of their order."""
    found = []
    for length in (0, 1, 5, 30_000):
        x = np.random.default_rng([comm.rank, length]).standard_normal(length).astype(np.float32)
        pending = [verb(x, wait=False) for verb in (comm.allreduce, comm.reduce_scatter)]
        x[:] = np.nan
        comm.compute("work", lambda: [comm.reached(share / 4) for share in range(5)])
        comm.send((comm.rank + 1) % comm.size, length)
        assert comm.arrives(60.0)
        assert comm.recv((comm.rank - 1) % comm.size) == length
        found += [one.wait() for one in reversed(pending)]
    return found


def test_posted_sums_give_the_bits_of_virtual_time(room):
    for mine, right in zip(launch(posted, another(room, 3)), launch(posted, Simulated(3)), strict=True):
        for ours, theirs in zip(mine, right, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_arrays_of_every_kind_and_size_arrive_whoever_comes_first(room):
    found = launch(mpi_programs.all_kinds, another(room, 3))
    assert all(fine and count == 13 * 6 * 4 * 2 for count, fine in found)


def test_a_run_tells_events_clocks_phases_and_prints(room, capsys):
    heard = []
    results = launch(mpi_programs.observed, another(room, 3), (4,), listen=heard.append)
    assert sorted((e.rank, e.t) for e in heard if isinstance(e, Round)) == [(r, t) for r in range(3) for t in range(4)]
    gaps, seen, here, threads, _ = zip(*results, strict=True)
    apart = max(gaps) - min(gaps)  # exactly, since all ranks share this machine's clock
    assert all(sent <= came + apart for sent, came in zip(seen, here, strict=True))
    assert set(threads) == {"1"}
    assert all(phases.compute > 0 for phases in results.phases)
    said = [line for line in capsys.readouterr().out.splitlines() if "was here" in line]
    assert sorted(said) == [f"rank {rank} was here" for rank in range(3)]


def test_functions_of_ones_own_files_travel_to_pcs_that_have_no_such_files(room, tmp_path, monkeypatch):
    (tmp_path / "only_the_lecturer_has_this.py").write_text("def twice(x):\n    return 2 * x\n")
    monkeypatch.syspath_prepend(tmp_path)
    import only_the_lecturer_has_this as mine

    def program(comm):
        return mine.twice(comm.rank), os.getpid()

    found = launch(program, another(room, 2))
    assert [value for value, _ in found] == [0, 2]
    assert len({os.getpid(), *(pid for _, pid in found)}) == 3


def test_a_rank_that_raises_is_named_with_its_pc_and_the_room_stays(room):
    def program(comm):
        if comm.rank == 1:
            raise KeyError("lost")
        comm.recv(1)

    with pytest.raises(KeyError, match="lost") as caught:
        launch(program, another(room, 3))
    assert "raised on rank 1 (pc-" in caught.value.__notes__[0]
    assert launch(lambda comm: comm.rank, room) == list(range(5))


def test_who_is_killed_or_exits_is_named_and_the_next_run_has_new_ranks(room):
    def program(comm, how):
        if comm.rank == 2:
            os.kill(os.getpid(), 9) if how == "kill" else os._exit(3)
        comm.allreduce(np.ones(4))

    for how, words in (("kill", r"rank 2 \(pc-.\) was killed by SIGKILL"), ("exit", r"ended with exit code 3")):
        with pytest.raises(RankFailed, match=words) as caught:
            launch(program, another(room, 3), (how,))
        assert (caught.value.rank, caught.value.died) == (2, True)
    assert launch(lambda comm: comm.rank, room) == list(range(5))


def test_a_deadlock_is_seen_at_once_and_says_who_waits_for_whom(room):
    def program(comm):
        if comm.rank < 3:
            comm.recv((comm.rank + 1) % 3, tag=7)

    with pytest.raises(Deadlock, match=r"rank 0 receives from rank 1 \(tag 7\)") as caught:
        launch(program, room)
    assert [(wait.rank, wait.on) for wait in caught.value.waits][:3] == [(0, (1,)), (1, (2,)), (2, (0,))]


def test_letters_that_nobody_sends_or_nobody_reads_are_named(room):
    def missing(comm):
        return comm.recv(1) if comm.rank == 0 else None

    def left_over(comm):
        comm.send(1 - comm.rank, "unread", tag=3)

    with pytest.raises(Unserved, match="rank 0 waits for tag 0 from rank 1, which has finished"):
        launch(missing, another(room, 2))
    with pytest.raises(Unreceived, match="1 of tag 3 from rank 1 to rank 0"):
        launch(left_over, another(room, 2))


def test_a_run_that_takes_too_long_is_given_up_and_says_where_it_was(room):
    def program(comm):
        if comm.rank == 1:
            while True:
                pass
        comm.recv(1)

    with pytest.raises(RankFailed, match=r"not finished after 0.5 s: rank 1") as caught:
        launch(program, another(room, 2, timeout=0.5))
    assert caught.value.rank == 1
    assert launch(lambda comm: comm.size, room) == [5] * 5


def test_messages_may_be_changed_after_send_and_are_whole_however_long(room):
    def program(comm):
        x = np.arange(3_000_001, dtype=np.float64)
        comm.send((comm.rank + 1) % comm.size, x)
        x[:] = -1
        return bool((comm.recv((comm.rank - 1) % comm.size) == np.arange(3_000_001)).all())

    assert all(launch(program, another(room, 3)))


def test_vectors_of_different_lengths_are_refused_not_summed(room):
    for length in (10, 2**20):
        with pytest.raises((ValueError, Deadlock)):
            launch(lambda comm, n: comm.allreduce(np.ones(n + comm.rank, np.float32)), another(room, 3), (length,))


def test_two_runs_at_once_share_the_room_and_a_third_waits_its_turn(room):
    """Five PCs: two and three of them run beside each other, and the third run takes who is free again."""
    found, hold = {}, threading.Event()

    def program(comm):
        return comm.allreduce(np.ones(3)).sum()

    def run(name, size):
        found[name] = launch(program, another(room, size)).values

    threads = [threading.Thread(target=run, args=args) for args in (("a", 2), ("b", 3), ("c", 4), ("d", 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    hold.set()
    assert found == {"a": [6.0] * 2, "b": [9.0] * 3, "c": [12.0] * 4, "d": [3.0]}


def test_a_control_holds_slows_cuts_and_kills(room):
    control, rounds = Control(3), []

    def program(comm):
        for t in range(40):
            comm.compute("work", time.sleep, 0.001)
            comm.allreduce(np.ones(4))
            comm.emit(Round(t, 0.0))
        return comm.rank

    def listen(event):
        if not isinstance(event, Round):
            return
        rounds.append(event)
        if len(rounds) == 10:
            control.pause()
            threading.Thread(target=go_on, daemon=True).start()

    def go_on():
        while control.done.min() < control.limit.max() or np.ptp(control.done) > 1:  # PCs tell what they did, later
            time.sleep(0.01)
        held.append(control.done.copy())
        control.cut(0, 1)
        control.resume()
        while not control.waiting():
            time.sleep(0.01)
        held.append(control.waiting())
        control.heal(0, 1)

    held = []
    assert launch(program, another(room, 3), (), listen, control) == [0, 1, 2]
    assert held[0].max() - held[0].min() <= 1
    assert set(held[1]) <= {(0, 1), (1, 0)}

    with pytest.raises(RankFailed, match=r"rank 2 .* was killed"):
        launch(program, another(room, 3), (), lambda event: isinstance(event, Round) and control.kill(2), control)


def test_what_a_description_says_must_make_sense():
    with pytest.raises(ValueError, match="port is 70000"):
        Classroom(2, 70_000)
    with pytest.raises(TypeError, match="encrypt"):
        Classroom(2, 5555, encrypt="no")
