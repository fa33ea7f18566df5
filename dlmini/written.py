"""A description as its repr is written, read back: `Recipe(sync=LocalSGD(steps=4), ...)`. Nothing is executed.

Only names that dlmini makes public and that are descriptions (frozen dataclasses) or schedules are known; their
arguments are such descriptions or plain Python values.
"""

import ast
from dataclasses import is_dataclass


def read(text: str):
    """The object that `text` describes."""
    try:
        return made(ast.parse(text, mode="eval").body)
    except (SyntaxError, TypeError) as error:
        raise ValueError(f"this is no description of a recipe: {text!r} ({error})") from error


def made(node):
    if isinstance(node, ast.Call):
        maker, given = known(node.func), [made(arg) for arg in node.args]
        return maker(*given, **{word.arg: made(word.value) for word in node.keywords})
    return known(node) if isinstance(node, ast.Name) else ast.literal_eval(node)


def known(node):
    import dlmini
    from dlmini.comm import schedules

    name = node.id if isinstance(node, ast.Name) and node.id in dlmini.__all__ else ""
    found = getattr(dlmini, name, None)
    if isinstance(found, type) and is_dataclass(found):
        return found
    if name and hasattr(schedules, name):
        return found
    raise ValueError(f"{ast.unparse(node)} is not the name of a piece of a recipe")
