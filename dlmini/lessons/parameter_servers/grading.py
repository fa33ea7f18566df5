"""What exercise 05 is tested for."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import floor

import numpy as np

from dlmini.comm.network import Link, Switch
from dlmini.grade.expect import named, same, short
from dlmini.grade.lesson import Call, Lesson, World, Wrong
from dlmini.lessons.parameter_servers.mistakes import known_ranges, known_weights
from dlmini.sim.cluster import Cluster

lesson = Lesson("05_parameter_servers")


# ---- shard_ranges ----


def ranges(length: int, speeds) -> Call:
    """The truth by fractions: each edge is rounded once."""
    speeds = [int(s) for s in speeds]
    shares = [Fraction(sum(speeds[:k]), sum(speeds)) for k in range(len(speeds) + 1)]
    edges = [floor(length * share) for share in shares]
    return Call((length, speeds), truth=list(pairwise(edges)))


def divisible(coin):
    for servers in (1, 2, 5):
        yield ranges(servers * int(coin.integers(2, 40)), [1] * servers)
    yield ranges(4 * int(coin.integers(2, 40)), [1, 2, 1])


def some_left_over(coin):
    yield ranges(19, [1] * 10)
    yield ranges(100, [29, 71])
    yield ranges(int(coin.integers(50, 500)), [int(coin.integers(5, 9)), 1, int(coin.integers(2, 4))])
    yield ranges(3, [1] * 5)


def left_over(coin):
    for servers in (3, 4, 7):
        yield ranges(servers * int(coin.integers(2, 40)) + int(coin.integers(1, servers)), [1] * servers)
    yield ranges(3, [1] * 5)
    yield ranges(0, [1, 1])


def different(coin):
    for servers in (2, 3, 6):
        yield ranges(int(coin.integers(50, 500)), coin.integers(1, 9, servers))
    yield ranges(1_000_000_007, [10, 1, 1, 1])
    yield ranges(2, [1, 5, 1])


def right_ranges(case, found) -> None:
    call = f"shard_ranges({case.args[0]}, {case.args[1]})"
    parts = found.value
    if not isinstance(parts, list | tuple) or len(parts) != len(case.truth):
        raise Wrong(f"{call} gave {short(parts)}, expected a list of {len(case.truth)} pairs (low, high).")
    for k, (part, truth) in enumerate(zip(parts, case.truth, strict=True)):
        pair = isinstance(part, list | tuple) and len(part) == 2
        if not pair or not all(isinstance(edge, int | np.integer) and not isinstance(edge, bool) for edge in part):
            raise Wrong(f"{call}, server {k}: found {short(part)}, expected two whole numbers (low, high).")
        if (int(part[0]), int(part[1])) != truth:
            named(parts, case.truth, call, known_ranges(*case.args, case.truth))
            raise Wrong(f"{call}, server {k}: found {short(tuple(part))}, expected {truth}.")


@lesson.test("shard_ranges", points=1, cases=divisible)
def parts_in_proportion_to_speed(case, found):
    """Parts follow one another, each as long as the server's share of the speeds."""
    right_ranges(case, found)


@lesson.test("shard_ranges", points=1, cases=some_left_over)
def every_number_has_one_server(case, found):
    """If numbers are left over, each edge is rounded down once, and every number still has one server."""
    right_ranges(case, found)


@lesson.test("shard_ranges", points=1, cases=left_over, hidden=True)
def numbers_left_over_are_spread(case, found):
    """If numbers are left over, parts differ by at most one; every number has one server, also where servers are more
    than numbers."""
    right_ranges(case, found)


@lesson.test("shard_ranges", points=1, cases=different, hidden=True)
def servers_of_any_speed(case, found):
    """Servers of different speeds, long vectors and short ones."""
    right_ranges(case, found)


# ---- push_pull ----


def world(coin, workers: int, servers: int, length: int, dtype="f4", repeat: int = 1, **cluster) -> World:
    """Whole numbers and a rate that is a power of two, so that no order of addition rounds."""
    gradients = (workers * coin.integers(-99, 99, (workers, length))).astype(dtype)
    w, rate = coin.integers(-99, 99, length).astype(dtype), 0.25
    edges = [k * length // servers for k in range(servers + 1)]
    args = [(g, servers, rate) for g in gradients]
    args += [(w[edges[k] : edges[k + 1]].copy(), servers, rate) for k in range(servers)]
    truth = (w - rate * gradients.mean(axis=0, dtype="f8")).astype(dtype)
    on = Cluster(Switch(Link(10 ** coin.uniform(-5, -3), 10 ** coin.uniform(6, 9))), **cluster)
    return World(workers + servers, args, truth=truth, on=on, seed=int(coin.integers(2**31)), repeat=repeat)


def few(coin):
    for workers, servers in ((3, 2), (3, 1), (2, 3)):
        yield world(coin, workers, servers, servers * int(coin.integers(2, 9)))


def twice(coin):
    yield world(coin, 3, 2, 2 * int(coin.integers(2, 9)), repeat=2)
    yield world(coin, 3, 2, 2 * int(coin.integers(2, 9)), "f8", repeat=2)


def several(coin):
    for workers, servers in ((4, 2), (3, 3)):
        yield world(coin, workers, servers, servers * int(coin.integers(50, 200)))


def odd(coin):
    """One worker; parts of different lengths, and empty ones; both types."""
    for workers, servers, length, dtype in ((1, 1, 5, "f4"), (1, 3, 7, "f8"), (4, 3, 11, "f8"), (3, 5, 3, "f4")):
        yield world(coin, workers, servers, length, dtype)


def shaken(coin):
    """Messages that come late, ranks that are slow."""
    for workers, servers in ((4, 1), (4, 3)):
        start = {rank: float(coin.uniform(0, 1e-2)) for rank in range(workers + servers)}
        yield world(coin, workers, servers, 13, repeat=2, link_jitter=5.0, start=start)


def large(coin):
    for workers, servers in ((5, 1), (4, 2), (6, 3)):
        yield world(coin, workers, servers, servers * int(coin.integers(500, 2000)))


def stepped(case, found) -> None:
    """Workers hold all of the new weights, servers their shard."""
    servers, length = case.args[0][1], len(case.truth)
    workers = case.size - servers
    for rank, value in enumerate(found.values):
        k = rank - workers
        part = slice(0, length) if k < 0 else slice(k * length // servers, (k + 1) * length // servers)
        who = f"worker {rank} of {workers}" if k < 0 else f"server {k} of {servers}, with {workers} workers"
        named(value, case.truth[part], who, {said: w[part] for said, w in known_weights(case, rank, workers).items()})
        same(value, case.truth[part], who, parts=servers if k < 0 else 0)


@lesson.test("push_pull", points=1, cases=few)
def everybody_holds_the_new_weights(case, found):
    """A step against the mean of all workers' gradients: workers return all weights, each server its shard."""
    stepped(case, found)


@lesson.test("push_pull", points=1, cases=twice)
def what_was_passed_in_is_left_alone(case, found):
    """Gradients and shards that were passed in are not changed, and the numbers keep their type."""
    stepped(case, found)


@lesson.test("push_pull", points=1, cases=several)
def servers_work_side_by_side(case, found):
    """A worker sends each server its part, once, and pushes all parts before it waits for the first answer."""
    stepped(case, found)
    once_each_way(case, found)
    at_the_same_time(case, found)


@lesson.test("push_pull", points=1, cases=odd, hidden=True)
def any_number_of_workers_and_servers(case, found):
    """It works for one worker, for shards of different lengths, for empty ones, and keeps the type of the numbers."""
    stepped(case, found)


@lesson.test("push_pull", points=1, cases=shaken, hidden=True)
def late_messages_change_nothing(case, found):
    """Late messages, slow ranks and a call before change nothing."""
    stepped(case, found)


@lesson.test("push_pull", points=1, cases=large, hidden=True)
def each_part_travels_once_each_way(case, found):
    """A worker sends one message to each server, with the part that it keeps, and gets one back."""
    stepped(case, found)
    once_each_way(case, found)


@lesson.test("push_pull", points=1, cases=large, hidden=True)
def servers_work_at_the_same_time(case, found):
    """Workers push all parts before they wait: 2 alpha + (2 N + K - 1)/K S beta, for K servers, or less."""
    stepped(case, found)
    at_the_same_time(case, found)


def once_each_way(case, found) -> None:
    servers, nbytes = case.args[0][1], case.truth.nbytes
    workers, due = case.size - servers, nbytes // servers
    traffic = {pair: tuple(t) for pair, t in found.books.per_pair().items() if t.messages}
    for a, b in traffic:
        if (a < workers) == (b < workers):
            raise Wrong(f"rank {a} sent to rank {b}: workers talk to servers only, and servers to workers.")
    for a, b in sorted((a, b) for w in range(workers) for s in range(workers, case.size) for a, b in ((w, s), (s, w))):
        count, sent = traffic.get((a, b), (0, 0))
        if count == 1 and sent == nbytes and servers > 1:
            raise Wrong(
                f"rank {a} sent the whole vector to rank {b}; only the part that the server keeps has to travel."
            )
        if (count, sent) != (1, due):
            raise Wrong(
                f"rank {a} sent {count} messages, {sent} bytes in all, to rank {b}; one with {due} bytes is due."
            )


def at_the_same_time(case, found) -> None:
    servers, link = case.args[0][1], case.on.network.link
    workers = case.size - servers
    bound = 2 * link.latency + (2 * workers + servers - 1) / servers * case.truth.nbytes / link.bandwidth
    if found.seconds > bound * (1 + 1e-9):
        raise Wrong(
            f"it took {found.seconds:.6g} s with {workers} workers and {servers} servers; {bound:.6g} s will do: "
            "push all parts before you wait for the first answer, or servers work one after another."
        )
