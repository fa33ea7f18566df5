"""Ranks as real processes: the same results, books and errors as on any other transport."""

import hashlib
import pickle
import subprocess
import sys
import textwrap

import cloudpickle
import numpy as np
import pytest
from examples import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from threads import Threads

from dlmini.comm.errors import Deadlock, Unreceived, Unserved
from dlmini.comm.ghost import Ghost
from dlmini.comm.launch import launch
from dlmini.comm.processes import Processes, pickled
from dlmini.comm.processes.workers import start
from dlmini.comm.processes.workers.pool import Pool
from dlmini.comm.schedules import Hierarchical, doubling, halving_doubling, naive, ring, tree
from dlmini.events import Round
from dlmini.sim.simulated import Simulated

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers need not import this file, and pytest with it
SIZES = [1, 2, 3, 5, 8]


def digest(result) -> str:
    """A short name for a result, so that a million numbers need not travel back."""
    if isinstance(result, np.ndarray):
        return f"{result.dtype}{result.shape}{hashlib.sha256(result.tobytes()).hexdigest()}"
    return f"[{','.join(map(digest, result))}]" if isinstance(result, list | tuple) else repr(result)


def vector(rank, n, dtype):
    x = np.random.default_rng([rank, n]).standard_normal(n) * 100
    return x.astype(dtype)


def every_collective(comm, dtype, ways, digest, vector):
    """One program that calls all of them, with vectors of awkward lengths."""
    found = []
    for n in (0, 1, comm.size - 1, comm.size, 10**6):
        x = vector(comm.rank, n, dtype)
        found += [comm.allreduce(x), comm.reduce_scatter(x), comm.allreduce(x, how=ways[n % len(ways)])]
        found += [comm.allgather(x[: n // (comm.rank + 1)]), comm.bcast(x, root=comm.size // 2)]
        found += [comm.gather({"rank": comm.rank, "x": x[:3]}, root=comm.size - 1), comm.allgather(None)]
        comm.barrier()
    return [digest(one) for one in found]


@pytest.mark.parametrize(("size", "dtype"), [*((size, "f4") for size in SIZES), (3, "f8"), (3, "i4")])
def test_collectives_equal_those_of_other_transports_to_the_bit_and_to_the_byte(size, dtype):
    args = dtype, [ring, tree, doubling, halving_doubling, naive, Hierarchical(2)], digest, vector
    ours = launch(every_collective, Processes(size), args)
    for other in (Threads(size), Simulated(size)):
        theirs = launch(every_collective, other, args)
        assert ours.values == theirs.values
        assert ours.books == theirs.books


KINDS = {
    "vector": lambda x: x,
    "with others": lambda x: [len(x), x],
    "every second number": lambda x: x[::2],
    "a matrix": lambda x: x.reshape(1, -1),
    "double": lambda x: x.astype("f8"),
    "of big endian": lambda x: x.astype(">f4"),
    "text": lambda x: str(x.size),
}


@st.composite
def conversations(draw):
    """Who sends how much of which kind to whom with which tag, in one order for all."""
    size = draw(st.sampled_from(SIZES))
    rank, kind = st.integers(0, size - 1), st.sampled_from(["vector", *KINDS])
    lengths = st.sampled_from([0, 1, 7, 1000, 1024, 1025, 8192, 100_000]) | st.integers(0, 300)
    return size, draw(st.lists(st.tuples(rank, rank, st.integers(0, 2), lengths, kind), max_size=25))


def converse(comm, letters, vector, kinds):
    """First all my sends, so that buffers overflow; then my receives, the last tag first."""
    for i, (source, dest, tag, n, kind) in enumerate(letters):
        if comm.rank == source:
            comm.send(dest, kinds[kind](vector(i, n, "f4")), tag)
    mine = [(source, tag) for source, dest, tag, *_ in letters if dest == comm.rank]
    return [comm.recv(source, tag) for source, tag in sorted(mine, key=lambda one: -one[1])]


def answer_in_turn(comm, letters, vector, kinds):
    """One letter after the other: whoever is to receive waits for it, and changes what came."""
    world, found = comm.group(range(comm.size)[::-1]), []
    for i, (source, dest, tag, n, kind) in enumerate(letters):
        talk, end = (world, comm.size - 1) if i % 3 == 0 else (comm, 0)
        if comm.rank == source:
            x = vector(i, n, "f4")
            x.flags.writeable = i % 2 == 0
            talk.send(abs(end - dest), kinds[kind](x), tag)
        if comm.rank == dest:
            found.append(talk.recv(abs(end - source), tag))
            if isinstance(found[-1], np.ndarray):
                found[-1] += 1
    return found


@pytest.mark.parametrize("program", [converse, answer_in_turn], ids=["all at once", "in turn"])
@examples(25, suppress_health_check=list(HealthCheck))
@given(conversations())
def test_random_conversations_equal_those_of_other_transports(program, conversation):
    size, letters = conversation
    ours, *others = (launch(program, on(size), (letters, vector, KINDS)) for on in (Processes, Threads, Simulated))
    for theirs in others:
        assert [digest(one) for one in ours] == [digest(one) for one in theirs]
        assert ours.books == theirs.books


def test_a_vector_that_comes_slowly_is_whole_whatever_else_comes_meanwhile():
    """Rank 0 waits for ever longer vectors of rank 1, in pieces, while the others fill its other buffers."""

    def program(comm, lengths):
        if comm.rank == 1:
            for n in lengths:
                comm.send(0, np.arange(n, dtype=np.float32))
        elif comm.rank > 1:
            for n in lengths:
                comm.send(0, np.full(n // 100, comm.rank, np.float32), tag=n % 2)
        else:
            right = [np.array_equal(comm.recv(1), np.arange(n)) for n in lengths]
            rest = [comm.recv(rank, tag=n % 2).sum() for rank in (2, 3) for n in lengths]
            return all(right), float(sum(rest))
        return None

    lengths = [1, 10_000, 10_000, 1_000_001, 1_000_001, 5_000_000, 7, 300_000]
    expected = 5 * sum(n // 100 for n in lengths)
    assert launch(program, Processes(4), (lengths,))[0] == (True, expected)


def test_messages_far_larger_than_any_buffer_may_be_sent_to_each_other_first():
    def program(comm):
        x = np.full(4_000_000, comm.rank, np.float32)
        for other in range(comm.size):
            comm.send(other, x)
        x[:] = -1
        return [float(comm.recv(other).sum()) for other in range(comm.size)]

    assert launch(program, Processes(3)).values == [[0.0, 4e6, 8e6]] * 3


def test_what_found_no_room_arrives_while_its_sender_computes():
    def program(comm):
        if comm.rank == 0:
            comm.send(1, np.ones(3_000_000))
            while not comm.poll(1):
                sum(range(10_000))
            return comm.recv(1)
        return comm.send(0, float(comm.recv(0).sum()))

    assert launch(program, Processes(2))[0] == 3e6


def test_a_rank_in_a_sum_still_delivers_what_it_sent_before():
    def program(comm):
        if comm.rank == 0:
            comm.send(1, np.ones(4_000_000))
        else:
            comm.recv(0)
        return comm.allreduce(np.ones(3))[0]

    assert launch(program, Processes(2)).values == [2.0, 2.0]


def test_a_broadcast_does_not_wait_for_its_receivers():
    def program(comm):
        if comm.rank == 0:
            comm.bcast(np.ones(3_000_000))
            comm.send(1, "go on")
            return None
        return comm.recv(0), float(comm.bcast().sum())

    assert launch(program, Processes(2))[1] == ("go on", 3e6)


def test_whoever_is_here_first_is_received_first():
    def program(comm):
        if comm.rank:
            comm.recv(comm.rank - 1, tag=1) if comm.rank > 1 else None
            comm.send(0, comm.rank, tag=7)
            comm.send(comm.rank + 1, None, tag=1) if comm.rank + 1 < comm.size else None
            return None
        while not all(comm.poll(source, tag=7) for source in range(1, comm.size)):
            pass
        return sorted(comm.recv_any(tag=7) for _ in range(comm.size - 1))

    assert launch(program, Processes(5))[0] == [(1, 1), (2, 2), (3, 3), (4, 4)]


def test_groups_work_beside_the_world():
    def program(comm):
        half = comm.group([r for r in range(comm.size) if r % 2 == comm.rank % 2])
        return half.allreduce(np.array([1 << comm.rank])).item(), half.allgather(comm.rank), comm.allgather(half.rank)

    assert launch(program, Processes(4)).values == launch(program, Threads(4)).values


def test_ghosts_weigh_the_same_as_on_threads():
    def program(comm):
        total = comm.allreduce(Ghost(10**9))
        return repr(total), repr(comm.bcast(Ghost((3, 4)))), len(comm.allgather([Ghost(5), 1]))

    ours, theirs = (launch(program, on) for on in (Processes(3), Threads(3)))
    assert ours.values == theirs.values
    assert ours.books == theirs.books


def test_arrays_that_kernels_cannot_take_are_summed_all_the_same():
    def program(comm):
        x = np.arange(24.0).reshape(4, 6)
        fixed = np.ones(5, np.float32)
        fixed.flags.writeable = False
        shapes = [x, x.T, x[:, ::2], x[::-1, 1], fixed, np.ones((2, 3), np.float16), np.ones(3, ">f4"), np.ones(2) * 1j]
        return all(np.array_equal(comm.allreduce(one), one * 3) for one in shapes)

    assert launch(program, Processes(3)).values == [True] * 3


def test_the_input_of_a_sum_is_left_alone_and_the_result_is_one_s_own():
    def program(comm):
        x = np.ones(100_000, np.float32)
        first = comm.allreduce(x)
        first[:] = 7
        return float(comm.allreduce(x).sum()), float(x.sum()), float(first.sum())

    assert launch(program, Processes(2))[1] == (200_000.0, 100_000.0, 700_000.0)


def test_time_is_booked_as_waiting_until_the_last_one_comes():
    """In one of ten tries at least: whoever is kept from its core before it waits has waited for less."""

    def program(comm):
        tries = []
        for _ in range(10):
            comm.send(0, "ready") if comm.rank else comm.recv(1)
            before, booked = comm.now(), (comm.phases.waiting, comm.phases.compute)
            if comm.rank == 0:
                comm.compute("work", sum, range(1_000_000))
            came = comm.now()
            comm.allreduce(np.ones(10, np.float32))
            tries.append((before, came, comm.phases.waiting - booked[0], comm.phases.compute - booked[1]))
        return tries

    worker, waiter = launch(program, Processes(2))
    pairs = list(zip(worker, waiter, strict=True))
    assert all(own[3] > 0 and other[3] == 0 for own, other in pairs)
    assert any(other[2] > 0.5 * (own[1] - other[0]) > own[2] for own, other in pairs)


def test_the_time_of_a_receive_is_booked_whatever_comes():
    def program(comm):
        lasted = 0.0
        for message in (np.ones(3, np.float32), np.ones(3, np.float32), np.ones(5, np.float32), "text", None):
            comm.barrier()
            start = comm.now()
            if comm.rank == 0:
                comm.recv(1)
                lasted += comm.now() - start
            else:
                while comm.now() < start + 0.02:
                    pass
                comm.send(0, message)
        return lasted, comm.phases

    lasted, booked = launch(program, Processes(2))[0]
    assert booked.waiting + booked.communication > 0.8 * lasted


def test_events_are_heard_as_they_come_and_kept():
    def program(comm, heard):
        comm.emit(Round(comm.rank, 0.5))
        comm.barrier()

    heard = []
    results = launch(program, Processes(3), (0,), listen=heard.append)
    assert sorted(event.rank for event in heard) == [0, 1, 2]
    assert results.events == []  # who listens keeps what he wants
    assert all(0 <= event.at <= results.seconds for event in heard)


def test_what_ranks_print_comes_out_here(capsys):
    launch(lambda comm: print(f"rank {comm.rank} speaking"), Processes(2))
    assert sorted(capsys.readouterr().out.splitlines()) == ["rank 0 speaking", "rank 1 speaking"]


def test_workers_are_kept_from_call_to_call_whatever_object_asks():
    def pids(size):
        return launch(lambda comm: __import__("os").getpid(), Processes(size)).values

    assert pids(2) == pids(2)
    assert not set(pids(2)) & set(pids(3))


def test_workers_keep_to_one_thread():
    def program(comm):
        import os

        from threadpoolctl import threadpool_info

        return os.environ["OMP_NUM_THREADS"], {library["num_threads"] for library in threadpool_info()}

    threads, found = launch(program, Processes(2))[0]
    assert threads == "1"
    assert found <= {1}


def test_an_edited_module_is_imported_anew(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    for number in (1, 2, 3):
        (tmp_path / "homework.py").write_text(f"def answer(comm):\n    return {number}\n")
        sys.modules.pop("homework", None)
        answer = __import__("homework").answer
        assert launch(answer, Processes(2)).values == [number, number]


NOTEBOOK = """
import numpy as np
from dataclasses import dataclass
from dlmini.comm.launch import launch
from dlmini.comm.processes import Processes
from dlmini.events import Event

FACTOR = 3

@dataclass(frozen=True)
class Seen(Event):
    text: str

class Model:
    def __init__(self, w):
        self.w = w
    def twice(self):
        return FACTOR * self.w

def program(comm, model):
    comm.emit(Seen("hello"))
    total = comm.allreduce(np.full(3, model.twice()))
    return Model(float(total[0]))

results = launch(program, on=Processes(2), args=(Model(5.0),))
assert all(type(m) is Model and m.w == 30.0 for m in results), results.values
assert all(type(e) is Seen and e.text == "hello" for e in results.events), results.events
print("fine")
"""


@pytest.mark.parametrize("how", ["cell", "script"])
def test_functions_and_classes_of_a_notebook_s_cell_travel(how, tmp_path):
    """A cell has no file; a script has one, which the workers must not run again."""
    script = tmp_path / "script.py"
    script.write_text(NOTEBOOK)
    command = [sys.executable, *(["-c", NOTEBOOK] if how == "cell" else [str(script)])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout == "fine\n", done.stderr


@pytest.mark.parametrize("mode", ["numpy", "debug"])
def test_without_compiled_kernels_the_results_are_the_same(mode):
    code = """
    import numpy as np
    from dlmini.comm.processes import Processes
    def program(comm):
        x = np.random.default_rng(comm.rank).standard_normal(10_001).astype(np.float32)
        comm.send((comm.rank + 1) % comm.size, x)
        total, part, other = comm.allreduce(x), comm.reduce_scatter(x), comm.recv((comm.rank - 1) % comm.size)
        for n in (10_001, 10_001, 3, 3, 0):
            comm.send((comm.rank + 1) % comm.size, x[:n])
            other += comm.recv((comm.rank - 1) % comm.size).sum()
        comm.barrier()
        return total.tobytes().hex(), part.tobytes().hex(), float(other.sum()), comm.bcast(comm.rank, 1)
    import hashlib
    print(hashlib.sha256(repr(Processes(3).run(program).values).encode()).hexdigest())
    """
    found = {}
    for kernels in (mode, "numba"):
        env = {**__import__("os").environ, "DLMINI_KERNELS": kernels}
        command = [sys.executable, "-c", textwrap.dedent(code)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=200)
        assert not done.returncode, done.stderr
        found[kernels] = done.stdout
    assert found[mode] == found["numba"]


def test_where_there_is_no_fork_server_workers_are_spawned(monkeypatch):
    monkeypatch.setattr(start, "METHOD", "spawn")
    pool = Pool(2)
    try:
        pool.run(pickled(lambda comm: comm.allreduce(np.ones(3))[0], (), None, False), print, False, 60)
        assert [pickle.loads(answer.value) for answer in pool.answers.values()] == [2.0, 2.0]
    finally:
        pool.end()


def test_a_receive_from_a_finished_rank_is_refused():
    with pytest.raises(Unserved, match="rank 1 waits for tag 3 from rank 0, which has finished without sending it"):
        launch(lambda comm: comm.recv(0, tag=3) if comm.rank else None, Processes(2))
    with pytest.raises(Unserved, match="from anybody, but all others have finished"):
        launch(lambda comm: comm.recv_any() if comm.rank == 1 else None, Processes(3))
    with pytest.raises(Unserved, match="from itself"):
        launch(lambda comm: comm.recv(0), Processes(1))
    with pytest.raises(Unserved, match="brings 5 float64 to an allreduce, but rank 1 has finished without it"):
        launch(lambda comm: comm.allreduce(np.ones(5)) if comm.rank == 0 else None, Processes(2))


def test_ranks_that_wait_for_one_another_are_told_so():
    def program(comm):
        if comm.rank < 2:
            comm.recv(1 - comm.rank, tag=5)
        comm.barrier()

    with pytest.raises(Deadlock, match="rank 0 receives from rank 1 \\(tag 5\\)") as caught:
        launch(program, Processes(3))
    assert [(wait.rank, wait.on) for wait in caught.value.waits] == [(0, (1,)), (1, (0,)), (2, (0, 1))]
    assert "comm.barrier()" in caught.value.waits[2].where


def test_a_rank_that_only_takes_its_time_is_not_taken_for_stuck():
    def program(comm):
        comm.barrier()
        if comm.rank == 0:
            end = comm.now() + 1.0
            while comm.now() < end:
                pass
        return comm.allreduce(np.ones(1))[0]

    assert launch(program, Processes(2)).values == [2.0, 2.0]


def test_messages_nobody_received_are_reported():
    def program(comm):
        comm.send(1, "unwanted", tag=4)

    with pytest.raises(Unreceived, match="1 of tag 4 from rank 0 to rank 1") as caught:
        launch(program, Processes(2))
    assert (0, 4, 1, 1) in caught.value.messages


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (lambda comm: comm.allreduce(np.ones(4 + comm.rank)), "vectors of the same length"),
        (lambda comm: comm.reduce_scatter(np.ones(4 + comm.rank)), "vectors of the same length"),
        (lambda comm: comm.barrier() if comm.rank else comm.allreduce(np.ones(4)), "the same verbs in one order"),
        (lambda comm: comm.allreduce(np.ones(4, "f4" if comm.rank else "f8")), "vectors of one kind"),
    ],
)
def test_ranks_that_disagree_are_told_so(program, words):
    with pytest.raises(ValueError, match=words):
        launch(program, Processes(2))


@pytest.mark.parametrize("size", [0, -1, 1.5, "4", True])
def test_a_number_of_ranks_that_makes_no_sense_is_refused(size):
    with pytest.raises((ValueError, TypeError), match=r"size is .* a whole number of at least 1: ranks"):
        Processes(size)


def test_what_cannot_travel_is_named():
    lock = __import__("threading").Lock()
    with pytest.raises(TypeError, match="the program or its arguments cannot travel"):
        launch(lambda comm, lock: None, Processes(2), (lock,))
    with pytest.raises(TypeError, match="what rank 0 returned cannot travel"):
        launch(lambda comm: __import__("threading").Lock() if comm.rank == 0 else None, Processes(2))
