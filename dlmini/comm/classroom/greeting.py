"""The first words of a PC, and what a notebook says to them: who is who, and whether both run the same.

Nothing of it is pickled: an old version must be able to read why it is refused.
"""

from __future__ import annotations

import os
import platform
import re
import secrets
import socket
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np

import dlmini
from dlmini.comm.classroom.protocol import packed, unpacked

PROTOCOL = 1
HOUSE = Path(dlmini.__file__).parent
NAME = re.compile(r"[^\W_][\w .()-]{0,39}")
FACTS = ("protocol", "name", "session", "dlmini", "python", "numpy", "source", "system", "cores")
NUMBERS = ("protocol", "cores")


class Hello(NamedTuple):
    """`session` tells a PC that calls again from another of its name; `source` is the digest of its dlmini."""

    protocol: int
    name: str
    session: str
    dlmini: str
    python: str
    numpy: str
    source: str
    system: str
    cores: int


def hello(name: str, session: str) -> Hello:
    """This PC, this program."""
    system = f"{platform.system()} {platform.machine()}"
    python = ".".join(platform.python_version_tuple()[:2])
    facts = dlmini.__version__, python, np.__version__, source(), system, os.cpu_count() or 1
    return Hello(PROTOCOL, name, session, *facts)


def new_session() -> str:
    return secrets.token_hex(8)


def said(one: Hello) -> bytes:
    return packed(one._asdict())


def heard(data: bytes) -> Hello:
    """A ValueError if this is no greeting. A newer one may say more."""
    try:
        facts = unpacked(data)
        found = Hello(*(facts[name] for name in FACTS))
    except Exception as error:
        raise ValueError(f"this is no greeting: {error!r}") from error
    if not all(isinstance(value, int if name in NUMBERS else str) for name, value in found._asdict().items()):
        raise ValueError("this is no greeting: its facts are of other kinds")
    return found


def own_name() -> str:
    """What this PC calls itself, as far as it can be a name here."""
    found = re.sub(r"[^\w .()-]", "-", socket.gethostname()).strip(" .()-_")[:40]
    return found or "pc"


def checked_name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise ValueError(
            f"--name {name!r}: a PC's name has up to 40 letters, figures, blanks and .-(), and begins with a letter"
        )
    return name


def mismatch(theirs: Hello, ours: Hello, here: str = "the room") -> str:
    """Why this PC cannot work with this notebook: a sentence, empty if it can. here: what we are called in it."""
    who = theirs.name
    if (theirs.protocol, theirs.dlmini) != (ours.protocol, ours.dlmini):
        return f"{who} has dlmini {theirs.dlmini}, {here} {ours.dlmini}: install the same version on both"
    if theirs.python != ours.python:
        return (
            f"{who} runs Python {theirs.python}, {here} {ours.python}: programs travel as Python's own code, so both "
            f"need the same; make the environment on {who} with Python {ours.python}"
        )
    if minor(theirs.numpy) != minor(ours.numpy):
        return (
            f"{who} has NumPy {theirs.numpy}, {here} {ours.numpy}: equal bits need the same; "
            f'pip install "numpy=={ours.numpy}" on {who}'
        )
    return ""


def doubt(theirs: Hello, ours: Hello) -> str:
    """What is worth knowing, and no reason to refuse."""
    if theirs.source != ours.source:
        return "its dlmini has the same number, but other sources"
    return "" if theirs.numpy == ours.numpy else f"NumPy {theirs.numpy}"


def minor(version: str) -> list[str]:
    return version.split(".")[:2]


@cache
def source() -> str:
    """A digest of the house's own files; how lines end does not count."""
    digest = blake2b(digest_size=6)
    for file in sorted(HOUSE.rglob("*.py"), key=lambda file: file.relative_to(HOUSE).as_posix()):
        digest.update(file.relative_to(HOUSE).as_posix().encode() + b"\0")
        digest.update(file.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()
