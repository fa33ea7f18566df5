"""Lives of ranks: beginning, end, crash and return; and what becomes of those who wait for somebody that is gone."""

from __future__ import annotations

from contextvars import copy_context

from greenlet import GreenletExit

from dlmini.comm.errors import CommError, RankFailed
from dlmini.events import Done, Fault
from dlmini.sim.diagnosis import deadlock, hopeless, left, unreceived
from dlmini.sim.engine import Engine, Errand, deep_greenlet
from dlmini.sim.rank import NEVER, Posted, Rank
from dlmini.sim.sending import Lane, Queue


class Died(GreenletExit):
    """Ends a rank's program from inside; not an Exception, so that programs do not catch it."""


class Lifecycle:
    """program(comm, *args) on every rank, as often as it comes back.

    may_die: ranks without which the others go on; `deaths` says when that came. They stay dead, but for may_return.
    """

    def __init__(self, engine: Engine, program, args: tuple = (), members=None, may_die=(), may_return=()):
        self.engine, self.program, self.args = engine, program, args
        self.results: list = [None] * engine.size
        self.reviews, self.gone = 0, {}  # those who will do nothing any more, in the order of their end
        self.may_die, self.may_return = frozenset(may_die), frozenset(may_return)
        self.deaths, self.known = {}, []  # known: those that time has come to
        self.told: set[tuple[int, int]] = set()  # (rank, the dead one of whom a receive from anybody has told it)
        engine.lifecycle, engine.ranks = self, [None] * engine.size
        for number in members or range(engine.size):
            engine.ranks[number] = Rank(engine, number)
        for rank in engine.strands():
            self.start(rank)
            if rank.dies < NEVER:
                engine.at(rank.dies, Errand(engine, lambda rank=rank: self.strike(rank)))

    def start(self, rank: Rank) -> None:
        """Every greenlet is born here, in the hub, because it inherits the stack depth of whoever starts it."""
        rank.greenlet = deep_greenlet(self.live, self.engine.hub)
        rank.greenlet.gr_context = copy_context()  # NumPy's error state, the notebook's output cell
        rank.greenlet.switch(rank)
        self.engine.soon(rank)

    def live(self, rank: Rank) -> None:
        self.engine.hub.switch()
        try:
            self.results[rank.rank] = self.program(rank, *self.args)
            rank._finish()
        except Died:
            self.bury(rank)
        except SystemExit as leave:
            raise left(rank, leave) from None
        except Exception as error:
            error.add_note(f"on rank {rank.rank} of {rank.size}, at {rank.clock:.6g} s, seed {self.engine.seed}")
            raise
        else:
            rank.emit(Done())
            rank.state = "finished"
        if not self.returns(rank):
            self.gone[rank] = None
        self.review(always=rank.rank in self.may_die)

    # ---- crash and return ----

    def die(self) -> None:
        """Called by a rank whose clock has reached the time of its death."""
        raise Died

    def strike(self, rank: Rank) -> None:
        """The time of its death has come while it waits. (If it ran ahead, it is dead already.)"""
        if rank.state == "alive" and rank.dies <= self.engine.time:
            rank.wants = rank.alarm = None
            rank.greenlet.throw(Died)

    def bury(self, rank: Rank) -> None:
        self.results[rank.rank], rank.state, rank.clock = None, "dead", rank.dies
        rank.emit(Fault("crashed", f"rank {rank.rank} died at {rank.dies:.6g} s"))
        rank.dies = NEVER
        if rank.stream is not None and rank.stream.greenlet is not None:
            self.engine.soon(Errand(self.engine, rank.stream.greenlet.throw))  # GreenletExit: with it dies its stream
        rank.stream = None
        if rank.rank in self.may_die:
            self.deaths[rank.rank] = rank.clock
            self.engine.at(max(rank.clock, self.engine.time), Errand(self.engine, lambda: self.announce(rank)))
        if self.returns(rank):
            self.engine.at(self.engine.cluster.back[rank.rank], Errand(self.engine, lambda: self.revive(rank)))

    def announce(self, rank: Rank) -> None:
        """The time of its death has come for the world too (it may have run ahead): the others are told."""
        self.known.append(rank)
        if len(self.known) == len(self.may_die) and not any(map(self.returns, self.known)):
            text = f"rank {rank.rank} died at {rank.clock:.6g} s, and nobody is left to go on"
            raise RankFailed(text, rank.rank, died=True)
        self.engine.drop(rank.rank)
        self.review(always=True)

    def returns(self, rank: Rank) -> bool:
        stays_away = rank.rank in self.may_die and rank.rank not in self.may_return
        return rank.state == "dead" and rank.rank in self.engine.cluster.back and not stays_away

    def revive(self, rank: Rank) -> None:
        """It has lost its memory and all that came meanwhile; its program begins anew."""
        rank.forget()
        rank.state, rank.life, rank.clock = "alive", rank.life + 1, self.engine.time
        self.deaths.pop(rank.rank, None)
        self.known = [dead for dead in self.known if dead is not rank]
        rank.emit(Fault("returned", f"rank {rank.rank} came back at {rank.clock:.6g} s"))
        self.start(rank)

    # ---- those who wait for somebody that is gone ----

    def refuse_if_hopeless(self, rank: Rank, wants) -> None:
        """Called by a rank that is about to wait for `wants`."""
        if (lost := self._lost(rank, wants)) is not None:
            raise self._refusal(rank, wants, lost)

    def review(self, always: bool = False) -> bool:
        """Wake all who wait for something that can never come, with an error. Was there anybody?

        A look at all ranks is dear, so that beyond the first ones it is taken only as often as messages pay for it.
        """
        engine = self.engine
        if not always and self.reviews * engine.size > engine.serial + 4000:
            return False
        self.reviews += 1
        waiting = [(rank, lost) for rank in engine.strands() if (lost := self._lost(rank, rank.wants)) is not None]
        for rank, lost in waiting:
            rank.fault, rank.wants = self._refusal(rank, rank.wants, lost), None
            engine.soon(rank)
        return bool(waiting)

    def _lost(self, rank: Rank, wants) -> Rank | None:
        """Somebody without whom `wants` cannot come, and who will do nothing any more."""
        if type(wants) is Queue:
            return self._untold(rank, wants) if self.known else None
        return wants.lost(self.gone) if self.gone and isinstance(wants, Lane | Posted) else None

    def _untold(self, rank: Rank, queue: Queue) -> Rank | None:
        """For one who waits for anybody: somebody who has died, if all that it sent has been taken, and not twice."""
        for dead in self.known if queue.first() is None else ():
            lane = rank.ins.get((dead.rank, queue.channel))
            if (rank.rank, dead.rank) not in self.told and (lane is None or lane.last == lane.seen):
                return dead
        return None

    def _refusal(self, rank: Rank, wants, lost: Rank) -> CommError:
        """The error for a rank that waits in vain: it has waited until the other one's end."""
        if type(wants) is Queue:
            self.told.add((rank.rank, lost.rank))
        error, called = hopeless(rank, wants, lost), rank.clock
        rank.clock = max(called, self.engine.time, lost.clock)
        rank._book_time(called, rank.clock, rank.clock)
        return error


# ---- the hub: the greenlet that starts, ends and diagnoses ranks. They switch among themselves otherwise ----


class Hub:
    """Runs the lives of all ranks on an engine, at once or step by step, to their end."""

    def __init__(self, engine: Engine, lifecycle: Lifecycle):
        self.engine, self.lifecycle, self.done = engine, lifecycle, False

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
        if stuck and self.lifecycle.review(always=True):
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
