"""Portions of a batch: who gets which next, which copy of it counts, and in which order they are added. No messages.

A portion is handed to whoever is free. It is *held* until one copy of its gradient has reached every shard; that copy
is counted, all others are dropped by name. So what counts does not depend on who was fast, slow, doubled or killed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from statistics import median

import numpy as np

LATE = 2.0  # a portion is late when it takes so many times what it usually takes
RECENT = 101  # times from which that is known


def next_portion(
    replica: int,
    waiting: Collection[int],
    held: Mapping[int, Sequence[int]],
    had: Collection[int],
    taken: Collection[int],
    late: Collection[int] = frozenset(),
) -> int | None:
    """The portion that a free replica gets; None if there is none for it.

    waiting    portions that nobody works on
    held       portion -> replicas that work on it, in the order in which portions were handed out
    had        portions that this replica has computed before: their data are there
    taken      portions that some replica has computed before
    late       held portions that take longer than they should
    First one that it had, then one that nobody had, then any, each time the lowest number. When none waits, a copy of a
    late one that only others hold: of those with the fewest holders, the one that was handed out first.
    """
    for choice in (waiting & had, waiting - taken, waiting):
        if choice:
            return min(choice)
    others = [portion for portion, holders in held.items() if portion in late and replica not in holders]
    return min(others, key=lambda portion: len(held[portion]), default=None)


class Handout:
    """The portions of one evaluation after the other.

    waiting, held   as above; `since` is when a held portion was handed out last
    pushed          (portion, replica) whose gradients are on their way to the shards: of those nobody makes a copy
    times           how long replicas took for a portion, lately
    counted         portion -> the replica whose copy counts
    had             replica -> portions whose data it has: kept from evaluation to evaluation
    """

    def __init__(self, portions: int, backup: bool):
        self.portions, self.backup = portions, backup
        self.waiting: set[int] = set()
        self.held: dict[int, list[int]] = {}
        self.pushed: set[tuple[int, int]] = set()
        self.counted: dict[int, int] = {}
        self.had: dict[int, set[int]] = {}
        self.since: dict[int, float] = {}
        self.times: deque[float] = deque(maxlen=RECENT)

    def begin(self) -> None:
        """A new evaluation: everything is to be done again."""
        self.waiting = set(range(self.portions))
        self.held, self.since, self.pushed, self.counted = {}, {}, set(), {}

    @property
    def done(self) -> bool:
        return len(self.counted) == self.portions

    def offers(self, now: float) -> bool:
        """Whether there is anything to hand out, to whomever."""
        return bool(self.waiting) or any(due <= now for due in self.due().values())

    def next(self, replica: int, now: float) -> int | None:
        """Hand out a portion to a free replica, or nothing."""
        mine = self.had.setdefault(replica, set())
        taken, late = set().union(*self.had.values()), {p for p, due in self.due().items() if due <= now}
        portion = next_portion(replica, self.waiting, self.held, mine, taken, late)
        if portion is not None:
            self.waiting.discard(portion)
            self.held.setdefault(portion, []).append(replica)
            self.since[portion] = now
            mine.add(portion)
        return portion

    def due(self) -> dict[int, float]:
        """When each portion that is held will be late: after LATE times what portions usually take."""
        if not self.backup or not self.times:
            return {}
        under_way, usual = {portion for portion, _ in self.pushed}, median(self.times)
        return {p: self.since[p] + LATE * usual for p in self.held if p not in under_way}

    def next_due(self, now: float) -> float | None:
        """How long until another held portion is late; None if none will be."""
        return min((due - now for due in self.due().values() if due > now), default=None)

    def push(self, portion: int, replica: int) -> None:
        """The replica says that it has pushed it."""
        if replica in self.held.get(portion, ()):
            self.pushed.add((portion, replica))

    def count(self, portion: int, replica: int) -> bool:
        """All shards have this copy. Does it count? The first one does."""
        if portion in self.counted:
            return False
        self.counted[portion] = replica
        self.waiting.discard(portion)
        self.held.pop(portion, None)
        self.pushed = {one for one in self.pushed if one[0] != portion}
        return True

    def lose(self, replica: int) -> list[int]:
        """It has died. What it alone held waits again, though a copy may still be on its way."""
        self.had.pop(replica, None)
        self.pushed = {one for one in self.pushed if one[1] != replica}
        back = [portion for portion, holders in self.held.items() if holders == [replica]]
        self.held = {
            portion: [other for other in holders if other != replica]
            for portion, holders in self.held.items()
            if portion not in back
        }
        self.waiting.update(back)
        return back


class TreeSum:
    """The sum of `count` numbered vectors, in whatever order they come: always by the same tree, so to the bit.

        ((0 + 1) + (2 + 3)) + (4 + 5) ...
    It keeps what has no partner yet: at most log2(count) sums for each vector that is still missing.
    """

    def __init__(self, count: int):
        self.count, self.nodes = count, {}

    def add(self, number: int, vector: np.ndarray) -> np.ndarray | None:
        """Take a vector, which now belongs to the sum; the whole sum when it was the last."""
        level, width = 0, self.count
        while width > 1:
            partner = number ^ 1
            if partner < width:
                if (level, partner) not in self.nodes:
                    self.nodes[level, number] = vector
                    return None
                vector += self.nodes.pop((level, partner))
            number, level, width = number // 2, level + 1, (width + 1) // 2
        return vector
