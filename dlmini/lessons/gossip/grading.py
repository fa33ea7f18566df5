"""What exercise 08 is tested for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dlmini.comm.network import Link, Switch
from dlmini.grade.expect import close, named, short
from dlmini.grade.lesson import Call, Calls, Found, Lesson, World, Wrong
from dlmini.lessons.gossip.mistakes import bad_gaps, bad_matrices, bad_mixtures, bad_partners
from dlmini.sim.cluster import Cluster

lesson = Lesson("08_gossip")


# ---- mixing_matrix: the truth is made of an adjacency matrix, entry by entry ----


def graph(coin, size: int, share: float = 0.4, extra: tuple = ()) -> Call:
    """A random graph: each pair is an edge with the given chance; its ends come in any order."""
    pairs = [(i, j) for i in range(size) for j in range(i) if coin.random() < share or (i, j) in extra]
    edges = [tuple(int(v) for v in coin.permutation(pair)) for pair in coin.permutation(pairs).tolist()]
    return weighed(edges, size)


def weighed(edges: list[tuple[int, int]], size: int) -> Call:
    A = np.zeros((size, size), bool)
    for i, j in edges:
        A[i, j] = A[j, i] = True
    degree = A.sum(axis=0)
    truth = np.where(A, 1 / (1 + np.maximum.outer(degree, degree)), 0.0)
    np.fill_diagonal(truth, [1 - row.sum() for row in truth])
    count = f"{len(edges)} edge{'s' * (len(edges) > 1)}" if edges else "no edges at all"
    return Call((edges, size), truth=truth, repeat=2, about=f"{size} workers and {count}")


def known_graphs(coin):
    n = int(coin.integers(5, 9))
    yield weighed([(0, i) for i in range(1, n)], n)
    yield weighed([(i, (i + 1) % n) for i in range(n)], n)
    yield weighed([(i, i + 1) for i in range(n - 1)], n)
    yield weighed([(0, 1), (1, 2)], 5)
    yield weighed([], 2)


def right_matrix(case, found) -> None:
    named(found.value, case.truth, case.about, bad_matrices(case))
    close(found.value, case.truth, f"{case.about}: K", terms=8)


def random_graphs(coin):
    for size in (4, 7, 12):
        yield graph(coin, size)


def lonely_graphs(coin):
    yield weighed([], 3)
    yield weighed([], 1)
    yield weighed([(0, 2)], 4)
    yield graph(coin, 6, share=1.0)


@lesson.test("mixing_matrix", points=1, cases=known_graphs)
def a_ring_a_star_and_a_path(case, found):
    """Neighbours share 1 / (1 + the larger degree); each worker keeps what is left, also one without neighbours."""
    right_matrix(case, found)


@lesson.test("mixing_matrix", points=1, cases=random_graphs, hidden=True)
def any_graph(case, found):
    """It works for any graph, whichever end of an edge is named first, and leaves its arguments alone."""
    right_matrix(case, found)


@lesson.test("mixing_matrix", points=1, cases=lonely_graphs, hidden=True)
def workers_without_neighbours(case, found):
    """Who has no neighbours keeps all: K[i, i] = 1. A complete graph gives 1 / N everywhere."""
    right_matrix(case, found)


# ---- spectral_gap: matrices made from a spectrum that the judge has chosen ----


def symmetric(coin, values) -> Call:
    """A symmetric matrix with these eigenvalues, the 1 belonging to the mean."""
    n = len(values)
    first = np.column_stack([np.ones(n), coin.standard_normal((n, n - 1))])
    Q, _ = np.linalg.qr(first)
    K = (Q * np.array(values, float)) @ Q.T
    rest = sorted(abs(v) for v in values)
    return Call((K,), truth=1 - rest[-2], repeat=2)


def wheel(coin, size: int, shares: dict[int, float]) -> Call:
    """A circulant matrix; its eigenvalues: sums of share * exp(2 pi i k offset / N), added up here one by one."""
    K = np.zeros((size, size))
    for i in range(size):
        for offset, share in shares.items():
            K[i, (i + offset) % size] += share
    sizes = [abs(sum(s * np.exp(2j * np.pi * k * o / size) for o, s in shares.items())) for k in range(1, size)]
    return Call((K,), truth=1 - max(sizes), repeat=2)


def every_kind(coin):
    yield symmetric(coin, [1, *coin.uniform(0.05, 0.5, 4), -0.9])
    yield wheel(coin, int(coin.integers(5, 9)), {0: 0.5, 1: 0.3, 2: 0.2})
    yield symmetric(coin, [1, *coin.uniform(0.05, 0.9, 4)])
    yield alone()


def alone() -> Call:
    return Call((np.eye(1),), truth=1.0, about="one worker alone, whose matrix has one eigenvalue")


def negative(coin):
    yield symmetric(coin, [1, *coin.uniform(0, 0.5, 4), -0.8])
    yield symmetric(coin, [1, *coin.uniform(-0.9, -0.6, 3)])
    yield wheel(coin, 4, {1: 0.45, -1: 0.45, 0: 0.1})


def one_way(coin):
    for n in (5, 12):
        yield wheel(coin, n, {0: 0.5, 1: 0.3, 2: 0.2})
    yield wheel(coin, 16, {0: 0.5, 1: 0.5})


def extreme(coin):
    yield alone()
    yield Call((np.full((6, 6), 1 / 6),), truth=1.0)
    yield Call((np.kron(np.eye(2), np.full((3, 3), 1 / 3)),), truth=0.0)


def gap(case, found) -> None:
    value = found.value
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise Wrong(f"the gap: found {short(value)}, expected a number.")
    if np.iscomplexobj(value):
        raise Wrong(f"the gap is the complex number {complex(value):.3g}: what counts of an eigenvalue is its size.")
    named(value, case.truth, f"{len(case.args[0])} workers", bad_gaps(case.args[0]))
    if not abs(float(value) - case.truth) <= 1e-6:
        raise Wrong(f"{len(case.args[0])} workers: the gap is {float(value):.6g}, expected {case.truth:.6g}.")


@lesson.test("spectral_gap", points=1, cases=every_kind)
def one_minus_the_second_eigenvalue(case, found):
    """1 minus the second largest |eigenvalue|, whether eigenvalues are positive, negative or complex, or only one."""
    gap(case, found)


@lesson.test("spectral_gap", points=1, cases=negative, hidden=True)
def negative_eigenvalues_count_by_their_size(case, found):
    """An eigenvalue of -0.8 dies as slowly as one of 0.8."""
    gap(case, found)


@lesson.test("spectral_gap", points=1, cases=one_way, hidden=True)
def one_way_streets_have_complex_eigenvalues(case, found):
    """Directed graphs have complex eigenvalues; their absolute value counts."""
    gap(case, found)


@lesson.test("spectral_gap", points=1, cases=extreme, hidden=True)
def nobody_or_everybody(case, found):
    """One worker: 1. All with all: 1. Two groups that never talk: 0."""
    gap(case, found)


# ---- partners ----


def everybody(coin):
    """All ranks in all rounds, until the distance has begun again."""
    for size in (8, 5):
        asked = [(rank, t, size) for rank in range(size) for t in range(size + 1)]
        yield Calls(asked, truth=[around(rank, 1 + t % (size // 2), size) for rank, t, _ in asked])
    yield Calls([(0, t, 1) for t in range(3)], truth=[[]] * 3, about="a worker alone")


def around(rank: int, s: int, size: int) -> list[int]:
    """Everybody whose distance round the ring is s, found by looking at all."""
    return [j for j in range(size) if j != rank and s in ((rank - j) % size, (j - rank) % size)]


def all_met(case, found) -> None:
    size = case.args[0][2]
    if size > 1:
        named(found.values, case.truth, f"{size} workers", bad_partners(case.args))
    for (rank, t, _), value, truth in zip(case.args, found.values, case.truth, strict=True):
        met(Call((rank, t, size), truth=truth), Found([value]))


def meetings(sizes, rounds: int):
    """One rank, drawn by chance, for each round."""

    def cases(coin):
        for size in sizes:
            for t in range(rounds):
                rank = int(coin.integers(size))
                yield Call((rank, t, size), truth=around(rank, 1 + t % max(1, size // 2), size))

    return cases


def met(case, found) -> None:
    rank, t, size = case.args
    value = found.value
    if not isinstance(value, list | tuple) or [*map(plain, value)] != case.truth:
        raise Wrong(f"rank {rank} of {size} in round {t}: found {short(value)}, expected {case.truth}.")


def plain(value):
    return int(value) if isinstance(value, int | np.integer) and not isinstance(value, bool) else None


@lesson.test("partners", points=1, cases=everybody)
def the_two_at_distance_s(case, found):
    """Partners are the two at distance s = 1, 2, ..., size // 2, then 1 again: groups of 8, of 5, and one alone."""
    all_met(case, found)


@lesson.test("partners", points=1, cases=meetings((7, 8), 12), hidden=True)
def the_distance_begins_again(case, found):
    """After N // 2 rounds the distance is 1 again."""
    met(case, found)


@lesson.test("partners", points=1, cases=meetings((2, 4, 6, 16), 8), hidden=True)
def opposite_workers_meet_once(case, found):
    """At distance N / 2 there is one partner, not two: nobody is counted twice."""
    met(case, found)


@lesson.test("partners", points=1, cases=meetings((1, 3), 3), hidden=True)
def the_smallest_groups(case, found):
    """One worker has no partners; three meet all others in every round."""
    met(case, found)


# ---- gossip_step: the truth is K @ X ----


def world(coin, K: np.ndarray, length: int, dtype="f8", repeat: int = 1, **cluster) -> World:
    X = coin.standard_normal((len(K), length)).astype(dtype)
    on = Cluster(Switch(Link(10 ** coin.uniform(-5, -3), 10 ** coin.uniform(6, 9))), **cluster)
    truth = (K @ X.astype("f8")).astype(dtype)
    return World(len(K), [(x, K) for x in X], truth=truth, on=on, seed=int(coin.integers(2**31)), repeat=repeat)


def cycle(size: int) -> np.ndarray:
    """One third each, oneself and two neighbours; written out."""
    K = np.zeros((size, size))
    for i in range(size):
        for j in (i - 1, i, i + 1):
            K[i, j % size] += 1 / 3
    return K


def streets(coin, size: int) -> np.ndarray:
    """A directed graph with shares of its own: rows sum to one, columns do not."""
    K = np.where(coin.random((size, size)) < 0.4, coin.uniform(0.1, 1, (size, size)), 0.0) + np.eye(size)
    K[0, 1], K[1, 0] = 0.5, 0.0
    return K / K.sum(axis=1, keepdims=True)


def two_ways_and_one_way(coin):
    """All hear all with shares of their own; a ring in single precision; one-way streets."""
    K = coin.permutation(np.arange(1.0, 10)).reshape(3, 3)
    yield world(coin, K / K.sum(axis=1, keepdims=True), 4, repeat=2)
    yield world(coin, cycle(4), int(coin.integers(2, 9)), "f4", repeat=2)
    about = "a one-way graph, where those who hear you are not those whom you hear"
    yield replace(world(coin, streets(coin, 5), 6, repeat=2), about=about)


def directed(coin):
    for size in (3, 6):
        yield world(coin, streets(coin, size), 7)


def odd(coin):
    """One worker; two; single precision; a row that keeps nothing for itself. Called twice."""
    yield world(coin, np.eye(1), 4, "f4", repeat=2)
    yield world(coin, np.array([[0.0, 1.0], [1.0, 0.0]]), 3, "f4", repeat=2)
    yield world(coin, cycle(4), 5, "f4", repeat=2)


def shaken(coin):
    start = {rank: float(coin.uniform(0, 1e-2)) for rank in range(5)}
    yield world(coin, streets(coin, 5), 9, repeat=2, link_jitter=5.0, start=start)


def mixture(case, found) -> None:
    well_known = bad_mixtures(case)
    for rank, value in enumerate(found.values):
        bad = {sentence: rows[rank] for sentence, rows in well_known.items()}
        named(value, case.truth[rank], f"rank {rank} of {case.size}", bad)
        close(value, case.truth[rank], f"rank {rank} of {case.size}", terms=2 * case.size)


def along_links(case, found) -> None:
    """One message for every link of K, and no other."""
    K, n = case.args[0][1], case.size
    wanted = {(j, i) for i in range(n) for j in range(n) if i != j and K[i, j]}
    sent = {pair: t.messages // case.repeat for pair, t in found.books.per_pair().items() if t.messages}
    for source, dest in sorted(set(sent) - wanted):
        raise Wrong(f"rank {source} wrote to rank {dest}, which does not hear it: K[{dest}, {source}] is 0.")
    if set(sent) != wanted or any(count != 1 for count in sent.values()):
        raise Wrong(f"{sum(sent.values())} messages between {len(sent)} pairs; K has {len(wanted)} links, one each.")


@lesson.test("gossip_step", points=2, cases=two_ways_and_one_way)
def every_rank_returns_its_mixture(case, found):
    """Rank r returns row r of K @ X, in the type of x, which stays as it was; only those who hear it get its vector."""
    mixture(case, found)
    along_links(case, found)


@lesson.test("gossip_step", points=1, cases=directed, hidden=True)
def rows_hear_and_columns_are_heard(case, found):
    """In a directed graph, who hears me and whom I hear are not the same."""
    mixture(case, found)


@lesson.test("gossip_step", points=1, cases=odd, hidden=True)
def the_smallest_worlds(case, found):
    """One worker, two that trade places, single precision; the vector that was passed in is not changed."""
    mixture(case, found)


@lesson.test("gossip_step", points=1, cases=shaken, hidden=True)
def mixing_in_any_order_of_messages(case, found):
    """Late messages and slow ranks change nothing, also if it is called again."""
    mixture(case, found)


def sparse(coin):
    yield world(coin, cycle(6), 50)
    yield world(coin, streets(coin, 6), 50)


@lesson.test("gossip_step", points=1, cases=sparse, hidden=True)
def only_neighbours_are_bothered(case, found):
    """One message for every entry of K beside the diagonal that is not zero, and no other."""
    mixture(case, found)
    along_links(case, found)
