"""Names of people and files, whoever typed them: parts of a path, what may be shown, what may be a file's name."""

from __future__ import annotations

import hashlib
import re
import unicodedata

SHOWN = 120  # characters of a name
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)")  # on Windows these are no files
PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")
JUNK = ("__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini")
JOINERS = "\u200c\u200d"
ESCAPED = re.compile("[\udc80-\udcff]")  # bytes that are no UTF-8, as the system hands them over


def parts_of(name: str) -> tuple[str, ...]:
    """The parts of a path in an archive, of either system's kind; `.` and nothing are no parts."""
    return tuple(part for part in name.replace("\\", "/").split("/") if part not in ("", "."))


def left_behind(name: str) -> bool:
    """Whether a system, an editor or a file manager made this, perhaps only when somebody looked."""
    return name.startswith(".") or name in JUNK


def shown(name: str) -> str:
    """A name that can be printed and written."""
    return printable(name).strip()[:SHOWN] or "?"


def path_of(parts: tuple[str, ...]) -> str:
    """A path inside a hand-in as a sentence can show it: the middle of a long one is left out."""
    text = printable("/".join(parts))
    return text if len(text) <= SHOWN else f"{text[: SHOWN // 2]}...{text[-SHOWN // 2 :]}"


def printable(text: str) -> str:
    """Bytes of an old code page, as file systems may hand them over, are read as such; control characters go.

    What joins letters or keeps them apart stays: names in Persian and Hindi have it, and many emojis.
    """
    if ESCAPED.search(text) and _is_bytes(text):
        text = text.encode("utf-8", "surrogateescape").decode("cp866")
    if text.isprintable():
        return text
    return "".join(map(seen, text))


def seen(letter: str) -> str:
    """A space of any width is a space; what ends a line or moves a cursor is not shown."""
    if letter.isprintable() or letter in JOINERS:
        return letter
    return " " if unicodedata.category(letter) == "Zs" else "�"


def _is_bytes(name: str) -> bool:
    """Whether all its surrogates stand for bytes."""
    return not re.search("[\ud800-\udfff]", ESCAPED.sub("", name))


def slug(name: str) -> str:
    """A name of a file for this name: letters (of any script), digits, dot, dash.

    Where something was replaced, or where file systems may take two names for one, a few digits make it unique.
    """
    plain = re.sub(r"[^\w.-]+", "_", name).strip("._-")
    while len(plain.encode("utf-8", "replace")) > 60:
        plain = plain[:-1]
    if PLAIN.fullmatch(name) and plain == name and not RESERVED.match(name):
        return name
    return f"{plain or 'submission'}-{hashlib.sha256(name.encode('utf-8', 'backslashreplace')).hexdigest()[:6]}"
