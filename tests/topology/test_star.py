"""The star whose server also computes: its bits, its bytes, its time; weights come back, or the compressed mean."""

import numpy as np
import pytest
from topology_play import play, updates

from dlmini import SGD, Momentum, Recipe, launch
from dlmini.comm.network import Link, Switch
from dlmini.comm.processes import Processes
from dlmini.comm.schedules import ring
from dlmini.compression import Deflate, Half, Int8, None_, PerLayer, TopK
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


# ---- the mean comes back, compressed, and everybody steps ----


@pytest.mark.parametrize("optimizer", [SGD(0.1), Momentum(0.05)])
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_a_mean_that_comes_back_whole_gives_the_bits_of_weights_that_do(task, workers, optimizer):
    weights, mean = (train(task, workers, Star(back), optimizer=optimizer) for back in (None, None_()))
    for rank in range(workers):
        np.testing.assert_array_equal(weights[rank], mean[rank])


@pytest.mark.parametrize("back", [Int8(), PerLayer(Int8(10)), Deflate(Int8()), TopK(0.1), Half()], ids=repr)
@pytest.mark.parametrize("workers", [1, 3, 6])
def test_whatever_comes_back_all_hold_the_same_bits(task, workers, back):
    found = train(task, workers, Star(back), compression=Int8(), sync=LocalSGD(2), optimizer=Momentum(0.05))
    for w in found:
        np.testing.assert_array_equal(w, found[0])


@pytest.mark.parametrize("compression", [None_(), Int8()])
def test_what_worker_0_left_unsaid_and_what_came_back_are_all_the_means(compression):
    """sum of all steps + unsaid = sum of all means of packets, but for the roundings of float32."""
    said = updates(20, 5, 300)
    found = launch(play, on=Simulated(5), args=(Star(TopK(0.05)), said, None, compression))
    decoded = [[compression.encode(u).dense() for u in row] for row in said]
    means = np.mean(decoded, axis=1, dtype=np.float64).sum(axis=0)
    steps, unsaid = found[0][0][-1].astype(np.float64), found[0][1]["unsaid"]
    np.testing.assert_allclose(steps + unsaid, means, atol=20 * 2.0**-24 * np.abs(means).max() * 8)
    assert np.abs(unsaid).max() > 0.1
    assert all(not memory["unsaid"].size for _, memory in found[1:])


def test_without_feedback_what_was_left_out_of_the_mean_is_forgotten():
    found = launch(told_to_forget, on=Simulated(3), args=(updates(4, 3, 50),))
    assert not found[0][1]["unsaid"].size
    expected = sum(Int8(10).encode(mean).dense() for mean in (updates(4, 3, 50).sum(1) * np.float32(1 / 3)))
    np.testing.assert_allclose(found[2][0][-1], expected, atol=0.06)  # means in another order may round to other levels


def told_to_forget(comm, said):
    return play(comm, Star(Int8(10)), said, feedback=False)


def test_packets_travel_both_ways():
    compression, back = TopK(0.1), Int8()
    found = launch(play, on=Simulated(4), args=(Star(back), updates(2, 4, 100), None, compression)).books.per_pair()
    there, home = (codec.encode(updates(1, 1, 100)[0, 0]).nbytes for codec in (compression, back))
    assert found == {(r, 0): (2, 2 * there) for r in (1, 2, 3)} | {(0, r): (2, 2 * home) for r in (1, 2, 3)}


@pytest.mark.parametrize("workers", [1, 2, 6])
def test_encoding_is_charged_on_the_way_there_and_on_the_way_back(task, workers):
    """Six rounds: all encode at once, then worker 0 encodes the mean while all wait."""
    recipe = Recipe(topology=Star(Int8()), compression=Int8(), optimizer=SGD(0.1), rounds=6)
    cluster = Cluster(Switch(Link(0.0, 1e12)), flops=1e18, seconds={"encode": 0.0067})
    found = launch(program, on=Simulated(workers, cluster), args=(task, recipe))
    assert found.seconds == pytest.approx(6 * 2 * 0.0067, rel=1e-3)


def test_a_compressor_that_remembers_is_refused_for_the_way_back():
    from dlmini import DGC

    with pytest.raises(ValueError, match="worker 0 does so already; use another"):
        Star(DGC())
