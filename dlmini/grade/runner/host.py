"""The student's side: a process in a sandbox that holds the student's code and answers cases.

The process itself (the *host*) never runs the student's code. For each case it forks a child, which does, talks to the
judge over the same two pipes, answers, and ends; then the host ends whatever the child has left behind, and only then
tells the judge, by a pipe that no child has, that the case is over. So no case can change the next one, and nothing but
the case's own input is there to be found: no tests, no expected values, and nothing of the library that could do what
an exercise asks for: what this file imports, and what that imports, is all there is of it.

Where processes cannot be forked, the host itself runs one case and then ends.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from copy import deepcopy

import numpy as np  # the child needs it, and a fork gets it for nothing

from dlmini.grade.runner.answers import NoAnswer, plain
from dlmini.grade.runner.imports import Absent, shut
from dlmini.grade.runner.pipes import NO_PROCESS, BlockingPipes
from dlmini.grade.runner.remote_comm import RemoteComm
from dlmini.grade.runner.student_module import asked_for, load, quiet
from dlmini.grade.sandbox.child_processes import LOOK, adopt, be_private, die_with_parent, end_children, outlast
from dlmini.grade.sandbox.limits import Limits, bind, bind_time
from dlmini.grade.sandbox.namespaces import become, drop_capabilities, unshared
from dlmini.grade.sandbox.walls import Walls

PATIENCE = 100  # looks whether a process can be had
STUB = "not done yet"  # with this begins what an untouched exercise raises


def main() -> None:
    """Bound by limits and without privileges from here on, serve cases until the judge hangs up."""
    pipes = BlockingPipes.from_standard()
    (settings,) = pipes.hear()
    limits = Limits(**settings["limits"])
    apart = settle_in(pipes, settings)
    walls = Walls(settings)
    adopt()
    be_private()
    bind(limits, settings["processes"])
    pipes.say("ready", np.__version__, [*apart, *walls.names()])
    while (said := pipes.hear()) is not None:
        if said[0] != "stop":  # meant for a case that has ended meanwhile
            host(pipes, limits, walls, said[0])


def settle_in(pipes: BlockingPipes, settings: dict) -> list[str]:
    """Become who one is to be, where one is to be; says if that is in namespaces.

    Process 1 of a namespace takes all others along when it is killed, so it may be killed at once when the judge is
    gone. Any other host looks for that itself, and ends those below first.
    """
    if settings["unshare"]:
        entered = unshared(pipes, settings["uid"], settings.get("hide", []))
    else:
        become(settings["uid"])
        if entered := os.getpid() == 1:
            die_with_parent()
    if settings["filter"] or os.getuid():  # in a check of one's own program root stays root
        drop_capabilities()
    return ["namespaces"] * entered


def host(pipes: BlockingPipes, limits: Limits, walls: Walls, case: dict) -> None:
    """One case in a child of its own, and what became of the child."""
    if not hasattr(os, "fork"):
        return child(pipes, limits, walls, case)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    if (pid := forked()) is None:
        return pipes.over(case["nonce"], NO_PROCESS, 0.0)
    if not pid:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        os.setsid()
        child(pipes, limits, walls, case)
    _, status, used = outlast(pid, limits.processes, pipes.hung_up)
    end_children(pid)
    pipes.as_before()
    pipes.over(case["nonce"], os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime)
    return None


def forked() -> int | None:
    """As os.fork. If others of the same user have taken all processes, wait: theirs will end. None: not soon."""
    for _ in range(PATIENCE):
        try:
            return os.fork()
        except OSError:
            time.sleep(LOOK)
    return None


def child(pipes: BlockingPipes, limits: Limits, walls: Walls, case: dict) -> None:
    """Run the case and say how it ended. Never returns: neither exit handlers nor threads have a say in it."""
    try:
        bind_time(limits)
        output = quiet()
        walls.close()
        try:
            found = "answer", *answer(pipes, limits, case)
        except BaseException as error:
            found = "raised", *described(error, case["name"])
        pipes.say(case["nonce"], *found, output())
    except BaseException as error:
        pipes.say(case["nonce"], "raised", "unsayable", f"{type(error).__name__}: {error}"[:2000], "", "")
    finally:
        os._exit(0)


def answer(pipes: BlockingPipes, limits: Limits, case: dict) -> tuple[list, list]:
    """What the student's function returns, call by call, and what is then in its arguments: the judge looks at both.

    A call that is to be repeated gets fresh arguments each time, and its last answer counts.
    """
    shut(limits.packages)
    function = asked_for(load(case["source"], case["name"], limits.packages), case["function"])
    comm = () if case["world"] is None else (communicator(pipes, case),)
    found, left = [], []
    for args in case["calls"]:
        calls = [deepcopy((args, case["kwargs"])) for _ in range(case["repeat"])]
        for given, words in calls:
            value = function(*comm, *given, **words)
        found.append(value._used() if isinstance(value, Absent) else plain(value))
        left.append([[*given, *words.values()] for given, words in calls])
    return found, left


def communicator(pipes: BlockingPipes, case: dict) -> RemoteComm:
    nonce = case["nonce"]

    def tell(*request):
        pipes.say(nonce, *request)

    def ask(*request):
        pipes.say(nonce, *request)
        reply = pipes.hear()
        if reply is None or reply[0] == "stop":
            os._exit(0)
        return reply[1]

    return RemoteComm(*case["world"], ask, tell, case["name"])


def described(error: BaseException, name: str) -> tuple[str, str, str]:
    """(kind, one sentence, where): lines of the student's file only."""
    if isinstance(error, NoAnswer):
        return "raised", str(error), ""
    kind = "stub" if isinstance(error, NotImplementedError) and str(error).startswith(STUB) else "raised"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == name]
    if isinstance(error, SyntaxError) and error.lineno:
        where = f"{name}:{error.lineno}: {(error.text or '').strip()}"
    else:
        where = "\n".join(f"{name}:{f.lineno}, in {f.name}: {f.line}" for f in frames[-3:])
    text = "".join(traceback.format_exception_only(error)).strip()
    return kind, text[:2000], where[:2000]


if __name__ == "__main__":
    sys.exit(main())
