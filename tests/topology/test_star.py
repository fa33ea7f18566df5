"""The star whose server also computes: its bits, its bytes, its time."""

import numpy as np
import pytest
from topology_play import play, updates

from dlmini import SGD, Momentum, Recipe, launch
from dlmini.comm.network import Link, Switch
from dlmini.comm.processes import Processes
from dlmini.comm.schedules import ring
from dlmini.compression import Int8, None_, TopK
from dlmini.loop import program
from dlmini.sim import Cluster, Simulated
from dlmini.sync import LocalSGD
from dlmini.topology import AllReduce, ParameterServer
from dlmini.topology.star import Star


def train(task, workers, topology, **pieces):
    recipe = Recipe(topology=topology, **{"optimizer": SGD(0.1), "rounds": 6, **pieces})
    return launch(program, on=Simulated(workers + topology.servers), args=(task, recipe))


@pytest.mark.parametrize(
    "pieces", [{}, {"compression": TopK(0.1)}, {"sync": LocalSGD(3)}, {"optimizer": Momentum(0.05)}]
)
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_it_has_the_bits_of_a_server_that_only_serves(task, workers, pieces):
    star, served = train(task, workers, Star(), **pieces), train(task, workers, ParameterServer(), **pieces)
    for rank in range(workers):
        np.testing.assert_array_equal(star[rank], served[rank])


@pytest.mark.parametrize("compression", [TopK(0.1), Int8()])
def test_of_packets_that_are_gathered_it_has_the_bits_of_an_all_reduce(task, compression):
    star, reduced = (train(task, 5, topology, compression=compression) for topology in (Star(), AllReduce()))
    np.testing.assert_array_equal(star[3], reduced[3])


@pytest.mark.parametrize("workers", [2, 5, 8])
def test_of_packets_that_are_added_it_differs_from_an_all_reduce_by_roundings(workers):
    """Star rounds P products and P sums, a ring P - 1 sums and one product: each by at most eps/2 of what is added."""
    said = updates(1, workers, 1000)
    star, reduced = (launch(play, on=Simulated(workers), args=(top, said))[0][0] for top in (Star(), AllReduce(ring)))
    bound = (2 * workers + 1) * 2.0**-24 * np.abs(said[0].astype(np.float64)).mean(axis=0) * 2
    assert (np.abs(star[0].astype(np.float64) - reduced[0]) <= bound).all()


@pytest.mark.parametrize("workers", [1, 2, 3, 6, 16])
def test_its_time_is_that_of_all_packets_through_one_port_in_and_out(workers):
    """2 (N - 1) S beta on a network without latency."""
    size, bandwidth = 25_000, 1e6
    on = Simulated(workers, Cluster(network=Switch(Link(0.0, bandwidth))))
    seconds = launch(play, on=on, args=(Star(), updates(1, workers, size))).seconds
    assert seconds == pytest.approx(2 * (workers - 1) * 4 * size / bandwidth, rel=1e-9)


def test_packets_go_to_worker_0_and_weights_come_back():
    traffic = launch(play, on=Simulated(4), args=(Star(), updates(2, 4, 100), None, TopK(0.1))).books.per_pair()
    packet = TopK(0.1).encode(updates(1, 1, 100)[0, 0]).nbytes
    assert traffic == {
        **{(rank, 0): (2, 2 * packet) for rank in (1, 2, 3)},
        **{(0, rank): (2, 2 * 400) for rank in (1, 2, 3)},
    }


def test_processes_give_the_same_bits(task):
    recipe = Recipe(topology=Star(), compression=None_(), optimizer=SGD(0.1), rounds=5)
    for a, b in zip(*(launch(program, on=on(3), args=(task, recipe)) for on in (Simulated, Processes)), strict=True):
        np.testing.assert_array_equal(a, b)
