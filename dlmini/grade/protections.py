"""What holds a submission on this machine: tried out, not believed.

A program that tries to break out is run as if it were a student's. What it could do is open, whatever the sandbox is
called, and is printed before anybody is graded; `--sandbox strict` goes on only if all that matters is closed.
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import time
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from dlmini.grade.runner.ending import ending
from dlmini.grade.runner.memory_watch import below
from dlmini.grade.runner.process import Runners
from dlmini.grade.sandbox.limits import Limits
from dlmini.grade.sandbox.visible_files import HOUSE

PROGRAM = '''
import os, socket, sys

def tried(what, *args):
    try:
        return what(*args)
    except BaseException:
        return None

def probe(judge, port, hidden, place):
    """What could be done."""
    def connect():
        socket.create_connection(("127.0.0.1", port), 2).close()
        return True
    def read(path):  # past Python, whose own refusals a program can get around
        if sys.platform == "win32":
            return bool(open(path, "rb").read(1))
        import ctypes
        return ctypes.CDLL(None).open(path.encode(), os.O_RDONLY) >= 0
    def write(path):
        with open(path, "w") as file:
            file.write("x")
        os.remove(path)
        return True
    def signal(pid):
        os.kill(pid, 0)
        return True
    def share():
        import ctypes
        made = ctypes.CDLL(None).shmget(0, 4096, 0o1600)
        return made >= 0 and not ctypes.CDLL(None).shmctl(made, 0, None)
    found = {"network": tried(connect), "tests": tried(read, hidden), "files": tried(read, place + "/mine")}
    def change(path):
        os.utime(path)
        return True
    def speak(address):
        one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        return one.sendto(b"x", address)
    places = (place, "/tmp", "/var/tmp", "/dev/shm", "/run", ".")
    found["writing"] = any(tried(write, p + "/BREACH") for p in places)
    found["changing"] = sys.platform != "win32" and tried(change, place + "/mine")
    found["sockets"] = any(tried(speak, address) for address in (place + "/door", chr(0) + "dlmini" + place))
    found["signals"] = sys.platform != "win32" and tried(signal, judge)
    found["processes"] = tried(read, f"/proc/{judge}/cmdline")
    found["memory"] = sys.platform == "linux" and tried(share)
    return {name: bool(value) for name, value in found.items()}
'''
SENTENCES = {  # what is closed, and what it means if it is not
    "network": "the network can be reached",
    "tests": "hidden tests can be read",
    "files": "files of yours can be read",
    "writing": "files can be written",
    "changing": "times and modes of your files can be changed",
    "sockets": "programs of yours can be spoken to, through their sockets",
    "signals": "the judge can be ended",
    "processes": "command lines of others can be read",
    "memory": "memory can be shared between cases",
}


UNCOUNTED = "memory is limited for each process alone, not for all of a submission"


class Protections(NamedTuple):
    """What is closed, what is open, whether memory is counted for a submission as a whole, and by the kernel; and by
    what files, calls and processes are held.
    """

    closed: list[str]
    open: list[str]
    counted: bool
    grouped: bool = False
    walls: tuple[str, ...] = ()

    def __str__(self) -> str:
        closed = f"closed: {', '.join(self.closed)}" if self.closed else "nothing is closed"
        memory = "memory is limited " + ("for a submission as a whole" if self.counted else "per process")
        memory += ", by the kernel" if self.grouped else ""
        held = f"held by {', '.join(self.walls)}" if self.walls else "held by limits alone"
        return "; ".join([held, closed, memory, *(f"OPEN: {SENTENCES[name]}" for name in self.open)])


def protections(sandbox, limits: Limits | None = None) -> Protections:
    """Try the sandbox out. It takes a second."""
    limits = limits or Limits()
    with ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory())
        door = stack.enter_context(closing(socket.create_server(("127.0.0.1", 0))))
        for address in (f"{place}/door", f"\0dlmini{place}"):
            stack.enter_context(listening(address))
        Path(place, "mine").write_text("x")
        hidden = next((HOUSE / "lessons").glob("*/grading.py"))
        args = (os.getpid(), door.getsockname()[1], str(hidden), place)
        found, *memory = answered(sandbox, limits, args)
    closed = [name for name in SENTENCES if not found.get(name, True)]
    return Protections(closed, [name for name in SENTENCES if name not in closed], *memory)


@contextmanager
def listening(address: str):
    """A program of this user that hears what is sent to this address, where the system has such sockets."""
    if not hasattr(socket, "AF_UNIX"):
        yield
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as door:
        with suppress(OSError):  # macOS has no addresses but files; and those must be short
            door.bind(address)
        yield


def answered(sandbox, limits: Limits, args: tuple) -> tuple[dict, bool, bool, tuple[str, ...]]:
    """What the program could do, as a student's runs; whether its processes can be counted from here, or in a group;
    and what it was held by.
    """
    case = {"source": PROGRAM, "name": "probe.py", "function": "probe", "world": None, "kwargs": {}, "repeat": 1}
    with Runners(sandbox, limits) as runners:
        (runner,) = runners.take(1)
        grouped = runners.watch.group is not None
        counted = grouped or (sys.platform == "linux" and len(below(os.getpid())) > 1)
        runner.begin({**case, "calls": [args]}, time.monotonic() + 60)
        verb, *rest = runner.hear()
        walls = tuple(runner.walls)
        (found,), _, _ = ending(verb, rest, 1, limits)
        runner.stop()
        runner.settle()
    return found, counted, grouped, walls


def demand(found: Protections, name: str) -> None:
    """`--sandbox strict`: refuse to go on with anything open."""
    ways = [*(SENTENCES[one] for one in found.open), *([] if found.counted else [UNCOUNTED])]
    if ways:
        open_ways = "; ".join(ways)
        raise ValueError(
            f"--sandbox strict: with {name}, the strongest there is here, {open_ways}. "
            "Install bubblewrap (apt install bubblewrap), or grade on Linux 5.13 or later; or leave strict out"
        )
