"""What exercise 00 is tested for."""

from __future__ import annotations

import numpy as np

from dlmini.comm.network import Link, Switch
from dlmini.grade.expect import named, nothing, number, short
from dlmini.grade.lesson import Call, Calls, Lesson, World, Wrong
from dlmini.lessons.meet_the_lab.mistakes import known_lines, known_shards, known_times
from dlmini.sim.cluster import Cluster

lesson = Lesson("00_meet_the_lab")


# ---- shard ----


def even(coin):
    for size in (1, 2, 4):
        yield shards(size * int(coin.integers(1, 50)), size)


def left_over(coin):
    yield shards(10, 4)
    yield shards(5 * int(coin.integers(1, 9)) + int(coin.integers(1, 4)), 5)
    yield shards(3, 5)


def uneven(coin):
    for size in (2, 3, 7):
        yield shards(size * int(coin.integers(1, 9)) + int(coin.integers(1, size)), size)
    yield shards(3, 5)
    yield shards(0, 3)


def shards(n: int, size: int) -> Calls:
    return Calls([(n, size, rank) for rank in range(size)], truth=(n, size))


def edges(case, found) -> list[tuple[int, int]]:
    n, size = case.truth
    for rank, pair in enumerate(found.values):
        whole = isinstance(pair, tuple | list) and len(pair) == 2 and all(isinstance(e, int | np.integer) for e in pair)
        if not whole:
            raise Wrong(f"shard({n}, {size}, {rank}) gave {short(pair)}, expected two whole numbers (lo, hi).")
    return [(int(lo), int(hi)) for lo, hi in found.values]


def one_owner(case, found) -> None:
    """Every row has one owner, and shards are as equal as can be."""
    n, size = case.truth
    pairs, end = edges(case, found), 0
    for rank, (lo, hi) in enumerate(pairs):
        if lo != end:
            raise Wrong(f"shard({n}, {size}, {rank}) begins at {lo}, but the rows before it end at {end}.")
        if hi - lo not in (n // size, -(-n // size)):
            raise Wrong(f"shard({n}, {size}, {rank}) has {hi - lo} rows; each has {n // size} or {-(-n // size)}.")
        end = hi
    if end != n:
        raise Wrong(f"the shards of {size} ranks end at row {end}, but there are {n} rows.")


def well_known(case, found) -> None:
    n, size = case.truth
    right, mistakes = known_shards(n, size)
    named(edges(case, found), right, f"{n} rows, {size} ranks", mistakes)


def one_owner_or_a_name(case, found) -> None:
    try:
        one_owner(case, found)
    except Wrong:
        well_known(case, found)
        raise


@lesson.test("shard", points=1, cases=even)
def equal_shards_follow_one_another(case, found):
    """If n is a multiple of the number of ranks, rank r gets rows r n / N to (r + 1) n / N."""
    n, size = case.truth
    well_known(case, found)
    for rank, pair in enumerate(edges(case, found)):
        wanted = rank * (n // size), (rank + 1) * (n // size)
        if pair != wanted:
            raise Wrong(f"shard({n}, {size}, {rank}) gave {pair}, expected {wanted}.")


@lesson.test("shard", points=1, cases=left_over)
def every_row_has_one_owner(case, found):
    """If rows are left over, every row still has one owner, and no rank has two rows more than another."""
    one_owner_or_a_name(case, found)


@lesson.test("shard", points=1, cases=uneven, hidden=True)
def rows_left_over_are_spread(case, found):
    """If rows are left over, some ranks get one more; every row has one owner, also where ranks outnumber rows."""
    one_owner_or_a_name(case, found)


# ---- fit_alpha_beta ----


def lines(coin):
    for _ in range(3):
        yield line(coin, 6, 0.0)


def scattered(coin):
    yield line(coin, 8, 0.2)
    yield line(coin, 12, 0.2)


def noisy(coin):
    for points in (3, 8, 30):
        yield line(coin, points, 0.2)


def line(coin, points: int, noise: float) -> Call:
    alpha, beta = 10 ** coin.uniform(-6, -2), 10 ** coin.uniform(-10, -7)
    sizes = np.sort(coin.integers(1, 2_000_000, points))
    sizes[0] = 0
    seconds = (alpha + beta * sizes) * (1 + noise * coin.uniform(-1, 1, points))
    order = coin.permutation(points)
    return Call((sizes[order], seconds[order]), truth=least_squares(sizes, seconds), repeat=2)


def least_squares(sizes, seconds) -> tuple[float, float]:
    """Intercept and slope by centred sums: beta = cov(n, t) / var(n), alpha = mean(t) - beta mean(n)."""
    n, t = sizes.astype(np.longdouble), seconds.astype(np.longdouble)
    slope = ((n - n.mean()) * (t - t.mean())).sum() / ((n - n.mean()) ** 2).sum()
    return float(t.mean() - slope * n.mean()), float(slope)


def fitted(case, found) -> None:
    pair = found.value.tolist() if isinstance(found.value, np.ndarray) else found.value
    listed = isinstance(pair, tuple | list) and len(pair) == 2
    if not listed or not all(isinstance(e, int | float | np.integer | np.floating) for e in pair):
        raise Wrong(f"found {short(pair)}, expected a pair (alpha, beta).")
    scale = float(np.abs(case.args[1]).mean())
    for sentence, wrong in known_lines(*case.args, *case.truth).items():
        if same_pair(pair, wrong) and not same_pair(pair, case.truth):
            raise Wrong(sentence)
    if not abs(float(pair[0]) - case.truth[0]) <= 1e-6 * scale:
        raise Wrong(f"alpha is {float(pair[0]):.6g} s, expected {case.truth[0]:.6g} s.")
    number(pair[1], case.truth[1], "beta, in seconds per byte", relative=1e-6)


def same_pair(pair, other) -> bool:
    return bool(np.allclose(np.array(pair, float), other, rtol=1e-6, atol=0))


@lesson.test("fit_alpha_beta", points=1, cases=lines)
def points_on_a_line_give_that_line(case, found):
    """Points that lie exactly on alpha + n beta give alpha and beta back."""
    fitted(case, found)


@lesson.test("fit_alpha_beta", points=1, cases=scattered)
def scattered_points_give_the_line_of_least_squares(case, found):
    """Of all lines the one with the least sum of squared errors, for noisy points in any order; the input stays."""
    fitted(case, found)


@lesson.test("fit_alpha_beta", points=1, cases=noisy, hidden=True)
def noisy_points_give_the_line_of_least_squares(case, found):
    """The same for three points and for thirty."""
    fitted(case, found)


# ---- ping_pong ----


def pairs(coin):
    for late in (0.0, float(coin.uniform(0.01, 0.02))):
        yield ping(coin, 2, int(coin.integers(3, 7)), start={0: late, 1: late})


def three(coin):
    yield ping(coin, 3, int(coin.integers(3, 7)))


def crowds(coin):
    yield ping(coin, 5, 1)
    yield ping(coin, 4, 7)


def jittery(coin):
    for _ in range(2):
        yield ping(coin, 2, 6, link_jitter=2.0)


def ping(coin, size: int, rounds: int, **cluster) -> World:
    """Other ranks than 0 are given a shorter payload of their own, which nobody asks for."""
    latency, bandwidth = 10 ** coin.uniform(-5, -3), 10 ** coin.uniform(6, 9)
    payload = coin.integers(0, 256, int(coin.integers(2, 20_000))).astype(np.uint8)
    on = Cluster(Switch(Link(latency, bandwidth)), **cluster)
    truth = {"seconds": latency + payload.nbytes / bandwidth, "rounds": rounds, "nbytes": payload.nbytes}
    args = [(payload if rank == 0 else payload[::2].copy(), rounds) for rank in range(size)]
    return World(size, args, truth=truth, on=on, seed=int(coin.integers(2**31)))


def there_and_back(case, found) -> None:
    """Each round is one message with the whole payload each way, and nobody else says anything."""
    rounds, nbytes = case.truth["rounds"], case.truth["nbytes"]
    traffic = {pair: tuple(t) for pair, t in found.books.per_pair().items() if t.messages}
    for source, dest in traffic:
        if {source, dest} != {0, 1}:
            raise Wrong(f"rank {source} sent to rank {dest}: only ranks 0 and 1 talk, ranks 2 and up take no part.")
    for source, dest in ((0, 1), (1, 0)):
        count, sent = traffic.get((source, dest), (0, 0))
        if count != rounds:
            raise Wrong(f"rank {source} sent {count} messages to rank {dest}; with rounds={rounds} it sends {rounds}.")
        if sent != rounds * nbytes:
            word = "sends back what it got" if source else "sends the payload"
            raise Wrong(f"rank {source} sent {sent} bytes in {count} messages; it {word}, {nbytes} bytes each time.")


def others_return_none(case, found) -> None:
    for rank in range(1, case.size):
        if found.values[rank] is not None:
            raise Wrong(f"rank {rank} returned {short(found.values[rank])}; only rank 0 returns a time, others None.")


def time_of_one(case, found) -> None:
    """On an idle network; a wrong time is called by its name where it has one."""
    one, late = case.truth["seconds"], case.on.start.get(0, 0.0)
    mistakes = known_times(one, case.truth["rounds"], late)
    if isinstance(found.values[0], float):  # `alike` would take microseconds for zeros
        named(found.values[0] / one, 1.0, "rank 0", {said: wrong / one for said, wrong in mistakes.items()})
    number(found.values[0], one, "rank 0, seconds")


@lesson.test("ping_pong", points=1, cases=pairs)
def rank_0_returns_the_time_of_one_message(case, found):
    """On an idle network one message takes alpha + n beta: half of a round trip. Rank 1 returns None."""
    time_of_one(case, found)
    nothing(found.values[1], "rank 1")


@lesson.test("ping_pong", points=1, cases=three)
def the_payload_goes_both_ways_between_two_ranks(case, found):
    """In each round rank 0 sends the payload and rank 1 sends back what it got; rank 2 is silent and returns None."""
    there_and_back(case, found)
    time_of_one(case, found)
    others_return_none(case, found)


@lesson.test("ping_pong", points=1, cases=jittery, hidden=True)
def the_mean_is_over_all_rounds(case, found):
    """Where every message takes another time, the mean over all rounds is returned."""
    if not found.seconds:
        raise Wrong("no message was sent, so no time has passed that could be measured.")
    number(found.values[0], found.seconds / (2 * case.truth["rounds"]), "rank 0, seconds", relative=1e-6)


@lesson.test("ping_pong", points=1, cases=crowds, hidden=True)
def only_two_ranks_talk_and_the_payload_goes_both_ways(case, found):
    """Each round is one message with the whole payload each way; ranks 2 and up are silent and return None."""
    there_and_back(case, found)
    time_of_one(case, found)
    others_return_none(case, found)
