"""What exercise 13 is tested for."""

from __future__ import annotations

import numpy as np

from dlmini.grade.expect import array, named, nothing, short, whole
from dlmini.grade.lesson import Call, Lesson, Wrong
from dlmini.lessons.sandblaster.mistakes import bad_counts, bad_directions, bad_portions, rows

lesson = Lesson("13_sandblaster")


# ---- two_loop: the truth by the matrix H itself ----


def steps(coin, size: int, history: int, repeat: int = 1, about: str = "") -> Call:
    """Steps on a bowl of random curvature, and the changes of the gradient along them."""
    half = coin.standard_normal((size, size))
    curvature = half @ half.T / size + np.diag(coin.uniform(0.3, 2.0, size))
    pairs = []
    for _ in range(history):
        s = coin.standard_normal(size)
        pairs.append((s, curvature @ s))
    grad = coin.standard_normal(size)
    return Call((grad, pairs), truth=-inverse(pairs, size) @ grad, repeat=repeat, about=about)


def inverse(pairs, size: int) -> np.ndarray:
    """H, pair by pair:  H <- (1 - s y'/s.y) H (1 - y s'/s.y) + s s'/s.y."""
    if not pairs:
        return np.eye(size)
    s, y = pairs[-1]
    H = np.eye(size) * (s @ y) / (y @ y)
    for s, y in pairs:
        left = np.eye(size) - np.outer(s, y) / (s @ y)
        H = left @ H @ left.T + np.outer(s, s) / (s @ y)
    return H


def right_direction(case, found) -> None:
    who = f"two_loop with {len(case.args[1])} pairs"
    named(found.value, case.truth, who, bad_directions(case))
    array(found.value, case.truth, who)
    off = float(np.abs(found.value - case.truth).max(initial=0)) / float(np.abs(case.truth).max(initial=1e-300))
    if not off <= 1e-8:
        raise Wrong(f"{who}: one number is off by {off:.2g} of the largest.")


def some_pairs(coin):
    yield steps(coin, 6, 3, repeat=2)
    yield steps(coin, 5, 0, repeat=2, about="no pairs")
    yield steps(coin, 9, 4)


def long_histories(coin):
    yield steps(coin, 12, 10, repeat=2)
    yield steps(coin, 4, 1)
    yield steps(coin, 40, 20)


@lesson.test("two_loop", points=1, cases=some_pairs)
def the_direction_from_a_few_pairs(case, found):
    """-H grad, H being what the pairs tell of the inverse curvature; no pairs give steepest descent."""
    right_direction(case, found)


@lesson.test("two_loop", points=1, cases=long_histories, hidden=True)
def the_direction_from_any_history(case, found):
    """The same for one pair and for twenty; the arguments are not changed."""
    right_direction(case, found)


# ---- next_portion: the truth by sorting everything ----


def choice(coin, wait: int, hold: int, doubled: float = 0.3, late: float = 0.6, mine: float = 0.3) -> Call:
    """Some portions wait, some are held, by one replica or more, some of those are late."""
    replica, numbers = int(coin.integers(2, 7)), coin.permutation(np.arange(10, 10 + wait + hold)).tolist()
    held = {}
    for portion in numbers[wait:]:
        others = [r for r in coin.permutation(9).tolist() if r != replica]
        holders = others[: 2 if coin.random() < doubled else 1]
        held[portion] = [replica, *holders[1:]] if coin.random() < mine else holders
    slow = [portion for portion in sorted(held) if coin.random() < late]
    return chosen_of(replica, numbers[:wait], held, slow)


def chosen_of(replica, waiting, held, late, about: str = "") -> Call:
    order = list(held)
    ranked = sorted((len(held[p]), order.index(p), p) for p in late if replica not in held[p])
    truth = sorted(waiting)[0] if waiting else ranked[0][2] if ranked else None
    return Call((replica, waiting, held, late), truth=truth, repeat=2, about=about)


def a_morning(coin):
    yield choice(coin, 5, 3, mine=0.0)
    yield chosen_of(2, [], {17: [0], 12: [1, 3], 15: [4], 11: [5]}, [11, 12, 15])
    yield chosen_of(3, [], {21: [3], 25: [0]}, [21, 25])
    yield chosen_of(3, [], {21: [3], 25: [0]}, [21], about="only what it holds itself is late")
    yield chosen_of(4, [], {30: [0], 31: [1]}, [], about="nothing waits, and nothing is late")
    yield chosen_of(5, [44, 41, 47], {40: [0]}, [40])


def any_day(coin):
    for _ in range(12):
        yield choice(coin, int(coin.integers(0, 4)), int(coin.integers(1, 8)))
    yield chosen_of(6, [], {52: [0, 1], 50: [2], 51: [3]}, [50, 51, 52])
    yield chosen_of(6, [], {}, [], about="all is done")


def right_portion(case, found) -> None:
    replica, waiting, held, late = case.args
    who = f"next_portion({replica}, waiting {waiting}, held {held}, late {late})"
    named(found.value, case.truth, who, bad_portions(case))
    (nothing(found.value, who) if case.truth is None else whole(found.value, case.truth, who))


@lesson.test("next_portion", points=1, cases=a_morning)
def who_is_free_gets_the_right_portion(case, found):
    """The lowest that waits; else a copy of a late one that others hold; else None. The arguments are not changed."""
    right_portion(case, found)


@lesson.test("next_portion", points=1, cases=any_day, hidden=True)
def any_state_of_the_handout(case, found):
    """The same for random states, and when all is done."""
    right_portion(case, found)


# ---- counted: the truth by when each copy became whole ----


def messages(coin, shards: int, portions: int, replicas: int, dead: int = 0, twice: int = 0) -> Call:
    """Copies by random replicas, their pieces shuffled; `dead` copies lack a shard, `twice` messages come again."""
    copies = [(p, r) for p in range(portions) for r in coin.permutation(replicas)[: coin.integers(1, 4)].tolist()]
    lacking = {copies[i] for i in coin.permutation(len(copies))[:dead]}
    staged = [(k, p, r) for p, r in copies for k in range(shards) if not ((p, r) in lacking and k == shards - 1)]
    staged += [staged[i] for i in coin.permutation(len(staged))[:twice]]
    return heard([staged[i] for i in coin.permutation(len(staged))], shards)


def heard(staged, shards: int, about: str = "") -> Call:
    staged = [tuple(map(int, one)) for one in staged]
    first = {}
    for moment, one in enumerate(staged):
        first.setdefault(one, moment)
    whole_at = {}
    for _, portion, replica in staged:
        pieces = [first.get((k, portion, replica)) for k in range(shards)]
        if None not in pieces:
            whole_at.setdefault(portion, set()).add((max(pieces), replica))
    truth = {portion: min(copies)[1] for portion, copies in whole_at.items()}
    return Call((staged, shards), truth=truth, repeat=2, about=about)


def an_evaluation(coin):
    yield heard([(0, 7, 3), (0, 7, 5), (1, 7, 5), (1, 7, 3)], 2)
    yield heard([(0, 4, 2), (1, 4, 6), (0, 8, 2), (1, 8, 2)], 2, about="a replica dies between two shards")
    yield heard([(0, 5, 1), (0, 5, 1), (1, 9, 2), (0, 9, 2)], 2, about="a message comes twice")
    yield heard([(0, 6, 4), (1, 6, 4), (0, 6, 3), (1, 6, 3)], 2)
    yield messages(coin, 3, 4, 5, dead=1, twice=2)


def any_evaluation(coin):
    yield heard([], 3, about="nothing has come")
    yield messages(coin, 1, 5, 4, twice=2)
    for _ in range(4):
        yield messages(coin, int(coin.integers(2, 6)), 8, 6, dead=4, twice=8)


def right_counts(case, found) -> None:
    value, who = found.value, f"counted({len(case.args[0])} messages, {case.args[1]} shards)"
    if not isinstance(value, dict) or not all(isinstance(n, int | np.integer) for pair in value.items() for n in pair):
        raise Wrong(f"{who}: found {short(value)}, expected a dict of portions and replicas, all whole numbers.")
    if len(case.args[0]) <= 4:
        who = f"counted({case.args[0]}, {case.args[1]})"
    mistakes = {sentence: rows(wrong) for sentence, wrong in bad_counts(case).items()}
    named(rows(value), rows(case.truth), who, mistakes)
    if value != case.truth:
        raise Wrong(f"{who}: found {short(value)}, expected {short(case.truth)}.")


@lesson.test("counted", points=1, cases=an_evaluation)
def every_portion_counts_once(case, found):
    """The first copy of a portion that all shards have counts; halves, doubles and late ones do not."""
    right_counts(case, found)


@lesson.test("counted", points=1, cases=any_evaluation, hidden=True)
def every_portion_counts_once_whatever_comes(case, found):
    """The same for one shard and for many, with deaths and messages that come twice."""
    right_counts(case, found)
