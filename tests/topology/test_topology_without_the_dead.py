"""What topologies and gates are like for those who go on: rows still sum to one, nobody waits for the dead."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from topology_play import once, play, updates

from dlmini.comm import launch
from dlmini.sim import Cluster, Simulated
from dlmini.sync import Asynchronous, LocalSGD, PartlySynchronous, StaleSynchronous
from dlmini.topology import AsyncGossip, Gossip
from dlmini.topology.graphs import GRAPHS, matrix_of, without

SYMMETRIC = ("ring", "torus", "complete", "random", "rotating")


@pytest.mark.parametrize("size", [2, 3, 5, 8])
@pytest.mark.parametrize("graph", GRAPHS)
def test_rows_of_the_living_sum_to_one_and_columns_where_the_matrix_is_symmetric(graph, size):
    for t in range(4):
        for gone in ([0], [size - 1], list(range(1, size))):
            K = without(matrix_of(graph, size, t), gone)
            living = np.setdiff1d(np.arange(size), gone)
            np.testing.assert_allclose(K[living].sum(1), 1, atol=1e-12)
            assert not K[:, gone].any()
            if graph in SYMMETRIC:
                np.testing.assert_allclose(K[:, living].sum(0), 1, atol=1e-12)


@pytest.mark.parametrize("what", ["updates", "weights"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_gossip_among_survivors_is_that_matrix_times_what_was_said(graph, what):
    """Worker 2 dies in its third round, before it says anything; two rounds later worker 0."""
    said, size = updates(6, 5, 7), 5
    cluster = Cluster(seconds={"learn": 1.0}, crash={2: 2.5, 0: 4.5})
    found = launch(play, Simulated(size, cluster), (Gossip(graph, what), said), may_die=range(size))
    X = np.zeros((size, 7))
    for t in range(6):
        gone = [2] * (t >= 2) + [0] * (t >= 4)
        K = without(matrix_of(graph, size, t), gone)
        X = K @ (X + said[t]) if what == "weights" else X + K @ said[t]
        for rank in (1, 3, 4):
            np.testing.assert_allclose(found[rank][0][t], X[rank], atol=1e-5)


def test_asynchronous_gossip_gives_no_weight_to_those_known_to_be_dead():
    """After the last round all weight that was not lost with the dead, or pushed to it before, is with the living."""
    rounds, cluster = 40, Cluster(seconds={"learn": 1.0}, crash={1: 5.5})
    said = once(3, 4, rounds)
    found = launch(play, Simulated(3, cluster), (AsyncGossip(), said), lambda event: None, may_die=range(3))
    weights = [found[rank][1]["weight"] for rank in (0, 2)]
    assert sum(weights) > 2.0**-12  # had they gone on pushing to it, half of it would have gone in most rounds
    assert sum(weights) <= 3
    after = [found[rank][0][-1] for rank in (0, 2)]
    np.testing.assert_allclose(after[0], after[1], atol=1e-3)


GATES = {
    "asynchronous": Asynchronous(),
    "stale by 0": StaleSynchronous(0),
    "stale by 2": StaleSynchronous(2),
    "partly": PartlySynchronous(3),
    "Local-SGD": LocalSGD(4),
}


@pytest.mark.parametrize("name", GATES)
@given(data=st.data())
def test_at_a_gate_workers_die_at_any_time_and_the_living_always_come_to_the_end(name, data):
    """Random arrivals and deaths. If all who live wait, somebody is let through; nobody gets ahead of the bound."""
    workers, rounds, sync = 4, 6, GATES[name]
    gate = sync.gate(workers, rounds, lambda t: t == 3)
    free, living = set(range(workers)), set(range(workers))
    while not gate.passed:
        who = data.draw(st.sampled_from(sorted(free)), "who arrives, or dies")
        if len(living) > 1 and data.draw(st.booleans(), "dies"):
            dead = data.draw(st.sampled_from(sorted(living)), "who")
            living.discard(dead)
            free.discard(dead)
            gate.strike(dead)
        else:
            free.discard(who)
            gate.arrive(who)
        ready = gate.open()
        assert set(ready) <= living
        free |= {worker for worker in ready if gate.clocks[worker] < rounds}
        slowest = min(gate.clocks[list(living)])
        assert all(gate.clocks[worker] - sync.staleness <= slowest for worker in ready)
        assert free or gate.passed
    assert {int(gate.clocks[worker]) for worker in living} == {rounds}
