"""What exercise 15 is tested for."""

from __future__ import annotations

import numpy as np

from dlmini.grade.expect import array, named, nothing, short, whole
from dlmini.grade.lesson import Call, Lesson, Wrong
from dlmini.lessons.volunteers.mistakes import (
    ENDS,
    ORDERS,
    STATES,
    bad_choices,
    bad_rounds,
    bad_units,
    bad_verdicts,
    code,
    machine,
    verdict,
)

lesson = Lesson("15_volunteers")

GONE = ["no reply"] * 4


# ---- transition: the truth by a machine of its own, which the tests hold against the dispatcher's ----


def happens(copies, event, about: str = "", **terms) -> Call:
    unit = {"copies": list(copies), "quorum": 2, "target": 2, "max_error": 3, "max_total": 6, "over": ""} | terms
    return Call((unit, event), truth=machine(unit, event), repeat=2, about=about)


def a_life(coin):
    yield happens(["unsent", "unsent"], ("sent", 0))
    yield happens(["sent", "sent"], ("success", 1))
    yield happens(["sent", "success"], ("success", 0))
    yield happens(["sent", "sent"], ("error", 0))
    yield happens(["error", "error", "error", "sent", "sent"], ("no reply", 3), max_total=8)
    yield happens(["error", "error", "error", "sent", "unsent"], ("error", 3))
    yield happens(["success", "success", "success", "unsent"], ("agreed", 1, [0]), target=4)
    yield happens(["success", "success", "sent"], ("success", 2), over="accepted", target=3)
    yield happens(["success", "success"], ("disagreed",))
    yield happens(["success", "success", "sent", "sent"], ("disagreed",), target=4)
    yield happens(["success", "success", "sent"], ("error", 2), target=3, about="the validator has said its word")
    yield happens(["sent", "sent", *GONE], ("error", 1))
    yield happens(["sent", "unsent", *GONE], ("sent", 1))
    yield happens(["sent", "error", *GONE], ("no reply", 0))
    yield happens(["success", "sent"], ("invalid", 0))
    yield happens(["invalid", "sent", "unsent"], ("success", 1))
    yield happens(["error", "error", "error", "success", "sent"], ("invalid", 3))


def any_life(coin):
    for quorum, target, max_error, max_total in ((1, 1, 0, 1), (1, 2, 2, 5), (2, 2, 3, 6), (3, 4, 2, 9), (2, 3, 9, 9)):
        terms = {"quorum": quorum, "target": target, "max_error": max_error, "max_total": max_total}
        for _ in range(3):
            yield from walk(coin, terms)
    yield happens(["sent"], ("error", 0), target=3, quorum=3)
    yield happens(["success", "sent", "sent"], ("no reply", 1), over="accepted", target=3)
    yield happens(["unsent", "sent", "success"], ("agreed", 2, []), quorum=1, target=3)


def walk(coin, terms):
    """A life from the first copies on, by events that may come: up to twelve of them, three of which are asked for."""
    unit, asked = {"copies": ["unsent"] * terms["target"], **terms, "over": ""}, []
    for _ in range(12):
        event = drawn(coin, unit, bool(asked) and asked[-1].truth[1][:1])
        if event is None:
            break
        asked.append(happens(unit["copies"], event, **{name: unit[name] for name in (*terms, "over")}))
        unit = asked[-1].truth[0]
    yield from (asked[k] for k in sorted(coin.permutation(len(asked))[:3]))


def drawn(coin, unit, last):
    """What happens next; after an order to validate it is the validator's word."""
    if last and last[0][0] == "validate":
        copies = last[0][1]
        k = int(coin.integers(len(copies)))
        return ("disagreed",) if coin.random() < 0.4 else ("agreed", copies[k], copies[:k])
    moves = [("sent", k) for k, state in enumerate(unit["copies"]) if state == "unsent"]
    ways = ("success", "success", "error", "no reply")
    moves += [(str(coin.choice(ways)), k) for k, state in enumerate(unit["copies"]) if state == "sent"]
    return moves[int(coin.integers(len(moves)))] if moves else None


def sane(value, who: str) -> None:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise Wrong(f"{who}: found {short(value)}, expected a pair (unit, orders).")
    unit, orders = value
    keys = ("copies", "quorum", "target", "max_error", "max_total", "over")
    if not isinstance(unit, dict) or sorted(map(str, unit)) != sorted(keys):
        raise Wrong(f"{who}: the unit is {short(unit)}, expected a dict with {', '.join(keys)}.")
    if not isinstance(unit["copies"], list) or not all(type(s) is str and s in STATES for s in unit["copies"]):
        raise Wrong(f"{who}: the copies are {short(unit['copies'])}, expected a list of states such as 'unsent'.")
    if type(unit["over"]) is not str or unit["over"] not in ENDS:
        raise Wrong(f"{who}: over is {short(unit['over'])}, expected '', 'accepted' or 'failed'.")
    if not isinstance(orders, list) or not all(map(is_order, orders)):
        raise Wrong(f"{who}: the orders are {short(orders)}, expected a list such as [('offer', [2])].")


def is_order(order) -> bool:
    if not isinstance(order, tuple | list) or not order or type(order[0]) is not str or order[0] not in ORDERS:
        return False
    numbers = order[1] if len(order) == 2 else ()
    counted = isinstance(numbers, list | tuple) and all(isinstance(k, int | np.integer) for k in numbers)
    return counted and len(order) == (1 if order[0] == "give up" else 2)


def right_unit(case, found) -> None:
    unit, event = case.args
    terms = ", ".join(f"{name} {unit[name]}" for name in ("quorum", "target", "max_error", "max_total"))
    over = f", {unit['over']}" if unit["over"] else ""
    who = f"transition of {unit['copies']} ({terms}{over}) by {event}"
    sane(found.value, who)
    after, orders = found.value
    same_terms = all(
        type(after[n]) is int and after[n] == case.truth[0][n] for n in ("quorum", "max_error", "max_total")
    )
    if not same_terms or not isinstance(after["target"], int | np.integer):
        raise Wrong(f"{who}: quorum, max_error and max_total stay what they are, and target is a whole number.")
    named(code(after, orders), code(*case.truth), who, bad_units(case))
    if not np.array_equal(code(after, orders), code(*case.truth)):
        wanted, to_do = case.truth
        raise Wrong(
            f"{who}: found {short(after['copies'])}, over {after['over']!r}, target {after['target']}, orders "
            f"{short(orders)}; expected {wanted['copies']}, over {wanted['over']!r}, target {wanted['target']}, "
            f"orders {to_do}."
        )


@lesson.test("transition", points=1, cases=a_life)
def a_unit_goes_its_way(case, found):
    """The new unit and the orders, for every kind of event. The arguments are not changed."""
    right_unit(case, found)


@lesson.test("transition", points=2, cases=any_life, hidden=True)
def a_unit_goes_its_way_whatever_its_terms(case, found):
    """The same along random lives, with other quorums and maxima."""
    right_unit(case, found)


# ---- canonical: the truth by the table of who agrees with whom ----


def compared(answers, quorum, tolerance, about: str = "") -> Call:
    answers = [np.asarray(answer, "f8") for answer in answers]
    lengths = np.array([np.sqrt((answer**2).sum()) for answer in answers])
    gaps = np.array([[np.sqrt(((a - b) ** 2).sum()) for b in answers] for a in answers]).reshape(2 * [len(answers)])
    with np.errstate(invalid="ignore"):
        table = (gaps <= tolerance * np.maximum.outer(lengths, lengths)) | np.eye(len(answers), dtype=bool)
    enough = np.flatnonzero(table.sum(axis=1) > quorum // 2) if len(answers) >= quorum else []
    truth = (int(enough[0]), np.flatnonzero(~table[enough[0]]).tolist()) if len(enough) else (None, [])
    return Call((answers, quorum, tolerance), truth=truth, repeat=2, about=about)


def some_answers(coin):
    base, other = coin.normal(size=8) * 5, coin.normal(size=8) * 5
    near = base * (1 + 1e-5)
    yield compared([base, near], 2, 1e-3)
    yield compared([base, other], 2, 1e-3)
    yield compared([other, base, near], 2, 1e-3)
    yield compared([base, other, near, -other, 3 * other], 3, 1e-3)
    yield compared([base], 2, 1e-3, about="fewer answers than the quorum")
    yield compared([base, near], 3, 1e-3, about="fewer answers than the quorum")
    yield compared([base, 1.09 * base, 1.18 * base], 2, 0.1)  # the first agrees with the second, not with the third
    yield compared([base, 1.09 * base, 1.18 * base, 1.27 * base, other], 4, 0.1)
    yield compared([1e3 * base, 1e3 * near], 2, 1e-3)
    yield compared([1e-3 * base, 1e-3 * other], 2, 0.1)
    yield compared([base, base + np.eye(8)[np.abs(base).argmin()] * 1e-3 * np.linalg.norm(base)], 2, 2e-3)
    yield compared([base, 0.905 * base], 2, 0.1)
    yield compared([base * np.nan, base, near], 2, 1e-3, about="an answer of NaN")
    yield compared([base, other, near, -base], 4, 1e-3)


def any_answers(coin):
    for _ in range(10):
        n, quorum, size = int(coin.integers(1, 9)), int(coin.integers(1, 6)), int(coin.integers(1, 30))
        centres = coin.normal(size=(3, size))
        answers = [centres[int(coin.integers(3))] * coin.uniform(0.9, 1.1) for _ in range(n)]
        yield compared(answers, quorum, float(coin.choice([0.05, 0.1, 0.15])))
    base = coin.normal(size=4)
    yield compared([base, base.copy()], 2, 0.0, about="a tolerance of 0")
    yield compared([np.zeros(3), np.zeros(3)], 2, 1e-3, about="answers of zeros")
    yield compared([base * np.nan, base * np.nan, base], 2, 0.1, about="two answers of NaN")
    yield compared([], 1, 0.1, about="no answers")


def right_verdict(case, found) -> None:
    answers, quorum, tolerance = case.args
    who = f"canonical({len(answers)} answers, quorum {quorum}, tolerance {tolerance:g})"
    value = found.value
    if not isinstance(value, tuple | list) or len(value) != 2 or not isinstance(value[1], list | tuple):
        raise Wrong(f"{who}: found {short(value)}, expected a pair (k, wrong), wrong being a list.")
    if not all(isinstance(k, int | np.integer) and not isinstance(k, bool) for k in value[1]):
        raise Wrong(f"{who}: wrong is {short(value[1])}, expected a list of whole numbers.")
    k, truth = value[0], case.truth[0]
    if k is not None and (isinstance(k, bool) or not isinstance(k, int | np.integer)):
        raise Wrong(f"{who}: found {short(k)}, expected the number of an answer, or None.")
    named(verdict(value), verdict(case.truth), who, bad_verdicts(case))
    (nothing(k, who) if truth is None else whole(k, truth, who))
    if list(value[1]) != case.truth[1]:
        raise Wrong(f"{who}: {list(value[1])} are named as wrong, expected {case.truth[1]}.")


@lesson.test("canonical", points=1, cases=some_answers)
def the_right_answer_is_believed(case, found):
    """The first answer with enough that agree with it, and those that do not. The arguments are not changed."""
    right_verdict(case, found)


@lesson.test("canonical", points=1, cases=any_answers, hidden=True)
def the_right_answer_is_believed_among_many(case, found):
    """The same for any number of answers, any quorum and any tolerance."""
    right_verdict(case, found)


# ---- fedavg: the truth by affine maps ----


def round_of(coin, size, rows, epochs, batch, rate=0.1) -> Call:
    w = coin.normal(size=size)
    shards = [(coin.normal(size=(n, size)), coin.normal(size=n)) for n in rows]
    total = np.zeros(size)
    for x, y in shards:
        way = np.eye(size + 1)  # weights and a 1 beside them: a step is a matrix
        for low in list(range(0, len(y), batch)) * epochs:
            xb, yb = x[low : low + batch], y[low : low + batch]
            step = np.eye(size + 1)
            step[:-1, :-1] -= rate * xb.T @ xb / len(yb)
            step[:-1, -1] = rate * xb.T @ yb / len(yb)
            way = step @ way
        total += len(y) * (way @ np.append(w, 1.0))[:-1]
    return Call((w, shards, epochs, batch, rate), truth=total / sum(rows), repeat=2)


def some_rounds(coin):
    yield round_of(coin, 3, (8, 8), 1, 8)
    yield round_of(coin, 4, (3, 9, 6), 2, 3)
    yield round_of(coin, 3, (7, 10), 2, 4)


def any_rounds(coin):
    yield round_of(coin, 5, (20,), 3, 7)
    yield round_of(coin, 2, (1, 2, 30), 4, 10, rate=0.03)
    yield round_of(coin, 6, (5, 40, 11, 17, 3), 5, 5, rate=0.02)
    yield round_of(coin, 3, (4, 6), 1, 100)


def right_round(case, found) -> None:
    _, shards, epochs, batch, _ = case.args
    rows = [len(y) for _, y in shards]
    who = f"fedavg of clients with {rows} rows, {epochs} epochs, batches of {batch}"
    named(found.value, case.truth, who, bad_rounds(case))
    array(found.value, case.truth, who)
    off = float(np.abs(found.value - case.truth).max()) / float(np.abs(case.truth).max())
    if not off <= 1e-9:
        raise Wrong(f"{who}: one number is off by {off:.2g} of the largest.")


@lesson.test("fedavg", points=1, cases=some_rounds)
def a_round_of_averaging(case, found):
    """The mean of what the clients have learned, by their rows. The arguments are not changed."""
    right_round(case, found)


@lesson.test("fedavg", points=1, cases=any_rounds, hidden=True)
def a_round_of_very_different_clients(case, found):
    """The same for one client, for clients with a single row, and for batches larger than a client's rows."""
    right_round(case, found)


# ---- krum: the truth by going through all pairs ----


def liars(updates, f, about: str = "") -> Call:
    updates = np.asarray(updates, "f8")
    n, scores = len(updates), []
    for i in range(n):
        squares = sorted(float(np.dot(updates[i] - updates[j], updates[i] - updates[j])) for j in range(n) if j != i)
        scores.append(sum(squares[: n - f - 2]))
    truth = min(range(n), key=lambda i: (scores[i], i)) if n >= 2 * f + 3 else None
    return Call((updates, f), truth=truth, repeat=2, about=about)


def telling(coin, sentence: str, n: int, f: int, size: int = 2) -> Call:
    """Random updates for which this mistake chooses another one."""
    while True:
        case = liars(coin.normal(size=(n, size)) * coin.lognormal(0, 1, size=(n, 1)), f)
        wrong = next(found for words, found in bad_choices(case).items() if words.startswith(sentence))
        if wrong != case.truth:
            return case


def some_liars(coin):
    good = 1 + 0.1 * coin.normal(size=(8, 5))
    yield liars(np.concatenate([good[:3], -10 * good[:2], good[3:]]), 2)
    for mistake in ("its distance", "one neighbour", "the sum over", "distances are"):
        yield telling(coin, mistake, 9, 2)
    yield liars(good[:6], 2, about="n = 2f + 2")
    yield liars([[0.0], [9.0], [1.0], [2.0], [3.0], [100.0]], 1)  # 1 and 2 have equal scores
    yield liars(good[:7], 2)


def any_liars(coin):
    for n, f in ((3, 0), (5, 1), (11, 4), (30, 8), (41, 19)):
        yield liars(coin.normal(size=(n, 12)), f)
    yield liars(coin.normal(size=(10, 3)), 4, about="n = 2f + 2")
    yield liars(np.zeros((5, 2)) + np.eye(5, 2) * 0, 1)
    same = np.tile(coin.normal(size=4), (9, 1))
    same[:4] += coin.normal(size=(4, 4))
    yield liars(same, 3)


def right_choice(case, found) -> None:
    updates, f = case.args
    who = f"krum of {len(updates)} updates, f = {f}"
    truth = -1 if case.truth is None else case.truth
    value = found.value
    if isinstance(value, np.ndarray) and value.shape == updates.shape[1:]:
        raise Wrong(f"{who}: found an array, expected the number of the chosen client.")
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        named(value, truth, who, bad_choices(case))
    (nothing(value, who) if case.truth is None else whole(value, case.truth, who))


@lesson.test("krum", points=1, cases=some_liars)
def one_update_is_chosen(case, found):
    """The update with the nearest neighbours; None if there are fewer than 2f + 3. The arguments are not changed."""
    right_choice(case, found)


@lesson.test("krum", points=1, cases=any_liars, hidden=True)
def one_update_is_chosen_among_many(case, found):
    """The same for many clients, for just enough of them, and where several are equal."""
    right_choice(case, found)
