"""L-BFGS in commands to the shards, in two forms. `order(*commands)` sends them, and brings the sums of the answers.

Pairs lie in numbered slots, s3 and y3; one slot more than the history, so that a pair that is not kept costs none.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dlmini.optim.lbfgs import is_curved, mixture

Order = Callable[..., np.ndarray]


def pair(slot: int) -> tuple[str, str]:
    return f"s{slot}", f"y{slot}"


def step_taken(slot: int) -> list[tuple]:
    """Commands after a step: s = w - x, y = new - g, then x = w and g = new."""
    s, y = pair(slot)
    change = ("copy", s, "w"), ("axpy", s, -1.0, "x"), ("copy", y, "new"), ("axpy", y, -1.0, "g")
    return [*change, ("copy", "x", "w"), ("copy", "g", "new")]


class Direction:
    """What the coordinator knows of the pairs: numbers only. `slots` are those kept, the oldest first."""

    def __init__(self, order: Order, history: int):
        self.order, self.history, self.slots = order, history, []

    def begin(self) -> float:
        """At the first gradient: its square."""
        return float(self.order(("copy", "g", "new"), ("dots", ["g"], ["g"]))[0])

    def take(self) -> float:
        """After a step: keep the pair if the loss curves upwards along it. Returns the square of the gradient."""
        slot = min(set(range(self.history + 1)) - set(self.slots))
        if self.learn(slot):
            self.slots = [*self.slots, slot][-self.history :]
        return self.steepness()

    def forget(self) -> None:
        self.slots = []

    # ---- what the two forms differ in ----

    def learn(self, slot: int) -> bool:
        """Take the step on the shards; note what has to be known of the new pair. Is it curved?"""
        raise NotImplementedError

    def steepness(self) -> float:
        raise NotImplementedError

    def direct(self) -> float:
        """Let the shards make the direction d = -H g; returns its slope, d . g."""
        raise NotImplementedError


class TwoLoop(Direction):
    """The recursion as published: every product waits for the sum before it, 2 h times (optim/lbfgs.py: two_loop)."""

    def __init__(self, order: Order, history: int):
        super().__init__(order, history)
        self.curvature: dict[int, tuple[float, float]] = {}  # slot -> s.y, y.y
        self.gg = 0.0

    def begin(self) -> float:
        self.gg = super().begin()
        return self.gg

    def learn(self, slot: int) -> bool:
        s, y = pair(slot)
        asked = ("dots", [s], [y, s]), ("dots", [y], [y]), ("dots", ["g"], ["g"])
        sy, ss, yy, self.gg = map(float, self.order(*step_taken(slot), *asked))
        self.curvature[slot] = sy, yy
        return is_curved(sy, ss, yy)

    def steepness(self) -> float:
        return self.gg

    def direct(self) -> float:
        self.order(("copy", "d", "g"))
        shares = {}
        for slot in reversed(self.slots):
            s, y = pair(slot)
            shares[slot] = float(self.order(("dots", [s], ["d"]))[0]) / self.curvature[slot][0]
            self.order(("axpy", "d", -shares[slot], y))
        if self.slots:
            sy, yy = self.curvature[self.slots[-1]]
            self.order(("scale", "d", sy / yy))
        for slot in self.slots:
            s, y = pair(slot)
            share = shares[slot] - float(self.order(("dots", [y], ["d"]))[0]) / self.curvature[slot][0]
            self.order(("axpy", "d", share, s))
        return float(self.order(("scale", "d", -1.0), ("dots", ["g"], ["d"]))[0])

    def memory(self) -> dict:
        known = [(slot, *self.curvature[slot]) for slot in self.slots]
        return {"known": np.array(known).reshape(-1, 3), "gg": self.gg}

    def restore(self, memory: dict) -> None:
        self.slots = memory["known"][:, 0].astype(int).tolist()
        self.curvature = {
            slot: (sy, yy) for slot, (_, sy, yy) in zip(self.slots, memory["known"].tolist(), strict=True)
        }
        self.gg = float(memory["gg"])


class ByDots(Direction):
    """All products of all vectors, three new rows after each step: one round of messages (optim/lbfgs.py: mixture)."""

    def __init__(self, order: Order, history: int):
        super().__init__(order, history)
        self.products: dict[tuple[str, str], float] = {("g", "g"): 0.0}

    def basis(self) -> list[str]:
        return [*(f"s{slot}" for slot in self.slots), *(f"y{slot}" for slot in self.slots), "g"]

    def begin(self) -> float:
        self.products["g", "g"] = super().begin()
        return self.steepness()

    def learn(self, slot: int) -> bool:
        s, y = pair(slot)
        rows, columns = [s, y, "g"], [s, y, *self.basis()]
        table = self.order(*step_taken(slot), ("dots", rows, columns)).reshape(3, -1)
        for a, row in zip(rows, table.tolist(), strict=True):
            self.products |= {key: value for b, value in zip(columns, row, strict=True) for key in ((a, b), (b, a))}
        return is_curved(self.products[s, y], self.products[s, s], self.products[y, y])

    def steepness(self) -> float:
        return self.products["g", "g"]

    def table(self) -> np.ndarray:
        basis = self.basis()
        return np.array([[self.products[a, b] for b in basis] for a in basis])

    def direct(self) -> float:
        products = self.table()
        shares = mixture(products)
        added = [("axpy", "d", share, name) for share, name in zip(shares.tolist(), self.basis(), strict=True)][:-1]
        self.order(("copy", "d", "g"), ("scale", "d", float(shares[-1])), *added)
        return float(products[-1] @ shares)

    def memory(self) -> dict:
        return {"slots": np.array(self.slots, int), "products": self.table()}

    def restore(self, memory: dict) -> None:
        self.slots = memory["slots"].tolist()
        basis = self.basis()
        rows = zip(basis, memory["products"].tolist(), strict=True)
        self.products = {(a, b): value for a, row in rows for b, value in zip(basis, row, strict=True)}


FORMS = {"two_loop": TwoLoop, "dots": ByDots}
