"""Lesson 15: work units without clock or network, decided by a student's `transition` and `canonical`.

Every copy goes to a host drawn at random, which is honest, lies, fails or says nothing. So the only question left is
which answers are accepted, and how many copies that takes. With deadlines and hosts it is `dlmini/volunteer`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb

import numpy as np

from dlmini.volunteer.unit import (
    ERROR,
    NO_REPLY,
    NOBODY,
    SUCCESS,
    Copy,
    Expired,
    GiveUp,
    Judged,
    Offer,
    Reported,
    Sent,
    Terms,
    Unit,
    Validate,
)
from dlmini.volunteer.unit import transition as transition_of
from dlmini.volunteer.validator import Close, judge

TRUTH, LIE = np.array([1.0, 2.0]), np.array([5.0, -1.0])
TERMS = {"max_error": 20, "max_total": 40}
LONGEST = 1000  # events of a life, should a machine never come to an end
EVENTS = {
    "sent": lambda k: Sent(k, 0, 0.0),
    SUCCESS: lambda k: Reported(k, True),
    ERROR: lambda k: Reported(k, False),
    NO_REPLY: Expired,
    "agreed": lambda k, wrong: Judged(k, (k,), tuple(wrong)),
    "disagreed": lambda: Judged(NOBODY),
}
MADE = {Validate: "validate", Offer: "offer"}


def library_transition(unit: dict, event: tuple) -> tuple[dict, list]:
    """The dispatcher's own machine, asked as the exercise asks."""
    terms = Terms(1, 1, unit["max_error"], unit["max_total"], unit["max_total"])
    copies, done = tuple(Copy(state) for state in unit["copies"]), unit["over"]
    inside = Unit(0, terms, unit["target"], unit["quorum"], copies, failed="before" if done == "failed" else "")
    if done == "accepted":
        inside = inside._replace(canonical=unit["copies"].index(SUCCESS))
    after, orders = transition_of(inside._replace(asked="agree" in event[0]), EVENTS[event[0]](*event[1:]))
    over = "failed" if after.failed else "accepted" if after.canonical != NOBODY else ""
    said = [(MADE[type(order)], list(order.copies)) for order in orders if type(order) in MADE]
    said += [("give up",) for order in orders if isinstance(order, GiveUp)]
    return {**unit, "copies": [copy.state for copy in after.copies], "target": after.target, "over": over}, said


def library_canonical(answers: list, quorum: int, tolerance: float) -> tuple[int | None, list[int]]:
    found = judge(dict(enumerate(answers)), quorum, Close(tolerance))
    return (None, []) if found.canonical == NOBODY else (found.canonical, list(found.invalid))


@dataclass(frozen=True)
class Tally:
    """What became of the units, and how many copies of a unit were sent out on average."""

    right: int
    wrong: int
    given_up: int
    copies: float


@dataclass(frozen=True)
class Step:
    """A moment of a unit's life: the event, the copies after it, the orders."""

    event: tuple
    copies: tuple[str, ...]
    orders: tuple


def life(coin, quorum: int, liars: float, fails: float = 0.0, decide=library_transition, believe=library_canonical):
    """(steps, what was accepted: "right", "wrong" or "given up") of one unit. All liars tell the same lie."""
    unit = {"copies": ["unsent"] * quorum, "quorum": quorum, "target": quorum, **TERMS, "over": ""}
    answers, steps, waiting, found = {}, [], list(range(quorum)), "given up"

    def happen(event):
        nonlocal unit
        unit, orders = decide(unit, event)
        steps.append(Step(event, tuple(unit["copies"]), tuple(orders)))
        waiting.extend(k for what, *rest in orders if what == "offer" for k in rest[0])
        return next((rest[0] for what, *rest in orders if what == "validate"), None)

    while waiting and not unit["over"] and len(steps) < LONGEST:
        k = waiting.pop(0)
        happen(("sent", k))
        answers[k] = LIE if coin.random() < liars else TRUTH
        luck = coin.random()
        asked = happen((ERROR if luck < fails / 2 else NO_REPLY if luck < fails else SUCCESS, k))
        if asked:
            best, wrong = believe([answers[j] for j in asked], quorum, 1e-3)
            happen(("disagreed",) if best is None else ("agreed", asked[best], [asked[j] for j in wrong]))
            if best is not None:
                found = "right" if answers[asked[best]] is TRUTH else "wrong"
    return steps, found


def work_off(
    units: int,
    quorum: int,
    liars: float,
    fails: float = 0.05,
    decide: Callable = library_transition,
    believe: Callable = library_canonical,
    seed: int = 0,
) -> Tally:
    """Many units. liars: the share of hosts that lie, all of them the same; fails: of copies that bring no answer."""
    coin = np.random.default_rng([seed, 0, quorum, 41])
    ends = [life(coin, quorum, liars, fails, decide, believe) for _ in range(units)]
    counts = {what: sum(found == what for _, found in ends) for what in ("right", "wrong", "given up")}
    sent = sum(step.event[0] == "sent" for steps, _ in ends for step in steps)
    return Tally(counts["right"], counts["wrong"], counts["given up"], sent / units)


def lies_accepted(quorum: int, liars: float) -> float:
    """The chance that a unit's answer is a lie: m liars come before m honest ones, m = floor(quorum / 2) + 1."""
    m = quorum // 2 + 1
    return sum(comb(2 * m - 1, k) * liars**k * (1 - liars) ** (2 * m - 1 - k) for k in range(m, 2 * m))
