"""The judge's switch: the simulator's own engine, with a proxy in the place of each remote rank.

A proxy is an ordinary program of the simulator. It asks its rank's process what to do next, does it (send, receive,
compute) in virtual time, and replies. So order, counts, bytes and seconds are the judge's, and a deadlock is found at
once and explained by the lines of the student's file.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict

from dlmini.comm.channels import TAGS, name_of
from dlmini.comm.errors import CommError, Deadlock, Unreceived
from dlmini.grade.lesson import Found, World
from dlmini.grade.runner.ending import Raised, ending
from dlmini.grade.runner.judge_pipes import Lost
from dlmini.grade.runner.process import RunnerProcess
from dlmini.grade.runner.values import Garbled
from dlmini.grade.sandbox.limits import Limits
from dlmini.sim.diagnosis import picture
from dlmini.sim.simulated import Simulated


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
            waits = [w._replace(where=self.where[w.rank]) for w in error.waits]
            raise Stuck(f"Deadlock: {sentence(error)}", picture(waits), waits) from error
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
            except (TypeError, ValueError, AttributeError) as error:
                raise Garbled(f"the request {verb} with {rest!r:.100}: {error}") from error

    # ---- requests ----

    def send(self, comm, runner, dest, channel, message, where) -> None:
        self._note(comm, where)
        line = comm.ledger.line(self._rank(dest), self._channel(channel))
        self.sent_at[comm.rank, dest, channel].append(self.where[comm.rank])
        before = line[1]
        comm._send(dest, message, channel)
        self.messages, self.traffic = self.messages + 1, self.traffic + line[1] - before
        if self.messages > self.limits.messages or self.traffic > self.limits.traffic:
            runner.hopeless = True
            raise Lost(f"more than {self.limits.messages} messages or {self.limits.traffic} bytes were sent.")

    def recv(self, comm, runner, source, channel, where) -> None:
        self._note(comm, where)
        message = comm._recv(self._rank(source), self._channel(channel))
        runner.say("got", comm.now(), message)

    def recv_any(self, comm, runner, channel, where) -> None:
        self._note(comm, where)
        source, message = comm._recv_any(self._channel(channel))
        runner.say("got", comm.now(), source, message)

    def poll(self, comm, runner, source, channel, where) -> None:
        self._note(comm, where)
        found = comm._poll(source if source == -1 else self._rank(source), self._channel(channel))
        runner.say("got", comm.now(), found)

    def compute(self, comm, runner, label, flops) -> None:
        if not (isinstance(flops, float) and math.isfinite(flops) and flops >= 0):
            raise ValueError(f"flops={flops!r}")
        self.work[str(label)[:100]] += 1
        comm.compute(str(label)[:100], None, flops=flops)

    def sum(self, comm, runner, nbytes) -> None:
        comm._charge_sum(min(max(int(nbytes), 0), self.limits.traffic))

    def now(self, comm, runner) -> None:
        runner.say("got", comm.now())

    # ---- doubts ----

    def _rank(self, rank) -> int:
        if type(rank) is int and 0 <= rank < self.world.size:
            return rank
        raise ValueError(f"there is no rank {rank!r}")

    def _channel(self, channel) -> int:
        if type(channel) is not int:
            raise TypeError(f"{channel!r} is no channel")
        if not self.collectives and channel not in TAGS:
            raise Raised(
                "raised",
                f"This exercise is to be done with send and recv alone; it called comm's own {name_of(channel)}.",
            )
        return channel

    def _note(self, comm, where) -> None:
        self.where[comm.rank] = str(where)[:200]

    def _unread(self, letters) -> str:
        """Unread messages of a lane are its last ones, as they come in the order of sending."""
        unread = Counter((m.source, m.dest, m.channel) for m in letters)
        rows = []
        for (source, dest, channel), count in unread.items():
            rows += [
                f"  {source} --> {dest}, {name_of(channel)}: sent at {at}"
                for at in self.sent_at[source, dest, channel][-count:]
            ]
        return "\n".join(rows[:20])


VERBS = {name: getattr(Switch, name) for name in ("send", "recv", "recv_any", "poll", "compute", "sum", "now")}


def sentence(error: Exception) -> str:
    """The first line of a diagnosis, without the simulator's own seed: a test is replayed by the test's."""
    return re.sub(r" \(seed \d+\)", "", str(error).partition("\n")[0]).removesuffix(":") + "."
