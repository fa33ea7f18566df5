"""A federation whose clients are acted by volunteers: units carry shards, and the server's fold is a strategy.

    Project(FederatedWork("mlp", "mnist", split="labels:2", clients=10, share=1.0, strategy=FedAvg(Krum(2))))
A unit is one client's local round. In round t the clients `federation.who(t)` are drawn, one unit each; whoever gets
the unit trains on that client's rows from the round's weights, and sends the *change*. The server counts rows and steps
itself, in place of believing them. The bits are those of `federate` (federated/federation.py) with the same strategy on
any transport: the same orders, the same local rounds, answers in the order of clients.

Strategies that do not wait (FedAsync, FedBuff) have `at_once` units open at a time, one more as soon as one is over; a
unit's base is what the weights were when it was opened. With one at a time that is `federate` on one client rank.
A unit is short: one that was cut off begins anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache, partial

import numpy as np

from dlmini.checks import fraction, piece, real, refuse, settle, whole, word
from dlmini.data import split_by_label, split_by_quantity, split_dirichlet, split_iid
from dlmini.federated.described import plain, strategy_of
from dlmini.federated.federation import Federation
from dlmini.federated.local import Answer, local_round
from dlmini.federated.mixed import Mixed
from dlmini.federated.strategies import FedAvg, Scaffold
from dlmini.nn import ZOO
from dlmini.task import Classify
from dlmini.volunteer.sets import SETS, Known

SPLITS = {"labels": (split_by_label, "shards_per_part"), "dirichlet": (split_dirichlet, "alpha")}
SPLITS |= {"quantity": (split_by_quantity, "alpha")}
WORDS = "iid, labels:2, dirichlet:0.5, quantity:1 or mixed:0.1:labels:2"


def split_of(text: str) -> Callable:
    """Who has which rows, by a word: iid, labels:2 (shards a client), dirichlet:0.5, quantity:1 (alpha); mixed:0.1:iid
    (a tenth is everybody's, the rest dealt out so)."""
    name, _, number = text.partition(":") if isinstance(text, str) else ("", "", "")
    if text == "iid":
        return split_iid
    try:
        if name == "mixed" and not (rest := number.partition(":")[2]).startswith("mixed"):
            return Mixed(split_of(rest), float(number.partition(":")[0]))
        deal, argument = SPLITS[name]
        return partial(deal, **{argument: int(number) if name == "labels" else float(number)})
    except (KeyError, ValueError):
        refuse(ValueError, "split", text, WORDS)


def word_of(split: Callable) -> str:
    """The word of a split, if it has one."""
    if split is split_iid:
        return "iid"
    if isinstance(split, Mixed):
        return f"mixed:{split.share}:{word_of(split.split)}"
    deal, given = (split.func, split.keywords) if isinstance(split, partial) else (split, {})
    for name, (known, argument) in SPLITS.items():
        if deal is known and set(given) <= {argument} and not getattr(split, "args", ()):
            return f"{name}:{given.get(argument, 2 if name == 'labels' else 1.0)}"
    raise ValueError(f"the split {getattr(split, '__name__', split)!r} has no word to be described by; take {WORDS}")


@lru_cache(maxsize=4)
def drawn(federation: Federation, t: int) -> list[int]:
    """The clients of a round: nobody writes into it."""
    return federation.who(t)


@dataclass(frozen=True)
class FederatedWork(Known):
    """share C of `clients` K in a round: `epochs` E of batches of `batch` B rows (0: all), SGD at `rate`; `iterations`
    rounds. split: who has which rows (`split_of`). at_once: units open at a time, where nobody waits."""

    model: str = "mlp"
    data: str = "mnist"
    split: str = "iid"
    clients: int = 10
    share: float = 1.0
    epochs: int = 1
    batch: int = 10
    rate: float = 0.1
    iterations: int = 20
    seed: int = 0
    at_once: int = 4
    strategy: object = field(default_factory=FedAvg)

    def __post_init__(self):
        settle(self, model=word(self.model, "model", tuple(ZOO)), data=word(self.data, "data", SETS))
        for name, least, most in (("clients", 1, 10**6), ("epochs", 1, 10**4), ("batch", 0, 10**5)):
            settle(self, **{name: whole(getattr(self, name), name, least, most)})
        for name, least, most in (("iterations", 1, 10**6), ("seed", 0, 2**31), ("at_once", 1, 10**4)):
            settle(self, **{name: whole(getattr(self, name), name, least, most)})
        settle(self, share=fraction(self.share, "share"), rate=real(self.rate, "rate", above=0))
        split_of(self.split)
        piece(self.strategy, "strategy", ("step", "order", "synchronous"), "a strategy, such as FedAvg()")
        plain(self.strategy)
        self.demand(self.federation.drawn)

    @cached_property
    def federation(self) -> Federation:
        same = {name: getattr(self, name) for name in ("clients", "share", "epochs", "batch", "rate", "seed")}
        return Federation(self.strategy, rounds=self.iterations, **same)

    @cached_property
    def task(self) -> Classify:
        return Classify(self.network, *self.sets, batch=max(1, self.batch), split=split_of(self.split))

    @cached_property
    def parts(self) -> list[np.ndarray]:
        return self.task.split(self.task.train, self.clients, seed=self.seed)

    @property
    def units(self) -> int:
        """Units of a round."""
        return self.federation.drawn

    @property
    def waits(self) -> bool:
        return self.strategy.synchronous

    @property
    def versions(self) -> int:
        """How many steps the server makes in all."""
        return self.iterations if self.waits else self.iterations * self.units // self.strategy.wants

    @property
    def drifts(self) -> bool:
        """Whether a client needs more than the weights: SCAFFOLD's c - c_i."""
        return isinstance(self.strategy, Scaffold)

    def check(self) -> None:
        """Whether there is a row for every client: asked before a project begins, since it loads the data."""
        self.parts[0]

    def demand(self, answers: int) -> None:
        """Enough answers for a robust rule, or ValueError with its inequality."""
        rule = getattr(self.strategy, "rule", None)
        if rule is not None and answers < (least := rule.least(rule.f)):
            raise ValueError(
                f"{type(rule).__name__} needs n >= {rule.inequality} answers: {least} for f = {rule.f} liars, and a "
                f"round has {answers}; ask more clients, or fear fewer liars"
            )

    # ---- a client's side ----

    def client(self, unit: int) -> tuple[int, int]:
        """(round, client) of a unit."""
        t, k = divmod(unit, self.units)
        return t, drawn(self.federation, t)[k]

    def train(self, w: np.ndarray, unit: int, keep=None, before=None, drift: np.ndarray | None = None) -> np.ndarray:
        """The change of weights that a client's local round comes to. keep, before: see Work; not used here."""
        t, client = self.client(unit)
        order, rows = self.strategy.order(t, client, {})._replace(drift=drift), self.parts[client]
        return local_round(self.task, w, order, rows, self.epochs, self.batch, self.rate, self.seed).change

    # ---- the server's side ----

    def drift(self, unit: int, memory) -> np.ndarray | None:
        """What the strategy asks of a unit's client beyond the weights; None: nothing."""
        return self.strategy.order(*self.client(unit), memory).drift

    def answer(self, unit: int, change: np.ndarray, *stale) -> Answer:
        """stale: how many steps ago it began, and with which weights."""
        client = self.client(unit)[1]
        rows = len(self.parts[client])
        batches = -(-rows // (min(self.batch, rows) or rows))
        return Answer(client, change, rows, self.epochs * batches, *stale)

    def fold(self, w: np.ndarray, answers: Iterable[tuple], memory) -> np.ndarray:
        """answers: (unit, change), and staleness and base where nobody waits."""
        found = [self.answer(*one) for one in answers]
        if not found:
            return w
        self.demand(len(found))
        return self.strategy.step(w, found, memory)

    def alone(self) -> np.ndarray:
        """The whole federation on this machine, one unit after the other."""
        w, memory, waiting = self.initial(), {}, []
        for unit in range(self.iterations * self.units):
            stale = () if self.waits else (0, w)
            waiting.append((unit, self.train(w, unit, drift=self.drift(unit, memory)), *stale))
            if len(waiting) == (self.units if self.waits else self.strategy.wants):
                w, waiting = self.fold(w, waiting, memory), []
        return w

    def plain(self) -> dict:
        return {one.name: getattr(self, one.name) for one in fields(self)} | {"strategy": plain(self.strategy)}

    def told(self) -> str:
        """For a page's headline."""
        return f"{type(self.strategy).__name__} among {self.clients} clients"


def federated_of(said: dict) -> FederatedWork:
    return FederatedWork(**said | {"strategy": strategy_of(said["strategy"])})
