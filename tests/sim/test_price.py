"""A price is the time of the message-by-message run, bit for bit, and both are the closed forms where these hold."""

from dataclasses import replace
from math import log2

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from dlmini.comm import (
    Ghost,
    Graph,
    Hierarchical,
    Link,
    Medium,
    Nodes,
    Switch,
    doubling,
    halving_doubling,
    home_internet,
    launch,
    naive,
    nvlink_island,
    ring,
    tree,
)
from dlmini.events import PHASES
from dlmini.sim import Cluster, Simulated, price
from dlmini.sim.pricing import kernels
from dlmini.sim.pricing import vectors as reckon

SUMS = (ring, tree, doubling, halving_doubling, naive, Hierarchical(2), Hierarchical(3))
A, B, G = 1e-4, 1e-8, 3e-9  # latency, seconds per byte, seconds per added byte
S = 4 * 840  # bytes: divisible by every N here
NETWORKS = (
    Switch(Link(A, 1 / B)),
    Nodes(2, Link(1e-6, 1e9), Link(1e-5, 1e8)),
    Nodes(2, Link(1e-6, 1e9), Link(1e-5, 1e8), shared=False),
    Medium(Link(1e-3, 1e7)),
    home_internet,
    Graph(tuple((i, (i + 1) % 9, Link(1e-5, 1e8)) for i in range(9))),
)


def both(program, n, cluster, args=(), seed=0):
    """The same program, its collectives priced and played."""
    return [launch(program, Simulated(n, replace(cluster, priced=p), seed=seed), args) for p in (True, False)]


CLOSED = {
    ring: lambda n: 2 * (n - 1) * A + 2 * (n - 1) / n * S * B + (n - 1) / n * S * G,
    doubling: lambda n: log2(n) * (A + S * B + S * G),
    halving_doubling: lambda n: 2 * log2(n) * A + 2 * (n - 1) / n * S * B + (n - 1) / n * S * G,
    tree: lambda n: 2 * log2(n) * (A + S * B) + log2(n) * S * G,
}


@pytest.mark.parametrize(
    ("how", "n"), [(ring, n) for n in (2, 3, 5, 7, 8)] + [(h, n) for h in CLOSED for n in (2, 4, 8)]
)
def test_times_are_the_closed_forms_of_the_alpha_beta_gamma_model(how, n):
    cluster = Cluster(network=Switch(Link(A, 1 / B)), gamma=G)
    priced, played = both(lambda comm: comm.allreduce(Ghost(S // 4), how=how), n, cluster)
    assert priced.seconds == played.seconds == price(how, n, Ghost(S // 4), cluster).seconds
    assert priced.seconds == pytest.approx(CLOSED[how](n), rel=1e-12)


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_the_naive_sum_takes_the_root_s_port_twice_for_everybody(n):
    seconds = price(naive, n, S, Switch(Link(A, 1 / B))).seconds
    assert seconds == pytest.approx(2 * A + 2 * (n - 1) * S * B, rel=1e-12)


@pytest.mark.parametrize(("g", "h"), [(2, 3), (4, 2), (3, 5)])
def test_two_levels_cost_what_the_closed_form_says(g, h):
    inside, between = Link(1e-6, 1e9), Link(1e-4, 1e7)
    cluster = Cluster(network=Nodes(g, inside, between, shared=False))
    nbytes = 4 * g * h * 100
    seconds = price(Hierarchical(g), g * h, nbytes, cluster).seconds
    fast, slow = 2 * (g - 1) / g * nbytes / 1e9, 2 * (h - 1) / h * nbytes / g / 1e7
    assert seconds == pytest.approx(fast + slow + 2 * (g - 1) * 1e-6 + 2 * (h - 1) * 1e-4, rel=1e-12)


@pytest.mark.parametrize("servers", [1, 2, 4])
def test_parameter_servers_cost_what_the_closed_form_says(servers):
    workers = 8

    def program(comm):
        if comm.rank < workers:
            others = [workers + (comm.rank + i) % servers for i in range(servers)]
            for server in others:
                comm.send(server, Ghost(S // 4 // servers))
            for server in others:
                comm.recv(server)
        else:
            for _ in range(workers):
                comm.recv_any()
            for i in range(workers):
                comm.send((comm.rank - workers + i) % workers, Ghost(S // 4 // servers))

    seconds = launch(program, Simulated(workers + servers, Switch(Link(A, 1 / B)))).seconds
    assert seconds == pytest.approx(2 * A + 2 * workers * S * B / servers, rel=1e-9)


def late(comm, how, length):
    """Come at some time or other, then sum."""
    coin = np.random.default_rng([comm.rank, length])
    comm.compute("work", None, flops=coin.choice([0, 1e3, 1e5, 1e6 * coin.random()]))
    came = comm.now()
    comm.allreduce(np.ones(length, np.float32), how=how)
    return came, comm.now()


def mixed(comm, how, length):
    """Collectives of all kinds, one after another, of the world and of groups."""
    times, x = late(comm, how, length), np.ones(length, np.float32)
    half = comm.group([r for r in range(comm.size) if r % 2 == comm.rank % 2])
    half.allreduce(x, how=how), comm.barrier(), comm.reduce_scatter(x), comm.allgather(x[: comm.rank])
    return *times, comm.now()


@pytest.mark.parametrize("network", NETWORKS, ids=lambda n: type(n).__name__)
@pytest.mark.parametrize("n", [2, 3, 8])
def test_prices_equal_played_times_when_ranks_come_at_different_times(network, n):
    cluster = Cluster(network=network, gamma=G, overhead=1e-6, speed={0: 0.5})
    for how in SUMS:
        for length in (0, 1, 1000):
            priced, played = both(late, n, cluster, (how, length))
            assert list(priced) == list(played)
            bill = price(how, n, Ghost(length), cluster, arrive=[came for came, _ in played])
            assert bill.clock.tolist() == [left for _, left in played]
        priced, played = both(mixed, n, cluster, (how, 1000))
        assert priced.inexact or list(priced) == list(played)
        assert priced.books == played.books


OPS = ("work", "work", "sum", "sum", "post", "wait", "group", "talk", "any", "barrier", "scatter", "gather", "bcast")
LENGTHS = st.sampled_from([0, 1, 3, 100, 5000])


@st.composite
def programs(draw, n):
    """A list of moves that all ranks make: work, collectives of all kinds and groups, other traffic, in any mixture."""
    per_rank = lambda values: draw(st.lists(values, min_size=n, max_size=n))  # noqa: E731
    moves = []
    for name in draw(st.lists(st.sampled_from(OPS), min_size=1, max_size=8)):
        move = {"name": name, "how": draw(st.sampled_from(SUMS)), "length": draw(LENGTHS), "wait": draw(st.booleans())}
        if name == "work":
            move["flops"] = per_rank(st.sampled_from([0, 0, 1e4, 1e5]) | st.floats(0, 1e6))
        if name in ("talk", "any"):
            move["to"] = draw(st.permutations(range(n)))
            move["sizes"] = per_rank(st.sampled_from([0, 1, 100, 10_000]))
        moves.append({**move, "root": draw(st.integers(0, n - 1)), "every": draw(st.sampled_from([2, 3]))})
    return moves


def perform(comm, moves):
    """Do the moves; all that was heard, and when it was over."""
    heard, pending, owed = [], [], []
    for tag, move in enumerate(moves):
        x = np.arange(move["length"], dtype=np.float32) * (comm.rank + 1)
        match move["name"]:
            case "work":
                comm.compute("work", None, flops=move["flops"][comm.rank])
            case "sum":
                heard.append(comm.allreduce(x, how=move["how"]))
            case "post":
                pending.append(comm.allreduce(x, how=move["how"], wait=False))
            case "wait" if pending:
                heard.append(pending.pop(0).wait())
            case "group":
                group = comm.group([r for r in range(comm.size) if r % move["every"] == comm.rank % move["every"]])
                found = group.allreduce(x, how=move["how"], wait=move["wait"])
                (heard if move["wait"] else pending).append(found)
            case "talk":
                comm.send(move["to"][comm.rank], np.zeros(move["sizes"][comm.rank], np.float32), tag=tag)
                owed.append((move["to"].index(comm.rank), tag))
                if move["wait"]:
                    heard.append(comm.recv(*owed.pop()))
            case "any" if comm.rank == move["root"]:
                heard += [comm.recv_any(tag=tag) for _ in range(comm.size - 1)]
            case "any":
                comm.send(move["root"], np.full(move["sizes"][comm.rank], comm.rank), tag=tag)
            case "barrier":
                comm.barrier()
            case "scatter":
                heard.append(comm.reduce_scatter(x))
            case "gather":
                heard += comm.allgather(x[: comm.rank])
            case "bcast":
                heard.append(comm.bcast(x, root=move["root"]))
    heard += [comm.recv(*key) for key in owed] + [p.wait() for p in pending]
    return [str(h) for h in heard], comm.now()


@given(st.data(), st.sampled_from([2, 3, 4, 5, 8]), st.sampled_from(NETWORKS), st.sampled_from([0.0, 1e-6]))
@examples(150)
def test_no_price_differs_from_the_played_time_without_saying_so(data, n, network, overhead):
    cluster = Cluster(network=network, gamma=data.draw(st.sampled_from([0.0, G])), overhead=overhead, speed={0: 0.5})
    priced, played = both(perform, n, cluster, (data.draw(programs(n)),), seed=data.draw(st.integers(0, 99)))
    assert priced.books == played.books
    if not priced.inexact:
        assert list(priced) == list(played)
        for mine, theirs in zip(priced.phases, played.phases, strict=True):
            for phase in PHASES:
                assert getattr(mine, phase) == pytest.approx(getattr(theirs, phase), abs=1e-9)


def test_other_traffic_at_the_same_port_is_flagged():
    def program(comm):
        pending = comm.allreduce(np.ones(10_000), wait=False)
        comm.send((comm.rank + 1) % comm.size, np.ones(10_000))
        comm.recv((comm.rank - 1) % comm.size)
        pending.wait()

    assert launch(program, Simulated(4)).inexact > 0
    assert launch(program, Simulated(4, Cluster(priced=False))).inexact == 0


def test_ordinary_training_is_exact():
    def program(comm):
        for _ in range(5):
            comm.compute("gradient", None, flops=1e6 * (comm.rank + 1))
            comm.allreduce(np.ones(1000))
        return comm.now()

    priced, played = both(program, 6, Cluster())
    assert priced.inexact == 0
    assert list(priced) == list(played)


@given(
    st.integers(1, 40), st.sampled_from(SUMS), st.integers(0, 200), st.sampled_from(NETWORKS[:3]), st.integers(0, 99)
)
@examples(60)
def test_the_compiled_step_is_its_numpy_twin(n, how, length, network, seed):
    cluster = Cluster(network=network, gamma=G, overhead=1e-7, speed={0: 0.3})
    arrive = np.random.default_rng(seed).random(n) * 1e-3
    bills = []
    for step in (reckon.advance, kernels.advance):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reckon, "chosen", lambda compiled, step=step: step)
            bills.append(price(how, n, length, cluster, arrive))
    mine, theirs = bills
    for name in ("clock", "waiting", "communication", "compute", "free", "last"):
        assert np.array_equal(getattr(mine, name), getattr(theirs, name)), name
    assert (mine.traffic, mine.ordered) == (theirs.traffic, theirs.ordered)


def test_a_price_needs_no_memory_for_the_numbers():
    bill = price(Hierarchical(8), 1024, 700_000_000_000, nvlink_island)
    assert bill.seconds > 2 * 7 / 8 * 7e11 / 300e9
    assert sum(nbytes for *_, nbytes in bill.traffic) == pytest.approx(1024 * 2 * 7e11 * (1 - 1 / 1024), rel=1e-6)


@pytest.mark.parametrize("priced", [True, False])
def test_ranks_that_call_different_collectives_hear_about_it(priced):
    def program(comm):
        comm.allreduce(np.ones(5), how=ring) if comm.rank == 0 else comm.barrier()

    with pytest.raises(RuntimeError, match=r"must call the same collectives|ranks wait"):
        launch(program, Simulated(3, Cluster(priced=priced)))
    with pytest.raises((RuntimeError, ValueError), match=r"equal lengths|same length"):
        launch(lambda comm: comm.allreduce(np.ones(comm.rank)), Simulated(2, Cluster(priced=priced)))
