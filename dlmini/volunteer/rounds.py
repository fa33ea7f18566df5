"""When answers become weights: with all of an iteration, or as they come.

    more = rounds.over(dispatcher)      a unit has ended: how many new ones are to be added
Everything is read from the project's file and written there, in the transaction of the event that led to it; so a
server that begins anew goes on with the same bits. A step that is refused by its rule, or is no finite number, is not
made: the weights stay, and the project says why.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dlmini.volunteer.store import Store
from dlmini.volunteer.strategy_memory import StrategyMemory


class Rounds:
    """An iteration waits for all its units, done or given up; answers are folded in the order of units."""

    def __init__(self, work, store: Store, tell: Callable[[str], None]):
        self.work, self.store, self.tell, self.memory = work, store, tell, StrategyMemory(store)

    def first(self) -> int:
        """Units to begin with."""
        return self.work.units

    def added(self, first: int, count: int) -> None:
        """So many units were added, from this number on."""

    def base(self, unit: int) -> int:
        """The number of the weights that a unit begins with."""
        return unit // self.work.units

    def over(self, it) -> int:
        units, done = self.work.units, it.born // self.work.units
        if it.done + len(it.failed) < it.born or self.store.newest() >= done:  # two may end at one event
            return 0
        w = self.step(done - 1, self.store.accepted((done - 1) * units, done * units))
        self.store.keep_weights(done, w)
        self.store.drop_answers(done * units)
        self.store.drop_weights(done - 1)
        return units if done < self.work.iterations else 0

    def step(self, version: int, answers) -> np.ndarray:
        """The next weights after those of `version`."""
        w = weights_of(self.store, version)
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                found = self.work.fold(w, answers, self.memory)
            if not np.isfinite(found).all():
                raise ValueError("the weights would be no finite numbers")
        except (ValueError, ArithmeticError) as error:
            self.memory.forget()
            self.tell(f"step {version + 1} is not made: {error}")
            return w
        self.memory.keep()
        return found


class AsTheyCome(Rounds):
    """Some units are open at a time; every `wants` answers make a step, and one unit more is added for each that ends.
    A unit's base is the number of the weights when it was added: they are kept until its answer is used."""

    def first(self) -> int:
        return min(self.work.at_once, self.total)

    @property
    def total(self) -> int:
        return self.work.iterations * self.work.units

    def added(self, first: int, count: int) -> None:
        for unit in range(first, first + count):
            self.store.keep_base(unit, self.store.newest())

    def base(self, unit: int) -> int:
        return self.store.base(unit)

    def over(self, it) -> int:
        for unit in it.failed.keys() & self.store.bases():  # given up: nobody needs its base any more
            self.store.drop_base(unit)
        waiting = self.store.waiting()
        if len(waiting) == self.work.strategy.wants:
            version = self.store.newest()
            self.store.keep_weights(version + 1, self.step(version, [self.stale(version, *one) for one in waiting]))
            for unit, _ in waiting:
                self.store.drop_answer(unit)
                self.store.drop_base(unit)
            self.store.drop_weights(min([*self.store.bases().values(), version]))
        return 1 if it.born < self.total else 0

    def stale(self, version: int, unit: int, change: np.ndarray) -> tuple:
        base = self.store.base(unit)
        return unit, change, version - base, weights_of(self.store, base)


def weights_of(store: Store, version: int) -> np.ndarray:
    return np.frombuffer(store.weights(version), "<f4").copy()
