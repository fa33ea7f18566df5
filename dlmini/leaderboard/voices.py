"""Who answers for an entry: a voice for each rank, which can call the entry's functions and nothing else.

`Remote` voices live in the grader's sandboxes, a process for each rank: what one rank is told no other can know, so
nothing passes between ranks but messages, which the judge weighs. `Near` voices are for one's own file, in a notebook.
"""

from __future__ import annotations

import time
from types import ModuleType

from dlmini.grade.runner.ending import Raised, ending
from dlmini.grade.runner.judge_pipes import Lost
from dlmini.grade.runner.process import Runners, crowded
from dlmini.grade.runner.values import Garbled
from dlmini.grade.sandbox.limits import Limits

LIMITS = Limits(cpu=20, wall=120.0, total=900.0)  # of a world; of each rank's process
LONGEST = 1 << 16  # characters of an entry
PARTS = 5  # of what `comm.send` says: group, to whom, tag, message, from which line

# What every voice runs below the entry's text: it answers calls until the judge has no more.
SERVE = """

def __answer__(comm):
    import random
    import numpy
    random.seed(0), numpy.random.seed(0)
    while (call := comm.recv(0)) is not None:
        name, args = call
        if not callable(globals().get(name)):
            raise NameError(f"this entry has no function {name}")
        comm.send(0, globals()[name](*args))
"""


class Unfit(Exception):
    """An entry that cannot be used, in a sentence: what it did, and where."""


class Near:
    """An entry's own functions, called in this process."""

    def __init__(self, module: ModuleType):
        self.module = module

    def call(self, rank: int, name: str, *args):
        return getattr(self.module, name)(*args)

    def close(self) -> None:
        """Nothing to end."""


class Remote:
    """An entry in sandboxes. Voices start when they are first asked; the last of `count` is nobody's rank."""

    def __init__(self, source: str, name: str, sandbox, count: int):
        self.source, self.name, self.count = source, name, count
        self.group = Runners(sandbox, LIMITS)
        self.begun: dict[int, object] = {}

    def call(self, rank: int, name: str, *args):
        """What the entry's function returns; every other end is a sentence."""
        try:
            voice = self._voice(rank)
            self._hear(voice, rank, "recv")
            voice.say("got", (name, list(args)))
            return self._answered(voice, rank)
        except (Raised, Lost, Garbled) as error:
            where = getattr(error, "where", "").splitlines()
            raise Unfit(f"{name}: {error}{f' ({where[-1]})' if where else ''}") from error

    def _voice(self, rank: int):
        if not self.begun:
            deadline = time.monotonic() + LIMITS.wall * crowded()
            for number, runner in enumerate(self.group.take(self.count)):
                world = (0, 1)
                case = {"source": self.source + SERVE, "name": self.name, "function": "__answer__", "world": world}
                runner.begin(case | {"calls": [[]], "kwargs": {}, "repeat": 1}, deadline)
                self.begun[number] = runner
        return self.begun[rank]

    def _answered(self, voice, rank: int):
        """What it hands over. Whoever finds the pipe can write to it what no communicator does."""
        rest = self._hear(voice, rank, "send")
        if len(rest) != PARTS:
            raise Garbled(f"an answer of {len(rest)} parts; return it, and write to no pipe")
        return rest[3]

    def _hear(self, voice, rank: int, wanted: str) -> tuple:
        """What a voice asks for next: the judge's question (recv), or to hand over an answer (send)."""
        verb, *rest = voice.hear()
        if verb == wanted:
            return tuple(rest)
        if verb in ("answer", "raised", "over"):
            ending(verb, rest, 1, LIMITS, rank)
        raise Garbled(f"the request {verb!r:.50}: an entry's functions get no communicator")

    def close(self) -> None:
        for runner in self.begun.values():
            runner.give_up()
        self.group.__exit__(None, None, None)
