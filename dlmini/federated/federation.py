"""A federation: many clients, each with rows of its own, and a server that never sees them.

    found = federate(task, Federation(FedAvg(), clients=1000, share=0.01, rounds=50), on=Simulated(5))
Rank 0 is the server; the other ranks act as clients, whichever are drawn: a client that is not at work is a number and
a set of rows. So thousands of clients need few ranks, and the weights do not depend on how many there are.
Synchronous strategies add up in the order of clients: equal bits on every transport. Asynchronous ones (FedAsync,
FedBuff) take answers as they come: in virtual time by the cluster's speeds, on processes by chance.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dlmini.checks import fraction, piece, real, refuse, settle, whole
from dlmini.comm.launch import launch
from dlmini.events import Snapshot
from dlmini.federated.attacks import ATTACKS, LabelFlip, lied
from dlmini.federated.local import Answer, Order, local_round
from dlmini.federated.strategies import FedAvg

DRAW, LIARS = 21, 39  # purposes of random numbers: who takes part, who lies
STOP = None


@dataclass(frozen=True)
class Federation:
    """share C of `clients` K take part in a round: `epochs` E of batches of `batch` B rows (0: all), SGD at `rate`.

    liars: so many of the clients, drawn by the seed, do what `attack` says (attacks.py) in place of their work.
    """

    strategy: object = field(default_factory=FedAvg)
    clients: int = 100
    share: float = 0.1
    epochs: int = 5
    batch: int = 10
    rate: float = 0.1
    rounds: int = 20
    seed: int = 0
    liars: int = 0
    attack: object = None

    def __post_init__(self):
        piece(self.strategy, "strategy", ("step", "order", "synchronous"), "a strategy, such as FedAvg()")
        settle(self, share=fraction(self.share, "share"), rate=real(self.rate, "rate", above=0))
        for name, least in (("clients", 1), ("epochs", 1), ("batch", 0), ("rounds", 1), ("seed", 0), ("liars", 0)):
            settle(self, **{name: whole(getattr(self, name), name, least)})
        if self.liars > self.clients:
            raise ValueError(f"liars is {self.liars}, and there are {self.clients} clients")
        if self.liars and not isinstance(self.attack, ATTACKS):
            names = ", ".join(kind.__name__ for kind in ATTACKS)
            refuse(TypeError, "attack", self.attack, f"what the liars do: one of {names}")
        if hasattr(self.strategy, "check"):
            self.strategy.check(self)

    @property
    def drawn(self) -> int:
        return max(1, round(self.share * self.clients))

    def who(self, t: int) -> list[int]:
        """The clients of round t, in order."""
        coin = np.random.default_rng([self.seed, 0, t, DRAW])
        return sorted(coin.permutation(self.clients)[: self.drawn].tolist())

    def who_lie(self) -> frozenset[int]:
        coin = np.random.default_rng([self.seed, 0, 0, LIARS])
        return frozenset(coin.permutation(self.clients)[: self.liars].tolist())

    def order(self, t: int, client: int, memory: dict) -> Order:
        """What the strategy asks of a client; who flips labels does so of its own accord."""
        order = self.strategy.order(t, client, memory)
        return order._replace(flip=True) if isinstance(self.attack, LabelFlip) and client in self.who_lie() else order

    def train(self, task, w, order, rows):
        return local_round(task, w, order, rows, self.epochs, self.batch, self.rate, self.seed)


@dataclass
class Federated:
    """What came of it. accuracies: after each round, by round; answers: how many the server has used."""

    weights: np.ndarray
    accuracies: list[float]
    answers: int
    seconds: float
    nbytes: int


def federate(task, federation: Federation, on) -> Federated:
    """Train `task` by clients on the ranks 1, 2, ... of `on`; rank 0 is the server."""
    if on.size < 2:
        raise ValueError(f"a federation needs a server and somebody to act as its clients: 2 ranks, not {on.size}")
    accuracies = []

    def listen(event):
        if isinstance(event, Snapshot):
            accuracies.append(task.evaluate(event.weights)["accuracy"])

    results = launch(program, on, (task, federation), listen)
    w, answers = results[0]
    return Federated(w, accuracies, answers, results.seconds, sum(entry.nbytes for entry in results.entries))


def program(comm, task, federation):
    if comm.rank:
        return act(comm, task, federation)
    serve = serve_rounds if federation.strategy.synchronous else serve_as_they_come
    return serve(comm, task.initial(federation.seed), federation)


def act(comm, task, federation) -> None:
    """Be whichever client the server says, until it says no more."""
    parts = task.split(task.train, federation.clients, seed=federation.seed)
    while (said := comm.recv(0)) is not STOP:
        w, *order = said  # messages are plain tuples
        order = Order(*order)
        rows = parts[order.client]
        flops = task.flops / task.batch * len(rows) * federation.epochs
        answer = comm.compute("gradient", federation.train, task, w, order, rows, flops=flops)
        comm.send(0, tuple(answer[:4]))


def serve_rounds(comm, w, federation):
    """Deal the clients of a round out to the ranks, wait for all, step; answers in the order of clients."""
    strategy, memory, used, liars = federation.strategy, {}, 0, federation.who_lie()
    for t in range(federation.rounds):
        chosen = federation.who(t)
        for k, client in enumerate(chosen):
            comm.send(1 + k % (comm.size - 1), (w, *federation.order(t, client, memory)))
        answers = [Answer(*comm.recv(1 + k % (comm.size - 1))) for k in range(len(chosen))]
        answers = lied(answers, liars, federation.attack)
        w, used = strategy.step(w, answers, memory), used + len(answers)
        comm.emit(Snapshot(t, w.copy()))
    dismiss(comm)
    return w, used


def serve_as_they_come(comm, w, federation):
    """Everybody is always at work. As many answers come as in `rounds` synchronous rounds; those that fill no buffer at
    the end are not used. out: of each rank at work, the version of the weights it began with, and the weights.
    """
    strategy, memory, waiting, version, liars = federation.strategy, {}, [], 0, federation.who_lie()
    queue = (client for t in range(10**9) for client in federation.who(t))
    total, out, come, sent = federation.rounds * federation.drawn, {}, 0, 0

    def send(rank):
        nonlocal sent
        if sent == total:
            return
        client, out[rank] = next(queue), (version, w)
        comm.send(rank, (w, *federation.order(sent // federation.drawn, client, memory)))
        sent += 1

    for rank in range(1, comm.size):
        send(rank)
    while come < total:
        rank, answer = comm.recv_any()
        begun, base = out.pop(rank)
        waiting += lied([Answer(*answer, version - begun, base)], liars, federation.attack)
        come += 1
        if len(waiting) == strategy.wants:
            w, waiting, version = strategy.step(w, waiting, memory), [], version + 1
        if come % federation.drawn == 0:
            comm.emit(Snapshot(come // federation.drawn - 1, w.copy()))
        send(rank)
    dismiss(comm)
    return w, come - len(waiting)


def dismiss(comm) -> None:
    for rank in range(1, comm.size):
        comm.send(rank, STOP)
