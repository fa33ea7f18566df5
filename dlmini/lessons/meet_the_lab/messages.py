"""Lesson 00: messages, and what one costs.

T(n) = alpha + beta n        latency alpha (s), beta = 1 / bandwidth (s per byte)
Hockney, The communication challenge for MPP, Parallel Computing 20, 1994.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from dlmini.comm.errors import Deadlock
from dlmini.comm.launch import Transport, launch


class Point(NamedTuple):
    """One measurement: a message of so many bytes took so many seconds."""

    nbytes: int
    seconds: float


class Line(NamedTuple):
    """seconds = alpha + beta * nbytes"""

    alpha: float
    beta: float

    def seconds(self, nbytes):
        return self.alpha + self.beta * np.asarray(nbytes, float)

    @property
    def half(self) -> float:
        """The message that takes twice its latency, and so gets half of the bandwidth: alpha / beta bytes."""
        return self.alpha / self.beta


# ---- programs: what each rank runs ----


def ping_pong(comm, payload: np.ndarray, rounds: int) -> float | None:
    """Rank 0 sends, rank 1 sends back what it got; the mean seconds of one message, at rank 0."""
    began = comm.now()
    for _ in range(rounds):
        if comm.rank == 0:
            comm.send(1, payload)
            comm.recv(1)
        elif comm.rank == 1:
            comm.send(0, comm.recv(0))
    return (comm.now() - began) / (2 * rounds) if comm.rank == 0 else None


def series(comm, sizes: Sequence[int], rounds: int, repeats: int, program: Callable = ping_pong) -> list[Point]:
    """The cost of a message, by size; every size `repeats` times. One message before each size is not counted: it is
    the one that meets memory which nobody has touched yet.
    """
    found = []
    for nbytes in sizes:
        payload = np.zeros(nbytes, np.uint8)
        program(comm, payload, 1)
        found += [Point(nbytes, program(comm, payload, rounds)) for _ in range(repeats)]
    return found


def stream(comm, nbytes: int, count: int, confirm: bool) -> float:
    """Rank 0 sends `count` messages to rank 1: seconds until each has nothing left to do.

    confirm=True: rank 0 waits for an empty answer to each before it sends the next.
    """
    began = comm.now()
    for _ in range(count):
        if comm.rank == 0:
            comm.send(1, np.zeros(nbytes, np.uint8))
        elif comm.rank == 1:
            comm.recv(0)
        if confirm and comm.rank < 2:
            comm.recv(1) if comm.rank == 0 else comm.send(0, None)
    return comm.now() - began


def everybody_to_zero(comm, nbytes: int) -> float:
    """All others send to rank 0 at once; seconds until it has everything."""
    if comm.rank:
        comm.send(0, np.zeros(nbytes, np.uint8))
    else:
        for source in range(1, comm.size):
            comm.recv(source)
    return comm.now()


def one_is_late(comm, nbytes: int) -> None:
    """Rank 0 works on "long work" and sends; rank 1 works on "short work" and then wants the message."""
    comm.compute("short work" if comm.rank else "long work", None)
    if comm.rank == 0:
        comm.send(1, np.zeros(nbytes, np.uint8))
    elif comm.rank == 1:
        comm.recv(0)


# ---- experiments ----


def message_times(
    on: Transport, sizes: Sequence[int], rounds: int = 1, repeats: int = 1, program: Callable = ping_pong
) -> list[Point]:
    """Points to draw: `program` (a ping-pong) on two ranks of `on`, by size."""
    return launch(series, on=on, args=(list(sizes), rounds, repeats, program))[0]


def fit(points: Iterable[Point], relative: bool = False) -> Line:
    """The line through the points by least squares of the errors; of the relative errors if asked.

    Plain least squares hardly looks at small messages: an error of 1 % at 10 MB outweighs all of them together.
    """
    nbytes, seconds = np.array(list(points), float).T
    weight = 1 / seconds if relative else np.ones(len(seconds))
    table = np.stack([np.ones(len(nbytes)), nbytes], axis=1) * weight[:, None]
    alpha, beta = np.linalg.lstsq(table, seconds * weight, rcond=None)[0]
    return Line(float(alpha), float(beta))


def fastest(points: Iterable[Point]) -> list[Point]:
    """The best of each size. Whatever disturbs a measurement makes it longer, never shorter."""
    best: dict[int, float] = {}
    for nbytes, seconds in points:
        best[nbytes] = min(seconds, best.get(nbytes, seconds))
    return [Point(*pair) for pair in best.items()]


def stuck(program: Callable, on: Transport, args: tuple = ()) -> Deadlock:
    """The diagnosis of a program that deadlocks."""
    try:
        launch(program, on=on, args=args)
    except Deadlock as found:
        return found
    raise ValueError("the program has ended: nobody is stuck")
