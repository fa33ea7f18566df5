"""The coordinator: L-BFGS without a vector. What it sends and hears are numbers, however large the network is.

Every portion's gradient is counted once, by a two-phase commit of five kinds of message:

    coordinator -> replica   job: this portion          replica -> shards        push: its gradient, a piece to each
    shard -> coordinator     staged: I have my piece    coordinator -> shards    count: of this portion, that copy
    replica -> coordinator   free: I have pushed, what next?
A copy counts when *all* shards have staged it, and only the first that gets so far. Who dies between two shards has
left a piece that is never counted; whoever is second is dropped by name.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from dlmini.comm.errors import DeadRank, RankFailed
from dlmini.events import Checkpoint, Portion, Round
from dlmini.memory import arrays, recalled
from dlmini.optim.lbfgs import FLOOR, first_step, no_loss, no_slope
from dlmini.optim.line_search import Point, strong_wolfe
from dlmini.sandblaster.directions import FORMS
from dlmini.sandblaster.layout import ANSWER, COMMAND, JOB, REPORT, Layout
from dlmini.sandblaster.portions import Handout


class Coordinator:
    """Its whole life, in three parts: iterations, evaluations, and what it hears meanwhile.

    number    of the evaluation that goes on: whatever belongs to another one is seen by it
    idle      replicas that wait for a portion; `given` is when they got their last
    here      replicas that have said hello;   gone: those that have died;   left: ranks that have said their last
    losses    portion -> (sum of losses, rows), of copies that count;   votes: which shards have staged a copy
    """

    def __init__(self, comm, layout: Layout, recipe, portions: int):
        self.comm, self.layout, self.recipe = comm, layout, recipe
        self.direction = FORMS[recipe.form](self.order, recipe.history)
        self.handout = Handout(portions, recipe.backup)
        self.number, self.t, self.loss = 0, 0, float("nan")
        self.idle, self.here, self.gone, self.left = set(), set(), set(), set()
        self.given: dict[int, float] = {}
        self.ending = False
        self.losses: dict[int, tuple[float, int]] = {}
        self.votes: dict[tuple[int, int], set[int]] = {}

    # ---- iterations ----

    def live(self, before=None) -> str:
        """Returns why it ended early; nothing if it did not."""
        self.t = recalled({"coordinator": self, "direction": self.direction}, before, 0)
        why = self.start() if before is None else ""
        while not why and self.t < self.recipe.rounds:
            why = self.iterate()
            if not why:
                self.tell()
                self.t += 1
        if why:
            self.command("show", max(0, self.t - 1))
        self.end()
        return why

    def start(self) -> str:
        """The first gradient."""
        self.loss, _ = self.evaluate(0.0)
        why = no_loss(self.loss)
        if not why:
            self.direction.begin()
        return why

    def iterate(self) -> str:
        """A direction, a step along it, a pair for the history. Returns why there can be none."""
        size = sqrt(self.direction.steepness())
        if why := no_slope(size, self.recipe.tolerance):
            return why
        here = self.search(size)
        if here is None and self.direction.slots:
            self.direction.forget()  # the history misleads: once more, along the gradient
            here = self.search(size)
        if here is None:
            return FLOOR
        self.loss = here.loss
        self.direction.take()
        return ""

    def search(self, size: float) -> Point | None:
        """The line search: each trial is an evaluation by all replicas."""
        slope = self.direction.direct()
        search = strong_wolfe(self.loss, slope, first_step(size, bool(self.direction.slots)))
        said = None
        try:
            while True:
                said = self.evaluate(search.send(said))
        except StopIteration as end:
            return end.value

    def tell(self) -> None:
        """After an iteration: the notebook is told, and what is remembered is kept."""
        t, recipe = self.t, self.recipe
        self.comm.emit(Round(t, self.loss))
        if recipe.evaluates_after(t):
            self.command("show", t)
        if recipe.checkpoints_after(t):
            self.command("keep", t)
            self.comm.emit(Checkpoint(t, arrays({"coordinator": self, "direction": self.direction})))

    # ---- evaluations ----

    def evaluate(self, step: float) -> tuple[float, float]:
        """(loss, slope) at x + step d, over all portions."""
        self.number += 1
        self.order(("copy", "w", "x"), ("axpy", "w", step, "d"), ("go", self.number))
        self.handout.begin()
        self.losses, self.votes = {}, {}
        self.hand_out()
        while not self.handout.done:
            self.hear()
        sums, rows = zip(*(self.losses[portion] for portion in sorted(self.losses)), strict=True)
        if not sum(rows):
            raise ValueError(
                f"none of {len(rows)} portions has a row; the task's batches(portion, {len(rows)}) are empty"
            )
        return sum(sums) / sum(rows), float(self.order(("dots", ["new"], ["d"]))[0])

    def hand_out(self) -> None:
        """A portion to everybody who is free, if there is one for it."""
        now = self.comm.now()
        for replica in sorted(self.idle) if self.handout.offers(now) else ():
            copy = not self.handout.waiting
            portion = self.handout.next(replica, now)
            if portion is not None:
                self.idle.discard(replica)
                self.given[replica] = now
                self.job(replica, "work", self.number, portion, self.t, self.loss)
                self.note("copied" if copy else "handed", portion, replica)

    def order(self, *commands) -> np.ndarray:
        """Commands to all shards; the sum of their answers, in the order of shards, if they ask for any."""
        self.command("do", list(commands))
        if not any(verb == "dots" for verb, *_ in commands):
            return np.zeros(0)
        return sum(self.comm.recv(shard, ANSWER) for shard in self.layout.shard_ranks)

    def command(self, verb: str, *said) -> None:
        for shard in self.layout.shard_ranks:
            self.comm.send(shard, (verb, *said), COMMAND)

    def job(self, replica: int, verb: str, *said) -> None:
        for rank in self.layout.ranks_of(replica):
            self.comm.send(rank, (verb, *said), JOB)

    def note(self, what: str, portion: int, replica: int) -> None:
        self.comm.emit(Portion(self.t, self.number, portion, replica, what))

    # ---- what it hears ----

    def hear(self) -> None:
        """The next report; or a death; or, if somebody is idle, the moment at which a portion is late."""
        wait = self.handout.next_due(self.comm.now()) if self.idle else None
        try:
            if wait is None or self.comm.arrives(wait, REPORT):
                source, (verb, *said) = self.comm.recv_any(REPORT)
                getattr(self, f"on_{verb}")(source, *said)
        except DeadRank:
            self.bury({self.layout.replica_of(rank) for rank in self.comm.gone()})
        if not self.handout.done:
            self.hand_out()

    def on_hello(self, source: int) -> None:
        """A replica is here: at the beginning, or because it has come back. (A group that has lost a rank does not.)"""
        replica = self.layout.replica_of(source)
        if replica in self.here:
            self.bury({replica})  # it has come back before anybody missed it
        if replica in self.gone and self.layout.members > 1:
            return
        self.gone.discard(replica)
        self.idle.add(replica)
        self.here.add(replica)
        if self.ending:
            self.dismiss(replica)

    def on_free(self, source: int, number: int, portion: int, done: bool) -> None:
        """It has pushed; or, of an evaluation that is over, it has seen that it is."""
        replica = self.layout.replica_of(source)
        if replica in self.gone:
            return  # of a group, what is left
        self.idle.add(replica)
        if done and replica in self.given:
            self.handout.times.append(self.comm.now() - self.given[replica])
        if number == self.number and done:
            self.handout.push(portion, replica)
            if self.handout.counted.get(portion, replica) != replica:
                self.note("dropped", portion, replica)

    def on_staged(self, shard: int, number: int, portion: int, replica: int, loss: float, rows: int) -> None:
        """A shard has its piece of a copy; when all have, the copy counts, unless another does."""
        if number != self.number:
            return
        votes = self.votes.setdefault((portion, replica), set())
        votes.add(shard)  # one that came back may push a portion twice
        if len(votes) == self.layout.shards and self.handout.count(portion, replica):
            self.losses[portion] = loss, rows
            self.command("count", number, portion, replica)
            self.note("counted", portion, replica)

    def on_bye(self, source: int) -> None:
        self.left.add(source)

    def bury(self, dead: set[int]) -> None:
        """Replicas have died: what they held is handed out again."""
        for replica in sorted(dead - self.gone):
            self.idle.discard(replica)
            if self.ending and self.layout.members > 1 and replica not in self.here:
                self.dismiss(replica)  # of a group that may not say hello any more, what is left
            self.here.discard(replica)
            for portion in self.handout.lose(replica):
                self.note("lost", portion, replica)
        self.gone |= dead
        if len(self.gone) == self.layout.replicas and self.layout.members > 1 and not self.ending:
            rank = max(self.comm.gone())
            raise RankFailed(f"rank {rank} has died, and no replica is left that has all its ranks", rank, died=True)

    # ---- the end ----

    def end(self) -> None:
        """All replicas end, then all shards: whoever has nothing more to say says so, and nothing is left unread.

        Who is not here yet, or not again, is dismissed when it says hello.
        """
        self.ending = True
        for replica in sorted(self.here | (self.gone if self.layout.members > 1 else set())):
            self.dismiss(replica)
        self.command("end")
        everybody = set(range(self.layout.coordinator))
        while not self.left.union(self.comm.gone()) >= everybody:
            self.hear()

    def dismiss(self, replica: int) -> None:
        self.job(replica, "end", self.t, self.loss)

    # ---- what it remembers ----

    def memory(self) -> dict:
        return {"loss": self.loss, "number": self.number}

    def restore(self, memory: dict) -> None:
        self.loss, self.number = float(memory["loss"]), int(memory["number"])
