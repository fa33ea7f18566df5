"""The journal of a grading run: one line per test, on the disk before the next one begins. What a resumed run reads."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import threading
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path

from dlmini.grade.lesson import Lesson
from dlmini.grade.verdict import INFRA, Verdict

NAMES = {f.name for f in fields(Verdict)}


class Journal:
    """Appends verdicts and knows those that are there. `terms` must be equal in every run of a folder."""

    def __init__(self, file: Path, terms: dict, resume: bool):
        self.file, self.lock, self.terms = file, threading.Lock(), terms
        self.known: dict[tuple[str, str, str], Verdict] = {}
        if file.exists() and not resume:
            raise ValueError(
                f"{file.parent} holds grades already; add --resume to go on with them, or name another folder"
            )
        file.parent.mkdir(parents=True, exist_ok=True)
        self.out = file.open("a", encoding="ascii")
        try:
            hold(self.out)
            lines = whole_lines(file)
            if lines and lines[0] != terms:
                raise ValueError(f"{file.parent} {other_terms(lines[0], terms)}; name another folder")
        except BaseException:
            self.close()
            raise
        if not lines:
            self._append(terms)
        for line in lines[1:]:
            self._know(line)

    def _know(self, line: dict) -> None:
        """What a line says. One that was written by another version, or is not as it was written, says nothing."""
        with suppress(KeyError, TypeError, AttributeError, ValueError):
            if line.pop("sum") != checksum(line):
                return None
            if "struck" in line:
                return self._forget(*line["struck"])
            verdict = Verdict(**{name: value for name, value in line["verdict"].items() if name in NAMES})
            if verdict.status != INFRA:  # nobody's fault: tried again
                self.known[line["name"], line["digest"], verdict.test] = verdict
        return None

    def strike(self, names: list[str], tests: list[str]) -> None:
        """From now on what is known of these students, or of these tests, is not known any more."""
        with self.lock:
            self._append({"struck": [names, tests]})
            self._forget(names, tests)

    def _forget(self, names: list[str], tests: list[str]) -> None:
        self.known = {k: v for k, v in self.known.items() if k[0] not in names and k[2] not in tests}

    def add(self, name: str, digest: str, verdict: Verdict) -> None:
        with self.lock:
            self._append({"name": name, "digest": digest, "verdict": asdict(verdict)})
            self.known[name, digest, verdict.test] = verdict

    def find(self, name: str, digest: str, test: str) -> Verdict | None:
        return self.known.get((name, digest, test))

    def close(self) -> None:
        with suppress(OSError):  # what a full disk has not taken was told when it was to be written
            self.out.close()

    def _append(self, line: dict) -> None:
        whole = line if line is self.terms else {**line, "sum": checksum(line)}
        try:
            self.out.write(json.dumps(whole) + "\n")  # in ASCII: no letter of a student's program can end a line
            self.out.flush()
            os.fsync(self.out.fileno())
        except OSError as error:
            why = f"{self.file} could not be written: {error.strerror}"
            raise OSError(f"{why}. What was graded is kept: make room, then go on with --resume") from error


def other_terms(before: dict | None, terms: dict) -> str:
    """What is not as it was when a folder of grades was begun."""
    if not isinstance(before, dict) or before.keys() != terms.keys():
        return "was begun with another version, or its journal is damaged"
    if before["lesson"] != terms["lesson"]:
        return f"was begun with {before['lesson']} and holds its grades, not those of {terms['lesson']}"
    if before.get("secret") != terms.get("secret"):
        return "was begun with another secret: put back the secret.txt that it had"
    return "was begun with other tests than this version has"


def hold(opened) -> None:
    """The journal is this run's alone until it is closed, or the process ends, however that comes."""
    try:
        import fcntl

        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        place = Path(opened.name).parent
        raise ValueError(f"{place} is being graded into by another run; wait for it, or name another folder") from error
    except (ImportError, OSError):  # Windows, or a file system without locks
        return


def whole_lines(file: Path) -> list[dict]:
    """All lines that were written to their end. A torn last line is cut off, so that the next is not glued to it.

    Lines end at the newline byte; str.splitlines would end them at U+2028 and others, too.
    """
    data = file.read_bytes()
    end = data.rfind(b"\n") + 1
    if end < len(data):
        with file.open("r+b") as opened:
            opened.truncate(end)
    return [_parsed(line) for line in data[:end].split(b"\n")[:-1]]


def checksum(line: dict) -> str:
    """Of a line without its sum: a byte that was changed on the disk gives nobody a mark."""
    return hashlib.sha256(json.dumps(line, sort_keys=True).encode()).hexdigest()[:16]


def _parsed(line: bytes) -> object:
    """None where it is no JSON: a disk may have been full, or an editor at work."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def terms_of(lesson: Lesson, secret: bytes) -> dict:
    """What every verdict of a folder was found under: the lesson, the secret, and the tests as they are written."""
    module = inspect.getsourcefile(lesson.tests[0].judge)
    tests = hashlib.sha256(Path(module).read_bytes()).hexdigest()[:16]
    return {"lesson": lesson.name, "secret": hashlib.sha256(secret).hexdigest()[:16], "tests": tests}
