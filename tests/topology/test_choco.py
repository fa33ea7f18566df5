"""CHOCO-SGD: against a reference where everybody keeps everybody's picture, and against plain gossip."""

import numpy as np
import pytest
from topology_play import Adding, once, play, updates

from dlmini import SGD, Recipe, launch
from dlmini.comm.processes import Processes
from dlmini.compression import DGC, QSGD, EFSign, None_, PerLayer, RandomK, Sign, Threshold, TopK
from dlmini.loop import program
from dlmini.sim import Simulated
from dlmini.topology import Gossip
from dlmini.topology.choco import EVERYBODY, SPEAK, Choco
from dlmini.topology.graphs import consensus_distance
from dlmini.topology.own import Own
from dlmini.topology.turn import Turn

SHAPES = ((4, 9), (9,))
CONTRACTIONS = [TopK(0.1), EFSign(), QSGD(bits=4), RandomK(0.3, scaled=False), PerLayer(EFSign())]


def reference(topology, said):
    """Algorithm 2 of the paper in float64, with a picture of every worker: weights after each round."""
    workers, size = said.shape[1:]
    K, codec = topology.matrix(workers, 0), topology.compressor.fit(SHAPES)
    x, xhat, weights = np.zeros((workers, size)), np.zeros((workers, size)), []
    for t, learned in enumerate(said):
        x = x + learned
        for i in range(workers):
            coin = np.random.default_rng([0, EVERYBODY if codec.shared_coin else i, t, SPEAK])
            xhat[i] += codec.encode((x[i] - xhat[i]).astype(np.float32), coin).dense()
        x = x + topology.gamma * (K @ xhat - xhat)
        weights.append(x)
    return np.array(weights)


@pytest.mark.parametrize("graph", ["ring", "torus", "exponential", "complete", Own([[0.6, 0.4], [0.4, 0.6]])], ids=repr)
@pytest.mark.parametrize("compressor", [None_(), *CONTRACTIONS], ids=repr)
def test_it_is_the_algorithm_of_the_paper(compressor, graph):
    workers = 2 if isinstance(graph, Own) else 6
    topology, said = Choco(compressor, graph, 0.4), updates(4, workers, 45)
    results = launch(play, on=Simulated(workers), args=(topology, said, SHAPES))
    for rank, expected in enumerate(reference(topology, said).swapaxes(0, 1)):
        np.testing.assert_allclose(results[rank][0], expected, atol=2e-5)


@pytest.mark.parametrize("workers", [1, 2, 3, 5])
def test_saying_everything_and_going_all_the_way_is_gossip_of_weights(task, workers):
    def run(topology):
        recipe = Recipe(topology=topology, optimizer=SGD(0.1), rounds=6)
        return launch(program, on=Simulated(workers), args=(task, recipe))

    for choco, gossip in zip(run(Choco(None_(), gamma=1.0)), run(Gossip("ring", "weights")), strict=True):
        np.testing.assert_allclose(choco, gossip, atol=1e-5)


@pytest.mark.parametrize("compressor", CONTRACTIONS, ids=repr)
def test_the_mean_moves_by_the_mean_of_what_was_learned_whatever_is_left_out(compressor):
    said = updates(30, 5, 45)
    results = launch(play, on=Simulated(5), args=(Choco(compressor, "ring", 0.2), said, SHAPES))
    mean = np.mean([weights for weights, _ in results], axis=0, dtype=np.float64)
    np.testing.assert_allclose(mean, np.cumsum(said.mean(axis=1, dtype=np.float64), axis=0), atol=1e-4)


@pytest.mark.parametrize("compressor", CONTRACTIONS, ids=repr)
def test_workers_agree_on_the_exact_mean_in_few_bytes(compressor):
    said = once(5, 45, rounds=150)
    results = launch(play, on=Simulated(5), args=(Choco(compressor, "ring", 0.2), said, SHAPES))
    last = [weights[-1] for weights, _ in results]
    assert consensus_distance(last) < 1e-3 * consensus_distance(said[0])
    np.testing.assert_allclose(last[0], said[0].mean(axis=0), atol=1e-2)


def test_a_compressor_that_says_nothing_leaves_everybody_alone():
    said = updates(3, 3, 45)
    for rank, (weights, _) in enumerate(launch(play, on=Simulated(3), args=(Choco(Threshold(1e9)), said))):
        np.testing.assert_allclose(weights, np.cumsum(said[:, rank], axis=0), atol=1e-6)


def test_both_sides_have_the_same_picture():
    """s is the weighted mean of the pictures, though nobody ever sent one."""
    topology = Choco(TopK(0.1), "exponential", 0.3)
    results = launch(play, on=Simulated(6), args=(topology, updates(20, 6, 45)))
    xhat, s = (np.array([memory[name] for _, memory in results], np.float64) for name in ("xhat", "s"))
    np.testing.assert_allclose(s, topology.matrix(6, 0) @ xhat, atol=1e-5)


def test_pictures_begin_with_the_weights_that_all_begin_with():
    """So a worker that has learned nothing has nothing to say, not even in the first round."""

    def first(comm, w):
        talk = Choco(TopK(0.1)).start(comm, w, Recipe(), SHAPES)
        turn = Turn(0, w, w.copy(), None_().encode(np.zeros_like(w)), np.zeros_like(w), True)
        return talk.exchange(comm, turn, Adding())

    w = updates(1, 1, 45)[0, 0]
    results = launch(first, on=Simulated(3), args=(w,))
    np.testing.assert_array_equal(results.values, [w] * 3)
    assert results.books.total().nbytes == 3 * 2 * 4  # packets without numbers


def test_only_packets_travel_one_to_each_neighbour():
    topology, said = Choco(TopK(0.1), "ring"), updates(4, 5, 100)
    traffic = launch(play, on=Simulated(5), args=(topology, said)).books.total()
    assert traffic == (4 * 5 * 2, 4 * 5 * 2 * (4 + 8 * 10))


def test_an_unbiased_compressor_with_a_large_error_explodes_and_is_doubted():
    def spread(compressor):
        results = launch(play, on=Simulated(5), args=(Choco(compressor, "ring", 0.5), once(5, 45, rounds=60)))
        return consensus_distance([weights[-1] for weights, _ in results])

    assert not spread(RandomK(0.1)) < 1e3 * spread(RandomK(0.1, scaled=False))
    assert "no contraction" in Choco(RandomK(0.1)).doubts(5)
    assert "no contraction" in Choco(Sign()).doubts(5)
    for fine in (None_(), *CONTRACTIONS):
        assert not Choco(fine).doubts(5), fine


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((TopK(), "one_peer"), "neighbours in 'one_peer' change"),
        ((TopK(), "random"), "neighbours in 'random' change"),
        ((TopK(), Own(lambda size, t: np.eye(size))), "must hear every correction"),
        ((TopK(), "rign"), "no graph called 'rign'"),
        ((DGC(),), "and so does Choco"),
        ((TopK(), "ring", 0), "gamma is 0"),
        ((TopK(), "ring", 1.5), "gamma is 1.5"),
    ],
)
def test_bad_arguments_are_refused_with_a_reason(arguments, why):
    with pytest.raises(ValueError, match=why):
        Choco(*arguments)
    with pytest.raises(TypeError, match="it must be a compressor"):
        Choco("top_k")


def test_processes_give_the_same_bits(task):
    recipe = Recipe(topology=Choco(TopK(0.1)), optimizer=SGD(0.1), rounds=5)
    for a, b in zip(*(launch(program, on=on(3), args=(task, recipe)) for on in (Simulated, Processes)), strict=True):
        np.testing.assert_array_equal(a, b)
