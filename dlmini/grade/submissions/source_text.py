"""The text of a submitted file: whatever the editor did to it, and out of a notebook if need be."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable

from dlmini.grade.submissions.notebook import program

MOST = 1 << 20  # bytes of a file that anybody has written by hand
PICTURES = 32 << 20  # bytes of a notebook, whose outputs may be pictures


class Unreadable(ValueError):
    """A file that is no program: a sentence for the student."""


def text_of(data: bytes, name: str, tasks: Iterable[str] = (), stem: str = "") -> str:
    """Python source with plain line ends. Byte-order marks, CRLF and declared encodings are understood.

    tasks: of a notebook these functions are wanted, and what they need; stem: of the exercise, if not that of `name`.
    """
    book = name.lower().endswith(".ipynb")
    if len(data) > (most := PICTURES if book else MOST):
        raise Unreadable(f"{name} has {len(data)} bytes; a program of more than {most} is not read.")
    if book:
        return _program(data, name, tasks, stem)
    try:
        text = data.decode("utf-16") if data[:2] in (b"\xff\xfe", b"\xfe\xff") else _decoded(data)
    except (UnicodeError, SyntaxError, LookupError) as error:
        raise Unreadable(f"{name} is not text: {error}") from error
    if "\0" in text:
        raise Unreadable(f"{name} is not text: it contains a zero byte.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _program(data: bytes, name: str, tasks: Iterable[str], stem: str) -> str:
    try:
        return program(data, stem or name.rpartition(".")[0], tasks)
    except ValueError as error:
        raise Unreadable(f"{name} cannot be read as a notebook: {error}") from error


def _decoded(data: bytes) -> str:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return data.decode(encoding)
