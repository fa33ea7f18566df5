"""The loop with its pieces, in virtual time: known equalities between methods, and the laws that each must keep."""

import numpy as np
import pytest

from dlmini import SGD, Momentum, Nesterov, train
from dlmini.comm.launch import launch
from dlmini.comm.schedules import naive
from dlmini.compression import DGC, QSGD, EFSign, Int8, None_, RandomK, Threshold, TopK
from dlmini.events import Round
from dlmini.loop import program
from dlmini.recipe import Recipe
from dlmini.sim.cluster import Cluster
from dlmini.sim.simulated import Simulated
from dlmini.sync import Asynchronous, BulkSynchronous, LocalSGD, StaleSynchronous
from dlmini.topology import AllReduce, Gossip, ParameterServer


def run(task, size, *, cluster=None, seed=0, **pieces):
    recipe = Recipe(**{"rounds": 6, "optimizer": SGD(0.1), **pieces})
    return launch(program, on=Simulated(size, cluster, seed), args=(task, recipe))


def assert_close(a, b):
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-5)


def test_n_workers_in_step_equal_one_worker_on_all_their_batches(task):
    workers = 4
    streams = [task.batches(k, workers, 0) for k in range(workers)]
    w, grad = task.initial(0), np.zeros(task.size, np.float32)
    for _ in range(6):
        found = [next(s) for s in streams]
        x, y = (np.concatenate([np.array(b[i]) for b in found]) for i in (0, 1))
        task.model.loss_and_grad(w, x, y, grad)
        w -= np.float32(0.1) * grad
    assert_close(run(task, workers)[0], w)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_all_reduce_leaves_equal_bits_on_all_workers(task, size):
    for compression in (None_(), TopK(0.1), Int8()):
        results = run(task, size, compression=compression)
        for w in results:
            np.testing.assert_array_equal(w, results[0])


def test_local_sgd_of_one_textbook_step_is_bulk_synchronous(task):
    assert_close(run(task, 4, sync=LocalSGD(1))[0], run(task, 4)[0])


def test_local_sgd_of_the_seed_follows_its_algorithm_1(task):
    """Average the weights of the step before, then take the last step alone."""
    P, p, rate, rounds = 3, 2, np.float32(0.1), 4
    streams = [task.batches(k, P, 0) for k in range(P)]
    w, grad = [task.initial(0) for _ in range(P)], np.zeros(task.size, np.float32)
    for k in range(1, rounds * p + 1):
        steps = []
        for i in range(P):
            batch = next(streams[i])
            task.loss_and_grad(w[i], batch, grad)
            steps.append(rate * grad)
        mean = sum(w) / P
        w = [(mean if k % p == 0 else w[i]) - steps[i] for i in range(P)]
    results = run(task, P, sync=LocalSGD(p, "seed"), rounds=rounds)
    for mine, right in zip(results, w, strict=True):
        assert_close(mine, right)


def test_diloco_with_a_plain_outer_step_is_local_sgd(task):
    inner = {"sync": LocalSGD(3), "optimizer": Momentum(0.05)}
    np.testing.assert_array_equal(run(task, 3, **inner, outer=SGD(1.0))[0], run(task, 3, **inner)[0])
    assert not np.array_equal(run(task, 3, **inner, outer=Nesterov(0.7))[0], run(task, 3, **inner)[0])


@pytest.mark.parametrize("servers", [1, 2, 3])
def test_a_parameter_server_with_a_full_quorum_is_an_all_reduce(task, servers):
    """Both add in the order of ranks; they differ in where they divide by the number of workers."""
    served = run(task, 4 + servers, topology=ParameterServer(servers))
    assert_close(served[0], run(task, 4, topology=AllReduce(naive))[0])
    np.testing.assert_array_equal(np.concatenate(served[4:]), served[0])


def test_complete_gossip_is_an_all_reduce(task):
    for what in ("updates", "weights"):
        assert_close(run(task, 4, topology=Gossip("complete", what))[2], run(task, 4)[2])


def test_keeping_everything_changes_nothing(task):
    for compression in (TopK(1.0), Threshold(keep=1.0)):
        assert_close(run(task, 3, compression=compression)[0], run(task, 3)[0])


@pytest.mark.parametrize("bound", [0, 1, 3])
def test_ssp_never_runs_ahead_of_its_bound(task, bound):
    cluster = Cluster(speed={0: 0.1}, jitter=0.5)
    results = run(task, 5, cluster=cluster, topology=ParameterServer(), sync=StaleSynchronous(bound), rounds=12)
    done = [0] * 4
    for event in sorted((e for e in results.events if isinstance(e, Round)), key=lambda e: e.at):
        done[event.rank] += 1
        assert max(done) - min(done) <= bound + 1
    assert done == [12] * 4


def test_without_a_bound_fast_workers_finish_long_before_a_slow_one(task):
    def first(sync):
        cluster = Cluster(speed={0: 0.1}, seconds={"gradient": 0.01})
        events = run(task, 5, cluster=cluster, topology=ParameterServer(), sync=sync, rounds=12).events
        return min(e.at for e in events if isinstance(e, Round) and e.t == 11)

    assert first(Asynchronous()) < 0.3 * first(BulkSynchronous())


@pytest.mark.parametrize(
    "compression", [TopK(0.05), QSGD(bits=4), EFSign(), RandomK(0.2), DGC(keep=0.05), Int8(), Threshold(keep=0.1)]
)
@pytest.mark.parametrize("topology", [AllReduce(), Gossip("ring"), ParameterServer(2)])
@pytest.mark.parametrize("sync", [BulkSynchronous(), LocalSGD(3)])
def test_every_combination_learns(task, sync, topology, compression):
    results = run(task, 3 + topology.servers, sync=sync, topology=topology, compression=compression, rounds=25)
    before, after = task.evaluate(task.initial(0))["loss"], task.evaluate(results[0])["loss"]
    assert after < 0.8 * before


@pytest.mark.parametrize("topology", [AllReduce(), Gossip(), ParameterServer()])
def test_runs_repeat_to_the_bit(task, topology):
    again = [run(task, 4, topology=topology, compression=QSGD(bits=4), cluster=Cluster(jitter=0.3)) for _ in range(2)]
    for a, b in zip(*again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert again[0].seconds == again[1].seconds


@pytest.mark.parametrize(
    ("pieces", "size", "advice"),
    [
        ({"sync": StaleSynchronous(3)}, 4, "staleness=3 has no meaning here; use ParameterServer"),
        ({"sync": Asynchronous(), "topology": Gossip()}, 4, "use ParameterServer"),
        ({"topology": ParameterServer(2)}, 2, "leave no worker; take at least 3 ranks"),
        ({"topology": Gossip(what="weights"), "compression": TopK(0.1)}, 4, "mix updates"),
        ({"outer": Nesterov(0.7)}, 4, "use LocalSGD or Downpour with it"),
        ({"compression": QSGD(bits=4), "feedback": True}, 4, "average out by themselves"),
        ({"rounds": 0}, 4, "rounds is 0; it must be a whole number of at least 1"),
    ],
)
def test_pieces_that_do_not_fit_are_refused_with_a_reason(pieces, size, advice):
    with pytest.raises(ValueError, match=advice):
        Recipe(**pieces).check(size)


def test_a_diverged_worker_is_named_with_its_layer(task):
    with (
        pytest.raises(FloatingPointError, match=r"worker \d: .*layer \d.*lower the learning rate"),
        np.errstate(all="ignore"),
    ):
        run(task, 2, optimizer=SGD(1e30), rounds=20)


def test_gossip_of_updates_that_drives_workers_apart_warns_and_says_why(task):
    with pytest.warns(UserWarning, match=r"driven apart: .* eigenvalue -0\.33.* mix weights"):
        train(task, Recipe(topology=Gossip("ring"), rounds=1), Simulated(4)).result()
    for topology in (Gossip("rotating"), Gossip("ring", "weights"), AllReduce()):
        assert not Recipe(topology=topology).doubts(4)
