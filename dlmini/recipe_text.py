"""Descriptions as text, and back: `Recipe(sync=LocalSGD(steps=4, ...), ...)`. Nothing is executed, no pickles.

    text = write(recipe);   read(text) == recipe
Known are the pieces of a recipe that dlmini makes public (`pieces`), plain Python values and NumPy's numbers. Every
field is written, defaults too: what they are may change, what was run may not. A function is code, which no file here
holds; so `write` refuses it, or, where a run that has ended is to be described, puts its name (`Unwritten`).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from math import inf, nan

import numpy as np

ROOMS = ("recipe", "sandblaster", "sync", "topology", "compression", "optim", "comm.schedules")
NUMBERS = ("bool", *(f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64)), "float16", "float32", "float64")
PLAIN = (type(None), bool, int, str)
ODD = {"inf": inf, "nan": nan}  # floats that Python has no literals for
BAD = (SyntaxError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, MemoryError)
ADVICE = (
    "files hold no code, only numbers, words and dlmini's own pieces: take constant, staircase, cosine or warm_up for "
    "a rate, a matrix for Own"
)


@dataclass(frozen=True, repr=False)
class Unwritten:
    """In the place of something that was in a recipe but not in its file."""

    text: str

    def __call__(self, *given):
        raise ValueError(f"{self.text} was not written to the file that this recipe was read from; make it anew")

    def __repr__(self) -> str:
        return self.text


@cache
def pieces() -> dict[str, object]:
    """All that a recipe may be made of, by its public name: classes of descriptions, and schedules."""
    import dlmini

    rooms = {room: import_module(f"dlmini.{room}") for room in ROOMS}
    found = {name: getattr(rooms[room], name) for name, room in dlmini._homes().items() if room in rooms}
    return {name: thing for name, thing in found.items() if is_dataclass(thing) or not callable(thing)}


def write(thing, strict: bool = True) -> str:
    """The text that `read` makes an equal thing of; otherwise ValueError, or if not strict the name of what is not."""
    if type(thing) in PLAIN:
        return repr(thing)
    if isinstance(thing, np.generic | float):
        return number(thing)
    if isinstance(thing, np.ndarray):
        return write(thing.tolist(), strict)
    if isinstance(thing, list | tuple):
        inside = ", ".join(write(part, strict) for part in thing)
        return f"[{inside}]" if isinstance(thing, list) else f"({inside}{',' * (len(thing) == 1)})"
    for name, known in pieces().items():
        if type(thing) is known:
            parts = (f"{f.name}={write(getattr(thing, f.name), strict)}" for f in fields(thing) if f.init)
            return f"{name}({', '.join(parts)})"
        if type(thing) is type(known) and not isinstance(thing, type) and thing == known:
            return name
    if strict:
        raise ValueError(f"{named(thing)} cannot be written down, for {ADVICE}")
    return f"Unwritten({named(thing)!r})"


def describe(thing) -> str:
    """Text that can be read back, of anything: where pieces of one's own hide in others, the name of the whole."""
    text = write(thing, strict=False)
    try:
        read(text)
    except ValueError:
        return f"Unwritten({repr(thing)[:1000]!r})"
    return text


def number(value) -> str:
    """A float, or a number of NumPy's with its type: `float32(0.1)` is another number than 0.1."""
    if type(value) is float:
        return repr(value)
    kind = value.dtype.name
    if kind in NUMBERS:
        return f"{kind}({value.item()!r})"
    if isinstance(value, np.longdouble):
        return f"longdouble('{value!s}')"
    if isinstance(value, np.str_):
        return repr(str(value))
    raise ValueError(f"{value!r} cannot be written down: take a plain Python value")


def named(thing) -> str:
    """Short, and without an address in memory."""
    name = getattr(thing, "__qualname__", "")
    return f"the function {name}" if callable(thing) and name else f"{thing!r}"[:200]


def read(text: str):
    """The object that `text` describes."""
    try:
        return made(ast.parse(text, mode="eval").body)
    except BAD as error:
        shown = text if len(text) < 300 else f"{text[:300]} ..."
        raise ValueError(f"this is no description of a recipe: {shown!r} ({error})") from error


def made(node):
    if isinstance(node, ast.Call):
        given = [made(arg) for arg in node.args]
        return known(node.func)(*given, **{word.arg: made(word.value) for word in node.keywords})
    if isinstance(node, ast.Tuple | ast.List):
        parts = [made(part) for part in node.elts]
        return tuple(parts) if isinstance(node, ast.Tuple) else parts
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -made(node.operand)
    return known(node) if isinstance(node, ast.Name) else ast.literal_eval(node)


def known(node):
    name = node.id if isinstance(node, ast.Name) else ""
    for table in (pieces(), ODD, {"Unwritten": Unwritten}):
        if name in table:
            return table[name]
    if name in NUMBERS or name == "longdouble":
        return getattr(np, name)
    raise ValueError(f"{ast.unparse(node)} is not the name of a piece of a recipe")
