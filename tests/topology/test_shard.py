"""A server adds pushes while others are on their way; what comes out does not know who came first."""

from itertools import permutations

import numpy as np
import pytest

from dlmini import SGD, Adam, Asynchronous, BulkSynchronous, LocalSGD, Momentum, Recipe, StaleSynchronous
from dlmini.compression.packets import Dense
from dlmini.topology import ParameterServer
from dlmini.topology.shard import Shard

WORKERS, SIZE = 4, 50
SAID = (
    np.random.default_rng(3).standard_normal((WORKERS, SIZE)).astype(np.float32) * 10.0 ** np.arange(WORKERS)[:, None]
)


class Silent:
    """A communicator for a server whose pushes are handed over by the test."""

    rank, size = WORKERS, WORKERS + 1

    def emit(self, event):
        pass


class Watched(Dense):
    """A packet that tells when it is added."""

    letter = b"w"
    log: list = []  # noqa: RUF012

    def add_to(self, out, weight=1.0):
        self.log.append(self.values[0])
        super().add_to(out, weight)


def server(sync=None, topology=None, rounds=3):
    recipe = Recipe(sync or BulkSynchronous(), topology or ParameterServer(), optimizer=SGD(0.5), rounds=rounds)
    return Shard(recipe.topology, np.zeros(SIZE, np.float32), recipe.optimizers()[1].start(SIZE), recipe, WORKERS)


def push(shard, workers, said=SAID):
    Watched.log = []
    for worker in workers:
        shard.hear(Silent(), worker, Watched(np.float32(said[worker])))
    return Watched.log


@pytest.mark.parametrize("sync", [BulkSynchronous(), StaleSynchronous(0), LocalSGD(4)], ids=repr)
def test_no_order_of_arrival_changes_a_bit(sync):
    expected = np.zeros(SIZE, np.float32)
    for said in SAID.astype(np.float32):
        expected += np.float32(1 / WORKERS) * said
    for order in permutations(range(WORKERS)):
        shard = server(sync)
        assert push(shard, order) == [np.float32(said[0]) for said in SAID]
        stepped = np.zeros(SIZE, np.float32)
        shard.outer.optimizer.start(SIZE).apply(stepped, expected)
        np.testing.assert_array_equal(shard.w, stepped)
        assert (shard.version, shard.added, shard.heap) == (1, 0, [])
        assert not shard.mixed.any()


@pytest.mark.parametrize(
    ("arrived", "added", "kept"),
    [([0], 1, []), ([0, 1], 2, []), ([2, 0], 1, [2]), ([3, 1], 0, [1, 3]), ([2, 1, 0], 3, [])],
)
def test_a_push_is_added_when_all_of_lower_rank_are_here_and_only_others_are_kept(arrived, added, kept):
    shard = server()
    push(shard, arrived)
    assert (shard.added, [worker for worker, _, _ in shard.heap]) == (added, kept)


@pytest.mark.parametrize("arrived", [[0, 1], [3, 0], [2, 1]])
def test_where_anybody_may_make_the_quorum_nothing_is_added_before_it_is_full(arrived):
    shard = server(Asynchronous(), ParameterServer(quorum=3))
    assert push(shard, arrived) == []
    assert push(shard, [3]) == [np.float32(SAID[worker][0]) for worker in sorted([*arrived, 3])]
    assert shard.version == 1


def test_two_pushes_of_one_worker_are_added_in_the_order_in_which_they_came():
    shard = server(Asynchronous(), ParameterServer(quorum=3))
    first, second = SAID.copy(), SAID.copy()
    second[1] *= 2
    push(shard, [1, 0], first)
    assert push(shard, [1], second) == [np.float32(x) for x in (SAID[0][0], SAID[1][0], second[1][0])]


def test_a_server_goes_on_from_what_it_remembers_with_pushes_in_the_order_of_ranks():
    one, other = (server(Asynchronous(), ParameterServer(quorum=3)) for _ in range(2))
    push(one, [3, 1])
    memory = one.memory()
    memory["pushers"], memory["heap"] = memory["pushers"][::-1], memory["heap"][::-1]
    other.restore(memory)
    push(one, [2])
    push(other, [2])
    np.testing.assert_array_equal(one.w, other.w)


@pytest.mark.parametrize("optimizer", [SGD(0.5), Momentum(0.5), Adam(0.1)], ids=repr)
def test_a_push_that_stands_for_itself_steps_as_the_mean_of_one(optimizer):
    """Without being added to anything: not a bit differs, of the weights or of what the optimiser remembers."""
    recipe = Recipe(Asynchronous(), ParameterServer(), optimizer=optimizer, rounds=3)
    one, other = (
        Shard(recipe.topology, np.ones(SIZE, np.float32), recipe.optimizers()[1].start(SIZE), recipe, WORKERS)
        for _ in range(2)
    )
    for worker in (2, 0, 2):
        said = np.float32(SAID[worker])
        one.hear(Silent(), worker, Dense(said))
        other.hear(Silent(), worker, Watched(said))  # of another class: added to zeros
        np.testing.assert_array_equal(one.w, other.w)
        assert (one.version, one.heap, one.added) == (other.version, [], 0)
    for name, vector in one.outer.memory().items():
        np.testing.assert_array_equal(vector, other.outer.memory()[name])
    assert not one.mixed.any()
