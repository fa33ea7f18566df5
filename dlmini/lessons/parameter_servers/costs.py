"""Lesson 05: what parameter servers cost, in closed form and counted; and who could do without them.

N workers, K servers with a shard each, a vector of S bytes, T(n) = alpha + beta n for a message:

    one server                    2 alpha + 2 N S beta                 all of it through one port, in and then out
    one server, m pieces          2 alpha + (1 + 1/m) N S beta         a port goes both ways at once
    K servers, asked in order     2 alpha + (2 N + K - 1)/K S beta     everybody begins at server 0
    K servers, in turns           2 alpha + 2 N/K S beta               worker r begins at server r mod K; K <= N
    the same, round after round, computing g in between:
    asked in order                g + 2 alpha + (N/K + 1) S beta       who was answered first pushes first: a pipeline
    in turns                      g + 2 alpha + min(2 N/K, N/K + 2 - 1/K) S beta
    everybody serves              2 alpha + 2 (N - 1)/N S beta         each rank keeps 1/N: the bytes of a ring
Li et al., Scaling distributed machine learning with the parameter server, OSDI 2014.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from dlmini.comm.ghost import Ghost
from dlmini.comm.launch import Results, launch
from dlmini.comm.network import Link, Port, gigabit
from dlmini.comm.schedules import cut
from dlmini.sim import Cluster, Simulated

PUSH, FETCH = 1, 2


# ---- closed forms ----


def one_server_seconds(workers: int, nbytes: float, link: Link, pieces: int = 1) -> float:
    return 2 * link.latency + (1 + 1 / pieces) * workers * nbytes / link.bandwidth


def in_order_seconds(workers: int, servers: int, nbytes: float, link: Link) -> float:
    return 2 * link.latency + (2 * workers + servers - 1) / servers * nbytes / link.bandwidth


def in_turns_seconds(workers: int, servers: int, nbytes: float, link: Link) -> float:
    return 2 * link.latency + 2 * workers / servers * nbytes / link.bandwidth


def in_order_later(workers: int, servers: int, nbytes: float, link: Link, step: float = 0.0) -> float:
    """Every round but the first, in order: the last worker's computing, its push, and all answers."""
    return step + 2 * link.latency + (workers / servers + 1) * nbytes / link.bandwidth


def in_turns_later(workers: int, servers: int, nbytes: float, link: Link, step: float = 0.0) -> float:
    """Every round but the first, in turns: as the first, or a push, (K - 1)/K vectors of waiting, and the answers."""
    vectors = min(2 * workers / servers, workers / servers + 2 - 1 / servers)
    return step + 2 * link.latency + vectors * nbytes / link.bandwidth


def everybody_serves_seconds(n: int, nbytes: float, link: Link) -> float:
    return 2 * link.latency + 2 * (n - 1) / n * nbytes / link.bandwidth


# ---- counted: the same exchanges message by message ----


def turned(count: int, first: int) -> list[int]:
    """0 ... count - 1, beginning with `first`."""
    return [(first + k) % count for k in range(count)]


def rounds_served(comm, shares: Sequence[int], turns: bool, rounds: int) -> None:
    for _ in range(rounds):
        if comm.rank < comm.size - len(shares):
            comm.compute("gradient", None)
        round_trip(comm, shares, turns)


def round_trip(comm, shares: Sequence[int], turns: bool) -> None:
    """One round: workers push a part to each server; a server that has heard all sends its shard to all."""
    servers, workers = len(shares), comm.size - len(shares)
    if comm.rank < workers:
        for k in turned(servers, comm.rank if turns else 0):
            comm.send(workers + k, Ghost(shares[k], "u1"), PUSH)
        for k in range(servers):
            comm.recv(workers + k, FETCH)
        return
    k = comm.rank - workers
    for _ in range(workers):
        comm.recv_any(PUSH)
    for worker in turned(workers, k if turns else 0):
        comm.send(worker, Ghost(shares[k], "u1"), FETCH)


def piecewise(comm, nbytes: int, pieces: int) -> None:
    """One server, the last rank; the vector comes in pieces, and each goes back as soon as all have sent it."""
    server = comm.size - 1
    for p, size in enumerate(shares(nbytes, pieces)):
        if comm.rank < server:
            comm.send(server, Ghost(size, "u1"), p)
        else:
            for worker in range(server):
                comm.recv(worker, p)
            for worker in range(server):
                comm.send(worker, Ghost(size, "u1"), p)
    for p in range(pieces if comm.rank < server else 0):
        comm.recv(server, p)


def all_serve(comm, nbytes: int) -> None:
    """Every rank keeps a part: it hears it from all others, adds, and sends the sum to all others."""
    edges, others = cut(nbytes, comm.size).tolist(), turned(comm.size, comm.rank)[1:]
    for other in others:
        comm.send(other, Ghost(edges[other + 1] - edges[other], "u1"), PUSH)
    for _ in others:
        comm.recv_any(PUSH)
    for other in others:
        comm.send(other, Ghost(edges[comm.rank + 1] - edges[comm.rank], "u1"), FETCH)
    for other in others:
        comm.recv(other, FETCH)


def shares(nbytes: int, servers: int) -> list[int]:
    """Bytes of each server's shard, if all are equally fast."""
    edges = cut(nbytes, servers).tolist()
    return [high - low for low, high in pairwise(edges)]


def served(
    workers: int, servers: int, nbytes: int, network=gigabit, turns: bool = True, parts=None, rounds=1, step=0.0
) -> Results:
    """Rounds in virtual time, each after `step` seconds of computing. parts: bytes of each shard, if not equal."""
    place = Simulated(workers + servers, Cluster(network, seconds={"gradient": step}), spans=True)
    return launch(rounds_served, on=place, args=(parts or shares(nbytes, servers), turns, rounds))


def served_in_pieces(workers: int, nbytes: int, pieces: int, network=gigabit) -> Results:
    return launch(piecewise, on=Simulated(workers + 1, Cluster(network), spans=True), args=(nbytes, pieces))


def served_by_all(n: int, nbytes: int, network=gigabit) -> Results:
    return launch(all_serve, on=Simulated(n, Cluster(network), spans=True), args=(nbytes,))


# ---- servers that are not alike ----


@dataclass(frozen=True)
class Cables:
    """Every rank has a cable of its own kind to one switch that is never the bottleneck."""

    links: tuple[Link, ...]

    def ports(self, size: int) -> list[Port]:
        return [link.out(rank) for rank, link in enumerate(self.links)] + [link.into() for link in self.links]

    def route(self, source: int, dest: int, size: int) -> tuple[int, ...]:
        return () if source == dest else (source, size + dest)


def uneven(workers: int, speeds: Sequence[float], link: Link = gigabit.link) -> Cables:
    """Workers with an ordinary cable each, and servers whose cables are so many times as wide."""
    wide = [Link(link.latency, speed * link.bandwidth) for speed in speeds]
    return Cables((*[link] * workers, *wide))
