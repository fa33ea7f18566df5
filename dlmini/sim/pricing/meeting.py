"""Priced collectives: every rank comes with its clock and its vector, and when all have come, the whole is computed.

Exact unless other messages and the collective's meet at a port. Both sides watch: the price sees who has been at a port
before its own messages, the engine sees who comes to a port before the collective's last one; `inexact` counts both.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from dlmini.comm.channels import ALLGATHER, ALLREDUCE, BARRIER, REDUCE_SCATTER
from dlmini.comm.errors import Disagreed
from dlmini.comm.ghost import Ghost
from dlmini.comm.schedules import cut
from dlmini.comm.schedules.added import added
from dlmini.comm.wire import copied
from dlmini.events import Phases
from dlmini.sim.engine import Engine, Errand
from dlmini.sim.pricing.price import settle
from dlmini.sim.pricing.routes import Routes
from dlmini.sim.pricing.vectors import Bill
from dlmini.sim.rank import Posted
from dlmini.sim.source_lines import place

CHANNELS = {"barrier": BARRIER, "allreduce": ALLREDUCE, "reduce_scatter": REDUCE_SCATTER, "allgather": ALLGATHER}


def few(ranks: list[int], most: int = 4) -> str:
    """The first of them."""
    return f"[{', '.join(map(str, ranks[:most]))}{', ...' * (len(ranks) > most)}]"


class Ticket(Posted):
    """One rank's part in a meeting."""

    def post(self) -> None:
        rank, context = self.rank, self.comm.context
        self.posted = rank.clock
        self.brought, self.nbytes = self.x, 0
        if self.verb == "allgather":
            self.x, self.nbytes = copied(self.x)
        number = rank.posted[context] = rank.posted.get(context, 0) + 1
        self.meeting = Meeting.at(rank.engine, (context, number), self)
        rank.tickets.append(self)
        if len(rank.tickets) == 1:
            self.arrive(max(rank.clock, rank.busy))

    def arrive(self, time: float) -> None:
        engine, self.begun = self.rank.engine, time
        if time <= engine.time and engine.crowded:  # too late for the order of this moment at a port that others use
            engine.inexact += 1
        self.meeting.arrive(self)

    def leave(self, time: float, share: Phases, result) -> None:
        rank, self.share, self.result = self.rank, share, result
        self.x = self.brought = self.meeting = None  # no circle: what nobody holds any more is gone at once
        rank.busy = time
        rank.tickets.popleft()
        self.end(time)
        if rank.tickets:
            rank.tickets[0].arrive(max(rank.tickets[0].posted, time))

    def missing(self) -> tuple[str, tuple[int, ...]]:
        absent = self.meeting.absent()
        said = f"is in {self} of {self.plan.size} ranks, of whom {len(absent)} did not come"
        return said + self.meeting.reordered(), absent

    def lost(self, gone):
        meeting = self.meeting
        return next((r for r in gone if r.rank in meeting.places and not meeting.tickets[meeting.places[r.rank]]), None)

    def kind(self) -> tuple:
        """What must be the same on all ranks."""
        sums = self.verb in ("allreduce", "reduce_scatter")
        return self.verb, self.plan.name, *((type(self.x), len(self.x), self.x.dtype) if sums else ())

    def __str__(self) -> str:
        verb, name, *brought = self.kind()
        return f"{verb} ({name})" + (f" of {brought[1]} {brought[2]}" if brought else "")


class Meeting:
    """The n-th collective of a group."""

    def __init__(self, engine: Engine, key: tuple[int, int], first: Ticket):
        self.engine, self.key, self.first, self.plan, self.verb = engine, key, first, first.plan, first.verb
        self.ranks = getattr(first.comm, "ranks", range(engine.size))
        self.places = first.comm.places
        self.tickets: list[Ticket | None] = [None] * self.plan.size
        self.coming = self.plan.size

    @classmethod
    def at(cls, engine: Engine, key: tuple[int, int], ticket: Ticket) -> Meeting:
        meeting = engine.meetings.get(key)
        if meeting is None:
            meeting = engine.meetings[key] = cls(engine, key, ticket)
        first = meeting.first
        if ticket.kind() != first.kind():
            mine, theirs = str(ticket), str(first)
            if mine == theirs:  # numbers and ghosts
                mine, theirs = (f"{one} in a {type(one.x).__name__}" for one in (ticket, first))
            calls = [(one.rank.rank, place(*one.line)) for one in (ticket, first)]
            raise Disagreed(
                f"rank {ticket.rank.rank} calls {mine}, while rank {first.rank.rank} called {theirs}: "
                "all ranks of a communicator must call the same collectives in the same order, with equal lengths\n"
                + "\n".join(f"  rank {rank}: {where}" for rank, where in calls),
                calls,
            )
        return meeting

    def absent(self) -> tuple[int, ...]:
        return tuple(rank for rank, ticket in zip(self.ranks, self.tickets, strict=True) if ticket is None)

    def reordered(self) -> str:
        """The same ranks in another order are another group: whose, if somebody waits there; or nothing."""
        mine = list(self.ranks)
        for other in self.engine.meetings.values():
            theirs = list(other.ranks) if len(other.ranks) == len(mine) and other.key[0] != self.key[0] else mine
            if theirs != mine and set(theirs) == set(mine):
                whose = f"that of rank {other.first.rank.rank} is {few(theirs)}"
                return f"; its group is {few(mine)}, {whose}: name them in the same order"
        return ""

    def arrive(self, ticket: Ticket) -> None:
        self.tickets[ticket.comm.rank] = ticket
        self.coming -= 1
        if not self.coming:  # nobody can leave before the last one has come: until then let others go on
            self.engine.at(max(t.begun for t in self.tickets), Errand(self.engine, self.close))

    def close(self) -> None:
        engine = self.engine
        del engine.meetings[self.key]
        bill = self.bill()
        engine.inexact += bill.met
        engine.free = bill.free.tolist()
        engine.priced = np.maximum(engine.priced, bill.last).tolist()
        for i, j, messages, nbytes in bill.traffic:
            self.tickets[i].rank.ledger.book(self.ranks[j], self.key[0] + CHANNELS[self.verb], nbytes, messages)
        columns = (bill.clock, bill.compute, bill.waiting, bill.communication)
        results = self.results()
        for ticket, result, *row in zip(self.tickets, results, *(c.tolist() for c in columns), strict=True):
            ticket.leave(row[0], Phases(*row[1:]), result)

    def bill(self) -> Bill:
        engine, context = self.engine, self.key[0]
        if context not in engine.routes:
            engine.routes[context] = Routes(engine, self.ranks)
        arrive = np.array([ticket.begun for ticket in self.tickets])
        return settle(engine, self.plan, engine.routes[context], arrive, self.weights())

    def weights(self) -> np.ndarray:
        """Bytes of all chunks before each chunk."""
        plan, x = self.plan, self.first.x
        if self.verb == "barrier":
            return np.zeros(plan.chunks + 1, np.int64)
        if self.verb == "allreduce":
            return cut(len(x), plan.chunks) * x.dtype.itemsize
        if self.verb == "reduce_scatter":
            parts = np.diff(cut(len(x), plan.size)) * x.dtype.itemsize
        else:
            parts = np.array([ticket.nbytes for ticket in self.tickets])
        return np.concatenate([[0], np.cumsum(parts[plan.owner])])

    def results(self) -> list:
        """What each rank gets: its own copy."""
        xs, n = [ticket.x for ticket in self.tickets], self.plan.size
        if self.verb == "barrier":
            return [None] * n
        if self.verb == "allgather" and all(isinstance(x, Ghost) for x in xs):  # nobody can change one
            return [xs.copy() for _ in xs]
        if self.verb == "allgather":
            return [[t.brought if t is mine else copied(t.x)[0] for t in self.tickets] for mine in self.tickets]
        total = xs[0] if isinstance(xs[0], Ghost) else added(self.plan, xs)
        if self.verb == "allreduce":
            return [total.copy() for _ in range(n)]
        edges = cut(len(total), n).tolist()
        return [total[a:b].copy() for a, b in pairwise(edges)]
