"""The registry of pieces: what a recipe may be made of, found in the rooms where the pieces are written.

A piece is a class with a `word` of its own; what else it says of itself is up to it:

    word = "topk"                                        on the command line, in a dashboard's arguments, in lists
    tried = ({"fraction": 0.1},)                         arguments that tests and warm-up try; by default none
    shown = (("the largest 1 % (top-k)", {"fraction": 0.01}),)      what the dashboard offers; by default nothing

From here follow the public names of dlmini, the words of the command line, the choices of the dashboard, what is warmed
up, and the lists of the tests that go through all pieces: a new piece is one file and its test.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

ROOMS = ("sync", "topology", "compression", "optim")
WORD = "\n    word = "  # a line of every file with a piece


@cache
def pieces(room: str) -> dict[str, type]:
    """Word -> class of every piece of a room, in the order of files and of lines."""
    files = sorted(Path(__file__).parent.joinpath(room).glob("*.py"))
    files = [file for file in files if WORD in file.read_text(encoding="utf-8")]  # the others need not be imported
    modules = [import_module(f"dlmini.{room}.{file.stem}") for file in files]
    return {it.word: it for module in modules for it in vars(module).values() if is_piece(it, module.__name__)}


def is_piece(it, module: str) -> bool:
    """A class of this module that has a word of its own: not one that it inherits."""
    return isinstance(it, type) and it.__module__ == module and "word" in vars(it)


def in_order(room: str, first: tuple[str, ...]) -> dict[str, type]:
    """The pieces of a room, some words first: for lists that people read."""
    found = pieces(room)
    return {word: found[word] for word in (*first, *(word for word in found if word not in first))}


def public(room: str) -> dict[str, type]:
    """Class name -> class: what `from dlmini import ...` finds in a room."""
    return {it.__name__: it for it in pieces(room).values()}


def tried(room: str) -> list:
    """Some of every piece of a room: what tests and warm-up go through."""
    return [it(**given) for it in pieces(room).values() for given in getattr(it, "tried", ({},))]


def shown(room: str, first: tuple[str, ...] = ()) -> dict[str, object]:
    """Label -> piece: what the dashboard offers of a room."""
    found = in_order(room, first).values()
    return {label: it(**given) for it in found for label, given in vars(it).get("shown", ())}
