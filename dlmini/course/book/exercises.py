"""What a lesson asks to be written: signatures, docstrings, and hints that are folded away."""

from __future__ import annotations

import ast
import re
from html import escape
from itertools import groupby

from dlmini.course.book.cells import code
from dlmini.course.strip import functions, stubs
from dlmini.grade.hints import hints


def appendix(stub: str, name: str) -> str:
    """All exercises of the file `exercises/name.py`, from its text; the file is read and not run."""
    tree, waiting, left = ast.parse(stub), stubs(stub), hints(stub)
    about = first_paragraph(ast.get_docstring(tree) or "")
    parts = [f"<p>{flowing(about)} Write in <code>exercises/{name}.py</code>.</p>"]
    for node, full in functions(tree):
        if full in waiting:
            parts.append(f"<h3><code>{full}</code></h3>{code(signature(node))}{doc(node)}")
            parts += [folded(left.pop(key)) for key in list(left) if plain(key) in plain(full)]
    parts += [f"<h3><code>{escape(key)}</code></h3>{folded(said)}" for key, said in left.items()]
    return "".join(parts)


def signature(node) -> str:
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"def {node.name}({ast.unparse(node.args)}){returns}:"


def doc(node) -> str:
    """A docstring. A numbered list with more inside stays as it stands."""
    parts = (ast.get_docstring(node) or "").split("\n\n")
    lists = [re.match(r"\d\. ", part) and "\n " in part for part in parts]
    return "".join(
        f"<pre>{escape(part)}</pre>" if whole else described(part) for part, whole in zip(parts, lists, strict=True)
    )


def described(text: str) -> str:
    """Words: what is indented stays as it stands, the rest flows."""
    parts = []
    for kind, lines in groupby(text.splitlines(), key=lambda line: "pre" if line[:1] == " " else "p" if line else ""):
        said = "\n".join(lines)
        parts += [f"<{kind}>{escape(said) if kind == 'pre' else flowing(said)}</{kind}>"] if kind else []
    return "".join(parts)


def flowing(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(" ".join(text.split())))


def folded(given: tuple[str, ...]) -> str:
    rows = "".join(f"<li>{flowing(hint)}</li>" for hint in given)
    return f"<details><summary>Hints</summary><ol>{rows}</ol></details>"


def first_paragraph(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split())


def plain(name: str) -> str:
    """`error_feedback` and `ErrorFeedback.encode` have this in common."""
    return name.replace("_", "").lower()
