"""Gradient tracking: estimates of the mean that are right in the mean, and a rest where the sum of slopes is zero."""

import numpy as np
import pytest
from topology_play import play, updates

from dlmini import SGD, Gossip, LocalSGD, Recipe, Simulated, TopK, Tracking, launch
from dlmini.comm.processes import Processes
from dlmini.compression.packets import Dense
from dlmini.loop import program
from dlmini.topology.turn import Turn


@pytest.mark.parametrize("workers", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("graph", ["ring", "exponential", "rotating", "one_peer"])
def test_the_mean_of_all_estimates_is_the_mean_of_what_was_said_last(workers, graph):
    said = updates(6, workers, 20)
    found = launch(play, on=Simulated(workers), args=(Tracking(graph), said))
    means = np.mean([memory["y"] for _, memory in found], axis=0)
    np.testing.assert_allclose(means, said[-1].mean(axis=0), atol=1e-5)


class Descent:
    """An outer optimiser of a fixed rate, in the place of Recipe's."""

    def apply(self, w, mixed):
        w -= np.float32(0.05) * mixed


def valleys(comm, topology, a, b, steps):
    """Worker i descends a_i/2 (w - b_i)^2; where it is in the end."""
    w, start, mixed = (np.zeros(1, np.float32) for _ in range(3))
    talk = topology.start(comm, w, Recipe(topology=topology), ((1,),))
    for t in range(steps):
        start[:] = w
        packet = Dense((a[comm.rank] * (w - b[comm.rank])).astype(np.float32))
        w = talk.exchange(comm, Turn(t, start, w, packet, mixed, False), Descent())
    return float(w[0])


def test_in_different_valleys_all_find_the_minimum_of_the_sum_where_plain_gossip_does_not():
    a, b = np.array([1.0, 4.0, 2.0, 0.5, 3.0]), np.array([-2.0, 1.0, 0.5, 3.0, -1.0])
    truth = (a * b).sum() / a.sum()
    tracked = launch(valleys, on=Simulated(5), args=(Tracking("ring"), a, b, 800))
    np.testing.assert_allclose(list(tracked), truth, atol=1e-4)
    plain = np.array(list(launch(valleys, on=Simulated(5), args=(Gossip("ring", "weights"), a, b, 800))))
    assert np.abs(plain - truth).max() > 0.05


def test_with_equal_data_it_is_gossip_of_weights_in_the_first_round_and_sends_twice_as_much():
    said = updates(1, 4, 50)
    tracked, plain = (
        launch(play, on=Simulated(4), args=(top, said)) for top in (Tracking(), Gossip("ring", "weights"))
    )
    for (ours, _), (theirs, _) in zip(tracked, plain, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)
    assert tracked.books.total().nbytes == 2 * plain.books.total().nbytes


def test_processes_give_the_same_bits(task):
    recipe = Recipe(LocalSGD(2), Tracking(), optimizer=SGD(0.05), rounds=5)
    for a, b in zip(*(launch(program, on=on(3), args=(task, recipe)) for on in (Simulated, Processes)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_is_sparse_cannot_be_tracked():
    with pytest.raises(ValueError, match="sends the weights whole"):
        Recipe(topology=Tracking(), compression=TopK(0.1)).check(4)
