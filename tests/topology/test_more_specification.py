"""The specification of topologies, for those that remember something and for those with a matrix of their own."""

import numpy as np
import pytest
from topology_play import Adding, play, updates

from dlmini import Recipe, launch
from dlmini.compression import QSGD, EFSign, Int8, None_, RandomK, Threshold, TopK
from dlmini.memory import arrays, restore
from dlmini.pieces import tried
from dlmini.sim import Simulated
from dlmini.topology import AllReduce, Gossip, ParameterServer
from dlmini.topology.async_gossip import AsyncGossip
from dlmini.topology.choco import Choco
from dlmini.topology.graphs import GRAPHS, is_fixed
from dlmini.topology.low_rank import LowRank
from dlmini.topology.own import Own
from dlmini.topology.push_sum import PushSum
from dlmini.topology.star import Star
from dlmini.topology.turn import Turn


def path(size, t):
    """Neighbours on a line, a third each."""
    K = np.eye(size) + np.diag(np.full(size - 1, 1 / 3), 1) + np.diag(np.full(size - 1, 1 / 3), -1)
    return K - np.diag(K.sum(axis=1) - 1)


WHOLE = [
    Star(),
    LowRank(),
    *(PushSum(graph) for graph in (*GRAPHS, "random_push", Own(path))),
    *(Choco(None_(), graph, 1.0) for graph in GRAPHS if is_fixed(graph)),
]
ELSEWHERE = {AllReduce, AsyncGossip, Choco, Gossip, ParameterServer}  # test_specification.py, test_async_gossip.py
WHOLE += [it for it in tried("topology") if type(it) not in {*ELSEWHERE, *map(type, WHOLE)}]  # whatever else there is
PACKETS = [TopK(0.2), Int8(), QSGD(bits=4), RandomK(0.3), EFSign(), Threshold(1e9)]


def in_round(comm, topology, compression, t, said):
    """One exchange in round t, by a worker that has just started."""
    w, start, mixed = (np.zeros_like(said[0]) for _ in range(3))
    packet = compression.encode(said[comm.rank], np.random.default_rng([0 if compression.shared_coin else comm.rank]))
    recipe = Recipe(topology=topology, compression=compression, rounds=t + 1)
    talk = topology.start(comm, w, recipe, ((said.shape[1],),))
    found = talk.exchange(comm, Turn(t, start, w, packet, mixed, compression.summable), Adding())
    assert found is w
    return found, packet.dense()


def assert_law(topology, workers, length, compression):
    for t in range(3):
        said = updates(1, workers, length, seed=t)[0]
        results = launch(in_round, on=Simulated(workers, seed=t), args=(topology, compression, t, said))
        found, decoded = (np.array(part, np.float64) for part in zip(*results, strict=True))
        K = topology.matrix(workers, t)
        mixed = (K / K.sum(axis=1, keepdims=True)) @ decoded  # rows sum to one already, but for random_push
        np.testing.assert_allclose(found, mixed, atol=1e-5 * max(1, np.abs(decoded).max(initial=0)))


@pytest.mark.parametrize("workers", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("topology", WHOLE, ids=repr)
def test_an_exchange_is_the_matrix_times_what_was_said(topology, workers):
    assert_law(topology, workers, 37, None_())


@pytest.mark.parametrize("length", [0, 1, 2])
@pytest.mark.parametrize("topology", WHOLE, ids=repr)
def test_vectors_shorter_than_the_number_of_ranks_are_exchanged(topology, length):
    assert_law(topology, 5, length, None_())


@pytest.mark.parametrize("workers", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("compression", PACKETS, ids=repr)
def test_a_star_adds_packets_of_any_kind_and_empty_ones(compression, workers):
    assert_law(Star(), workers, 37, compression)


REMEMBERING = [
    LowRank(2),
    PushSum("random_push"),
    PushSum("one_peer"),
    Choco(TopK(0.2), "ring", 0.3),
    Choco(QSGD(bits=4), "exponential", 0.5),
    AsyncGossip(),
]


def broken_off(comm, topology, said, shapes, stop):
    """Rounds up to `stop`, then a new worker that is only told what was remembered, and the other rounds."""
    recipe = Recipe(topology=topology, rounds=len(said), checkpoint_every=stop)
    w, start, mixed = (np.zeros_like(said[0][0]) for _ in range(3))
    talk = topology.start(comm, w, recipe, shapes)
    for t, learned in enumerate(said):
        if t == stop:
            saved = arrays({"w": w, "talk": talk})
            w = np.zeros_like(w)
            talk = topology.start(comm, w, recipe, shapes)
            restore({"w": w, "talk": talk}, saved)
        start[:] = w
        w = talk.exchange(comm, Turn(t, start, w, None_().encode(learned[comm.rank]), mixed, True), Adding())
    return w


@pytest.mark.parametrize("topology", REMEMBERING, ids=repr)
def test_what_a_worker_remembers_is_enough_to_go_on_to_the_bit(topology):
    said, shapes = updates(6, 4, 60 + 5), ((6, 10), (5,))
    whole = launch(play, on=Simulated(4), args=(topology, said, shapes))
    keep = launch(play_kept, on=Simulated(4), args=(topology, said, shapes))
    again = launch(broken_off, on=Simulated(4), args=(topology, said, shapes, 3))
    for rank in range(4):
        if topology.waits:
            np.testing.assert_array_equal(whole[rank][0][-1], keep[rank][0][-1])
        np.testing.assert_array_equal(again[rank], keep[rank][0][-1])


def play_kept(comm, topology, said, shapes):
    return play(comm, topology, said, shapes, checkpoint_every=3)


def test_nothing_of_a_worker_is_the_weights_it_was_given():
    """What `start` keeps it copies, or the loop's own steps would change it."""
    for topology in REMEMBERING:
        w = np.ones(65, np.float32)
        talk = launch(
            lambda comm, w, top: top.start(comm, w, Recipe(topology=top), ((65,),)), Simulated(1), (w, topology)
        )
        assert not any(np.shares_memory(w, x) for x in vars(talk[0]).values() if isinstance(x, np.ndarray))
