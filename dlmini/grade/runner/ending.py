"""How a case ended on the student's side: with an answer, an exception, or without a word."""

from __future__ import annotations

import signal

from dlmini.grade.runner.judge_pipes import ENDED, Broken, Late, Lost
from dlmini.grade.runner.pipes import NO_PROCESS
from dlmini.grade.runner.values import Garbled
from dlmini.grade.sandbox.limits import Limits

TIME_IS_UP = -getattr(signal, "SIGXCPU", 1 << 16)  # the exit code of a process that the kernel ended for its time
SAID = 4000  # characters of anything a program says that are kept
SLACK = 8  # the kernel counts a limit by ticks, what was used otherwise: they differ by a quarter second, or an eighth


class Raised(Exception):
    """The student's program raised: kind (stub, raised, unsayable), text, where, what it printed, rank."""

    def __init__(self, kind: str, text: str, where: str = "", printed: str = "", rank: int | None = None):
        super().__init__(text)
        self.kind, self.where, self.printed, self.rank = kind, where, printed, rank


def ending(verb: str, rest: list, calls: int, limits: Limits, rank: int | None = None) -> tuple[list, list, str]:
    """How a case ended on the student's side: the values of so many calls, what is left in their arguments, and what
    was printed; or an error.
    """
    if verb == "answer" and len(rest) == 3 and all(type(part) is list and len(part) == calls for part in rest[:2]):
        return rest[0], rest[1], str(rest[2])[:SAID]
    if verb == "raised" and len(rest) == 4:
        raise Raised(*(str(text)[:SAID] for text in rest), rank=rank)
    if verb == "over" and len(rest) == 2:
        raise ended(*rest, limits)
    raise Garbled(f"the request {verb!r:.100}")


def ended(code, cpu, limits: Limits) -> Lost:
    """Why a process is over that has not answered."""
    if code == NO_PROCESS:
        raise Broken("this machine has no process left for a case")
    if code == TIME_IS_UP or (isinstance(cpu, float) and cpu >= limits.cpu - max(0.25, limits.cpu / SLACK)):
        return Late(f"it used more than {limits.cpu} s of processor time: an endless loop, or far too slow.")
    if code == -9:
        return Lost("it was killed: too much memory, too many processes, or it killed itself.")
    if isinstance(code, int) and code < 0:
        return Lost(f"it crashed with signal {-code}.")
    return Lost(ENDED)
