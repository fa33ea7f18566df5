"""Are these hosts ready for `Mpi(hosts=...)`? Each is reached by ssh, as mpiexec does, and asked; then every two.

A process on each host (host_probe.py) answers as long as its standard input is open, so nothing stays behind. Clocks
are compared by ping-pong (comm/mpi/clock.py has the formula); pairs are measured one after another.
"""

from __future__ import annotations

import json
import os
import queue
import secrets
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import NamedTuple

from dlmini.comm.classroom.greeting import Hello, doubt, hello, mismatch
from dlmini.comm.mpi.key_file import AGENTS, is_here
from dlmini.comm.mpi.mpiexec import names
from dlmini.doctor.finding import Finding, broken, good, warning

PROBE = Path(__file__).with_name("host_probe.py")
SSH = ("-oBatchMode=yes", "-oConnectTimeout=10")  # never ask for a password: mpiexec cannot answer
ANSWER, MEASURE = 60.0, 120.0  # seconds for an answer; for a pair
ASKED = 10  # times that a clock is read
APART, SLOW, LATE = 1.0, 0.5, 5.0  # seconds between clocks; shares of the median bandwidth; times the median latency


class Silent(Exception):
    """A host that cannot be reached, or says no more; in its words, if it has any."""


class Link(NamedTuple):
    """From one host to another: seconds of a small message one way, bytes a second; or why there is none."""

    sender: str
    receiver: str
    latency: float = 0.0
    bandwidth: float = 0.0
    error: str = ""


class Host:
    """One host's process; `ask` waits for its answer, `close` ends it."""

    def __init__(self, name: str, python: str = sys.executable):
        source, self.name, self.answers = PROBE.read_bytes(), name, queue.SimpleQueue()
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.process = subprocess.Popen(command(name, python, len(source)), **pipes)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self._write(source)

    def _read(self) -> None:
        for line in self.process.stdout:
            self.answers.put(line)
        self.answers.put(b"")

    def _write(self, data: bytes) -> None:
        with suppress(OSError):  # it has ended, which is found out when its answer is read
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def ask(self, do: str, seconds: float = ANSWER, **more) -> dict:
        self._write(json.dumps({"do": do, **more}).encode() + b"\n")
        try:
            line = self.answers.get(timeout=seconds)
        except queue.Empty:
            raise Silent(f"no answer within {seconds:g} s") from None
        try:
            found = json.loads(line)
        except ValueError:
            raise Silent(self._last_words(line)) from None
        return found if isinstance(found, dict) else {}

    def _last_words(self, line: bytes) -> str:
        self.process.kill()
        said = (line + self.process.stderr.read()).decode(errors="replace").split("\n")
        return " ".join(" ".join(said[-3:]).split())[-300:] or f"ended with code {self.process.wait()}"

    def close(self) -> None:
        with suppress(OSError):
            self.process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(2)
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        self.process.stderr.close()


def command(name: str, python: str, length: int) -> list[str]:
    """Here by itself; elsewhere by ssh, or what mpiexec takes in its place. Double quotes: shells and Windows agree."""
    code = f"import sys;exec(compile(sys.stdin.buffer.read({length}),'host_probe','exec'))"
    if is_here(name):
        return [python, "-c", code]
    agent = next((os.environ[variable] for variable in AGENTS if variable in os.environ), "ssh")
    return [*shlex.split(agent.split(":")[0]), *SSH, name, f'"{python}" -c "{code}"']


# ---- judging ----


def reached(name: str, seconds: float) -> Finding:
    return good(f"{name}: ssh", f"answers after {seconds:.2f} s")


def not_reached(name: str, why: str) -> Finding:
    return broken(f"{name}: ssh", why, f"`ssh {name}` must work without a password, and {sys.executable} be there.")


def versions(name: str, said: dict, ours: Hello, own_mpi: str) -> Finding:
    """The same everywhere: programs travel as Python's own code, and MPI's daemons speak to each other."""
    check, theirs = f"{name}: versions", said.get("hello")
    if theirs is None:
        fix = f"Install the same dlmini there, at the same path as here ({sys.prefix})."
        return broken(check, f"Python {said.get('python')}: {said.get('lacks')}", fix)
    theirs = Hello(**theirs)._replace(name=name)
    found = f"dlmini {theirs.dlmini}, Python {theirs.python}, NumPy {theirs.numpy}, {said['mpi'] or 'no MPI'}"
    if why := mismatch(theirs, ours, "this machine"):
        return broken(check, found, f"{why}.")
    if said["lacks"]:
        return broken(check, found, f"{said['lacks']}.")
    if said["mpi"] != own_mpi:
        return broken(check, found, f"mpiexec here is {own_mpi or 'missing'}: install the same MPI on both.")
    if other := doubt(theirs, ours):
        return warning(check, found, f"{other[0].upper()}{other[1:]}: copy the same files to all hosts.")
    return good(check, found)


def clock(name: str, ahead: float, doubtful: float) -> Finding:
    """Seconds that its clock is ahead of ours, and half the shortest round trip."""
    found = f"{abs(ahead) * 1e3:,.1f} ms {'ahead' if ahead > 0 else 'behind'} (± {doubtful * 1e3:.1f})"
    if abs(ahead) - doubtful > APART:
        return warning(f"{name}: clock", found, "Switch on time synchronisation (NTP): dates of files and logs differ.")
    return good(f"{name}: clock", found)


def twins(called: dict[str, str]) -> list[Finding]:
    """`called`: what each host calls itself."""
    found = []
    for one, other in combinations(called, 2):
        if called[one] == called[other]:
            fix = "Give each host a name of its own (hostnamectl): MPI takes equal names for one host, and hangs."
            found.append(broken("names", f"{one} and {other} both call themselves {called[one]}", fix))
    return found


def links(found: Sequence[Link]) -> list[Finding]:
    """Pairs without a connection; those much slower than the usual; and the rest in one line."""
    there = [link for link in found if not link.error]
    lost = [
        broken(f"{link.sender} to {link.receiver}", link.error,
               f"Is a firewall on {link.receiver}? MPI calls any port: allow TCP from the other hosts.")
        for link in found if link.error
    ]  # fmt: skip
    if not there:
        return lost
    usual, quick = median(link.bandwidth for link in there), median(link.latency for link in there)
    slow = [link for link in there if link.bandwidth < SLOW * usual or link.latency > LATE * quick]
    fix = "Try another cable and another port of the switch: a round is as slow as its slowest link."
    return [
        *lost,
        *(
            warning(f"{link.sender} to {link.receiver}", f"{link_text(link)}; usual {rate(usual)}", fix)
            for link in slow
        ),
        good("links", f"{len(there)}, of {quick * 1e3:.2f} ms and {rate(usual)} (medians)"),
    ]


def rate(bandwidth: float) -> str:
    return f"{bandwidth / 1e6:.3g} MB/s"


def link_text(link: Link) -> str:
    return f"{link.latency * 1e3:.2f} ms, {rate(link.bandwidth)}"


# ---- measuring ----


def clock_of(host: Host) -> tuple[float, float]:
    """(seconds ahead of ours, half the round trip), of the quickest answer."""
    tries = []
    for _ in range(ASKED):
        asked = time.time()
        said = host.ask("clock")["time"]
        back = time.time()
        tries.append((back - asked, said - (asked + back) / 2))
    trip, ahead = min(tries)
    return ahead, trip / 2


def pair(one: Host, other: Host) -> list[Link]:
    """Both directions, measured by a connection from `one` to `other`."""
    token = secrets.token_hex(16)
    try:
        door = other.ask("listen", token=token)
        places = [other.name, *door["addresses"]]
        said = one.ask("call", MEASURE, addresses=places, port=door["port"], token=token)
    except (Silent, KeyError) as error:
        said = {"error": str(error)}
    if "error" in said:
        return [Link(one.name, other.name, error=f"no connection ({said['error']})")]
    there = Link(one.name, other.name, said["latency"], said["there"])
    return [there, Link(other.name, one.name, said["latency"], said["back"])]


def visit(
    hosts: Sequence[str], say: Callable[[str], None] = lambda text: None, python: str = sys.executable
) -> tuple[list[Finding], list[Link]]:
    """What is found of each host and of every two; `say` hears what is being done."""
    findings, pairs, called = [], [], {}
    ours, own_mpi = hello("here", ""), mpi_here()
    with ExitStack() as stack:
        there = []
        for name in names(tuple(hosts)):
            say(f"asking {name}")
            began, host = time.perf_counter(), Host(name, python)
            stack.callback(host.close)
            try:
                said = host.ask("facts")
                findings += [
                    reached(name, time.perf_counter() - began),
                    versions(name, said, ours, own_mpi),
                    clock(name, *clock_of(host)),
                ]
            except (Silent, KeyError) as error:
                findings.append(not_reached(name, str(error)))
                continue
            called[name] = said["host"]
            there.append(host)
        for one, other in combinations(there, 2):
            say(f"{one.name} and {other.name}")
            pairs += pair(one, other)
    return findings + twins(called) + links(pairs), pairs


def mpi_here() -> str:
    """As a host's probe says it of itself."""
    from dlmini.doctor.host_probe import facts

    return facts({})["mpi"]
