"""A shard: a slice of every vector that L-BFGS knows, and the few things that can be done with vectors.

The coordinator never sees a vector. It sends commands, each some ten bytes, and gets numbers:

    ("copy", a, b)      a = b                   ("dots", [a ...], [b ...])      answer the products a . b of the slices
    ("scale", a, c)     a *= c                  ("go", number)                  w is to be evaluated
    ("axpy", a, c, b)   a += c b                ("count", portion, replica)     this copy of its gradient counts
    ("show", t), ("keep", t), ("end",)          tell the notebook; remember; finish

    x, g            the weights after the last iteration, and the gradient there
    d               the direction;   w, new: the weights that are tried, and the gradient there
    s0, y0, ...     the history
"""

from __future__ import annotations

import numpy as np

from dlmini.comm.errors import DeadRank
from dlmini.events import Checkpoint, Served, Snapshot
from dlmini.memory import arrays, restore
from dlmini.optim.lbfgs import dot
from dlmini.sandblaster.layout import ANSWER, COMMAND, FETCHED, REPORT, Common, Layout
from dlmini.sandblaster.portions import TreeSum

NOBODY = -1  # what was served is the work of all replicas


class Shard:
    """Its whole life is to answer.

    number    of the evaluation that goes on; `early` are replicas that asked for the weights of a later one
    staged    (portion, replica) -> the pieces of its gradient that have come; nothing of them counts yet
    sum       of those that count; `rows` are how many examples they stand for
    """

    def __init__(self, comm, layout: Layout, weights: np.ndarray, portions: int):
        self.comm, self.layout, self.place = comm, layout, comm.rank - layout.first_shard
        self.low, self.high = layout.bounds(self.place)
        self.vectors = {"x": weights[self.low : self.high].copy()}
        for name in "dgw":
            self.vectors[name] = np.zeros_like(self.vectors["x"])
        self.portions, self.number, self.early = portions, 0, []
        self.staged: dict[tuple[int, int], dict[int, tuple]] = {}
        self.counted: set[int] = set()
        self.sum, self.rows = TreeSum(portions), 0
        ours = layout.members_at(self.place)
        self.clients = [rank for rank in range(layout.first_shard) if layout.member_of(rank) in ours]
        self.left, self.ended = set(), False  # clients that have finished; whether the coordinator has

    def live(self, before=None) -> np.ndarray:
        if before is not None:
            restore({"shard": self}, before)
        while not self.finished():
            try:
                source, (verb, *said) = self.comm.recv_any(COMMAND)
            except DeadRank:
                continue  # who has died is not waited for
            getattr(self, f"on_{verb}")(source, *said)
        self.comm.send(self.layout.coordinator, ("bye",), REPORT)
        return self.vectors["x"]

    def finished(self) -> bool:
        """The coordinator has ended, and every rank that fetches here, if it lives, has said its last."""
        return self.ended and self.left.union(self.comm.gone()).issuperset(self.clients)

    # ---- what the coordinator says ----

    def on_do(self, source: int, commands: list) -> None:
        """Some commands, one after the other; one answer if any of them asks for numbers."""
        found = [number for verb, *given in commands for number in getattr(self, f"do_{verb}")(*given)]
        if found:
            self.comm.send(source, np.array(found), ANSWER)

    def do_copy(self, a: str, b: str) -> tuple:
        self.vectors[a] = self.vectors[b].copy()
        return ()

    def do_scale(self, a: str, number: float) -> tuple:
        self.vectors[a] *= self.vectors[a].dtype.type(number)
        return ()

    def do_axpy(self, a: str, number: float, b: str) -> tuple:
        vector = self.vectors[a]
        vector += vector.dtype.type(number) * self.vectors[b]
        return ()

    def do_dots(self, rows: list, columns: list) -> list[float]:
        return [dot(self.vectors[a], self.vectors[b]) for a in rows for b in columns]

    def do_go(self, number: int) -> tuple:
        """The next evaluation: all that is staged of the last one is dropped."""
        self.number, self.staged, self.counted = number, {}, set()
        self.sum, self.rows = TreeSum(self.portions), 0
        early, self.early = self.early, []
        for source, asked, life in early:
            self.on_fetch(source, asked, life)
        return ()

    def on_count(self, _, number: int, portion: int, replica: int) -> None:
        """Add this copy to the sum, and drop the others."""
        pieces = self.staged.pop((portion, replica))
        self.counted.add(portion)
        self.staged = {key: staged for key, staged in self.staged.items() if key[0] != portion}
        self.rows += next(iter(pieces.values()))[1]
        total = self.sum.add(portion, self.joined({member: piece[2] for member, piece in pieces.items()}))
        if total is not None:
            total /= total.dtype.type(self.rows or 1)  # without any rows the coordinator ends the run
            self.vectors["new"] = total
            self.comm.emit(Served(NOBODY, number - 1, 0))  # once for each evaluation: where a shard's time goes

    def joined(self, parts: dict[int, np.ndarray]) -> np.ndarray:
        """One gradient of what the ranks of a replica have pushed; what several hold is the same on each of them."""
        whole = np.empty_like(self.vectors["x"])
        for member in sorted(parts):
            whole[self.layout.commons[member, self.place].shard] = parts[member]
        return whole

    def on_show(self, _, t: int) -> None:
        self.comm.emit(Snapshot(t, self.vectors["x"], part=(self.place, self.layout.shards)))

    def on_keep(self, _, t: int) -> None:
        self.comm.emit(Checkpoint(t, arrays({"shard": self})))

    def on_end(self, _) -> None:
        self.ended = True

    # ---- what replicas say ----

    def on_fetch(self, source: int, number: int, life: int) -> None:
        """The weights that are tried; whoever is early waits for them, whoever is late sees it by the number."""
        if number > self.number:
            self.early.append((source, number, life))
            return
        part = self.vectors["w"][self.common(source).shard]
        self.comm.send(source, (life, self.number, part), FETCHED)

    def common(self, source: int) -> Common:
        """What a rank of a replica and this shard both hold."""
        return self.layout.commons[self.layout.member_of(source), self.place]

    def on_push(self, source: int, number: int, portion: int, loss: float, rows: int, part: np.ndarray) -> None:
        """Stage a gradient; when all pieces of this copy are here, say so. What comes too late is dropped by name."""
        if number != self.number or portion in self.counted:
            return
        replica = self.layout.replica_of(source)
        pieces = self.staged.setdefault((portion, replica), {})
        pieces[self.layout.member_of(source)] = loss, rows, part
        if len(pieces) == len(self.layout.members_at(self.place)):
            self.comm.send(self.layout.coordinator, ("staged", number, portion, replica, loss, rows), REPORT)

    def on_bye(self, source: int) -> None:
        self.left.add(source)

    # ---- what it remembers ----

    def memory(self) -> dict:
        history = sorted(name for name in self.vectors if name[0] in "sy")
        kept = {name: self.vectors[name] for name in ("x", "g")}
        pairs = np.array([self.vectors[name] for name in history]).reshape(len(history), self.high - self.low)
        return {**kept, "pairs": pairs, "names": np.array(history, "U8")}

    def restore(self, memory: dict) -> None:
        restore({name: self.vectors[name] for name in ("x", "g")}, memory)
        for name, vector in zip(memory["names"].tolist(), memory["pairs"], strict=True):
            self.vectors[name] = vector.astype(self.vectors["x"].dtype)
