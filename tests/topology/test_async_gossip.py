"""Gossip without appointments: nothing is lost, nobody waits, in whatever order things happen."""

import numpy as np
import pytest
from topology_play import once, play, updates

from dlmini import SGD, Recipe, launch
from dlmini.comm.processes import Processes
from dlmini.events import Round
from dlmini.loop import program
from dlmini.sim import Cluster, Simulated, explore
from dlmini.sync import Asynchronous
from dlmini.topology.async_gossip import LEAST, AsyncGossip
from dlmini.topology.graphs import consensus_distance
from dlmini.topology.own import Own

GRAPHS = ["random", "ring", "exponential", "one_peer", "complete", Own(np.eye(4))]


def ending(results):
    """Weights x and the weight of each worker at the end."""
    return np.array([w[-1] for w, _ in results], np.float64), np.array([memory["weight"] for _, memory in results])


def assert_nothing_is_lost(results, said):
    """While nobody learns, sum_i weight_i x_i stays what it was; the sum of weights always stays P."""
    x, weight = ending(results)
    assert weight.sum() == pytest.approx(len(said[0]), rel=1e-12)
    np.testing.assert_allclose(weight @ x, said.sum(axis=(0, 1), dtype=np.float64), atol=1e-4)


@pytest.mark.parametrize("workers", [1, 2, 3, 5, 8])
def test_nothing_is_lost_and_all_come_near_the_mean(workers):
    said = once(workers, 10, rounds=60)
    results = launch(play, on=Simulated(workers, Cluster(seconds={"learn": 0.01})), args=(AsyncGossip(), said))
    assert_nothing_is_lost(results, said)
    x, _ = ending(results)
    assert consensus_distance(x) <= 0.02 * consensus_distance(said[0])


@pytest.mark.parametrize("graph", GRAPHS, ids=repr)
def test_no_order_of_events_loses_anything_or_leaves_a_message(graph):
    said = once(4, 10, rounds=8)

    def check(results):
        assert_nothing_is_lost(results, said)

    found = explore(
        play, on=Simulated(4, Cluster(seconds={"learn": 1e-4})), seeds=40, args=(AsyncGossip(graph), said), check=check
    )
    assert found, str(found)


def test_meeting_often_loses_nothing_either():
    """Where memories are kept all meet: a goodbye of the next meeting may come before the last one of this."""
    said = once(5, 10, rounds=12)

    def kept(comm):
        return play(comm, AsyncGossip(), said, checkpoint_every=2)

    on = Simulated(5, Cluster(seconds={"learn": 1e-4}))
    found = explore(kept, on=on, seeds=60, check=lambda results: assert_nothing_is_lost(results, said))
    assert found, str(found)


def times_of(task, slow, rounds=12):
    """When each worker ended its last round but one, before all say goodbye."""
    cluster = Cluster(speed={0: 0.2} if slow else {}, seconds={"gradient": 0.01})
    recipe = Recipe(topology=AsyncGossip(), sync=Asynchronous(), optimizer=SGD(0.1), rounds=rounds)
    events = launch(program, on=Simulated(4, cluster), args=(task, recipe)).events
    return {e.rank: e.at for e in events if isinstance(e, Round) and e.t == rounds - 2}


def test_a_slow_worker_slows_nobody_else(task):
    alone, with_slow = times_of(task, slow=False), times_of(task, slow=True)
    assert with_slow[0] > 4.5 * alone[0]
    for rank in (1, 2, 3):
        assert with_slow[rank] == pytest.approx(alone[rank], rel=1e-3)  # only looks at the mailbox differ, 1 us each


def test_who_hears_nothing_for_long_keeps_a_little_weight():
    """A worker that is 2000 times faster than the other pushes half of what it has, again and again."""
    said = once(2, 4, rounds=1200)
    on = Simulated(2, Cluster(seconds={"learn": 1.0}, speed={0: 2000.0}))
    results = launch(play, on=on, args=(AsyncGossip(), said))
    assert_nothing_is_lost(results, said)
    assert np.isfinite([weights for weights, _ in results]).all()
    assert LEAST / 2 <= min(memory["weight"] for _, memory in results) < 1


def test_rounds_much_shorter_than_a_messages_way_give_all_weight_away_before_any_comes():
    said = once(2, 10, rounds=40)

    def left(seconds):
        results = launch(play, on=Simulated(2, Cluster(seconds={"learn": seconds})), args=(AsyncGossip(), said))
        return consensus_distance(ending(results)[0]) / consensus_distance(said[0])

    assert left(1e-8) > 0.99  # they have changed places
    assert left(1e-3) < 0.01


def test_one_vector_a_round_travels_and_a_goodbye_to_each():
    traffic = launch(play, on=Simulated(4), args=(AsyncGossip(), updates(10, 4, 100))).books.total()
    assert traffic.messages == 10 * 4 + 4 * 3
    assert traffic.nbytes < 10 * 4 * (400 + 40)


def test_it_pushes_to_neighbours_only():
    pairs = launch(play, on=Simulated(6, log=True), args=(AsyncGossip("ring"), updates(30, 6, 10))).log
    news = {(m.source, m.dest) for m in pairs if m.nbytes}
    assert news == {(i, (i + s) % 6) for i in range(6) for s in (1, -1)}


def test_it_learns(task):
    recipe = Recipe(topology=AsyncGossip(), sync=Asynchronous(), optimizer=SGD(0.1), rounds=40)
    results = launch(program, on=Simulated(5, Cluster(speed={0: 0.2}, seconds={"gradient": 0.01})), args=(task, recipe))
    before = task.evaluate(task.initial(0))["loss"]
    assert all(task.evaluate(w)["loss"] < 0.5 * before for w in results)


def test_unknown_graphs_are_refused():
    with pytest.raises(ValueError, match="no graph called 'rign'"):
        AsyncGossip("rign")


def test_processes_lose_nothing_either():
    said = once(3, 1000, rounds=20)
    assert_nothing_is_lost(launch(play, on=Processes(3), args=(AsyncGossip(), said)), said)
