"""Lesson 05: what servers cost, by formula and by message; learning with them; pictures."""

import numpy as np
import pytest

from dlmini import Classify, Int8, ParameterServer, Simulated, Star, gigabit, launch, mlp, wifi
from dlmini.comm.network import Link, Switch
from dlmini.data import blobs
from dlmini.lessons.allreduce.costs import descend_together, ring_seconds
from dlmini.lessons.backpropagation.descent import plane_net, points
from dlmini.lessons.parameter_servers import costs as servers
from dlmini.lessons.parameter_servers import learning as servers_learning

S, LINK = 840_000, gigabit.link  # a multiple of 1 ... 8


# ---- what a round costs ----


@pytest.mark.parametrize("workers", [1, 2, 5, 8])
def test_one_server_takes_every_vector_in_and_out(workers):
    assert servers.served(workers, 1, S).seconds == pytest.approx(2e-4 + 2 * workers * S / 117e6, rel=1e-9)
    assert servers.one_server_seconds(workers, S, LINK) == pytest.approx(2e-4 + 2 * workers * S / 117e6, rel=1e-9)


@pytest.mark.parametrize(("workers", "count"), [(8, 2), (8, 3), (8, 8), (5, 4), (7, 3)])
def test_the_order_of_knocking_costs_what_the_formulas_say(workers, count):
    in_order, in_turns = (servers.served(workers, count, S, turns=turns).seconds for turns in (False, True))
    assert in_order == pytest.approx(servers.in_order_seconds(workers, count, S, LINK), rel=1e-9)
    assert in_turns == pytest.approx(servers.in_turns_seconds(workers, count, S, LINK), rel=1e-9)
    assert in_turns < in_order


@pytest.mark.parametrize(("workers", "count"), [(8, 1), (8, 4), (8, 8), (6, 4), (7, 3), (5, 2)])
def test_round_after_round_the_order_of_ranks_is_never_slower_than_turns(workers, count):
    """The first round apart: in turns wins it, and loses or draws all others."""
    for turns, later in ((False, servers.in_order_later), (True, servers.in_turns_later)):
        few, many = (servers.served(workers, count, S, turns=turns, rounds=n, step=0.03).seconds for n in (12, 24))
        assert (many - few) / 12 == pytest.approx(later(workers, count, S, LINK, 0.03), rel=1e-9)
    assert servers.in_order_later(workers, count, S, LINK) <= servers.in_turns_later(workers, count, S, LINK)


@pytest.mark.parametrize("pieces", [1, 2, 7])
def test_pieces_use_both_directions_of_the_port(pieces):
    formula = servers.one_server_seconds(6, S, LINK, pieces)
    assert servers.served_in_pieces(6, S, pieces).seconds == pytest.approx(formula, rel=1e-9)


@pytest.mark.parametrize("n", [2, 5, 8])
def test_workers_that_serve_send_the_bytes_of_a_ring_with_fewer_latencies(n):
    found = servers.served_by_all(n, S)
    assert found.seconds == pytest.approx(servers.everybody_serves_seconds(n, S, LINK), rel=1e-9)
    assert ring_seconds(n, S, LINK) - found.seconds == pytest.approx(2 * (n - 2) * 1e-4, abs=1e-9)
    assert found.books.total().nbytes == 2 * (n - 1) * S


def test_servers_change_nothing_where_all_share_one_channel():
    one, four = (servers.served(8, k, S, wifi).seconds for k in (1, 4))
    assert abs(one - four) <= wifi.link.latency * (1 + 1e-9)


def test_a_round_carries_every_part_once_each_way():
    for (source, dest), traffic in servers.served(3, 2, S).books.per_pair().items():
        assert (source < 3) != (dest < 3)
        assert tuple(traffic) == (1, S // 2)


def test_the_narrowest_cable_decides_and_shares_in_proportion_do_better():
    net = servers.uneven(8, [3, 1])
    equal, fair = (servers.served(8, 2, S, net, parts=parts).seconds for parts in ([S // 2] * 2, [3 * S // 4, S // 4]))
    assert equal == pytest.approx(2e-4 + 2 * 8 * S / 2 / 117e6, rel=1e-9)
    assert 2e-4 + 2 * 8 * S / 4 / 117e6 <= fair < equal


def test_equal_cables_are_a_switch():
    net = servers.uneven(4, [1, 1])
    assert servers.served(4, 2, S, net).seconds == servers.served(4, 2, S, Switch(LINK)).seconds
    assert net.ports(6) == Switch(LINK).ports(6)


# ---- learning ----


def test_one_server_and_three_give_the_same_bits_and_the_weights_of_an_allreduce():
    data = points("spirals")
    net = plane_net(data)
    one, three = (
        launch(servers_learning.descend_served, Simulated(4 + k), (net, data, k, servers_learning.push_pull, 5))[0]
        for k in (1, 3)
    )
    alone = launch(descend_together, Simulated(4), (net, data, lambda comm, x: comm.allreduce(x), 5))[0]
    assert np.array_equal(one, three)
    np.testing.assert_allclose(one, alone, rtol=1e-4, atol=1e-6)


@pytest.fixture(scope="module")
def task():
    data = blobs(240)
    return Classify(mlp((8,), input=(2,), classes=3), data, data, batch=10)


def test_answers_in_a_fixed_order_spread_the_workers_out(task):
    """First round 2 N vectors, every later one N + 1."""
    n, rounds, beta = 6, 5, 4 * task.size / 117e6
    first, later = (servers_learning.GRADIENT + 2e-4 + vectors * beta for vectors in (2 * n, n + 1))
    found = servers_learning.by_servers(task, ParameterServer(), n, rounds)
    assert found.seconds == pytest.approx(first + (rounds - 1) * later, rel=1e-9)


def test_star_server_and_shards_learn_the_same_bits(task):
    found = [
        servers_learning.by_servers(task, t, 4, 5).weights for t in (ParameterServer(), ParameterServer(3), Star())
    ]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_only_a_short_way_back_shortens_both_ways(task):
    there = servers_learning.by_servers(task, ParameterServer(), 4, 5, Int8())
    both = servers_learning.by_servers(task, ParameterServer(back=Int8()), 4, 5, Int8())
    packet = task.size + 20
    assert there.nbytes == 5 * 4 * (packet + 4 * task.size)
    assert both.nbytes == 5 * 4 * 2 * packet


def test_the_quorum_comes_when_the_harmonic_numbers_say():
    found = servers_learning.quorum_times(8, 4000)
    for q in (1, 5, 8):
        assert abs(found[q - 1] / servers_learning.quorum_time(q, 8) - 1) < servers_learning.quorum_error(q, 8, 4000)


def test_a_ring_of_six_is_worth_a_compression_by_six():
    assert servers_learning.classroom_star(6) == pytest.approx(servers_learning.classroom_ring(), rel=1e-12)
    assert servers_learning.classroom_star(1) == pytest.approx(68.7, rel=0.1)  # as published


# ---- pictures ----


def test_every_picture_of_the_servers_can_be_drawn():
    from dlmini.lessons.parameter_servers import pictures as show

    rounds = {"one": servers.served(3, 1, 1000), "all": servers.served_by_all(3, 1000)}
    drawn = [
        show.link_loads(rounds),
        show.server_race(4, 1000, Link(1e-3, 1e6)),
        show.quorums(4, servers_learning.quorum_times(4, 50)),
        show.worth_of_a_ring(),
    ]
    assert all(figure._repr_png_().startswith(b"\x89PNG") for figure in drawn)


def test_a_slider_of_the_server_bench_draws_anew():
    from dlmini.lessons.parameter_servers.pictures import server_bench

    bench = server_bench(workers=4, servers=2)
    before = bench.race.value, bench.loads.value
    bench.choices["servers"].value = 4
    assert bench.race.value != before[0]
    assert bench.loads.value != before[1]
    assert "image/png" in bench._repr_mimebundle_()
