"""The secret of a grading run, from which all inputs are drawn.

A student's process knows its own text, its owner's name and the course's tests. If inputs followed from these alone, an
answer could be written down for inputs to come. So a secret takes part, drawn when a folder of grades is begun and kept
there, so that grading again gives the same inputs. It stays with the judge: runners get inputs and nothing else.
"""

from __future__ import annotations

import os
import secrets
from hashlib import blake2b
from pathlib import Path

from dlmini.files import plainly

NAME = "secret.txt"


def secret_in(folder: Path, given: Path | None = None) -> bytes:
    """The secret of this folder of grades: the one it has, or that of the file `given`, or a new one."""
    file = folder / NAME
    wanted = read(given) if given else None
    if not file.exists():
        if (folder / "journal.jsonl").exists() and wanted is None:
            raise ValueError(f"{folder} holds grades, but not their secret; put {NAME} back, or name another folder")
        folder.mkdir(parents=True, exist_ok=True)
        keep(file, wanted or secrets.token_bytes(32))
    found = read(file)
    if wanted and wanted != found:
        raise ValueError(f"{file} is another secret than {given}; name another folder")
    return found


def keep(file: Path, secret: bytes) -> None:
    """Written down for its owner alone."""
    try:
        opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:  # somebody else has just begun the same folder
        return
    with os.fdopen(opened, "w") as out:
        out.write(secret.hex() + "\n")


def read(file: Path) -> bytes:
    try:
        found = bytes.fromhex(file.read_text(encoding="ascii").strip())
    except (ValueError, OSError) as error:
        raise ValueError(f"{file} holds no secret: a line of 64 hexadecimal digits ({plainly(error)})") from error
    if len(found) != 32:
        raise ValueError(f"{file} holds no secret: a line of 64 hexadecimal digits, not {2 * len(found)}")
    return found


def seed_of(secret: bytes, name: str, digest: str, test: str) -> int:
    """The seed of one test of one submission: the same whenever it is graded again, another for every other one.

    The text itself takes part: who writes down answers for the inputs that were seen gets others by writing them. The
    hash is keyed, so that one seed tells nothing about the next.
    """
    words = "\0".join((name, digest, test)).encode("utf-8", "backslashreplace")
    return int.from_bytes(blake2b(words, key=secret, digest_size=6).digest(), "little")
