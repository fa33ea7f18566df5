"""What exercise 11 is tested for. The truth is played in the simulator, with messages of weight and no content."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from dlmini.comm.ghost import Ghost
from dlmini.comm.launch import launch
from dlmini.comm.network import Link, Medium, Switch
from dlmini.grade.expect import named, number, short
from dlmini.grade.lesson import Call, Lesson, Wrong
from dlmini.lessons.composing.mistakes import bad_bills, bad_seconds
from dlmini.sim.cluster import Cluster
from dlmini.sim.simulated import Simulated

lesson = Lesson("11_composing")

CLOSE = 0.01  # of accuracy: about one standard error on 2,000 pictures
WIDE = 1.1  # no plan's seconds or bytes lie nearer than this factor to a budget, so that sound sums agree
SOME = 3  # rounds after which a run's pace is known


# ---- the truth: messages ----


def life(comm, whom: str, partners: int, packet: int, size: int, period: int, rounds: int) -> None:
    n, r = comm.size, comm.rank
    for _ in range(rounds):
        for _ in range(period):
            comm.compute("gradient", None)
        if whom == "gossip":
            for d in range(1, partners + 1):
                comm.send((r + d) % n, Ghost(packet, "u1"))
            for d in range(1, partners + 1):
                comm.recv((r - d) % n)
        elif whom == "star":
            for other in range(1, n) if r == 0 else ():
                comm.recv(other)
            for other in range(1, n) if r == 0 else (0,):
                comm.send(other, Ghost(4 * size if r == 0 else packet, "u1"))
            if r:
                comm.recv(0)
        elif packet == 4 * size:
            comm.allreduce(Ghost(size))
        else:
            comm.allgather(Ghost(packet, "u1"))


@lru_cache(maxsize=4096)
def run(whom, partners, packet, size, period, workers, latency, bandwidth, shared, step, rounds) -> tuple[float, int]:
    """(seconds, bytes) of so many rounds."""
    wire = (Medium if shared else Switch)(Link(latency, bandwidth))
    on = Simulated(workers, Cluster(wire, seconds={"gradient": step}))
    results = launch(life, on, (whom, partners, packet, size, period, rounds))
    return results.seconds, results.books.total().nbytes


def played(plan: dict, network: dict, workers: int, size: int, step: float, rounds: int) -> tuple[float, int]:
    """The same of a plan."""
    kept = 4 * size if plan["kept"] == 1 else 4 + 8 * max(1, round(plan["kept"] * size))
    partners = min(plan["partners"], workers - 1)
    wire = network["latency"], network["bandwidth"], network["shared"]
    return run(plan["whom"], partners, kept, size, plan["period"], workers, *wire, step, rounds)


def costs(plan: dict, network: dict, workers: int, size: int, step: float, steps: int) -> tuple[float, float]:
    """(seconds, megabytes) of a long run: the pace of its first rounds, when workers have spread out, goes on."""
    rounds = steps // plan["period"]
    (before, _), (after, sent) = (played(plan, network, workers, size, step, n) for n in (SOME, 2 * SOME))
    return before + (rounds - SOME) * (after - before) / SOME, sent / (2 * SOME) * rounds / 1e6


# ---- traffic ----


def plan_of(whom: str, partners: int = 0, kept: float = 1.0, period: int = 1, name: str = "", curve=()) -> dict:
    return {"name": name, "whom": whom, "partners": partners, "period": period, "kept": kept, "curve": list(curve)}


ONE_SECOND = {"latency": 1.0, "bandwidth": 1e30, "shared": False}  # seconds are latencies
ONE_BYTE = {"latency": 0.0, "bandwidth": 1.0, "shared": False}  # seconds are bytes


def bill(plan: dict, workers: int, size: int, repeat: int = 1) -> Call:
    """Size is a multiple of workers, so that a ring's chunks are equal."""
    latencies, port = (played(plan, network, workers, size, 0.0, 1)[0] for network in (ONE_SECOND, ONE_BYTE))
    total = played(plan, ONE_BYTE, workers, size, 0.0, 1)[1]
    about = f"{plan['whom']}, kept {plan['kept']:g}, {workers} worker{'s' * (workers > 1)}, {size} numbers"
    return Call((plan, workers, size), truth=(latencies, port, total), repeat=repeat, about=about)


def right_bill(case, found) -> None:
    who, value = case.about, found.value
    if not isinstance(value, tuple | list) or len(value) != 3:
        raise Wrong(f"{who}: found {short(value)}, expected (latencies, bytes at the busiest port, bytes in all).")
    named(value, case.truth, who, bad_bills(case))
    names = ("latencies", "bytes at the busiest port", "bytes in all")
    for what, one, truth in zip(names, value, case.truth, strict=True):
        number(one, truth, f"{who}: {what}")


def every_row(coin):
    """A case for each row of the lesson's table; one worker; a packet of one number."""
    for whom, kept in (("ring", 1.0), ("gossip", 1.0), ("ring", 0.1), ("gossip", 0.1), ("star", 0.1), ("star", 1.0)):
        n = int(coin.integers(4, 8))
        yield bill(plan_of(whom, 2, kept), n, size_for(coin, n), repeat=2)
    for whom in ("ring", "gossip", "star"):
        yield bill(plan_of(whom, 1), 1, size_for(coin, 1))
    yield bill(plan_of("gossip", 1, 0.001), 4, 40)


def size_for(coin, workers: int) -> int:
    return workers * int(coin.integers(20, 2000))


def whole(coin):
    for n in (2, 4, 7):
        yield bill(plan_of("ring"), n, size_for(coin, n))
        yield bill(plan_of("gossip", n // 2), n, size_for(coin, n))


def sparse(coin):
    for n in (3, 8, 13):
        kept = float(coin.uniform(0.01, 0.3))
        yield bill(plan_of("ring", kept=kept), n, size_for(coin, n))
        yield bill(plan_of("gossip", int(coin.integers(1, n)), kept), n, size_for(coin, n))


def stars(coin):
    for n, kept in ((2, 1.0), (5, 0.1), (12, float(coin.uniform(0.01, 0.3)))):
        yield bill(plan_of("star", kept=kept), n, size_for(coin, n), repeat=2)


def edges(coin):
    for whom in ("ring", "gossip", "star"):
        yield bill(plan_of(whom, 1, float(coin.choice([1.0, 0.1]))), 1, size_for(coin, 1))
    yield bill(plan_of("gossip", 1, 0.001), 4, 40)


@lesson.test("traffic", points=1, cases=every_row)
def what_a_played_exchange_takes(case, found):
    """Latencies, bytes at the busiest port and bytes in all are what a played exchange takes, whatever the plan."""
    right_bill(case, found)


@lesson.test("traffic", points=1, cases=lambda coin: (*whole(coin), *sparse(coin)), hidden=True)
def whole_vectors_and_sparse_packets(case, found):
    """Whole vectors are added on the way; sparse packets cost 4 bytes and 8 per number, and a ring gathers them all."""
    right_bill(case, found)


@lesson.test("traffic", points=1, cases=stars, hidden=True)
def the_star_is_brief_one_way_only(case, found):
    """In a star all packets pass worker 0's port, and whole vectors come back."""
    right_bill(case, found)


@lesson.test("traffic", points=1, cases=edges, hidden=True)
def one_worker_and_one_number(case, found):
    """One worker alone sends nothing; a sparse packet holds at least one number."""
    right_bill(case, found)


# ---- run_seconds: every exchange begins together, so one is played and counted again and again ----


def drawn_plan(coin, workers: int) -> dict:
    whom = str(coin.choice(["ring", "gossip", "star"]))
    kept = 1.0 if coin.random() < 0.5 else float(coin.uniform(0.01, 0.2))
    return plan_of(whom, int(coin.integers(1, min(4, workers))), kept, int(coin.choice([1, 2, 4, 16])))


def lasting(coin, shared: bool, plan: dict | None = None) -> Call:
    workers = int(coin.integers(3, 17))
    plan, size = plan or drawn_plan(coin, workers), size_for(coin, workers)
    latency = 0.0 if shared else 10 ** coin.uniform(-5, -2)  # where all share a channel, latencies may hide
    network = {"latency": float(latency), "bandwidth": float(10 ** coin.uniform(5, 9)), "shared": shared}
    step, rounds = float(10 ** coin.uniform(-3, -1)), int(coin.integers(2, 40))
    once, _ = played(plan, network, workers, size, step, 1)
    return Call((plan, network, workers, size, step, rounds * plan["period"]), truth=rounds * once)


def right_seconds(case, found) -> None:
    plan, network, workers, size, step, steps = case.args
    where = "a shared channel" if network["shared"] else "cables"
    who = f"{steps} steps of {step:.3g} s, {plan['whom']}, period {plan['period']}, {workers} workers, {where}"
    named(found.value, case.truth, who, bad_seconds(bill(plan, workers, size).truth, *case.args))
    number(found.value, case.truth, f"seconds of {who}", relative=1e-6)


def on_both(coin):
    """Computing, latency and bytes of similar weight, so that each of them shows."""
    for plan, shared in (
        (plan_of("ring", period=4), False),
        (plan_of("gossip", 2, period=2), True),
        (plan_of("star", kept=0.05), False),
    ):
        workers, rounds = int(coin.integers(4, 9)), int(coin.integers(5, 20))
        network = {"latency": 0.0 if shared else 1e-3, "bandwidth": 1e6, "shared": shared}
        size, step = workers * int(coin.integers(500, 1500)), float(coin.uniform(4e-3, 8e-3))
        once, _ = played(plan, network, workers, size, step, 1)
        yield Call((plan, network, workers, size, step, rounds * plan["period"]), truth=rounds * once, repeat=2)


@lesson.test("run_seconds", points=1, cases=on_both)
def an_exchange_after_every_period(case, found):
    """Computing, and one exchange after every period, on cables and on a shared channel: what the simulator takes."""
    right_seconds(case, found)


@lesson.test("run_seconds", points=2, cases=lambda coin: (lasting(coin, False) for _ in range(8)), hidden=True)
def any_plan_on_cables(case, found):
    """Any plan, any period, on a switch: what the simulator takes."""
    right_seconds(case, found)


@lesson.test("run_seconds", points=1, cases=lambda coin: (lasting(coin, True) for _ in range(6)), hidden=True)
def any_plan_on_a_shared_channel(case, found):
    """Where all share one channel, all bytes pass one after another."""
    right_seconds(case, found)


# ---- choose_plan: what was chosen is played ----

NAMED = {
    "classroom Wi-Fi": {"latency": 3e-4, "bandwidth": 20e6, "shared": True},
    "two campuses": {"latency": 20e-3, "bandwidth": 12e6, "shared": False},
    "a fast cluster": {"latency": 2e-6, "bandwidth": 12e9, "shared": False},
}
LOOKS = (64, 128, 192, 256)


def menu(coin) -> list[dict]:
    """Twelve plans whose learning differs; rarer and briefer talk learns a little less."""
    plans = []
    for whom, partners in (("ring", 0), ("gossip", 1), ("gossip", 2), ("star", 0)):
        for period, kept in ((1, 1.0), (4, 0.05), (16, 1.0)):
            loss = 0.01 * np.log2(period) + 0.02 * (kept < 1) + 0.02 * (whom == "gossip") + 0.04 * coin.random()
            curve = [(t, round(float((0.85 - loss) * (1 - np.exp(-t / 90))), 4)) for t in LOOKS]
            plans.append(plan_of(whom, partners, kept, period, f"plan {len(plans)}", curve))
    coin.shuffle(plans)
    return plans


def offers(plans, network, workers, size, step) -> list[tuple[float, float, float]]:
    """(accuracy, seconds, megabytes) of every point."""
    return [(a, *costs(plan, network, workers, size, step, t)) for plan in plans for t, a in plan["curve"]]


def upper(plan, network, workers, size, step, steps) -> float:
    """Seconds if all begin every exchange together: a little more than they take."""
    latency = max(network["latency"], 1e-12)
    slow = {**network, "latency": 0.0} if network["shared"] else network
    once, _ = played(plan, slow, workers, size, step, 1)
    hidden = {"ring": 2 * workers, "gossip": 1, "star": 2}[plan["whom"]] * latency if network["shared"] else 0.0
    return steps // plan["period"] * (once + hidden)


def between(spans, coin) -> float:
    """A budget far from all needs, each a span from least to most: some fit, some do not."""
    edges = np.unique(np.ravel(spans))
    gaps = [(a, b) for a, b in pairwise(edges) if b > WIDE**2 * a and not any(lo <= a and b <= hi for lo, hi in spans)]
    low, high = gaps[int(coin.integers(len(gaps)))] if gaps else (edges[-1], edges[-1] * WIDE**2)
    return float(np.sqrt(low * high))


def market(coin, network: dict, tight: bool = True) -> Call:
    """A choice whose budgets are far from every plan's needs, by the simulator and by the sum alike."""
    workers, step = int(coin.choice([8, 12, 16])), float(coin.choice([2e-3, 5e-3, 2e-2]))
    size, plans = workers * int(coin.integers(1000, 4000)), menu(coin)
    known = offers(plans, network, workers, size, step)
    most = [upper(p, network, workers, size, step, t) for p in plans for t, _ in p["curve"]]
    spans = [(min(s, u), max(s, u)) for (_, s, _), u in zip(known, most, strict=True)]
    deadline = between(spans, coin) if tight else 1e9
    megabytes = between([(m, m) for _, _, m in known], coin) if coin.random() < 0.5 or not tight else 1e9
    return Call((plans, network, workers, size, step, deadline, megabytes))


def point(case, found) -> tuple[dict, int, float]:
    """The plan, steps and accuracy that were chosen."""
    value, plans = found.value, {plan["name"]: plan for plan in case.args[0]}
    if not isinstance(value, tuple | list) or len(value) != 2 or value[0] not in plans:
        raise Wrong(f"found {short(value)}, expected (name of a plan, steps).")
    plan = plans[value[0]]
    accuracy = dict(map(tuple, plan["curve"])).get(value[1])
    if accuracy is None:
        raise Wrong(f"{value[0]!r} has no point at {short(value[1])} steps in its curve.")
    return plan, int(value[1]), accuracy


def good_choice(case, found) -> None:
    """Within both budgets, and nearly as accurate as anything that is."""
    plans, network, workers, size, step, deadline, megabytes = case.args
    plan, steps, accuracy = point(case, found)
    known = offers(plans, network, workers, size, step)
    best = max((a for a, s, m in known if s <= deadline and m <= megabytes), default=None)
    if best is None:
        quickest(case, plan, steps)
        return
    seconds, sent = costs(plan, network, workers, size, step, steps)
    if seconds > deadline:
        raise Wrong(f"{plan['name']} with {steps} steps takes {seconds:.4g} s; the deadline is {deadline:.4g} s.")
    if sent > megabytes:
        raise Wrong(f"{plan['name']} with {steps} steps sends {sent:.4g} MB; {megabytes:.4g} MB are allowed.")
    if accuracy < best - CLOSE:
        raise Wrong(f"{plan['name']} with {steps} steps reaches {accuracy:.1%}; {best:.1%} was within both budgets.")


def quickest(case, plan: dict, steps: int) -> None:
    plans, network, workers, size, step, *_ = case.args
    chosen = upper(plan, network, workers, size, step, steps)
    least = min(upper(p, network, workers, size, step, t) for p in plans for t, _ in p["curve"])
    if chosen > least * 1.05:
        raise Wrong(f"nothing fits, and {plan['name']} with {steps} steps is not the quickest of all points.")


def drawn_network(coin, shared: bool) -> dict:
    latency, bandwidth = float(10 ** coin.uniform(-5, -1.5)), float(10 ** coin.uniform(6, 9.5))
    return {"latency": 1e-4 if shared else latency, "bandwidth": bandwidth, "shared": shared}


def gigabit(coin):
    for _ in range(3):
        yield market(coin, GIGABIT)


GIGABIT = {"latency": 1e-4, "bandwidth": 117e6, "shared": False}


def shops(coin):
    """Small menus on Gigabit, 8 workers, 8,000 numbers, 10 ms a step: every well-known mistake chooses something else.

    truth: (what to choose, what it means to choose something else).
    """
    yield shop(
        [
            plan_of("ring", 0, 1.0, 1, "often", [(64, 0.6), (128, 0.8)]),  # 57 MB
            plan_of("ring", 0, 1.0, 16, "rarely", [(64, 0.5), (128, 0.7), (1024, 0.71)]),  # 3.6 MB after 128 steps
            plan_of("ring", 0, 1.0, 64, "long", [(128, 0.65), (1024, 0.9)]),  # 10 s
            plan_of("gossip", 1, 1.0, 16, "brief", [(16, 0.2), (32, 0.3), (128, 0.62)]),
        ],
        coin,
        (4.0, 10.0),
        ("rarely", 128),
        {
            ("often", 128): "57 MB are sent by all workers together, and 10 MB are allowed",
            ("long", 1024): "it takes 10 s, and the deadline is 4 s",
            ("brief", 16): "the quickest of all that keep both budgets, expected the most accurate",
            ("brief", 128): "only the ends of curves were looked at: every point of a curve is an offer",
            ("brief", 32): "bytes are counted for every step, expected for every exchange",
        },
    )
    ties = [plan_of("gossip", k, 1.0, 4, f"plan {k}", [(8, 0.5), (16, 0.7), (24, 0.7)]) for k in (2, 1, 3)]
    every = [(f"plan {k}", t) for k in (1, 2, 3) for t in (8, 16, 24)]
    slower = dict.fromkeys(every, "of equally accurate ones the quickest")
    yield shop(ties, None, (1e9, 1e9), ("plan 1", 16), slower)
    twins = [plan_of("star", 0, 1.0, 4, name, [(8, 0.6)]) for name in ("plan b", "plan a")]
    yield shop(twins, None, (1e9, 1e9), ("plan b", 8), {("plan a", 8): "of equal ones the first in the list"})
    hopeless = dict.fromkeys(every, "nothing fits, and then the quickest of all is wanted")
    yield shop(ties, None, (1e-9, 1e9), ("plan 1", 8), hopeless, "nothing is within both budgets")


def shop(plans: list, coin, budgets: tuple, truth: tuple, others: dict, about: str = "") -> Call:
    plans = [plans[i] for i in coin.permutation(len(plans))] if coin else plans
    return Call((plans, GIGABIT, 8, 8000, 0.01, *budgets), truth=(truth, others), repeat=2, about=about)


def right_choice(case, found) -> None:
    wanted, others = case.truth
    plan, steps, _ = point(case, found)
    chosen = plan["name"], steps
    if chosen != wanted:
        raise Wrong(f"{chosen} was chosen, expected {wanted}{': ' * (chosen in others)}{others.get(chosen, '')}.")


@lesson.test("choose_plan", points=1, cases=lambda coin: (*shops(coin), *gigabit(coin)))
def a_good_plan_for_gigabit_ethernet(case, found):
    """The most accurate that keeps both budgets when it is played; of equal ones the quickest, then the first."""
    (right_choice if case.truth else good_choice)(case, found)


@lesson.test(
    "choose_plan",
    points=1,
    cases=lambda coin: (market(coin, NAMED["classroom Wi-Fi"]) for _ in range(3)),
    hidden=True,
)
def unseen_network_classroom_wifi(case, found):
    """Unseen: one channel for a whole class. Budgets are kept, and nothing much better would have kept them."""
    good_choice(case, found)


@lesson.test(
    "choose_plan", points=1, cases=lambda coin: (market(coin, NAMED["two campuses"]) for _ in range(3)), hidden=True
)
def unseen_network_two_campuses(case, found):
    """Unseen: 20 ms and 12 MB/s. Budgets are kept, and nothing much better would have kept them."""
    good_choice(case, found)


@lesson.test(
    "choose_plan", points=1, cases=lambda coin: (market(coin, NAMED["a fast cluster"]) for _ in range(3)), hidden=True
)
def unseen_network_fast_cluster(case, found):
    """Unseen: 2 µs and 12 GB/s. Budgets are kept, and nothing much better would have kept them."""
    good_choice(case, found)


@lesson.test(
    "choose_plan",
    points=2,
    cases=lambda coin: (market(coin, drawn_network(coin, shared), tight) for shared, tight in CASES),
    hidden=True,
)
def networks_drawn_for_you(case, found):
    """Networks drawn by chance for each submission; some have a budget of bytes, some a deadline, some both."""
    good_choice(case, found)


CASES = [(False, True)] * 3 + [(True, True)] * 2 + [(False, False)]


def rules(coin):
    """One plan, or ties, or nothing that fits."""
    net = drawn_network(coin, False)
    same = [plan_of("gossip", k, 1.0, 4, f"plan {k}", [(8, 0.5), (16, 0.7), (24, 0.7)]) for k in (2, 1, 3)]
    yield Call((same, net, 8, 8000, 0.01, 1e9, 1e9), truth=("plan 1", 16), repeat=2)
    twins = [plan_of("star", 0, 1.0, 4, name, [(8, 0.6)]) for name in ("plan b", "plan a")]
    yield Call((twins, net, 8, 8000, 0.01, 1e9, 1e9), truth=("plan b", 8))
    yield Call((same, net, 8, 8000, 0.01, 1e-9, 1e9), truth=("plan 1", 8))
    yield Call((same, net, 8, 8000, 0.01, 1e9, 1e-9), truth=("plan 1", 8))


@lesson.test("choose_plan", points=1, cases=rules, hidden=True)
def ties_and_hopeless_budgets(case, found):
    """Equally accurate: the quickest, then the first in the list. Nothing fits: the quickest point of all."""
    plan, steps, _ = point(case, found)
    if (plan["name"], steps) != case.truth:
        raise Wrong(f"found {(plan['name'], steps)}, expected {case.truth}.")
