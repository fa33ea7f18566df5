"""The hints of an exercise: three for each function, from vague to nearly told, in a table at the head of its file.

    HINTS = {"ring_allgather": ("first ...", "second ...", "third ...")}

They are read from the text; nothing of the file is run. A student may have changed them, or thrown them away.
"""

from __future__ import annotations

import ast
from html import escape

TABLE = "HINTS"


def hints(text: str) -> dict[str, tuple[str, ...]]:
    """By function; empty where there is no such table, or no Python."""
    try:
        named = [node for node in ast.parse(text).body if isinstance(node, ast.Assign) and is_table(node)]
        found = ast.literal_eval(named[-1].value) if named else {}
        return {str(task): tuple(map(str, given)) for task, given in found.items()}
    except (SyntaxError, ValueError, TypeError, AttributeError, RecursionError, MemoryError):
        return {}


def is_table(node: ast.Assign) -> bool:
    return any(isinstance(target, ast.Name) and target.id == TABLE for target in node.targets)


def folded(given: tuple[str, ...]) -> str:
    """As HTML: each opens by a click, so that one sees no more of them than one wants."""
    one = '<details style="margin:2px 0 2px 15px"><summary style="cursor:pointer">Hint {}</summary>{}</details>'
    return "".join(one.format(number, escape(text)) for number, text in enumerate(given, 1))
