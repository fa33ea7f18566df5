"""What Sandblaster costs, as formulas: messages, and how long an evaluation takes with one slow replica.

Messages of an evaluation, with P portions, C copies, K shards and F replicas that fetch (most often all):

    K (go) + 2 F K (fetch) + P (2 + 3 K) (job, free; push, staged, count) + C (2 + K) (job, free; push) + 2 K (slope)
(of two copies that both arrive before either is counted, shards stage both: K more).
Of an iteration, with E evaluations and h pairs in the history:

    E evaluations + 2 K (the step, its products) + direction        direction: K by dots, K (6 h + 4) by two loops
Where a replica is a group of M ranks, each gets its jobs, and fetches from and pushes to the shards that hold something
of its own; Q such pairs there are. Then 2 F Q, P (M + 1 + Q + 2 K) and C (M + 1 + Q); what is said inside comes on top.
None of them but fetched weights and pushed gradients grows with the network, and those pass the coordinator by.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from dlmini.checks import real, truth, whole
from dlmini.sandblaster.portions import LATE


def evaluation_messages(portions, shards, fetches, copies: int = 0, members: int = 1, pieces: int | None = None) -> int:
    """Messages of one evaluation. members: ranks of a replica; pieces: of its ranks and the shards, pairs that talk."""
    pieces = shards if pieces is None else pieces
    go, slope, copy = shards, 2 * shards, members + 1 + pieces
    return go + 2 * fetches * pieces + portions * (copy + 2 * shards) + copies * copy + slope


def direction_messages(shards: int, pairs: int, form: str) -> int:
    """Messages that make a direction out of so many pairs."""
    if form == "dots":
        return shards
    return shards * (6 * pairs + 4) if pairs else 3 * shards


def iteration_messages(
    portions, shards, fetches, evaluations, pairs, form="dots", copies=0, members: int = 1, pieces: int | None = None
) -> int:
    """Messages of one iteration; `copies` in all its evaluations together."""
    copied = copies * (members + 1 + (shards if pieces is None else pieces))
    evaluated = evaluations * evaluation_messages(portions, shards, fetches, 0, members, pieces) + copied
    return evaluated + direction_messages(shards, pairs, form) + 2 * shards


class Timed(NamedTuple):
    """How long an evaluation takes, and how long after its end the slow replica is still at work for it."""

    seconds: float
    late: float


def evaluation_seconds(
    portions: int,
    replicas: int,
    gradient: float,
    slower: float = 1.0,
    latency: float = 0.0,
    backup: bool = True,
    late: float = 0.0,
) -> Timed:
    """One evaluation, from the first job to the slope, with one of `replicas` so many times slower than the others.

    A portion takes a = gradient + 2 latency on a fast replica, from job to job, and b = slower gradient + 2 latency on
    the slow one, which is free `late` seconds after the beginning. Of P portions it gets

        j = the least j with (N - 1) ceil((late + j b) / a) + j >= P
    and the others the rest, F = ceil((P - j) / (N - 1)) each at most. The last portion of all is done after

        max(F a, late + j b)                       without copies: the slow replica's last portion is waited for
        max(F a, min(late + j b, c + a))           with copies: a fast one does it again, from c on
    where c is when a fast one finds nothing left, after q = floor((P - j) / (N - 1)) portions, and the slow one's last
    portion is late: c = max(q a, late + (j - 1) b + 2 a). The slope is known 5 latencies later.
    Messages take no time but their latency here, portions are equal, and there are at least three for each replica.
    """
    portions, replicas = whole(portions, "portions", replicas), whole(replicas, "replicas", 2)
    gradient, latency = real(gradient, "gradient", above=0), real(latency, "latency", least=0)
    a, b = gradient + 2 * latency, real(slower, "slower", least=1) * gradient + 2 * latency
    fast, j = replicas - 1, 0
    while fast * max(1, ceil(asked(late, j, b, latency) / a)) + j < portions:
        j += 1
    rounds, full = ceil((portions - j) / fast), (portions - j) // fast
    last = late + j * b if j else 0.0
    if truth(backup, "backup") and j:
        last = min(last, max(full * a, asked(late, j - 1, b, latency) + LATE * a) + a)
    seconds = max(rounds * a, last) + 5 * latency
    end = late + j * b + 2 * latency if j else late  # when the coordinator hears that the slow one is free
    return Timed(seconds, max(0.0, end - seconds))


def asked(late: float, job: int, b: float, latency: float) -> float:
    """When the slow replica asks for its job, on a clock that begins two latencies after the evaluation."""
    return late + job * b if job else late - 2 * latency


def tail_share(portions: int, replicas: int, slower: float) -> float:
    """At most this share of an evaluation is lost to the slow replica's last portion, and won back by copies.

        s (N - 1 + 1 / s) / P
    So copies pay as long as there are not many more portions than s N: at P = 10 s N they save a tenth at most.
    """
    return slower * (replicas - 1 + 1 / slower) / portions
