"""The code cells of a notebook as plain Python: whatever the notebook's age, its line ends, its magics.

A cell that is written to a file (%%writefile) is kept apart: it is a program of its own.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

PYTHON = {"time", "timeit", "capture", "prun", "debug", "memit"}  # cell magics behind which Python follows
WRITES = {"writefile", "file"}
MOST = 1 << 20  # characters of code that anybody has written by hand
TARGET = re.compile(r"[\w.,\[\] \t]+")
QUESTION = re.compile(r"%{0,2}[\w.*]+\?{1,2}\s*")


class Cell(NamedTuple):
    """A cell's Python; and where it would be written to, if it is."""

    text: str
    file: str = ""
    append: bool = False


def cells(data: bytes) -> list[Cell]:
    """All code cells, in their order. ValueError if this is no notebook."""
    try:
        book = json.loads(decoded(data))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(book, dict):
        raise ValueError("it holds no cells")
    found = [book.get("cells"), *(sheet.get("cells") for sheet in _dicts(book.get("worksheets")))]  # nbformat 4, 3
    if not any(isinstance(some, list) for some in found):
        raise ValueError("it holds no cells")
    code = [cell for some in found for row in _dicts(some) if (cell := _cell(row)) is not None]
    if (length := sum(len(cell.text) for cell in code)) > MOST:
        raise ValueError(f"its cells hold {length} characters of code; more than {MOST} are not read")
    return code


def decoded(data: bytes) -> str:
    """UTF-8; or UTF-16, by its sign, as spreadsheets and some editors save text."""
    return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")


def _dicts(some) -> list[dict]:
    return [one for one in some if isinstance(one, dict)] if isinstance(some, list) else []


def _cell(row: dict) -> Cell | None:
    source = row.get("source", row.get("input"))
    text = "".join(map(str, source)) if isinstance(source, list) else source
    if row.get("cell_type") != "code" or not isinstance(text, str) or _language(row) != "python":
        return None
    return plain(text.replace("\r\n", "\n").replace("\r", "\n"))


def _language(row: dict) -> str:
    """Editors that mix languages say so in the cell's metadata."""
    metadata = row.get("metadata")
    editor = metadata.get("vscode") if isinstance(metadata, dict) else None
    return str(editor.get("languageId", "python") if isinstance(editor, dict) else row.get("language", "python"))


def plain(text: str) -> Cell | None:
    """A cell's text behind its cell magic, if it has one; None if it is in another language."""
    first, _, rest = text.lstrip().partition("\n")
    if not first.startswith("%%"):
        return Cell(text)
    name, *words = first[2:].split() or [""]
    if name not in WRITES:
        return Cell(rest) if name in PYTHON else None
    append = words[:1] in (["-a"], ["--append"])
    return Cell(rest, " ".join(words[append:]).strip("'\""), append)


def without_magics(text: str) -> str:
    """Lines that begin with %, ! or ?, that end with ?, or that assign what a magic gives, do nothing here."""
    return "\n".join(
        line[: len(line) - len(line.lstrip())] + "pass" if is_magic(line.lstrip()) else line
        for line in text.split("\n")
    )


def is_magic(line: str) -> bool:
    if QUESTION.fullmatch(line):
        return True
    target, assigned, value = line.partition("=")
    if assigned and TARGET.fullmatch(target):
        return value.lstrip()[:1] in ("%", "!")
    return line[:1] in ("!", "?") or (line[:1] == "%" and line[1:2].strip() not in ("", "="))
