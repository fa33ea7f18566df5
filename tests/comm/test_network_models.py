"""Links cost what the alpha-beta model says; ports make messages wait for one another; routes are the quickest."""

import pytest

from dlmini.comm import Ghost, Graph, Link, Medium, Nodes, Switch, gigabit, home_internet, launch
from dlmini.comm.network import INNER, PRESETS, SHARED, through
from dlmini.sim import Simulated

SLOW, FAST = Link(1e-3, 1e6), Link(1e-6, 1e9)


def arrivals(network, size, messages):
    """When each (source, dest, bytes), all sent at time 0, is there."""

    def program(comm):
        for tag, (source, dest, nbytes) in enumerate(messages):
            if comm.rank == source:
                comm.send(dest, Ghost(nbytes, "u1"), tag=tag)
        for tag, (source, dest, _) in enumerate(messages):
            if comm.rank == dest:
                comm.recv(source, tag=tag)

    log = launch(program, Simulated(size, network, log=True)).log
    here = {record.channel: record.here for record in log}
    return [here[tag] for tag in range(len(messages))]


@pytest.mark.parametrize("name", PRESETS)
def test_on_an_idle_network_a_message_takes_latency_plus_bytes_over_bandwidth(name):
    network, nbytes = PRESETS[name], 10**6
    ports = network.ports(16)
    for dest in (1, 9):
        way = [ports[p] for p in network.route(0, dest, 16)]
        alpha, beta = sum(p.latency for p in way), max(p.per_byte for p in way)
        assert arrivals(network, 16, [(0, dest, nbytes)]) == [pytest.approx(alpha + beta * nbytes, rel=1e-12)]


def test_gigabit_is_the_course_s_default():
    assert arrivals(gigabit, 2, [(0, 1, 117_000)]) == [pytest.approx(100e-6 + 1e-3)]


def test_a_message_to_oneself_takes_no_time():
    for network in (*PRESETS.values(), Graph(((0, 1, SLOW),))):
        assert arrivals(network, 2, [(0, 0, 10**9)]) == [0.0]


def test_two_messages_queue_at_the_sender_s_port_and_at_the_receiver_s():
    assert arrivals(Switch(SLOW), 3, [(0, 1, 1000), (0, 2, 1000)]) == pytest.approx([0.002, 0.003])
    assert sorted(arrivals(Switch(SLOW), 3, [(0, 2, 1000), (1, 2, 1000)])) == pytest.approx([0.002, 0.003])


def test_a_switch_lets_pairs_talk_at_the_same_time_and_a_medium_does_not():
    both = [(0, 1, 1000), (2, 3, 1000), (1, 0, 1000)]
    assert arrivals(Switch(SLOW), 4, both) == pytest.approx([0.002] * 3)
    assert sorted(arrivals(Medium(SLOW), 4, both)) == pytest.approx([0.002, 0.003, 0.004])


def test_ranks_of_a_node_share_its_card_unless_each_has_its_own():
    both = [(0, 2, 1000), (1, 3, 1000)]
    assert sorted(arrivals(Nodes(2, FAST, SLOW), 4, both)) == pytest.approx([0.002, 0.003])
    assert arrivals(Nodes(2, FAST, SLOW, shared=False), 4, both) == pytest.approx([0.002, 0.002])
    assert arrivals(Nodes(2, FAST, SLOW), 4, [(0, 1, 1000)]) == pytest.approx([2e-6])


def test_talk_inside_a_node_does_not_disturb_its_card():
    assert arrivals(Nodes(2, FAST, SLOW), 4, [(0, 2, 1000), (0, 1, 1000)]) == pytest.approx([0.002, 2e-6])


def test_an_upload_is_as_slow_as_the_upward_link_and_many_can_run_into_one_fast_port():
    up = home_internet.link
    alone = arrivals(home_internet, 5, [(0, 4, 10**6)])[0]
    assert alone == pytest.approx(up.latency + 1e6 / up.upload)
    together = arrivals(home_internet, 5, [(source, 4, 10**6) for source in range(4)])
    assert max(together) < 1.3 * alone


def test_a_graph_routes_over_the_least_latency():
    detour = Graph(((0, "hub", FAST), ("hub", 1, FAST), (0, 1, SLOW)))
    assert arrivals(detour, 2, [(0, 1, 1000)]) == pytest.approx([2e-6 + 1e-6])


def test_links_of_a_graph_are_shared_by_all_who_pass():
    line = Graph(((0, 1, SLOW), (1, 2, SLOW)))
    through_the_middle = arrivals(line, 3, [(0, 2, 1000), (1, 2, 1000)])
    assert through_the_middle == pytest.approx([0.003, 0.002])
    crowded = arrivals(line, 3, [(0, 2, 1000), (0, 1, 1000)])
    assert crowded == pytest.approx([0.003, 0.003])


def test_ranks_sit_where_they_are_placed():
    pair = Graph((("a", "b", SLOW),), places=("a", "a", "b"))
    assert arrivals(pair, 3, [(0, 1, 1000), (0, 2, 1000)]) == pytest.approx([0.0, 0.002])
    with pytest.raises(ValueError, match="places for 3 ranks, but there are 4"):
        arrivals(pair, 4, [(0, 3, 1)])
    with pytest.raises(ValueError, match="no way leads from rank 0 at 0 to rank 1 at 1"):
        arrivals(Graph(((0, 2, SLOW),)), 2, [(0, 1, 1)])


def test_the_simulator_passes_ports_exactly_as_the_model_says():
    graph, nbytes = Graph((("x", 0, SLOW), ("x", 1, FAST), (1, 2, Link(1e-5, 3e7)))), 12_345
    ports, head, tail = graph.ports(3), 0.0, 0.0
    for port in graph.route(0, 2, 3):
        _, head, tail = through(ports[port], 0.0, head, tail, nbytes)
    assert arrivals(graph, 3, [(0, 2, nbytes)]) == [tail]


def test_owners_of_ports_are_who_may_begin_there():
    for network, begin in ((Switch(SLOW), [0, 1]), (Medium(SLOW), [SHARED]), (Nodes(2, FAST, SLOW), [0, 1, SHARED])):
        assert [p.owner for p in network.ports(2) if p.owner != INNER] == begin


@pytest.mark.parametrize(("latency", "bandwidth"), [(-1, 1), (0, 0), (0, -5), (float("nan"), 1)])
def test_impossible_links_are_refused(latency, bandwidth):
    with pytest.raises(ValueError, match=r"(latency|bandwidth) is .*; it must be a .*number (of at least|above) 0"):
        Link(latency, bandwidth)


def test_a_node_has_ranks():
    with pytest.raises(ValueError, match="per_node is 0; it must be a whole number of at least 1"):
        Nodes(0, FAST, SLOW)
