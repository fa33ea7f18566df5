"""Sums that overlap with the way back: the same bits as those that wait for its end, in less time."""

import os
import pickle
import signal

import numpy as np
import pytest
from examples import LONG, examples
from hypothesis import given
from hypothesis import strategies as st
from small_tasks import small_task

from dlmini import SGD, Adam, Cluster, Momentum, Recipe, Simulated, launch, train
from dlmini.comm import Link, Switch, halving_doubling, native, ring
from dlmini.comm.collectives import plan_of
from dlmini.comm.mpi import Mpi
from dlmini.comm.mpi.mpiexec import missing
from dlmini.comm.processes import Processes
from dlmini.comm.schedules import added
from dlmini.loop import program
from dlmini.nn.shapes import Shapes
from dlmini.sync import LocalSGD
from dlmini.topology import AllReduce
from dlmini.topology.buckets import Folded, buckets

NETWORKS = ("lenet", "cifar_net", "mlp")
STEPS = 20


@examples(80)
@given(sizes=st.lists(st.integers(1, 9), max_size=8), least=st.integers(1, 40))
def test_buckets_are_whole_layers_that_cover_the_vector_from_its_end(sizes, least):
    edges, ends = buckets(Shapes.of([((n - 1,), (1,)) for n in sizes]), least), np.cumsum([0, *sizes]).tolist()
    assert [high for _, high in edges] == [*ends[-1:], *(low for low, _ in edges[:-1])][: len(edges)]
    assert not edges or edges[-1][0] == 0
    assert all(low in ends for low, _ in edges)
    assert all(high - low >= least for low, high in edges[:-1])


@pytest.mark.parametrize("kernels", ["numba", "numpy"])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_tells_on_its_way_back_which_part_of_the_gradient_is_final(name, kernels):
    task, told = small_task(name, kernels=kernels), []
    w, grad = task.initial(0), np.full(task.size, np.nan, np.float32)
    batch = next(task.batches(0, 1, 0))
    task.loss_and_grad(w, batch, grad, lambda low, share: told.append((low, share, grad[low:].copy())))
    lows, shares = [low for low, *_ in told], [share for _, share, _ in told]
    assert lows == [*sorted(lows[:-1], reverse=True), 0]
    assert len(lows) == len(task.model.milestones) > 2
    assert shares == sorted(shares)
    assert 1 / 3 < shares[0] < 0.99 < shares[-1] <= 1
    for low, _, seen in told:
        np.testing.assert_array_equal(seen, grad[low:])


def test_threads_tell_when_their_gradients_are_added():
    task, told = small_task("mlp", threads=2), []
    task.loss_and_grad(
        task.initial(0), next(task.batches(0, 1, 0)), np.zeros(task.size, np.float32), lambda *a: told.append(a)
    )
    assert told == [(0, 1.0)]


def weights(task, topology, on, optimizer=None, steps=STEPS):
    recipe = Recipe(topology=topology, optimizer=optimizer or Momentum(0.02), rounds=steps)
    found = launch(program, on, (task, recipe))
    for w in found:
        np.testing.assert_array_equal(w, found[0])
    return found[0]


SIZES = [(name, n) for name in NETWORKS for n in ((2,) if name == "cifar_net" and not LONG else (1, 2, 3, 4, 6, 8))]


@pytest.mark.parametrize(("name", "ranks"), SIZES)
def test_by_halving_and_doubling_buckets_train_to_the_bits_of_the_whole(name, ranks):
    task, on = small_task(name, batch=2 if name == "cifar_net" else 4), Simulated(ranks)
    plain = weights(task, AllReduce(halving_doubling), on)
    assert not np.array_equal(plain, task.initial(0))
    for bucket in (4000,) if name == "cifar_net" else (1, 4000):
        np.testing.assert_array_equal(weights(task, AllReduce(halving_doubling, bucket), on), plain)


@pytest.mark.parametrize("ranks", [3, 5])
def test_around_a_ring_buckets_train_to_the_bits_of_the_same_buckets_summed_at_the_end(ranks):
    task, rate, bucket = small_task("mlp"), np.float32(0.1), 1000
    streams = [task.batches(k, ranks, 0) for k in range(ranks)]
    w, grads = task.initial(0), np.zeros((ranks, task.size), np.float32)
    for _ in range(STEPS):
        for stream, grad in zip(streams, grads, strict=True):
            task.loss_and_grad(w, next(stream), grad)
        for low, high in buckets(task.shapes, bucket):
            total = added(plan_of(ring, "allreduce", ranks), list(grads[:, low:high]))
            w[low:high] -= rate * (np.float32(1 / ranks) * total)
    for how in (ring, native):
        np.testing.assert_array_equal(weights(task, AllReduce(how, bucket), Simulated(ranks), SGD(0.1)), w)


def several(comm, task, recipes):
    return [program(comm, task, recipe) for recipe in recipes]


def test_all_transports_give_the_same_bits():
    task = small_task("lenet")
    ways = [AllReduce(native, 3000), AllReduce(halving_doubling, 1)]
    recipes = [Recipe(topology=way, optimizer=Adam(0.001), rounds=STEPS) for way in ways]
    right = launch(several, Simulated(3, Cluster(jitter=0.5, speed={1: 0.3})), (task, recipes))
    places = [Simulated(3, Cluster(priced=False)), Processes(3), *([] if missing() else [Mpi(3)])]
    for place in places:
        found = launch(several, place, (task, recipes))
        for rank in range(3):
            for a, b in zip(found[rank], right[rank], strict=True):
                np.testing.assert_array_equal(a, b, err_msg=f"rank {rank} on {place}")


def seconds_of_round(task, topology, cluster, ranks=4):
    one, two = (
        launch(program, Simulated(ranks, cluster), (task, Recipe(topology=topology, rounds=rounds))).seconds
        for rounds in (1, 3)
    )
    return (two - one) / 2


@pytest.mark.parametrize("priced", [True, False])
@pytest.mark.parametrize("bucket", [1, 3000, 20_000, 10**6])
@pytest.mark.parametrize("network", [Link(1e-5, 1e7), Link(1e-3, 1e9)], ids=["narrow", "far"])
def test_in_virtual_time_a_round_lasts_as_long_as_the_formula_says(bucket, network, priced):
    """The sum of a bucket begins when it is filled and those before it have ended."""
    task, work, ranks = small_task("lenet"), 0.02, 4
    cluster = Cluster(Switch(network), seconds={"gradient": work}, priced=priced)

    def ring_seconds(numbers):
        return 2 * (ranks - 1) * (network.latency + 4 * numbers / ranks / network.bandwidth)

    filled = {low: work * share for low, share in task.model.milestones.values()}
    end = 0.0
    for low, high in buckets(task.shapes, bucket):
        end = max(end, filled[max(k for k in filled if k <= low)]) + ring_seconds(high - low)
    overlapping = max(work, end)
    assert seconds_of_round(task, AllReduce(ring, bucket), cluster) == pytest.approx(overlapping, rel=1e-3)
    plain = work + ring_seconds(task.size)
    assert seconds_of_round(task, AllReduce(ring), cluster) == pytest.approx(plain, rel=1e-3)
    if network.latency < 1e-4 and bucket < 10**5:
        assert overlapping < 0.9 * plain


def test_after_local_steps_there_is_nothing_to_overlap(task):
    recipe = Recipe(LocalSGD(3), AllReduce(bucket=20), optimizer=SGD(0.1), rounds=4)
    found = launch(program, Simulated(3), (task, recipe))[0]
    plain = Recipe(LocalSGD(3), AllReduce(), optimizer=SGD(0.1), rounds=4)
    np.testing.assert_array_equal(found, launch(program, Simulated(3), (task, plain))[0])


def test_shapes_remember_their_layers_on_their_way_to_another_process():
    shapes = Shapes.of([((3, 4), (4,)), (), ((4, 2), (2,)), ((5,),)])
    assert shapes == pickle.loads(pickle.dumps(shapes)) == ((3, 4), (4,), (4, 2), (2,), (5,))
    assert shapes.together == pickle.loads(pickle.dumps(shapes)).together == (2, 2, 1)


def test_a_folded_gradient_is_one_bucket_long():
    grad = Folded([(7, 10), (2, 7), (0, 2)])
    assert grad.nbytes == 20
    grad[2:5][:], grad[5:7][:] = 1, 2
    np.testing.assert_array_equal(grad[2:7], [1, 1, 1, 2, 2])
    grad[7:10][:] = 3
    np.testing.assert_array_equal(grad[2:7], [3, 3, 3, 2, 2])


class DyingTask:
    """Rank 1 is killed in the middle of its third gradient."""

    def __init__(self, task):
        self.task, self.calls = task, 0

    def loss_and_grad(self, w, batch, grad, ready):
        self.calls += 1

        def told(low, share):
            if batch.key[1] == 1 and self.calls == 3 and low:
                os.kill(os.getpid(), signal.SIGKILL)
            ready(low, share)

        return self.task.loss_and_grad(w, batch, grad, told)

    def __getattr__(self, name):
        return getattr(self.__dict__["task"], name) if "task" in self.__dict__ else object.__getattribute__(self, name)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_a_rank_that_is_killed_amid_its_buckets_is_reported():
    run = train(DyingTask(small_task("mlp")), Recipe(topology=AllReduce(bucket=1), rounds=50), Processes(3))
    with pytest.raises(Exception, match=r"rank 1 .*(died|killed|SIGKILL)"):
        run.result(60)
