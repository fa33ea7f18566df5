"""PipeDream in the worker's loop: a pipeline that is never empty.

At its call t a stage that stands d = p - s - 1 stages before the last passes batch t on, and goes back with batch t-d,
at the weights that this one has met on its way there. So each call gives a gradient, d steps late; the first d give 0.
When a run ends, the last d batches are still under way, and nobody waits for them.
"""

from __future__ import annotations

import numpy as np

from dlmini.parallel.pipeline import play
from dlmini.parallel.rank_task import LOSS, RankTask
from dlmini.parallel.stage import LiveStage
from dlmini.parallel.timetable import BACKWARD, FORWARD, Job, Timetable


class Stash:
    """One stage with several batches in flight, each with the weights that it has met."""

    def __init__(self, part, most: int):
        self.idle, self.flying = [LiveStage(part) for _ in range(most)], {}

    def begin(self, micro: int, w, grad, batch) -> None:
        self.flying[micro] = self.idle.pop()
        self.flying[micro].begin(w, grad, batch, [0, len(batch.y)])

    def forward(self, micro: int, x):
        y = self.flying[micro].forward(0, x)
        self.loss = self.flying[micro].loss
        return y

    def backward(self, micro: int, dy):
        self.idle.append(self.flying.pop(micro))
        return self.idle[-1].backward(0, dy)

    def flops(self, kind: str, micro: int) -> float:
        return self.flying[micro].flops(kind, 0)


class LastCall(Timetable):
    """Nobody will come back for the gradients of this one."""

    def target(self, rank: int, job: Job) -> tuple[int, Job] | None:
        return None if job.kind == BACKWARD else super().target(rank, job)


class Unflushed(RankTask):
    """What one rank of a PipeDream learns. calls: how often it will be asked."""

    def __init__(self, split, world, rank: int, calls: int):
        super().__init__(split, world, rank, calls)
        self.calls, self.t, self.behind = calls, 0, self.pipe.size - self.pipe.rank - 1
        self.stages = [Stash(part, self.behind + 1) for part in self.parts]

    def played(self, w: np.ndarray, batch, grad: np.ndarray) -> float:
        here, back, last = self.t % self.pipe.size, self.t - self.behind, self.t == self.calls - 1
        kept = batch._replace(x=batch.x.copy()) if self.behind and self.parts[0].first else batch
        self.stages[0].begin(here, w.copy() if self.behind else w, grad, kept)
        jobs = [Job(FORWARD, here), Job(BACKWARD, back % self.pipe.size)][: 1 + (back >= 0)]
        rows = tuple(tuple(jobs) if rank == self.pipe.rank else () for rank in range(self.pipe.size))
        if back < 0:
            grad[...] = 0
        else:
            self.stages[0].flying[back % self.pipe.size].grad = grad
        play(self.pipe, (LastCall if last else Timetable)("pipedream", rows, self.pipe.size), self.stages)
        self.t += 1
        return self.checked(self.shared(self.stages[0].loss), batch) if back >= 0 else float("nan")

    def shared(self, loss: float) -> float:
        """The loss of the batch that I came back with; it is told to those who will still come back with theirs."""
        last = self.pipe.size - 1
        if self.pipe.rank < last:
            return self.pipe.recv(last, LOSS)
        for rank in range(last):
            if self.t - 1 + last - rank < self.calls:
                self.pipe.send(rank, loss, LOSS)
        return loss
