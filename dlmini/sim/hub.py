"""The hub: the greenlet that starts, ends and diagnoses ranks. They switch among themselves otherwise."""

from __future__ import annotations

from greenlet import GreenletExit

from dlmini.sim.diagnosis import deadlock, unreceived
from dlmini.sim.engine import Engine, Errand
from dlmini.sim.lives import Lives


class Hub:
    """Runs the lives of all ranks on an engine, at once or step by step, to their end."""

    def __init__(self, engine: Engine, lives: Lives):
        self.engine, self.lives, self.done = engine, lives, False

    def run(self) -> None:
        self.engine.running = True
        while not self.done:
            self._go(self.engine.next())

    def step(self) -> bool:
        """Let one event happen: a message reaches a port, or a rank goes on until it waits. False at the end."""
        self.engine.running = False
        if not self.done:
            self._go(self.engine.next(once=True))
        return not self.done

    def _go(self, thing) -> None:
        """Let a rank run, and do the errands that it comes back with. Whatever fails ends the run."""
        try:
            if thing is not None and type(thing) is not Errand:
                thing.greenlet.switch()
            while (errand := self.engine.errand) is not None:
                self.engine.errand = None
                self._end() if errand is self.engine.quiet else errand.do()
        except BaseException:
            self.close()
            raise

    def _end(self) -> None:
        """Nothing can happen any more: either all have finished, or something is wrong."""
        stuck = [rank for rank in self.engine.strands() if rank.greenlet is not None and not rank.greenlet.dead]
        if stuck and self.lives.review(always=True):
            return
        if stuck:
            raise deadlock(self.engine, stuck)
        if (error := unreceived(self.engine)) is not None:
            raise error
        self.close()

    def close(self) -> None:
        """End all programs that still run."""
        self.done = self.engine.closed = True
        self.engine.running = False
        for rank in self.engine.strands():
            if rank.greenlet is not None and not rank.greenlet.dead:
                rank.greenlet.throw(GreenletExit)
