"""Push-sum: the mean along one-way streets, and why a weight must travel with the numbers."""

import numpy as np
import pytest
from topology_play import once, play, updates

from dlmini import SGD, Recipe, launch
from dlmini.comm.processes import Processes
from dlmini.loop import program
from dlmini.sim import Simulated
from dlmini.topology import Gossip
from dlmini.topology.graphs import GRAPHS, consensus_distance
from dlmini.topology.push_sum import PushSum, random_push

ALL = [*GRAPHS, "random_push"]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 16])
def test_random_pushes_deal_out_everything_but_not_evenly(size):
    uneven = 0
    for t in range(20):
        K = random_push(size, t)
        np.testing.assert_array_equal(K.sum(axis=0), 1)
        np.testing.assert_array_equal(np.diag(K), 1 if size == 1 else 0.5)
        uneven += np.any(K.sum(axis=1) != 1)
    assert uneven == 0 if size < 3 else uneven > 10


def test_plain_mixing_by_random_pushes_misses_the_mean_and_push_sum_does_not():
    said, rounds = once(6, 10, rounds=80)[0].astype(np.float64), 80
    plain = said
    for t in range(rounds):
        plain = random_push(6, t) @ plain
    weights = [w[-1] for w, _ in launch(play, on=Simulated(6), args=(PushSum("random_push"), once(6, 10, rounds)))]
    mean = said.mean(axis=0)
    np.testing.assert_allclose(plain.mean(axis=0), mean)  # nothing is lost, but it is not where it should be
    assert np.abs(plain - mean).max() > 0.3
    np.testing.assert_allclose(weights, np.tile(mean, (6, 1)), atol=1e-5)


@pytest.mark.parametrize("workers", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("graph", ALL)
def test_all_agree_on_the_exact_mean(graph, workers):
    said = once(workers, 10, rounds=120)
    weights = [w[-1] for w, _ in launch(play, on=Simulated(workers), args=(PushSum(graph), said))]
    assert consensus_distance(weights) < 1e-5
    np.testing.assert_allclose(weights[0], said[0].mean(axis=0), atol=1e-5)


@pytest.mark.parametrize("graph", ALL)
def test_neither_the_sum_of_weights_nor_the_sum_of_numbers_ever_changes_but_by_learning(graph):
    said = updates(40, 5, 10)
    memories = [memory for _, memory in launch(play, on=Simulated(5), args=(PushSum(graph), said))]
    np.testing.assert_allclose(sum(memory["weight"] for memory in memories), 5, rtol=1e-5)
    np.testing.assert_allclose(sum(memory["held"] for memory in memories), said.sum(axis=(0, 1)), atol=1e-3)


@pytest.mark.parametrize("graph", GRAPHS)
def test_on_balanced_graphs_it_is_gossip_of_weights(task, graph):
    def run(topology):
        return launch(program, on=Simulated(4), args=(task, Recipe(topology=topology, optimizer=SGD(0.1), rounds=6)))

    for a, b in zip(run(PushSum(graph)), run(Gossip(graph, "weights")), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_one_number_more_than_the_weights_travels_to_each_receiver():
    traffic = launch(play, on=Simulated(6), args=(PushSum("random_push"), updates(10, 6, 25))).books.total()
    assert traffic == (10 * 6, 10 * 6 * 4 * 26)


def test_it_learns_along_one_way_streets(task):
    recipe = Recipe(topology=PushSum("random_push"), optimizer=SGD(0.1), rounds=40)
    results = launch(program, on=Simulated(5), args=(task, recipe))
    before = task.evaluate(task.initial(0))["loss"]
    assert all(task.evaluate(w)["loss"] < 0.5 * before for w in results)


def test_unknown_graphs_are_refused():
    with pytest.raises(ValueError, match="no graph called 'rign'"):
        PushSum("rign")


def test_processes_give_the_same_bits(task):
    recipe = Recipe(topology=PushSum("random_push"), optimizer=SGD(0.1), rounds=5)
    for a, b in zip(*(launch(program, on=on(3), args=(task, recipe)) for on in (Simulated, Processes)), strict=True):
        np.testing.assert_array_equal(a, b)
