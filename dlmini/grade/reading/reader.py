"""The process that reads hand-ins: requests in, answers out, a line of JSON each. It never runs what it reads.

It binds itself to limits first. Whatever it cannot survive ends it alone, and the judge asks the next one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from dlmini.grade.reading.budget import Unsafe
from dlmini.grade.reading.class_list import class_of
from dlmini.grade.reading.fingerprints import fingerprints
from dlmini.grade.reading.names import printable
from dlmini.grade.reading.pick import picked
from dlmini.grade.sandbox.child_processes import die_with_parent

MEMORY = 1 << 30  # bytes of address space
CPU = {"class": 120, "hand_in": 10}  # seconds of processor time for one request


def main() -> None:
    """Serve until the judge hangs up."""
    die_with_parent()
    bind()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        more_time(CPU[request["verb"]])
        answer, fine = answered(request)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
        if not fine:
            return


def answered(request: dict) -> tuple[dict, bool]:
    """What was found; and whether this process is worth another request."""
    verb = VERBS[request.pop("verb")]
    try:
        return verb(**request), True
    except Exception as error:  # of all kinds, for it is about bytes of all kinds
        return {"failed": printable(plainly(error))[:500]}, False


def plainly(error: Exception) -> str:
    """Why something could not be read, for people: our own sentence, the system's, or its kind."""
    if isinstance(error, Unsafe):
        return str(error)
    if isinstance(error, OSError):
        return error.strerror or "the system refuses"
    if isinstance(error, MemoryError):
        return f"it takes more than {MEMORY >> 30} GB of memory"
    return "it is nested too deep" if isinstance(error, RecursionError) else "it is damaged, or of a form unknown here"


def read_class(root: str, stem: str, one: bool, without: list[str] = ()) -> dict:
    found = class_of(Path(root), stem, one, tuple(without))
    return {"root": str(found.root), "members": [m._asdict() for m in found.members], "stray": found.stray}


def read_hand_in(root: str, places: list, stem: str, tasks: list) -> dict:
    found = picked(Path(root), [tuple(place) for place in places], stem, tasks)
    return {**found._asdict(), "prints": fingerprints(found.source or "")}


VERBS = {"class": read_class, "hand_in": read_hand_in}


def bind() -> None:
    """No cores, nothing written, few files, and not more memory than an honest notebook takes."""
    try:
        import resource
    except ImportError:  # where there are no such limits the judge's patience is the only one
        return
    for what, most in (("AS", MEMORY), ("CORE", 0), ("FSIZE", 0), ("NOFILE", 64)):
        try:
            resource.setrlimit(getattr(resource, f"RLIMIT_{what}"), (most, most))
        except (ValueError, OSError):  # macOS knows the name RLIMIT_AS but refuses it
            continue


def more_time(seconds: int) -> None:
    """So many seconds of processor time from now."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 1 + seconds, hard))


if __name__ == "__main__":
    main()
