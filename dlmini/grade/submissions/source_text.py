"""The text of a submitted file: whatever the editor did to it, and out of a notebook if need be."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize

MOST = 1 << 20  # bytes of a file that anybody has written by hand
KEPT = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)


class Unreadable(ValueError):
    """A file that is no program: a sentence for the student."""


def text_of(data: bytes, name: str) -> str:
    """Python source with plain line ends. Byte-order marks, CRLF and declared encodings are understood."""
    if len(data) > MOST:
        raise Unreadable(f"{name} has {len(data)} bytes; a program of more than {MOST} is not read.")
    if name.endswith(".ipynb"):
        return notebook(data, name)
    try:
        text = data.decode("utf-16") if data[:2] in (b"\xff\xfe", b"\xfe\xff") else _decoded(data)
    except (UnicodeError, SyntaxError, LookupError) as error:
        raise Unreadable(f"{name} is not text: {error}") from error
    if "\0" in text:
        raise Unreadable(f"{name} is not text: it contains a zero byte.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decoded(data: bytes) -> str:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return data.decode(encoding)


def notebook(data: bytes, name: str) -> str:
    """Imports, definitions and assignments of its code cells; what is only run (plots, checks, magics) is left out."""
    try:
        cells = json.loads(data.decode("utf-8-sig"))["cells"]
        code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    except (UnicodeError, ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"{name} is no notebook: {error}") from error
    return "\n\n".join(map(definitions, code)) + "\n"


def definitions(cell: str) -> str:
    """The definitions of a cell, as written; of a cell that does not parse everything, so that the error is seen."""
    for text in (cell, without_magics(cell)):
        try:
            body, lines = ast.parse(text).body, text.splitlines()
        except SyntaxError:
            continue
        return "\n".join("\n".join(lines[first(node) - 1 : node.end_lineno]) for node in body if isinstance(node, KEPT))
    return cell


def without_magics(cell: str) -> str:
    """IPython's own lines, which begin with %, ! or ?, do nothing here."""
    return re.sub(r"^(\s*)[%!?].*$", r"\1pass", cell, flags=re.MULTILINE)


def first(node: ast.stmt) -> int:
    """The line where a definition begins, its decorators included."""
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
