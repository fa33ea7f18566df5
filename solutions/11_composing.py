"""Exercise 11: composing. Say what a plan costs, and choose one for a network that nobody has seen.

Write three functions, then run `check("11.traffic")` and its like in the notebook, or `dlmini check 11` in a terminal.

A plan is a dict:
    name        a string
    whom        "ring" (all-reduce), "gossip", or "star" (worker 0 also serves)
    partners    gossip: to how many others each worker sends
    period      steps between two exchanges
    kept        the share of numbers that is sent; 1.0: the whole vector
    curve       a list of (steps, accuracy): what the plan has learned after so many steps of a worker
A network is a dict: latency (s), bandwidth (bytes/s), shared (True: one channel for all; False: a cable for each).
"""

HINTS = {
    "traffic": (
        "A vector has S = 4 * size bytes. A packet has Q = S if kept == 1, else 4 + 8 * max(1, round(kept * size)).",
        "A row of the lesson's table for each `whom`; the ring has two rows: whole vectors are added on the way "
        "(kept == 1), sparse packets are gathered. The star sends Q there and S back. One worker alone sends nothing.",
        "Work out S and Q first, then return a row of the table for each case, the single worker before all others. "
        "Where only one column is wrong, think of who carries it: a port of the ring a part, a star's hub everything.",
    ),
    "run_seconds": (
        "Computing is steps * step. How many exchanges are there, and what does each cost?",
        "There are steps / period exchanges. Each takes latencies * latency + bytes / bandwidth, by your traffic.",
        "Your traffic returns two counts of bytes. Which of them pass one after another if all share one channel, and "
        "which if everybody has a cable? Compute for all steps, exchange only once a period.",
    ),
    "choose_plan": (
        "Every point (steps, accuracy) of every curve is an offer. Work out its seconds and its megabytes.",
        "Seconds by your run_seconds; megabytes are steps / period times the bytes in all / 1e6. Keep the offers that "
        "are within both budgets, and take the one with the highest accuracy, of equal ones the quickest.",
        "Keep two lists, all offers and those that fit. max with a key compares tuples from left to right, and of "
        "equal keys takes the first: which tuple puts accuracy first and few seconds second? And if nothing fits?",
    ),
}


def traffic(plan: dict, workers: int, size: int) -> tuple[float, float, float]:
    """One exchange of vectors of `size` float32 numbers: (latencies in a row, bytes at the busiest port, bytes in all).

    A whole vector has 4 bytes per number; a sparse packet 4, and 8 for each of round(kept * size) numbers, at least
    one. The star's way back is always a whole vector. The busiest port of the star carries both ways, one after the
    other. partners is less than workers; one worker alone sends nothing. The plan is not changed.
    """
    ### BEGIN SOLUTION
    n, s = workers, 4 * size
    q = s if plan["kept"] == 1 else 4 + 8 * max(1, round(plan["kept"] * size))
    if n == 1:
        return 0, 0, 0
    if plan["whom"] == "gossip":
        return 1, plan["partners"] * q, n * plan["partners"] * q
    if plan["whom"] == "star":
        return 2, (n - 1) * (q + s), (n - 1) * (q + s)
    if plan["kept"] == 1:
        return 2 * (n - 1), 2 * (n - 1) / n * s, 2 * (n - 1) * s
    return n - 1, (n - 1) * q, n * (n - 1) * q
    ### END SOLUTION


def run_seconds(plan: dict, network: dict, workers: int, size: int, step: float, steps: int) -> float:
    """Seconds of `steps` steps (a multiple of the period) of `step` seconds each, with an exchange after every period.

    All begin every exchange together. Bytes pass one after another: those of the busiest port or, on a shared network,
    all there are.
    """
    ### BEGIN SOLUTION
    latencies, port, total = traffic(plan, workers, size)
    talk = latencies * network["latency"] + (total if network["shared"] else port) / network["bandwidth"]
    return steps * step + steps / plan["period"] * talk
    ### END SOLUTION


def choose_plan(
    plans: list[dict], network: dict, workers: int, size: int, step: float, deadline: float, megabytes: float
) -> tuple[str, int]:
    """(name, steps): which plan to run, and for how many steps; one of the points of its curve.

    The most accurate of all points that end by the deadline (seconds) and send no more than `megabytes` (millions of
    bytes, by all workers together, in all). Of equally accurate ones the quickest, then the first in the list. If
    nothing is within both budgets: the point that takes the fewest seconds.
    """
    ### BEGIN SOLUTION
    good, every = [], []
    for plan in plans:
        each = traffic(plan, workers, size)[2] / 1e6
        for steps, accuracy in plan["curve"]:
            seconds = run_seconds(plan, network, workers, size, step, steps)
            every.append((-seconds, plan["name"], steps))
            if seconds <= deadline and steps / plan["period"] * each <= megabytes:
                good.append((accuracy, -seconds, plan["name"], steps))
    if good:
        return max(good, key=lambda offer: offer[:2])[2:]
    return max(every, key=lambda offer: offer[0])[1:]
    ### END SOLUTION
