"""An all-reduce over owners, brief there and back: its bits, its bytes, what it remembers."""

import numpy as np
import pytest
from topology_play import play, updates

from dlmini import DGC, SGD, Momentum, Recipe, launch
from dlmini.comm.network import Link, Switch
from dlmini.comm.schedules import Hierarchical, halving_doubling, native, ring, tree
from dlmini.compression import Int8, None_, PerLayer, TopK
from dlmini.compression.compressor import share_of
from dlmini.loop import program
from dlmini.pieces import tried
from dlmini.sim import Cluster, Simulated
from dlmini.sync import LocalSGD
from dlmini.topology import AllReduce
from dlmini.topology.star import Star

RANKS = (1, 2, 3, 5, 8)
CODECS = [codec for codec in tried("compression") if not codec.remembers]
WITHOUT_SHAPES = [codec for codec in CODECS if not isinstance(codec, PerLayer)]


def talked(workers, topology, said, compression=None, **pieces):
    def one(comm):
        return play(comm, topology, said, compression=compression, **pieces)

    return launch(one, on=Simulated(workers))


@pytest.mark.parametrize("workers", RANKS)
@pytest.mark.parametrize("back", CODECS, ids=repr)
def test_whatever_comes_back_all_hold_the_same_bits(workers, back):
    """Also where there are fewer numbers than workers, so that some own nothing and say empty packets."""
    for size in (1, 3, 40):
        found = talked(workers, AllReduce(back=back), updates(3, workers, size), TopK(0.5))
        for weights, _ in found:
            np.testing.assert_array_equal(weights, found[0][0])
        assert np.isfinite(found[0][0]).all()


@pytest.mark.parametrize("compression", WITHOUT_SHAPES, ids=repr)
@pytest.mark.parametrize("size", [2, 37])
def test_every_packet_can_be_cut_for_its_owners(compression, size):
    """If nothing is left out on the way back: the bits of a star, which adds whole packets in the order of ranks."""
    found = talked(3, AllReduce(back=None_()), updates(4, 3, size), compression)
    whole = talked(3, Star(None_()), updates(4, 3, size), compression)
    np.testing.assert_array_equal(found[0][0], whole[0][0])


@pytest.mark.parametrize("how", [native, ring, halving_doubling, Hierarchical(2)], ids=repr)
def test_the_schedule_of_the_way_back_changes_no_bit(how):
    found = talked(4, AllReduce(how, back=TopK(0.2)), updates(3, 4, 50), Int8())
    np.testing.assert_array_equal(found[2][0], talked(4, AllReduce(back=TopK(0.2)), updates(3, 4, 50), Int8())[0][0])


@pytest.mark.parametrize("workers", RANKS)
@pytest.mark.parametrize("compression", [None_(), Int8()], ids=repr)
def test_what_owners_left_unsaid_and_what_came_back_are_all_the_means(workers, compression):
    """sum of all steps + unsaid = sum of all means of packets, but for the roundings of float32."""
    said = updates(20, workers, 300)
    found = talked(workers, AllReduce(back=TopK(0.05)), said, compression)
    decoded = [[compression.encode(u).dense() for u in row] for row in said]
    means = np.mean(decoded, axis=1, dtype=np.float64).sum(axis=0)
    unsaid = np.concatenate([memory["unsaid"] for _, memory in found])
    assert unsaid.shape == means.shape
    np.testing.assert_allclose(found[0][0][-1] + unsaid, means, atol=20 * 2.0**-24 * np.abs(means).max() * 8)
    assert np.abs(unsaid).max() > 0.1


def test_without_feedback_owners_forget():
    found = talked(3, AllReduce(back=TopK(0.2)), updates(4, 3, 50), Int8(), feedback=False)
    assert all(not memory["unsaid"].size for _, memory in found)


@pytest.mark.parametrize("workers", RANKS)
def test_a_worker_sends_one_packet_but_for_its_own_part_there_and_one_back(workers):
    """(P-1)/P of what it says to the owners, and P - 1 times what it owns; gathering would take P - 1 packets."""
    size, rounds, kept = 840, 3, 0.1
    sent = talked(workers, AllReduce(back=TopK(kept)), updates(rounds, workers, size)).books.total()
    there = (workers - 1) * 4 * size // workers
    back = (workers - 1) * (8 * share_of(size // workers, kept) + 4)
    assert sent.messages == rounds * 2 * workers * (workers - 1)
    assert sent.nbytes == rounds * workers * (there + back)


def test_at_five_per_cent_sixteen_workers_send_an_eighth_of_what_gathering_takes():
    """In vectors S per worker: 2 (15/16) 0.1 = 0.1875, where gathering takes 15 times 0.1."""
    size = 16_000
    found = {
        back: talked(16, AllReduce(back=back), updates(1, 16, size), TopK(0.05)).books.total().nbytes / (16 * 4 * size)
        for back in (TopK(0.05), None)
    }
    assert found[TopK(0.05)] == pytest.approx(0.1875, rel=0.02)
    assert found[None] == pytest.approx(1.5, rel=0.01)


def test_its_time_is_that_of_both_ways_through_every_port():
    """Without latency: (P-1)/P of a packet out of each port, then P - 1 small ones around the ring."""
    workers, size, bandwidth = 4, 8000, 1e6
    on = Simulated(workers, Cluster(network=Switch(Link(0.0, bandwidth))))

    def one(comm):
        return play(comm, AllReduce(back=None_()), updates(1, workers, size))

    whole = 2 * (workers - 1) / workers * 4 * size / bandwidth
    assert launch(one, on=on).seconds == pytest.approx(whole, rel=1e-6)


@pytest.mark.parametrize("pieces", [{}, {"sync": LocalSGD(2)}, {"optimizer": Momentum(0.05)}], ids=str)
def test_it_learns_as_gathering_does(task, pieces):
    def learned(topology):
        recipe = Recipe(topology=topology, compression=TopK(0.2), **{"optimizer": SGD(0.1), "rounds": 60, **pieces})
        return task.evaluate(launch(program, on=Simulated(5), args=(task, recipe))[0])["accuracy"]

    assert learned(AllReduce(back=TopK(0.2))) > learned(AllReduce()) - 0.05


def test_what_has_no_meaning_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="the owner of a part does so already; use another"):
        AllReduce(back=DGC())
    with pytest.raises(ValueError, match="leave one of them out"):
        AllReduce(bucket=10, back=Int8())
    with pytest.raises(ValueError, match="a schedule that gathers"):
        AllReduce(tree, back=Int8())
    with pytest.raises(TypeError, match="a compressor for the way back"):
        AllReduce(back=0.5)


def test_layers_are_unknown_to_owners_of_parts():
    """A part may end inside a layer, so what goes by layers takes a part for one."""
    found = talked(3, AllReduce(back=PerLayer(Int8())), updates(2, 3, 30))
    np.testing.assert_array_equal(found[0][0], talked(3, AllReduce(back=Int8()), updates(2, 3, 30))[0][0])
