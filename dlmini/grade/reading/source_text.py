"""The text of a submitted file: whatever the editor did to it, and out of a notebook if need be."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable

from dlmini.grade.reading.notebook import program

MOST = 1 << 18  # bytes of a file that anybody has written by hand
PICTURES = 32 << 20  # bytes of a notebook, whose outputs may be pictures
ALPHABETS = re.compile(  # encodings of text; others (unicode_escape, utf-7, idna) make programs out of something else
    r"utf-8(-sig)?|ascii|iso-?8859-\d+|latin-?\d+|(cp|windows-?)\d+|koi8-\w|mac-\w+|gb\d*|gbk|big5\w*|euc-\w+|shift-\w+"
)


class Unreadable(ValueError):
    """A file that is no program: a sentence for the student."""


def text_of(data: bytes, name: str, tasks: Iterable[str] = (), stem: str = "") -> str:
    """Python source with plain line ends. Byte-order marks, CRLF and declared encodings are understood.

    tasks: of a notebook these functions are wanted, and what they need; stem: of the exercise, if not that of `name`.
    """
    book = name.lower().endswith(".ipynb")
    if len(data) > (most := PICTURES if book else MOST):
        raise Unreadable(f"{name} has more than {most >> 10} KB; a program of that length is not read.")
    if book:
        return _program(data, name, tasks, stem)
    try:
        text = data.decode("utf-16") if data[:2] in (b"\xff\xfe", b"\xfe\xff") else _decoded(data)
    except (UnicodeError, SyntaxError, LookupError) as error:
        raise Unreadable(f"{name} is not text ({str(error)[:200]}).") from error
    if "\0" in text:
        raise Unreadable(f"{name} is not text: it contains a zero byte.")
    return _whole(text.replace("\r\n", "\n").replace("\r", "\n"))


def _program(data: bytes, name: str, tasks: Iterable[str], stem: str) -> str:
    try:
        text = _whole(program(data, stem or name.rpartition(".")[0], tasks))
    except ValueError as error:
        raise Unreadable(f"{name} cannot be read as a notebook: {str(error)[:200]}.") from error
    if len(text.encode()) > MOST:
        raise Unreadable(f"{name} holds more than {MOST >> 10} KB of program; that much is not read.")
    return text


def _whole(text: str) -> str:
    """Halves of letters, as JSON and UTF-16 may hold them, put together; those that stand alone are replaced."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _decoded(data: bytes) -> str:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    if not ALPHABETS.fullmatch(encoding.lower().replace("_", "-")):
        raise LookupError(f"{encoding[:40]} is no encoding of texts")
    return data.decode(encoding)
