"""The order of sending: a round takes what ports must carry, in virtual time, and bits never change."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from topology_play import play, updates

from dlmini import SGD, Classify, Recipe, launch, mlp
from dlmini.comm.ghost import Ghost
from dlmini.comm.network import Link, Switch
from dlmini.compression import TopK
from dlmini.data import blobs
from dlmini.loop import program
from dlmini.sim import Cluster, Simulated
from dlmini.topology import Choco, Gossip, ParameterServer, PushSum
from dlmini.topology.graphs import GRAPHS, heard, matrix_of, onward

CIRCULANT = ("ring", "exponential", "one_peer", "complete", "rotating")  # every row is the one above, shifted
LATENCY, BETA = 0.5, 1e-3
NET = Switch(Link(LATENCY, 1 / BETA))


def degree(K):
    """Of how many messages the busiest port is made: in or out, oneself left out."""
    others = (K != 0) & ~np.eye(len(K), dtype=bool)
    return max(others.sum(axis=0).max(), others.sum(axis=1).max())


def gossip(comm, graph, rounds, nbytes):
    for t in range(rounds):
        for _ in heard(comm, matrix_of(graph, comm.size, t), Ghost(nbytes, "u1")):
            pass


@given(some.integers(1, 40), some.data())
def test_going_onward_everybody_sends_to_somebody_else_at_any_time(size, data):
    """Whoever is at the offsets d1 < d2 < ... from each: the k-th message of all goes to all, one each."""
    offsets = data.draw(some.sets(some.integers(0, size - 1)))
    sent = [onward([(rank + d) % size for d in offsets], rank, size) for rank in range(size)]
    for kth in zip(*sent, strict=True):
        assert sorted(kth) == list(range(size))


@given(some.sets(some.integers(0, 30)), some.integers(0, 30))
def test_going_onward_leaves_nobody_out(ranks, first):
    found = onward(ranks, first, 31)
    assert sorted(found) == sorted(ranks)
    assert found == [rank for rank in [*range(first, 31), *range(first)] if rank in ranks]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 16, 17])
@pytest.mark.parametrize("graph", CIRCULANT)
def test_a_round_of_gossip_takes_what_the_busiest_port_must_carry(graph, size):
    """alpha + degree S beta, and rounds add up, since all end together."""
    rounds, nbytes = 3, 1000
    took = launch(gossip, on=Simulated(size, NET), args=(graph, rounds, nbytes)).seconds
    ports = sum(LATENCY * (size > 1) + degree(matrix_of(graph, size, t)) * nbytes * BETA for t in range(rounds))
    assert took == pytest.approx(ports, rel=1e-12)


@pytest.mark.parametrize("size", [4, 8, 16, 60])
def test_a_cycle_of_rotating_partners_takes_the_bytes_of_a_ring_all_reduce(size):
    """2 - 2/P vectors a round: two at every distance but the last, where both partners are the same worker."""
    rounds, nbytes = size // 2, 1000
    took = launch(gossip, on=Simulated(size, NET), args=("rotating", rounds, nbytes)).seconds
    assert took / rounds == pytest.approx(LATENCY + (2 - 2 / size) * nbytes * BETA, rel=1e-12)


@pytest.mark.parametrize("size", [9, 12, 16])
@pytest.mark.parametrize("graph", ["torus", "random"])
def test_no_graph_takes_longer_than_all_of_its_messages_at_one_port_in_and_out(graph, size):
    """Where offsets differ from rank to rank, somebody may have to wait; never less than the port, never twice it."""
    took = launch(gossip, on=Simulated(size, NET), args=(graph, 1, 1000)).seconds - LATENCY
    ports = degree(GRAPHS[graph](size))
    assert ports - 1e-9 <= took < 2 * ports


@pytest.mark.parametrize(
    ("topology", "vectors"),
    [(Gossip("ring"), 2), (Gossip("ring", "weights"), 2), (PushSum("exponential"), 3), (Gossip("complete"), 7)],
    ids=repr,
)
def test_every_topology_that_gossips_sends_onward(topology, vectors):
    size = 1000
    took = launch(play, on=Simulated(8, NET), args=(topology, updates(1, 8, size))).seconds
    extra = isinstance(topology, PushSum)  # its weight travels as one number more
    assert took == pytest.approx(LATENCY + vectors * 4 * (size + extra) * BETA, rel=1e-12)


def test_corrections_of_pictures_are_sent_onward():
    topology = Choco(TopK(0.1), graph="exponential")
    packet = TopK(0.1).encode(updates(1, 1, 1000)[0, 0]).nbytes
    took = launch(play, on=Simulated(16, NET), args=(topology, updates(1, 16, 1000))).seconds
    assert took == pytest.approx(LATENCY + 4 * packet * BETA, rel=1e-12)


@pytest.mark.parametrize("graph", GRAPHS)
def test_what_is_heard_comes_in_the_order_of_ranks(graph):
    """Whatever the order of sending: so sums have the same bits everywhere."""

    def listen(comm, K):
        return [(source, share) for (source,), share in heard(comm, K, (comm.rank,))]

    K = GRAPHS[graph](7, 2)
    found = launch(listen, on=Simulated(7), args=(K,))
    assert list(found) == [[(int(j), K[i, j]) for j in np.flatnonzero(K[i])] for i in range(7)]


@pytest.mark.parametrize(("workers", "servers"), [(8, 1), (8, 2), (8, 4), (8, 8), (6, 3), (12, 2), (5, 1)])
def test_from_the_second_round_on_servers_take_one_push_and_their_answers(workers, servers):
    """g + 2 alpha + (N/K + 1) S beta: asked and answering in the order of ranks, workers and servers form a pipeline.

    The first round, in which all push at once, takes 2 alpha + (2 N + K - 1)/K S beta.
    """
    data = blobs(240)
    task = Classify(mlp((17, 2), input=(2,), classes=3), data, data, batch=2)  # 96 numbers: equal shards
    vector, step, rounds = 4 * task.size * BETA, 20.0, 4
    on = Simulated(workers + servers, Cluster(NET, seconds={"gradient": step, "encode": 0.0}))
    recipe = Recipe(topology=ParameterServer(servers), optimizer=SGD(0.1), rounds=rounds)
    took = launch(program, on=on, args=(task, recipe)).seconds
    first, later = (2 * workers + servers - 1) / servers, workers / servers + 1
    expected = rounds * (step + 2 * LATENCY) + (first + (rounds - 1) * later) * vector
    assert took == pytest.approx(expected, rel=1e-9)
