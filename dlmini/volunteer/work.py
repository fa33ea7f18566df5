"""What volunteers are asked to do, as data: which network, which rows, which seed, how many steps. Never code.

A unit is a number. In iteration t = unit // units it trains part unit % units of the training set from the weights of
iteration t, with an optimiser that begins anew; random numbers are keyed by the unit, never by host or attempt. So any
host, at any attempt, gives the same bits (on one kind of processor), and the mean in the order of units does too:

    w(t+1) = mean over units u of iteration t of  train(w(t), u)
Kurochkin and Papanov, Russian Supercomputing Days 2023, trained so on BOINC: 64 iterations, about 75 hosts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import islice

import numpy as np

from dlmini.checks import real, settle, whole, word
from dlmini.data import split_iid, stream
from dlmini.nn import ZOO
from dlmini.pieces import pieces
from dlmini.volunteer.sets import SETS, Known


@dataclass(frozen=True)
class Work(Known):
    """units: parts of the training set, one unit each in every iteration. steps: mini-batches of a unit."""

    model: str = "volunteer_net"
    data: str = "mnist"
    units: int = 300
    iterations: int = 64
    steps: int = 10
    batch: int = 20
    optimizer: str = "adam"
    rate: float = 0.001
    seed: int = 0

    def __post_init__(self):
        settle(self, model=word(self.model, "model", tuple(ZOO)), data=word(self.data, "data", SETS))
        for name, most in (("units", 10**6), ("iterations", 10**6), ("steps", 10**6), ("batch", 10**5)):
            settle(self, **{name: whole(getattr(self, name), name, 1, most)})
        settle(self, optimizer=word(self.optimizer, "optimizer", tuple(pieces("optim"))))
        settle(self, rate=real(self.rate, "rate", above=0), seed=whole(self.seed, "seed", 0, 2**31))

    waits = True  # an iteration waits for all its units
    drifts = False  # a host needs nothing but the weights

    @property
    def versions(self) -> int:
        """How many means are taken in all."""
        return self.iterations

    def check(self) -> None:
        """Whether there is a row for every unit: asked before a project begins, since it loads the data."""
        split_iid(len(self.sets[0]), self.units, seed=self.seed)

    def rows(self, unit: int) -> np.ndarray:
        """The local set of a unit: each iteration deals the rows anew."""
        iteration, part = divmod(unit, self.units)
        return parts(len(self.sets[0]), self.units, self.seed + iteration)[part]

    def train(self, w: np.ndarray, unit: int, keep=None, before: dict | None = None) -> np.ndarray:
        """The local round of a unit. keep(step, memory): told after each step, so that work can go on after a crash;
        before: such a memory."""
        w, stepper = w.copy(), pieces("optim")[self.optimizer](self.rate).start(self.size)
        done = 0
        if before:
            done, w[:] = int(before["step"]), before["w"]
            stepper.restore({name.removeprefix("opt_"): before[name] for name in before if name.startswith("opt_")})
        grad, rows = np.zeros_like(w), self.rows(unit)
        found = stream(self.sets[0], min(self.batch, len(rows)), seed=self.seed, rank=unit, part=rows, reuse=True)
        for step, batch in enumerate(islice(found, done, self.steps), done):
            self.network.loss_and_grad(w, batch.x, batch.y, grad, batch.key)
            stepper.apply(w, grad)
            if keep:
                keep(step + 1, lambda: {"w": w, **{f"opt_{k}": v for k, v in stepper.memory().items()}})
        return w

    def fold(self, w: np.ndarray, answers: Iterable[tuple], memory) -> np.ndarray:
        """The weights of the next iteration: the mean of the answers, (unit, weights) each; of none, as they were."""
        found = mean_of(answer for _, answer in answers)
        return w if found is None else found

    def alone(self) -> np.ndarray:
        """The whole project on this machine: what volunteers must come to, to the bit."""
        w = self.initial()
        for t in range(self.iterations):
            w = mean_of(self.train(w, unit) for unit in range(t * self.units, (t + 1) * self.units))
        return w

    def plain(self) -> dict:
        return asdict(self)

    def told(self) -> str:
        """For a page's headline."""
        return f"{self.units} units in an iteration"


@lru_cache(maxsize=2)
def parts(rows: int, units: int, seed: int) -> list[np.ndarray]:
    """The deal of an iteration: nobody writes into it."""
    return split_iid(rows, units, seed=seed)


def mean_of(answers) -> np.ndarray | None:
    """The mean, added up in float64 in the order given; None of nothing."""
    total, count = None, 0
    for answer in answers:
        if total is None:
            total = np.zeros(answer.shape)
        total += answer
        count += 1
    return None if total is None else (total / count).astype(np.float32)
