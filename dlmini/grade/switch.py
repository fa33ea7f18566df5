"""The judge's switch: the simulator's own engine, with a proxy in the place of each remote rank.

A proxy is an ordinary program of the simulator. It asks its rank's process what to do next, does it (send, receive,
compute) in virtual time, and replies. So order, counts, bytes and seconds are the judge's, and a deadlock is found at
once and explained by the lines of the student's file. Collectives, where a test allows them, are done here as well: of
the other side only messages between two ranks, with a program's own tags, are taken.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import islice

from dlmini.comm.channels import ANY, TAGS, name_of
from dlmini.comm.errors import CommError, Deadlock, Disagreed, Unreceived
from dlmini.grade.lesson import Found, World
from dlmini.grade.runner.ending import Raised, ending
from dlmini.grade.runner.judge_pipes import Lost
from dlmini.grade.runner.process import RunnerProcess
from dlmini.grade.runner.values import Garbled
from dlmini.grade.sandbox.limits import Limits
from dlmini.sim.diagnosis import Letter, picture
from dlmini.sim.simulated import Simulated

FLOPS = 1e18  # of one call of compute: ten years on one core. A sum of larger ones might not be finite
OBJECTS = 8  # bytes that the judge needs for each byte of a table of contents, at least: None takes one of them
LABELS = 1000  # of work that are told apart
SECONDS = 1e9  # that a rank may wait for a message


class Stuck(Exception):
    """Ranks failed one another: a sentence, a picture, and who waits for whom as data."""

    def __init__(self, sentence: str, drawn: str, waits: list):
        super().__init__(sentence)
        self.picture, self.waits = drawn, waits


class Switch:
    """One run of a world on runners that have been handed their part of the case."""

    def __init__(self, runners: list[RunnerProcess], world: World, limits: Limits, collectives: bool):
        self.runners, self.world, self.limits, self.collectives = runners, world, limits, collectives
        self.where, self.sent_at = [""] * world.size, defaultdict(list)
        self.work, self.messages, self.traffic, self.printed = Counter(), 0, 0, ""
        self.left = [None] * world.size

    def run(self) -> Found:
        world = self.world
        try:
            results = Simulated(world.size, world.on, world.seed).run(self.serve)
        except Deadlock as error:
            waits = [w._replace(where=self.where[w.rank], unread=self._placed(w.unread)) for w in error.waits]
            raise Stuck(f"Deadlock: {sentence(error)}", self._drawn(waits, error.messages), waits) from error
        except Disagreed as error:
            calls = "\n".join(f"  rank {rank}: {self.where[rank]}" for rank, _ in error.calls)
            raise Stuck(sentence(error), calls, []) from error
        except Unreceived as error:
            raise Stuck("Messages were sent that nobody has received.", self._unread(error.messages), []) from error
        except CommError as error:
            raise Stuck(str(error), "", []) from error
        return Found(list(results), self.printed, results.books, results.seconds, dict(self.work), self.left)

    def serve(self, comm):
        """The life of a proxy: do what the rank's process asks for, until it answers."""
        runner = self.runners[comm.rank]
        while True:
            verb, *rest = runner.hear()
            if verb not in VERBS:
                (found,), (self.left[comm.rank],), printed = ending(verb, rest, 1, self.limits, comm.rank)
                self.printed += printed
                return found
            try:
                VERBS[verb](self, comm, runner, *rest)
            except (CommError, Garbled, Lost, Raised):
                raise
            except Exception as error:  # of whatever kind: what was asked for came from outside
                raise Garbled(f"the request {verb} with {rest!r:.100}: {error}"[:500]) from error

    # ---- requests ----

    def send(self, comm, runner, ranks, dest, tag, message, where) -> None:
        part = self._part(comm, ranks, where)
        dest, tag = self._rank(dest, part), self._tag(tag)
        self.sent_at[comm.rank, self._in_world(ranks, dest), part.context + tag].append(self.where[comm.rank])
        line = comm.ledger.line(self._in_world(ranks, dest), part.context + tag)
        before = line[1]
        part._send(dest, message, tag)
        self._count(runner, 1, line[1] - before + OBJECTS * runner.pipes.table)

    def recv(self, comm, runner, ranks, source, tag, where) -> None:
        part = self._part(comm, ranks, where)
        runner.say("got", part._recv(self._rank(source, part), self._tag(tag)))

    def recv_any(self, comm, runner, ranks, tag, where) -> None:
        runner.say("got", self._part(comm, ranks, where)._recv_any(self._tag(tag)))

    def poll(self, comm, runner, ranks, source, tag, where) -> None:
        part = self._part(comm, ranks, where)
        source = source if type(source) is int and source == ANY else self._rank(source, part)
        runner.say("got", part._poll(source, self._tag(tag)))

    def arrives(self, comm, runner, ranks, seconds, tag, where) -> None:
        if not (isinstance(seconds, float) and 0 <= seconds <= SECONDS):
            raise ValueError(f"seconds={seconds!r:.100}, which is not between 0 and {SECONDS:g}")
        runner.say("got", self._part(comm, ranks, where)._arrives(seconds, self._tag(tag)))

    def together(self, comm, runner, ranks, verb, args, where) -> None:
        """A collective of the library, done here: what an exercise asks for is not to be had on the other side."""
        if verb not in COLLECTIVES:
            raise ValueError(f"there is no collective {verb!r:.100}")
        self._allow(f"comm's own {verb}")
        part, before = self._part(comm, ranks, where), comm.ledger.total()
        try:
            found = getattr(part, verb)(*args)
        except (TypeError, ValueError, ArithmeticError, LookupError) as error:
            raise Raised("raised", f"{type(error).__name__}: {error}", self.where[comm.rank], rank=comm.rank) from error
        messages, nbytes = comm.ledger.total()
        self._count(runner, 1 + messages - before[0], nbytes - before[1])
        runner.say("got", found)

    def compute(self, comm, runner, label, flops) -> None:
        if not (isinstance(flops, float) and 0 <= flops <= FLOPS):
            raise ValueError(f"flops={flops!r:.100}, which is not between 0 and {FLOPS:g}")
        label = str(label)[:100]
        self.work[label if label in self.work or len(self.work) < LABELS else "others"] += 1
        comm.compute(label, None, flops=flops)

    def now(self, comm, runner, ranks, where) -> None:
        runner.say("got", comm.now())

    # ---- doubts ----

    def _part(self, comm, ranks, where):
        """The communicator that is meant: the world's, or a group's."""
        self.where[comm.rank] = str(where)[:200]
        if ranks is None:
            return comm
        self._allow("a group of ranks")
        return comm.group([self._rank(rank, comm) for rank in ranks])

    def _allow(self, what: str) -> None:
        if not self.collectives:
            raise Raised("raised", f"This exercise is to be done with send and recv alone; it called {what}.")

    def _count(self, runner, messages: int, nbytes: int) -> None:
        self.messages, self.traffic = self.messages + messages, self.traffic + nbytes
        if self.messages > self.limits.messages or self.traffic > self.limits.traffic:
            runner.hopeless = True
            raise Lost(f"more than {self.limits.messages} messages or {self.limits.traffic} bytes were sent.")

    def _rank(self, rank, part) -> int:
        if type(rank) is int and 0 <= rank < part.size:
            return rank
        raise ValueError(f"there is no rank {rank!r}")

    def _in_world(self, ranks, rank: int) -> int:
        return rank if ranks is None else ranks[rank]

    def _tag(self, tag) -> int:
        """A program's own; those of the library's collectives are never taken from outside."""
        if type(tag) is int and tag in TAGS:
            return tag
        raise ValueError(f"{tag!r:.100} is no tag")

    def _placed(self, letters) -> tuple[Letter, ...]:
        """Letters that nobody has read, with the lines of the student's file that sent them.

        Those of a lane are its last ones, as they come in the order of sending.
        """
        lanes = Counter(m[:3] for m in letters)
        places = {lane: iter(self.sent_at[lane][-count:]) for lane, count in lanes.items()}
        return tuple(m._replace(where=next(places[m[:3]], "a collective of comm")) for m in letters)

    def _unread(self, letters) -> str:
        rows = (f"  {m.source} --> {m.dest}, {name_of(m.channel)}: sent at {m.where}" for m in self._placed(letters))
        return "\n".join(islice(rows, 20))

    def _drawn(self, waits: list, letters) -> str:
        more = f"\n  what was sent and nobody received:\n{self._unread(letters)}" if letters else ""
        return picture(waits) + more


TAKEN = ("send", "recv", "recv_any", "poll", "arrives", "together", "compute", "now")
VERBS = {name: getattr(Switch, name) for name in TAKEN}
COLLECTIVES = ("barrier", "bcast", "gather", "allgather", "allreduce", "reduce_scatter")


def sentence(error: Exception) -> str:
    """The first line of a diagnosis, without the simulator's own seed: a test is replayed by the test's."""
    return re.sub(r" \(seed \d+\)", "", str(error).partition("\n")[0]).removesuffix(":") + "."
