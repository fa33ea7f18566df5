"""What a federation's server does with the answers of a round: strategies of one verb.

    w = strategy.step(w, answers, memory)
An answer is a change of weights (local.py). What the server remembers lies in `memory`, a dict that begins empty: a
strategy itself is a frozen description. `order` says what a client is asked beyond plain local descent, `check` refuses
a federation that it does not fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dlmini.checks import real, refuse, settle, whole
from dlmini.federated.local import Answer, Order


class Strategy:
    synchronous: ClassVar[bool] = True  # a round waits for all its clients
    wants: ClassVar[int] = 0  # answers of a step, where it does not; 0: all of a round

    def order(self, t: int, client: int, memory: dict) -> Order:
        return Order(t, client)

    def check(self, federation) -> None:
        """Any federation will do."""


def weighted(answers: list[Answer], rule=None) -> np.ndarray:
    """sum (n_k / n) change_k, in the order of clients; or what a robust rule makes of the changes.

    Added up as 1/K sum (K n_k / n) change_k, in the precision of the changes: where all have as many rows these are the
    operations of an all-reduce that adds by rank, and the bits are Local-SGD's.
    """
    if rule is not None:
        return rule(np.array([answer.change for answer in answers]))
    number, rows = answers[0].change.dtype.type, sum(answer.rows for answer in answers)
    total = np.zeros_like(answers[0].change)
    for answer in answers:
        total += number(len(answers) * answer.rows / rows) * answer.change
    return total * number(1 / len(answers))


def moved(w: np.ndarray, by: np.ndarray) -> np.ndarray:
    return (w + by).astype(w.dtype)


@dataclass(frozen=True)
class FedAvg(Strategy):
    """The mean of the clients' weights, by rows:  w = sum (n_k / n) w_k.

    With all clients, one epoch and all rows in one batch this is full-batch gradient descent.
    rule: a robust one (robust.py) in place of the mean; it knows no weights by rows.
    McMahan et al., Communication-efficient learning of deep networks from decentralized data, AISTATS 2017.
    """

    rule: object = None

    def __post_init__(self):
        if self.rule is not None and (isinstance(self.rule, type) or not callable(self.rule)):
            refuse(TypeError, "rule", self.rule, "a rule such as Krum(f=2), or None for the mean")

    def step(self, w, answers, memory):
        t = memory["t"] = memory.get("t", -1) + 1
        return moved(w, weighted(answers, self.rule.at(t) if hasattr(self.rule, "at") else self.rule))


@dataclass(frozen=True)
class FedProx(FedAvg):
    """FedAvg whose clients are pulled back:  loss + (mu / 2) |y - w|^2.  Partial work is welcome.

    Li et al., Federated optimization in heterogeneous networks, MLSys 2020.
    """

    mu: float = 0.01

    def __post_init__(self):
        super().__post_init__()
        settle(self, mu=real(self.mu, "mu", least=0))

    def order(self, t, client, memory):
        return Order(t, client, pull=self.mu)


@dataclass(frozen=True)
class Scaffold(Strategy):
    """Clients correct their drift by control variates:  y -= rate (g - c_i + c).

        c_i+ = c_i - c + (w - y) / (K rate);   c += sum (c_i+ - c_i) / N
    K local steps, N clients in all. The server keeps the c_i, so a client may be anywhere. rate: the clients' own.
    Karimireddy et al., SCAFFOLD, ICML 2020 (option II).
    """

    rate: float = 0.1
    clients: int = 100

    def __post_init__(self):
        settle(self, rate=real(self.rate, "rate", above=0), clients=whole(self.clients, "clients", 1))

    def check(self, federation):
        for name in ("rate", "clients"):
            mine, theirs = getattr(self, name), getattr(federation, name)
            if mine != theirs:
                raise ValueError(
                    f"Scaffold({name}={mine:g}) does not fit a federation with {name}={theirs:g}: variates are changes "
                    f"divided by the clients' own rate, and their mean is over all clients; say {name} alike in both"
                )

    def order(self, t, client, memory):
        if "c" not in memory:
            return Order(t, client)
        return Order(t, client, drift=memory["c"] - memory.get(client, np.float32(0)))

    def step(self, w, answers, memory):
        c = memory.setdefault("c", np.zeros_like(w))
        before = c.copy()
        for answer in answers:
            own = memory.get(answer.client, np.zeros_like(w))
            new = own - before - answer.change / np.float32(answer.steps * self.rate)
            c += (new - own) / np.float32(self.clients)
            memory[answer.client] = new
        memory["c"] = c
        return moved(w, np.mean([answer.change for answer in answers], axis=0, dtype=np.float64))


@dataclass(frozen=True)
class FedOpt(Strategy):
    """The mean change as a gradient for an adaptive optimiser on the server, without correction of the first steps.

        m = beta1 m + (1 - beta1) D;   w += rate m / (sqrt(v) + tau)
    Reddi et al., Adaptive federated optimization, ICLR 2021.
    """

    rate: float = 0.03
    beta1: float = 0.9
    beta2: float = 0.99
    tau: float = 1e-3

    def __post_init__(self):
        settle(self, rate=real(self.rate, "rate", above=0), tau=real(self.tau, "tau", above=0))
        settle(self, **{name: real(getattr(self, name), name, least=0, below=1) for name in ("beta1", "beta2")})

    def step(self, w, answers, memory):
        change = weighted(answers).astype(np.float64)
        m = memory["m"] = self.beta1 * memory.get("m", 0.0) + (1 - self.beta1) * change
        v = memory["v"] = self.spread(memory.get("v", np.full(w.size, self.tau**2)), change**2)
        return moved(w, self.rate * m / (np.sqrt(v) + self.tau))


class FedAdam(FedOpt):
    """v = beta2 v + (1 - beta2) D^2."""

    def spread(self, v, square):
        return self.beta2 * v + (1 - self.beta2) * square


class FedYogi(FedOpt):
    """v = v - (1 - beta2) D^2 sign(v - D^2): it grows no faster than by one square."""

    def spread(self, v, square):
        return v - (1 - self.beta2) * square * np.sign(v - square)


class FedAdagrad(FedOpt):
    """v = v + D^2."""

    def spread(self, v, square):
        return v + square


@dataclass(frozen=True)
class FedAsync(Strategy):
    """Nobody waits: each answer is mixed in at once, the staler the less.

        w = (1 - a) w + a w_k,   a = alpha (staleness + 1)^-power
    w_k = (the weights the client began with) + change. Xie et al., Asynchronous federated optimization, 2019.
    """

    alpha: float = 0.6
    power: float = 0.5
    synchronous: ClassVar[bool] = False
    wants: ClassVar[int] = 1

    def __post_init__(self):
        settle(self, alpha=real(self.alpha, "alpha", above=0, most=1), power=real(self.power, "power", least=0))

    def step(self, w, answers, memory):
        (answer,) = answers
        a = self.alpha * (answer.staleness + 1) ** -self.power
        local = answer.base.astype(np.float64) + answer.change
        return ((1 - a) * w + a * local).astype(w.dtype)


@dataclass(frozen=True)
class FedBuff(Strategy):
    """Nobody waits, but the server: every `buffer` answers make one step, each the less the staler.

        w += rate mean(change_k / sqrt(1 + staleness))
    Nguyen et al., Federated learning with buffered asynchronous aggregation, AISTATS 2022.
    """

    buffer: int = 10
    rate: float = 1.0
    synchronous: ClassVar[bool] = False

    def __post_init__(self):
        settle(self, buffer=whole(self.buffer, "buffer", 1), rate=real(self.rate, "rate", above=0))

    @property
    def wants(self):
        return self.buffer

    def check(self, federation):
        if self.buffer > federation.rounds * federation.drawn:
            raise ValueError(
                f"FedBuff(buffer={self.buffer}) would never step: {federation.rounds} rounds of {federation.drawn} "
                "clients bring fewer answers; take a smaller buffer or more rounds"
            )

    def step(self, w, answers, memory):
        changes = [answer.change / np.sqrt(1.0 + answer.staleness) for answer in answers]
        return moved(w, self.rate * np.mean(changes, axis=0, dtype=np.float64))
