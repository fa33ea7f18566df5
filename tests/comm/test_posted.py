"""Collectives that are posted on real transports: the ranks work on them, to the bits of a simulated run."""

import numpy as np
import pytest
from threads import Threads

from dlmini.comm import halving_doubling, launch, native, ring
from dlmini.comm.channels import ANY
from dlmini.comm.errors import CommError
from dlmini.comm.mpi import Mpi
from dlmini.comm.mpi.mpiexec import missing
from dlmini.comm.processes import Processes
from dlmini.sim import Cluster, Simulated

WHERE = {"priced": Simulated, "played": lambda n: Simulated(n, Cluster(priced=False)), "threads": Threads}
WHERE["processes"] = Processes
LENGTHS = (0, 1, 5, 30_000)


def everything(comm):
    """All verbs posted before any is waited for, by two schedules, waited for out of their order; then once more."""
    found = []
    for how in (native, ring, halving_doubling):
        for length in LENGTHS:
            x = np.random.default_rng([comm.rank, length]).standard_normal(length).astype(np.float32)
            verbs = comm.allreduce, comm.reduce_scatter, comm.allgather
            pending = [verb(x, how=how, wait=False) for verb in verbs]
            x[:] = np.nan  # what was posted is no longer the program's
            comm.compute("work", lambda: [comm.reached(share / 4) for share in range(5)])
            parts, part, total = (one.wait() for one in reversed(pending))
            found += [total, part, *parts[: comm.rank], *parts[comm.rank + 1 :]]
            assert np.array_equal(pending[0].wait(), total)
    return found


@pytest.fixture(scope="module")
def truth():
    """Waited for at once."""

    def program(comm):
        found = []
        for how in (ring, ring, halving_doubling):
            for length in LENGTHS:
                x = np.random.default_rng([comm.rank, length]).standard_normal(length).astype(np.float32)
                parts = comm.allgather(x, how=how)
                found += [comm.allreduce(x, how=how), comm.reduce_scatter(x, how=how)]
                found += [*parts[: comm.rank], *parts[comm.rank + 1 :]]
        return found

    return {n: launch(program, Simulated(n)) for n in (1, 2, 3, 4)}


def assert_equal(found, right):
    for mine, others in zip(found, right, strict=True):
        for a, b in zip(mine, others, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("where", WHERE)
def test_posted_collectives_give_the_bits_of_those_that_are_waited_for(truth, where):
    for n, right in truth.items():
        assert_equal(launch(everything, WHERE[where](n)), right)


def test_mpi_ranks_give_the_same_bits(truth):
    if missing():
        pytest.skip(missing())
    assert_equal(launch(everything, Mpi(3)), truth[3])


def after(comm):
    pair = comm.group([comm.rank // 2 * 2, comm.rank // 2 * 2 + 1])
    x = np.full(1000, comm.rank + 1.0, np.float32)
    one, two = pair.allreduce(x, wait=False), comm.allreduce(x, wait=False)
    three = comm.allreduce(x)
    comm.barrier()
    return one.wait()[0], two.wait()[0], three[0], comm.allgather(comm.rank)


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("source", [1, ANY])
def test_a_wait_for_a_message_works_on_what_was_posted(where, source):
    """Many times: what the posted wait for may come between the look at them and the look at the message."""

    def program(comm):
        found = set()
        for _ in range(100):
            pending = comm.allreduce(np.full(5000, comm.rank + 1.0), wait=False)
            if comm.rank == 0:  # waits for rank 1, which first waits for the sum, of which rank 0 has a part
                heard = comm.recv(1) if source == 1 else comm.recv_any()[1]
            else:
                heard = pending.wait()[0]
                if comm.rank == 1:
                    comm.send(0, heard)
            found.add((heard, pending.wait()[-1]))
        return found

    assert list(launch(program, WHERE[where](3))) == [{(6.0, 6.0)}] * 3


@pytest.mark.parametrize("where", WHERE)
def test_blocking_collectives_come_after_the_posted_ones_of_any_group(where):
    sums = [(3, 10, 10), (3, 10, 10), (7, 10, 10), (7, 10, 10)]
    assert [found[:3] for found in launch(after, WHERE[where](4))] == sums


@pytest.mark.parametrize("where", ["processes", "priced", "played"])
def test_a_program_may_end_without_waiting(where):
    results = launch(lambda comm: comm.allreduce(np.ones(40_000, np.float32), wait=False) and None, WHERE[where](3))
    total = results.books.total()
    assert (total.messages, total.nbytes) == (3 * 4, 4 * 4 * 40_000)


def test_a_posted_sum_that_somebody_left_out_is_an_error_and_no_hang():
    def program(comm):
        if comm.rank:
            pending = comm.allreduce(np.ones(100), wait=False)
            comm.reached(1.0)
            pending.wait()

    with pytest.raises(CommError, match="rank 0"):
        launch(program, Processes(2))
