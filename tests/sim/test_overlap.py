"""Collectives that are posted and waited for later overlap with work, one after another, on every rank."""

import numpy as np
import pytest

from dlmini.comm import Ghost, Link, Switch, halving_doubling, launch
from dlmini.sim import Cluster, Simulated

NETWORK = Switch(Link(1e-3, 1e6))


@pytest.fixture(params=[True, False], ids=["priced", "played"])
def on(request):
    return lambda n, **more: Simulated(n, Cluster(network=NETWORK, priced=request.param, **more))


def alone(n, length):
    return launch(lambda comm: comm.allreduce(Ghost(length)), Simulated(n, NETWORK)).seconds


def test_work_hides_communication(on):
    def program(comm, seconds):
        pending = comm.allreduce(np.ones(1200, np.float32), wait=False)
        comm.compute("work", None, flops=seconds * 1e9)
        total = pending.wait()
        return comm.now(), total[0], comm.phases.synchronisation

    t = alone(4, 1200)
    for seconds in (0.0, 0.5 * t, 3 * t):
        for now, total, felt in launch(program, on(4), (seconds,)):
            assert now == pytest.approx(max(t, seconds))
            assert felt == pytest.approx(max(t - seconds, 0))
            assert total == 4


def test_posted_collectives_follow_one_another(on):
    def program(comm):
        x = np.full(1200, comm.rank, np.float32)
        pending = [comm.allreduce(x * (k + 1), wait=False) for k in range(3)]
        return [p.wait()[0] for p in reversed(pending)][::-1], comm.now()

    for sums, now in launch(program, on(3)):
        assert sums == [3, 6, 9]
        assert now == pytest.approx(3 * alone(3, 1200))


def test_a_blocking_collective_waits_behind_the_posted_ones(on):
    def program(comm):
        pending = comm.allreduce(np.ones(1200, np.float32), wait=False)
        total = comm.allreduce(np.ones(1200, np.float32))
        return comm.now(), total[0], pending.wait()[0]

    for now, total, posted in launch(program, on(3)):
        assert now == pytest.approx(2 * alone(3, 1200))
        assert (total, posted) == (3, 3)


def test_what_is_posted_may_be_changed_at_once(on):
    def program(comm):
        x = np.ones(10)
        pending = comm.allreduce(x, wait=False)
        x[:] = 100
        return pending.wait()[0], pending.wait()[0]

    assert set(launch(program, on(4))) == {(4.0, 4.0)}


def test_groups_and_the_world_share_a_rank_s_stream(on):
    def program(comm):
        pair = comm.group([comm.rank & ~1, comm.rank | 1])
        small = pair.allreduce(np.full(500, comm.rank), wait=False, how=halving_doubling)
        large = comm.allreduce(np.full(500, 1), wait=False)
        return small.wait()[0], large.wait()[0]

    assert list(launch(program, on(4))) == [(1, 4), (1, 4), (5, 4), (5, 4)]


def test_what_is_posted_and_never_waited_for_ends_before_its_rank(on):
    results = launch(lambda comm: comm.allreduce(np.ones(1200, np.float32), wait=False) and None, on(4))
    assert results.seconds == pytest.approx(alone(4, 1200))


def test_slow_ranks_hold_up_the_stream_of_fast_ones(on):
    def program(comm):
        comm.compute("work", None, flops=1e9)
        pending = comm.allreduce(np.ones(120, np.float32), wait=False)
        comm.compute("work", None, flops=1e9)
        pending.wait()
        return comm.now(), comm.phases

    results = launch(program, on(3, speed={0: 0.1}))
    assert results[0][0] == pytest.approx(20)
    for now, phases in results[1:]:
        assert 10 < now <= 10 + alone(3, 120)
        assert phases.compute == pytest.approx(2)
