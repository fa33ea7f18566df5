"""Wrong answers to exercise 11: (function, what is wrong, this of the solution, that in its place)."""

BILL, RUN, CHOICE = "traffic", "run_seconds", "choose_plan"
SPARSE = '4 + 8 * max(1, round(plan["kept"] * size))'
GATHERED = "return n - 1, (n - 1) * q, n * (n - 1) * q"
STAR = "return 2, (n - 1) * (q + s), (n - 1) * (q + s)"
TALK = '(total if network["shared"] else port)'
ALL = 'return steps * step + steps / plan["period"] * talk'
FITS = 'if seconds <= deadline and steps / plan["period"] * each <= megabytes:'
BEST = "return max(good, key=lambda offer: offer[:2])[2:]"

MUTANTS = [
    (BILL, "places are forgotten: 4 bytes per number", SPARSE, SPARSE.replace("8 *", "4 *")),
    (BILL, "sparse packets are added on the way", GATHERED, "return 2 * (n - 1), 2 * (n - 1) / n * q, 2 * (n - 1) * q"),
    (BILL, "the star's way back is brief, too", STAR, STAR.replace("q + s", "q + q")),
    (BILL, "the star's port works both ways at once", STAR, "return 2, (n - 1) * s, (n - 1) * (q + s)"),
    (BILL, "perhaps an empty packet", SPARSE, '4 + 8 * round(plan["kept"] * size)'),
    (BILL, "one worker talks to itself", "if n == 1:", "if n == 0:"),
    (RUN, "an exchange after every step", ALL, "return steps * step + steps * talk"),
    (RUN, "a shared channel is like cables", TALK, "port"),
    (RUN, "all bytes pass one port", TALK, "total"),
    (RUN, "one latency, whatever the plan", 'latencies * network["latency"]', 'network["latency"]'),
    (RUN, "talking hides behind computing", ALL, 'return max(steps * step, steps / plan["period"] * talk)'),
    (CHOICE, "the budget of bytes is forgotten", FITS, "if seconds <= deadline:"),
    (CHOICE, "the deadline is forgotten", FITS, 'if steps / plan["period"] * each <= megabytes:'),
    (CHOICE, "the quickest that fits", BEST, "return max(good, key=lambda offer: offer[1])[2:]"),
    (CHOICE, "of equal ones the slowest", BEST, "return max(good, key=lambda offer: (offer[0], -offer[1]))[2:]"),
    (
        CHOICE,
        "only the ends of curves",
        'for steps, accuracy in plan["curve"]:',
        'for steps, accuracy in plan["curve"][-1:]:',
    ),
    (CHOICE, "nothing fits: the slowest", "return max(every,", "return min(every,"),
]
