"""What well-known mistakes answer in exercise 15: a sentence for each, so that `check` can call it by its name."""

from __future__ import annotations

import numpy as np

STATES = ("unsent", "sent", "success", "error", "no reply", "invalid", "not needed")
ENDS = ("", "accepted", "failed")
ORDERS = ("validate", "offer", "give up")


def code(unit, orders) -> np.ndarray:
    """A unit and its orders as numbers, to be compared."""
    states = [STATES.index(state) for state in unit["copies"]]
    said = [number for what, *rest in orders for number in (-2 - ORDERS.index(what), *(rest[0] if rest else ()))]
    return np.array([ENDS.index(unit["over"]), unit["target"], len(states), *states, *said], "f8")


# ---- transition, with one rule broken ----

SLIPS = {
    "an invalid copy counts as a success: BOINC once did that (its issue 1005)": {"good": ("success", "invalid")},
    "invalid copies are errors too": {"bad": ("error",)},
    "a copy without an answer is counted among the errors; it says something of the host alone": {
        "bad": ("error", "invalid", "no reply")
    },
    "given up at max_error errors; it takes more than max_error": {"patience": -1},
    "copies under way are forgotten: whenever something happens more are made": {"working": ("unsent",)},
    "copies that wait to be sent are forgotten: whenever something happens more are made": {"working": ("sent",)},
    "more copies than max_total": {"limited": False},
    "it is given up while a copy is still waiting or under way": {"hasty": True},
    "it is never given up, and waits for ever": {"patient": True},
    "unsent copies of a unit that is over would still be sent out": {"keeps": True},
    "an answer that came after the end counts; nobody needs it any more": {"late": True},
    "the validator is asked though no success has just come": {"asks": True},
    "the validator is asked before the quorum is reached": {"early": 1},
    "the validator is asked only when more than the quorum have come": {"early": -1},
    "no agreement, and no further copy is wanted": {"stubborn": True},
    "the target rises by one, whatever it was; it rises to one more than there are successes": {"blind": True},
    "one copy at a time, though more are missing": {"single": True},
}


def machine(
    unit,
    event,
    good=("success",),
    bad=("error", "invalid"),
    patience=0,
    working=("unsent", "sent"),
    limited=True,
    hasty=False,
    patient=False,
    keeps=False,
    late=False,
    asks=False,
    early=0,
    stubborn=False,
    blind=False,
    single=False,
):
    """(unit, orders) by the rules, or by all but one of them."""
    after = dict(unit, copies=list(unit["copies"]))
    happened(after, event, good, late, stubborn, blind)

    def many(states):
        return sum(state in states for state in after["copies"])

    def end(orders):
        if not keeps:
            after["copies"] = ["not needed" if state == "unsent" else state for state in after["copies"]]
        return after, orders

    def give_up():
        after["over"] = "failed"
        return end([("give up",)])

    if after["over"]:
        return end([])
    if many(bad) > after["max_error"] + patience:
        return give_up()
    answers, quorum = [k for k, state in enumerate(after["copies"]) if state in good], after["quorum"] - early
    if len(answers) >= quorum and (asks or event[0] == "success"):
        return after, [("validate", answers)]
    missing, there = after["target"] - many(working) - len(answers), len(after["copies"])
    room = after["max_total"] - there if limited else missing
    made = min(missing, room, 1 if single else missing)
    if made > 0:
        after["copies"] += ["unsent"] * made
        return after, [("offer", list(range(there, there + made)))]
    stuck = missing > 0 and (hasty or not many(("unsent", "sent")))
    return give_up() if stuck and not patient else (after, [])


def happened(after, event, good, late, stubborn, blind) -> None:
    """The event itself."""
    what, copies = event[0], after["copies"]
    if what == "agreed":
        after["over"] = "accepted"
        for k in event[2]:
            copies[k] = "invalid"
    elif what == "disagreed":
        wanted = sum(state in good for state in copies) + 1
        after["target"] += 1 if blind else 0 if stubborn else max(0, wanted - after["target"])
    else:
        unwanted = after["over"] and what in ("success", "error") and not late
        copies[event[1]] = "not needed" if unwanted else what


def bad_units(case) -> dict:
    return {sentence: code(*machine(*case.args, **slip)) for sentence, slip in SLIPS.items()}


# ---- canonical ----


def near(a, b, tolerance) -> bool:
    return bool(np.linalg.norm(a - b) <= tolerance * max(np.linalg.norm(a), np.linalg.norm(b)))


def believed(answers, quorum, tolerance, enough=None, same=near, waits=True, itself=1, most=False, first=0):
    """(k, wrong) by the rules, or with another one in the place of one of them."""
    n, enough = len(answers), quorum // 2 + 1 if enough is None else enough
    if waits and n < quorum:
        return None, []
    friends = [[j for j in range(n) if j != k and same(answers[j], answers[k], tolerance)] for k in range(n)]
    counts = [len(them) + itself for them in friends]
    chosen = [k for k in range(n) if counts[k] >= enough]
    if not chosen:
        return None, []
    k = max(chosen, key=counts.__getitem__) if most else chosen[first]
    return k, [j for j in range(n) if j != k and j not in friends[k]]


def chained(answers, quorum, tolerance):
    """Friends of friends are taken for friends."""
    n, groups = len(answers), []
    for k in range(n):
        touching = [g for g in groups if any(near(answers[k], answers[j], tolerance) for j in g)]
        groups = [g for g in groups if g not in touching] + [sorted({k}.union(*touching))]
    for k in range(n if n >= quorum else 0):
        group = next(g for g in groups if k in g)
        if len(group) >= quorum // 2 + 1:
            return k, [j for j in range(n) if j not in group]
    return None, []


def verdict(found) -> np.ndarray:
    """(k, wrong) as numbers."""
    k, wrong = found
    return np.array([-1 if k is None else k, *wrong], "f8")


def bad_verdicts(case) -> dict:
    answers, quorum, _ = given = case.args
    n, k = len(answers), believed(*given)[0]
    wrong = {
        "more than half of all answers must agree; more than half of the quorum are enough": believed(
            *given, enough=n // 2 + 1
        ),
        "as many as the quorum must agree; more than half of it are enough": believed(*given, enough=quorum),
        "exactly half of the quorum is not enough": believed(*given, enough=(quorum + 1) // 2),
        "an answer does not agree with itself here; it counts too": believed(*given, itself=0),
        "fewer answers than the quorum have come, and one is believed already": believed(*given, waits=False),
        "the one with most friends; the first with enough of them is wanted": believed(*given, most=True),
        "the last one with enough friends; the first is believed": believed(*given, first=-1),
        "friends of friends are taken for friends; agreement within a tolerance does not pass on": chained(*given),
        "an absolute tolerance; it is a share of the longer of the two": believed(
            *given, same=lambda a, b, t: bool(np.linalg.norm(a - b) <= t)
        ),
        "a share of the shorter of the two; it is one of the longer": believed(
            *given, same=lambda a, b, t: bool(np.linalg.norm(a - b) <= t * min(map(np.linalg.norm, (a, b))))
        ),
        "numbers are compared one by one; the lengths of whole vectors are wanted": believed(
            *given, same=lambda a, b, t: bool((np.abs(a - b) <= t * np.maximum(np.abs(a), np.abs(b))).all())
        ),
        "an answer with NaN agrees with others": believed(
            *given, same=lambda a, b, t: not np.linalg.norm(a - b) > t * max(map(np.linalg.norm, (a, b)))
        ),
        "those that agree with it are named as wrong": (
            k,
            [] if k is None else sorted({*range(n)} - {k, *believed(*given)[1]}),
        ),
        "nobody is named as wrong": (k, []),
    }
    return {sentence: verdict(found) for sentence, found in wrong.items()}


# ---- fedavg ----


def averaged(
    w, shards, epochs, batch, rate, weight=None, start=None, short="mean", every=True, all_at_once=False, still=False
):
    """A round of FedAvg with another weight, start or treatment of the last batch. still: all gradients are at w."""
    found, begin = [], w
    for x, y in shards:
        own = begin.copy()
        for _ in range(epochs):
            for low in range(0, len(y), len(y) if all_at_once else batch):
                xb, yb = (x, y) if all_at_once else (x[low : low + batch], y[low : low + batch])
                if short == "dropped" and len(yb) < batch:
                    continue
                over = {"sum": 1, "batch": batch, "client": len(y)}.get(short, len(yb))
                own = own - rate * xb.T @ (xb @ (begin if still else own) - yb) / over
                if not every:
                    break
        found.append(own)
        begin = own if start == "last" else w
    rows = np.array([len(y) for _, y in shards], "f8")
    share = rows / rows.sum() if weight is None else weight(rows)
    return np.array(share) @ np.array(found)


def bad_rounds(case) -> dict:
    w, shards, epochs, batch, rate = given = case.args
    right = averaged(*given)
    return {
        "every client counts as much as any other; its share of all rows is its weight": averaged(
            *given, weight=lambda rows: np.full(len(rows), 1 / len(rows))
        ),
        "this is a sum, not a mean": averaged(*given, weight=np.ones_like),
        "a client begins where the one before it has ended; all begin with w": averaged(*given, start="last"),
        "the last, shorter batch is left out": averaged(*given, short="dropped"),
        "the last batch has fewer rows, and is divided by the full number": averaged(*given, short="batch"),
        "a batch's gradient is a sum here; it is a mean over its rows": averaged(*given, short="sum"),
        "a batch's gradient is divided by all rows of the client; by those of the batch": averaged(
            *given, short="client"
        ),
        "all gradients are those of w; a client's next one is that of its own weights": averaged(*given, still=True),
        "each step is twice as long: the formula has no 2": averaged(w, shards, epochs, batch, 2 * rate),
        "w is added to the mean; the clients' weights have it already": right + w,
        "one epoch only": averaged(w, shards, 1, batch, rate),
        "one batch of each epoch only": averaged(*given, every=False),
        "all rows in one batch, whatever batch says": averaged(*given, all_at_once=True),
        "uphill: the gradient is subtracted": averaged(w, shards, epochs, batch, -rate),
        "the change alone; the new weights are wanted": right - w,
    }


# ---- krum ----


def chosen(updates, f, first=1, more=0, power=2, best=np.argmin, least=3, near=None):
    """Krum with other neighbours, another power, or fewer clients."""
    n = len(updates)
    if n < 2 * f + least:
        return None
    table = np.array([(((updates - row) ** 2).sum(axis=1)) ** (power / 2) for row in updates])
    count = max(1, n - f - 2 + more) if near is None else near(n)
    return int(best(np.sort(table, axis=1)[:, first : first + count].sum(axis=1)))


def bad_choices(case) -> dict:
    updates, f = case.args
    right = chosen(updates, f)

    def other(**slip):
        found = chosen(updates, f, **slip)
        return right if found is None else found

    wrong = {
        "its distance to itself is counted as one of the n - f - 2; only others count": other(first=0),
        "one neighbour too many: n - f - 2 others": other(more=1),
        "the sum over all others; only the n - f - 2 nearest count": other(near=lambda n: n - 1),
        "distances are not squared": other(power=1),
        "the largest score is chosen": other(best=np.argmax),
        "of equals the last is chosen": other(best=lambda scores: len(scores) - 1 - np.argmin(scores[::-1])),
        "n < 2f + 3, and one is chosen all the same: the rule promises nothing there": other(least=-np.inf),
    }
    return {sentence: -1 if found is None else found for sentence, found in wrong.items()}
