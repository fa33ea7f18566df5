"""Wrong answers to exercise 11: (function, what is wrong, this of the solution, that in its place).

A fifth entry is what `check` says of a mistake that the lesson's text, docstrings or hints warn of.
"""

BILL, RUN, CHOICE = "traffic", "run_seconds", "choose_plan"
SPARSE = '4 + 8 * max(1, round(plan["kept"] * size))'
RING = "return 2 * (n - 1), 2 * (n - 1) / n * s, 2 * (n - 1) * s"
GATHERED = "return n - 1, (n - 1) * q, n * (n - 1) * q"
STAR = "return 2, (n - 1) * (q + s), (n - 1) * (q + s)"
TALK = '(total if network["shared"] else port)'
ALL = 'return steps * step + steps / plan["period"] * talk'
FITS = 'if seconds <= deadline and steps / plan["period"] * each <= megabytes:'
BEST = "return max(good, key=lambda offer: offer[:2])[2:]"
NONE = "if good:\n        " + BEST

MUTANTS = [
    (BILL, "places are forgotten: 4 bytes per number", SPARSE, SPARSE.replace("8 *", "4 *"), "places are forgotten"),
    (
        BILL,
        "sparse packets are added on the way",
        GATHERED,
        "return 2 * (n - 1), 2 * (n - 1) / n * q, 2 * (n - 1) * q",
        "sparse packets cannot be added on the way",
    ),
    (BILL, "whole vectors are gathered", RING, GATHERED, "whole vectors are added on the way"),
    (BILL, "the star's way back is brief, too", STAR, STAR.replace("q + s", "q + q"), "way back is a whole vector"),
    (
        BILL,
        "the star's port works both ways at once",
        STAR,
        "return 2, (n - 1) * s, (n - 1) * (q + s)",
        "the star's port carries both ways, one after the other",
    ),
    (BILL, "perhaps an empty packet", SPARSE, '4 + 8 * round(plan["kept"] * size)', "at least one number is sent"),
    (BILL, "one worker talks to itself", "if n == 1:", "if n == 0:", "one worker alone sends nothing"),
    (
        BILL,
        "port and all bytes exchanged",
        RING,
        "return 2 * (n - 1), 2 * (n - 1) * s, 2 * (n - 1) / n * s",
        "the busiest port and all bytes have changed places",
    ),
    (BILL, "a packet has no head", SPARSE, '8 * max(1, round(plan["kept"] * size))'),
    (BILL, "shares are cut off, not rounded", SPARSE, SPARSE.replace("round(", "int(")),
    (RUN, "an exchange after every step", ALL, "return steps * step + steps * talk", "an exchange after every step"),
    (RUN, "a shared channel is like cables", TALK, "port", "one channel is taken for cables"),
    (RUN, "all bytes pass one port", TALK, "total", "all bytes through one port"),
    (
        RUN,
        "one latency, whatever the plan",
        'latencies * network["latency"]',
        'network["latency"]',
        "one latency, whatever the plan",
    ),
    (
        RUN,
        "talking hides behind computing",
        ALL,
        'return max(steps * step, steps / plan["period"] * talk)',
        "talking hides behind computing",
    ),
    (
        RUN,
        "no exchange after the last period",
        ALL,
        'return steps * step + (steps / plan["period"] - 1) * talk',
        "one exchange too few",
    ),
    (
        RUN,
        "an exchange before the first period, too",
        ALL,
        'return steps * step + (steps / plan["period"] + 1) * talk',
        "one exchange too many",
    ),
    (RUN, "exchanges after at most 16 periods", ALL, 'return steps * step + min(16, steps / plan["period"]) * talk'),
    (CHOICE, "the budget of bytes is forgotten", FITS, "if seconds <= deadline:", "57 MB are sent by all workers"),
    (
        CHOICE,
        "the deadline is forgotten",
        FITS,
        'if steps / plan["period"] * each <= megabytes:',
        "it takes 10 s, and the deadline is 4 s",
    ),
    (
        CHOICE,
        "bytes of every step",
        FITS,
        "if seconds <= deadline and steps * each <= megabytes:",
        "bytes are counted for every step",
    ),
    (
        CHOICE,
        "the quickest that fits",
        BEST,
        "return max(good, key=lambda offer: offer[1])[2:]",
        "the quickest of all that keep both budgets",
    ),
    (
        CHOICE,
        "of equal ones the slowest",
        BEST,
        "return max(good, key=lambda offer: (offer[0], -offer[1]))[2:]",
        "of equally accurate ones the quickest",
    ),
    (CHOICE, "of equal ones the last", BEST, BEST.replace("max(good", "max(good[::-1]"), "of equal ones the first"),
    (
        CHOICE,
        "only the ends of curves",
        'for steps, accuracy in plan["curve"]:',
        'for steps, accuracy in plan["curve"][-1:]:',
        "only the ends of curves",
    ),
    (CHOICE, "nothing fits: the slowest", "return max(every,", "return min(every,", "and then the quickest"),
    (CHOICE, "nothing fits: nothing", NONE, BEST, "nothing is within both budgets: ValueError"),
    (CHOICE, "the bytes of one port", "traffic(plan, workers, size)[2]", "traffic(plan, workers, size)[1]"),
]
