"""A replica: takes a portion, computes its gradient, pushes it, asks for the next. It remembers nothing that matters.

It fetches the weights once for each evaluation. A portion's data are made when it is handed out for the first time, and
kept: the coordinator prefers to hand out a portion to whom it had before (affinity).

A replica may be a group: `Split(task, Grid(data=replicas, pipe=2))`. Then each of its ranks gets the same jobs, fetches
and pushes the numbers that it holds, and inside `loss_and_grad` they talk to each other. So all of them do every job,
even who comes too late for its weights: else one would wait for another, or take what was meant for the next job. Who
waits for a dead rank of its own group dies too: the group is lost as a whole, and nobody waits for what never comes.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from math import inf, isfinite

import numpy as np

from dlmini.comm.errors import DeadRank, Unserved
from dlmini.events import Round
from dlmini.sandblaster.layout import COMMAND, FETCHED, JOB, REPORT, Layout


def portion_of(task, number: int, of: int, seed: int) -> list:
    """The batches of one portion: of a task that can say so, one pass over its rows; of another, its first batch.

    Those without rows have nothing to say, and are left out.
    """
    try:
        found = task.part(number, of, seed) if hasattr(task, "part") else islice(task.batches(number, of, seed), 1)
        return [batch for batch in found if len(batch.y)]
    except ValueError as error:
        raise ValueError(f"portions={of}: {error}") from error


class Replica:
    """Or one rank of it, if a replica is a group: the task then is that of its own numbers.

    number    of the evaluation whose weights it has
    """

    def __init__(self, comm, layout: Layout, task, recipe, portions: int):
        self.comm, self.layout, self.task, self.recipe, self.portions = comm, layout, task, recipe, portions
        self.member = layout.member_of(comm.rank)
        mine = layout.shards_at(self.member)
        self.shards = [(layout.first_shard + k, layout.commons[self.member, k].member) for k in mine]
        self.w = np.zeros_like(task.initial(recipe.seed))
        self.grad, self.total, self.number = np.zeros_like(self.w), np.zeros_like(self.w), 0
        self.data: dict[int, list] = {}
        self.round, self.said = 0, 0  # the iteration it works for, and bytes pushed for it

    def live(self) -> None:
        self.report("hello")
        with suppress(Unserved):  # who comes back late may find that all is over
            verb = ""
            while verb != "end":
                verb, *job = self.comm.recv(self.layout.coordinator, JOB)
                (self.tell if verb == "end" else self.work)(*job)
        for shard, _ in self.shards:
            self.comm.send(shard, ("bye",), COMMAND)
        self.comm.send(self.layout.coordinator, ("bye",), REPORT)

    def report(self, *said) -> None:
        """One rank speaks for its replica."""
        if self.member == 0:
            self.comm.send(self.layout.coordinator, said, REPORT)

    def work(self, number: int, portion: int, t: int, loss: float) -> None:
        self.tell(t, loss)
        fresh = number == self.number or self.fetch(number)
        if fresh or self.layout.members > 1:
            loss, rows = self.compute(portion)
        if fresh:
            self.push(number, portion, loss, rows)
        self.report("free", number, portion, fresh)

    def fetch(self, number: int) -> bool:
        """The weights of an evaluation; False if it is over, and its weights are gone."""
        found = set()
        for shard, _ in self.shards:
            self.comm.send(shard, ("fetch", number, self.comm.life), COMMAND)
        for shard, mine in self.shards:
            life = None
            while life != self.comm.life:  # what was meant for an earlier life may still be on its way
                life, here, part = self.comm.recv(shard, FETCHED)
            self.w[mine] = part
            found.add(here)
        self.number = found.pop() if len(found) == 1 else 0
        return self.number == number

    def compute(self, portion: int) -> tuple[float, int]:
        """The portion's gradient, as `gradient` leaves it."""
        try:
            return self.gradient(self.batches(portion))
        except DeadRank:  # of this replica's own group: without it the others can do nothing
            self.comm.give_up()

    def push(self, number: int, portion: int, loss: float, rows: int) -> None:
        """To every shard its part."""
        for shard, mine in self.shards:
            part = self.total[mine]
            self.comm.send(shard, ("push", number, portion, loss, rows, part), COMMAND)
            self.said += part.nbytes

    def batches(self, portion: int) -> list:
        if portion not in self.data:
            task, seed = self.task, self.recipe.seed
            self.data[portion] = self.comm.compute("load", portion_of, task, portion, self.portions, seed)
        return self.data[portion]

    def gradient(self, batches: list) -> tuple[float, int]:
        """(sum of losses, rows); the sum of gradients is left in `total`. A loss that is no number is infinite."""
        self.total[:], losses, rows = 0, 0.0, 0
        for batch in batches:
            count = len(batch.y)
            flops = getattr(self.task, "flops", 0.0) * count / getattr(self.task, "batch", count)
            try:
                loss = self.comm.compute("gradient", self.task.loss_and_grad, self.w, batch, self.grad, flops=flops)
            except FloatingPointError:
                loss = inf
            losses, rows = losses + count * (loss if isfinite(loss) else inf), rows + count
            self.grad *= self.grad.dtype.type(count)
            self.total += self.grad
        if not isfinite(losses):
            self.total[:] = 0
        return losses, rows

    def tell(self, t: int, loss: float) -> None:
        """Once for each iteration that it took part in: it is over now, and came to this loss."""
        if t > self.round:
            self.comm.emit(Round(t - 1, loss, self.said))
            self.round, self.said = t, 0
