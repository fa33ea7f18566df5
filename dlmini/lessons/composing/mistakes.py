"""What well-known mistakes answer in exercise 11: a sentence for each, so that `check` can call it by its name."""

from __future__ import annotations


def bad_bills(case) -> dict:
    """What well-known mistakes make of the bill."""
    plan, n, size = case.args
    s, k, m = 4 * size, round(plan["kept"] * size), plan["partners"]
    sparse = plan["kept"] < 1
    q = 4 + 8 * max(1, k) if sparse else s
    ring = (2 * (n - 1), 2 * (n - 1) / n * q, 2 * (n - 1) * q)
    gathered = (n - 1, (n - 1) * q, n * (n - 1) * q)

    def cost(q: int) -> tuple:
        """The bill with another packet."""
        if plan["whom"] == "gossip":
            return 1, m * q, n * m * q
        return (n - 1, (n - 1) * q, n * (n - 1) * q) if plan["whom"] == "ring" else (2, *[(n - 1) * (q + s)] * 2)

    found = {"the busiest port and all bytes have changed places": (case.truth[0], case.truth[2], case.truth[1])}
    if n == 1:
        whoms = {"ring": gathered if sparse else ring, "gossip": (1, m * q, m * q), "star": (2, 0, 0)}
        found["one worker alone sends nothing"] = whoms[plan["whom"]]
    if sparse:
        found["places are forgotten: a number costs 4 bytes, and its place 4 more"] = cost(4 + 4 * max(1, k))
        found["the 4 bytes in front of a sparse packet are forgotten"] = cost(8 * max(1, k))
        found["an empty packet: at least one number is sent"] = cost(4 + 8 * k) if k == 0 else None
    if plan["whom"] == "ring":
        found["sparse packets cannot be added on the way, they are gathered"] = ring if sparse else None
        found["whole vectors are added on the way, not gathered"] = None if sparse else gathered
    if plan["whom"] == "star":
        found["the star's way back is a whole vector"] = (2, 2 * (n - 1) * q, 2 * (n - 1) * q)
        found["the star's port carries both ways, one after the other"] = (2, (n - 1) * max(q, s), (n - 1) * (q + s))
    return {sentence: wrong for sentence, wrong in found.items() if wrong is not None}


def bad_seconds(bill, plan, network, workers, size, step, steps) -> dict:
    """bill: what one exchange takes."""
    latencies, port, total = bill
    rounds, alpha, rate = steps // plan["period"], network["latency"], network["bandwidth"]
    own, other = (total, port) if network["shared"] else (port, total)
    talk = latencies * alpha + own / rate
    shared = "one channel is taken for cables: all bytes pass it one after another"
    cables = "all bytes through one port: with a cable for each, those of the busiest port count"
    return {
        "an exchange after every step, expected one after every period": steps * (step + talk),
        shared if network["shared"] else cables: steps * step + rounds * (latencies * alpha + other / rate),
        "one latency, whatever the plan": steps * step + rounds * (alpha + own / rate),
        "talking hides behind computing here; all begin every exchange together": max(steps * step, rounds * talk),
        "one exchange too many": steps * step + (rounds + 1) * talk,
        "one exchange too few": steps * step + (rounds - 1) * talk,
        "one exchange in all": steps * step + talk,
        "computing is forgotten": rounds * talk,
        "one step of computing a period, expected all of them": rounds * (step + talk),
    }
