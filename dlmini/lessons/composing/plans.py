"""Lesson 11: three levels composed. What a plan costs, in closed form and message by message.

    T = steps (g + (L alpha + B beta) / p)
g seconds of a step, p steps between exchanges, L latencies one after another, B bytes one after another: those at the
busiest port of a switch, or all there are where everybody shares one channel. A packet has Q bytes, a vector S = 4 d:

    with whom                   L           B at the busiest port      B in all
    ring, whole vectors         2 (N-1)     2 (N-1)/N S                2 (N-1) S
    ring, packets gathered      N-1         (N-1) Q                    N (N-1) Q
    gossip with k partners      1           k Q                        N k Q
    star                        2           (N-1) (Q + S)              (N-1) (Q + S)
All begin each exchange together; where they spread out (lesson 05), a run takes less.

A plan is a dict of plain things: name, whom ("ring", "gossip", "star"), partners, period, kept (1.0: whole vectors) and
curve, a list of (steps, accuracy). A network is one, too: latency, bandwidth, shared.
"""

from __future__ import annotations

from typing import NamedTuple

from dlmini.comm.ghost import Ghost
from dlmini.comm.launch import launch
from dlmini.comm.network import Link, Medium, Network, Switch
from dlmini.sim import Cluster, Simulated


class Traffic(NamedTuple):
    """One exchange: latencies in a row, bytes at the busiest port, bytes in all."""

    latencies: int
    port: float
    total: float


def packet(plan: dict, size: int) -> int:
    """Bytes of what a worker says: the vector, or 8 for each number that is kept and 4 in front."""
    return 4 * size if plan["kept"] == 1 else 4 + 8 * max(1, round(plan["kept"] * size))


def traffic(plan: dict, workers: int, size: int) -> Traffic:
    n, q, s = workers, packet(plan, size), 4 * size
    if n == 1:
        return Traffic(0, 0.0, 0.0)
    if plan["whom"] == "gossip":
        return Traffic(1, plan["partners"] * q, n * plan["partners"] * q)
    if plan["whom"] == "star":
        return Traffic(2, (n - 1) * (q + s), (n - 1) * (q + s))
    if plan["kept"] == 1:
        return Traffic(2 * (n - 1), 2 * (n - 1) / n * s, 2 * (n - 1) * s)
    return Traffic(n - 1, (n - 1) * q, n * (n - 1) * q)


def run_seconds(plan: dict, network: dict, workers: int, size: int, step: float, steps: int) -> float:
    """Predicted seconds of `steps` steps of `step` seconds each, with an exchange after every `period` of them."""
    latencies, port, total = traffic(plan, workers, size)
    talk = latencies * network["latency"] + (total if network["shared"] else port) / network["bandwidth"]
    return steps * step + steps / plan["period"] * talk


def choose_plan(plans, network: dict, workers: int, size: int, step: float, deadline: float, megabytes: float):
    """(name, steps) of the most accurate point of all curves that is within both budgets; or of the quickest point."""
    offers = []
    for plan in plans:
        each = traffic(plan, workers, size).total / 1e6
        for steps, accuracy in plan["curve"]:
            seconds = run_seconds(plan, network, workers, size, step, steps)
            fits = seconds <= deadline and steps / plan["period"] * each <= megabytes
            offers.append((fits, accuracy if fits else 0.0, -seconds, plan["name"], steps))
    return max(offers, key=lambda offer: offer[:3])[3:]


# ---- message by message ----


def exchange(comm, plan: dict, size: int) -> None:
    """What the plan's workers send and receive once; messages have a weight and no content."""
    said, n, r = Ghost(packet(plan, size), "u1"), comm.size, comm.rank
    if plan["whom"] == "gossip":
        near = range(1, min(plan["partners"], n - 1) + 1)
        for d in near:  # all to the right, in one order: nobody meets anybody at a port
            comm.send((r + d) % n, said)
        for d in near:
            comm.recv((r - d) % n)
    elif plan["whom"] == "star":
        star(comm, said, Ghost(size))
    elif plan["kept"] == 1:
        comm.allreduce(Ghost(size))
    else:
        comm.allgather(said)


def star(comm, said, weights) -> None:
    if comm.rank:
        comm.send(0, said)
        comm.recv(0)
        return
    for worker in range(1, comm.size):
        comm.recv(worker)
    for worker in range(1, comm.size):
        comm.send(worker, weights)


def life(comm, plan: dict, size: int, rounds: int) -> None:
    for _ in range(rounds):
        for _ in range(plan["period"]):
            comm.compute("gradient", None)
        exchange(comm, plan, size)


def cables(network: dict) -> Network:
    link = Link(network["latency"], network["bandwidth"])
    return Medium(link) if network["shared"] else Switch(link)


def played(plan: dict, network: dict, workers: int, size: int, step: float = 0.0, rounds: int = 1):
    """So many rounds in virtual time: seconds, books, events."""
    on = Simulated(workers, Cluster(cables(network), seconds={"gradient": step}), spans=True)
    return launch(life, on, (plan, size, rounds))
