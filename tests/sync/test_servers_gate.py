"""Who may go on, and how old what they push is: the laws of asynchrony, in virtual time."""

import numpy as np
import pytest

from dlmini import SGD, Adagrad, Recipe, launch
from dlmini.compression import Int8, None_, TopK
from dlmini.events import Round, Served
from dlmini.loop import program
from dlmini.sim import Cluster, Simulated
from dlmini.sync import Asynchronous, BulkSynchronous, Downpour, LocalSGD, PartlySynchronous, StaleSynchronous
from dlmini.sync.gate import Bounded, Gathering
from dlmini.topology import ParameterServer
from dlmini.topology.shard import Shard

EQUAL = Cluster(seconds={"gradient": 0.01, "encode": 0.0})


def run(task, workers, cluster=EQUAL, seed=0, **pieces):
    pieces = {"rounds": 8, "optimizer": SGD(0.1), "topology": ParameterServer(), **pieces}
    recipe = Recipe(**pieces)
    return launch(program, on=Simulated(workers + recipe.topology.servers, cluster, seed), args=(task, recipe))


def staleness(results):
    return [event.staleness for event in results.events if isinstance(event, Served)]


@pytest.mark.parametrize("workers", [1, 2, 3, 5, 8])
def test_the_staleness_of_n_equal_workers_is_n_minus_1(task, workers):
    found = staleness(run(task, workers, sync=Asynchronous()))
    assert found[:workers] == list(range(workers)), "in the first round everybody has read the beginning"
    assert found[workers:] == [workers - 1] * (7 * workers)


def test_nothing_is_stale_when_everybody_waits(task):
    assert set(staleness(run(task, 4, cluster=Cluster(jitter=0.5)))) == {0}


class Recorded(Shard):
    """A server that writes down what each read could see: the round of every push that was applied."""

    applied, reads = [], []

    def hear(self, comm, worker, packet):
        super().hear(comm, worker, packet)
        self.applied.append((worker, int(self.gate.clocks[worker])))

    def reply(self, comm, worker):
        super().reply(comm, worker)
        self.reads.append((worker, int(self.gate.clocks[worker]), set(self.applied), self.gate.clocks.copy()))


@pytest.mark.parametrize("bound", [0, 1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_every_read_of_stale_synchronous_sees_what_its_bound_promises(task, bound, seed, monkeypatch):
    monkeypatch.setattr("dlmini.topology.parameter_server.Shard", Recorded)
    Recorded.applied, Recorded.reads = [], []
    cluster = Cluster(speed={0: 0.3}, jitter=0.5)
    run(task, 4, cluster, seed, sync=StaleSynchronous(bound), topology=ParameterServer(quorum=1), rounds=10)
    assert len(Recorded.reads) == 40
    for worker, clock, seen, clocks in Recorded.reads:
        assert clock - clocks.min() <= bound  # nobody leaves further ahead of the slowest
        assert {(other, c) for other in range(4) for c in range(clock - bound)} <= seen  # all old enough pushes
        assert {(worker, c) for c in range(clock)} <= seen  # and its own


def test_the_bound_of_zero_is_bulk_synchronous_to_the_bit(task):
    for a, b in zip(run(task, 3, sync=StaleSynchronous(0)), run(task, 3, sync=BulkSynchronous()), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_stale_push_counts_less_where_the_server_is_aware(task):
    """One worker is never stale, so awareness changes nothing; three are."""
    pairs = [[run(task, n, sync=Asynchronous(aware))[0] for aware in (False, True)] for n in (1, 3)]
    np.testing.assert_array_equal(*pairs[0])
    assert not np.array_equal(*pairs[1])
    assert [Asynchronous(True).weight(s) for s in (0, 1, 2, 4)] == [1, 1, 0.5, 0.25]


def test_partly_synchronous_workers_meet_when_the_fastest_has_used_up_its_rounds():
    gate = Gathering(3, 10, lambda t: False, 2)
    let_through = []
    for worker in (0, 1, 0, 1, 2):
        gate.arrive(worker)
        let_through.append(gate.open())
    assert let_through == [[0], [1], [], [], [0, 1, 2]], "0 has done two rounds, so all wait for 2, who has done one"
    assert gate.since.tolist() == [0, 0, 0]


def test_partly_synchronous_does_not_wait_for_those_who_have_finished():
    gate = Gathering(2, 3, lambda t: False, 2)
    for worker in (0, 1, 0, 1):
        gate.arrive(worker)
        gate.open()
    gate.arrive(0)
    assert gate.open() == [0]
    gate.arrive(1)
    assert gate.open() == [1]


@pytest.mark.parametrize("most", [1, 2, 4])
def test_partly_synchronous_keeps_fast_workers_within_its_rounds(task, most):
    results = run(task, 3, Cluster(speed={0: 0.2}, jitter=0.3), sync=PartlySynchronous(most), rounds=12)
    done = [0] * 3
    for event in sorted((e for e in results.events if isinstance(e, Round)), key=lambda e: e.at):
        done[event.rank] += 1
    assert done == [12] * 3


def test_a_halt_holds_everybody_until_all_have_come():
    gate = Bounded(2, 10, lambda t: t == 1, float("inf"))
    let_through = []
    for worker in (0, 0, 1, 1):
        gate.arrive(worker)
        let_through.append(gate.open())
    assert let_through == [[0], [], [1], [0, 1]]


@pytest.mark.parametrize(("fetch", "push"), [(1, 1), (4, 2), (6, 1)])
def test_downpour_pushes_and_fetches_as_often_as_it_says(task, fetch, push):
    rounds, workers = 12, 3
    results = run(task, workers, sync=Downpour(fetch, push), rounds=rounds, topology=ParameterServer(2))
    book = results.books.per_pair()
    sent = [sum(book[rank, server].messages for server in (3, 4)) for rank in range(workers)]
    got = [sum(book[server, rank].messages for server in (3, 4)) for rank in range(workers)]
    assert sent == [2 * rounds] * workers
    assert got == [2 * (rounds * push // fetch)] * workers


def test_downpour_of_one_worker_that_fetches_at_once_is_plain_descent(task):
    w, grad, batches = task.initial(0), np.zeros(task.size, np.float32), task.batches(0, 1, 0)
    for _ in range(8):
        task.loss_and_grad(w, next(batches), grad)
        w -= np.float32(0.1) * grad
    np.testing.assert_allclose(run(task, 1, sync=Downpour())[0], w, atol=1e-5)


def test_downpours_servers_step_by_adagrad_whatever_the_scale_of_a_push(task):
    """Adagrad divides by the size of what it has seen, so the replicas' own rate does not matter for the servers."""
    large, small = (run(task, 1, sync=Downpour(), optimizer=SGD(rate), outer=Adagrad(0.05)) for rate in (1.0, 0.25))
    np.testing.assert_allclose(large[1], small[1], atol=1e-6)


def test_in_a_warm_start_worker_0_learns_alone_and_the_others_begin_where_it_is(task):
    results = run(task, 3, sync=Downpour(warm_start=5), rounds=9)
    rounds = {rank: [e.t for e in results.events if isinstance(e, Round) and e.rank == rank] for rank in range(3)}
    assert rounds == {0: list(range(9)), 1: [5, 6, 7, 8], 2: [5, 6, 7, 8]}
    fifth = next(e.at for e in results.events if isinstance(e, Round) and (e.rank, e.t) == (0, 4))
    assert all(e.at > fifth for e in results.events if isinstance(e, Round) and e.rank > 0)


@pytest.mark.parametrize("sync", [BulkSynchronous(), Asynchronous(), LocalSGD(2), Downpour(2, 1)])
def test_what_is_lacking_on_the_way_back_comes_later(task, sync):
    """With nothing left out it is the plain server; with much left out, workers still learn what the server knows."""
    whole, kept, plain = (
        run(task, 3, sync=sync, topology=ParameterServer(2, back=back), rounds=24)
        for back in (None_(), TopK(0.2), None)
    )
    np.testing.assert_allclose(whole[0], plain[0], atol=1e-4)
    before = task.evaluate(task.initial(0))["loss"]
    assert task.evaluate(kept[0])["loss"] < 0.9 * before
    if sync == BulkSynchronous():
        assert kept.books.total().nbytes < 0.8 * plain.books.total().nbytes


def test_a_compressed_way_back_repeats_to_the_bit(task):
    topology = ParameterServer(1, back=Int8(stochastic=True))
    a, b = (run(task, 3, sync=Asynchronous(), topology=topology, cluster=Cluster(jitter=0.3)) for _ in range(2))
    np.testing.assert_array_equal(a[0], b[0])


def test_pushes_that_make_no_full_quorum_are_not_lost_at_the_end(task):
    """Seven pushes by twos: the last one makes a step alone, so the server ends elsewhere than without it."""
    results = run(task, 1, topology=ParameterServer(quorum=2), sync=Asynchronous(), rounds=7)
    shorter = run(task, 1, topology=ParameterServer(quorum=2), sync=Asynchronous(), rounds=6)
    assert not np.array_equal(results[1], shorter[1])


@pytest.mark.parametrize(
    ("make", "advice"),
    [
        (lambda: Downpour(3, 2), "fetch must be a multiple of push"),
        (lambda: Downpour(0, 0), "fetch is 0; it must be a whole number of at least 1"),
        (lambda: PartlySynchronous(0), "most is 0; .* rounds between two meetings"),
        (lambda: Recipe(sync=Downpour()).check(4), "use ParameterServer"),
        (
            lambda: Recipe(sync=Downpour(4), topology=ParameterServer(), checkpoint_every=6).check(4),
            "a multiple of the rounds",
        ),
        (lambda: Recipe(sync=Downpour(warm_start=9), topology=ParameterServer(), rounds=9).check(4), "take fewer"),
    ],
)
def test_what_makes_no_sense_is_refused_with_advice(make, advice):
    with pytest.raises(ValueError, match=advice):
        make()
