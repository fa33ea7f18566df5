"""A notebook as a program: the functions that are asked for, and what they need.

A notebook trains, plots, checks and looks things up between its definitions. None of that is run here. From each
function that is asked for the way leads to the names it uses, to the definitions, imports and assignments that give
these names, and to the names those use. What lies on no such way is left out, so that an unfinished or unreadable
cell costs nobody the good ones.
"""

from __future__ import annotations

import ast
import symtable
import warnings
from collections.abc import Iterable, Iterator
from pathlib import PureWindowsPath
from typing import NamedTuple

from dlmini.grade.reading.notebook_cells import Cell, cells, without_magics

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
ASSIGNMENTS = (ast.Assign, ast.AnnAssign)
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
TRIES, ALL = 40, 4000  # of reading a block of a cell that cannot be read as a whole; of all blocks of a cell


class Part(NamedTuple):
    """One statement: its text, its kind, the names it gives and those it uses."""

    text: str
    kind: type
    gives: frozenset[str]
    uses: frozenset[str]


def program(data: bytes, stem: str, tasks: Iterable[str] = ()) -> str:
    """The text of the program in a notebook. tasks: the functions that are asked for; none: all there are.

    A cell that writes `stem`.py is the program, if any of the functions is in it. ValueError: this is no notebook.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a student's backslashes are no news to whoever grades
        return _program(cells(data), stem, frozenset(tasks))


def _program(found: list[Cell], stem: str, tasks: frozenset[str]) -> str:
    written = written_file(found, f"{stem}.py")
    rest = [part for cell in found if not cell.file for part in parts(cell.text)]
    if written and (defined(parts(written), tasks) or not defined(rest, tasks)):
        return written
    wanted = tasks or frozenset(name for part in rest if part.kind in DEFINITIONS for name in part.gives)
    return "\n".join([chosen(rest, wanted), *missing(found, rest, wanted - defined(rest, wanted))])


def written_file(found: list[Cell], name: str) -> str:
    """What the cells with %%writefile leave in the file of this name."""
    text = ""
    for cell in found:
        if PureWindowsPath(cell.file).name.lower() == name.lower():
            text = text * cell.append + cell.text + "\n"
    return text


def defined(some: list[Part], tasks: frozenset[str]) -> frozenset[str]:
    return frozenset(
        name for part in some if part.kind not in IMPORTS for name in part.gives if name in tasks or not tasks
    )


def chosen(some: list[Part], wanted: frozenset[str]) -> str:
    """What gives the wanted names, and all that it needs: imports first, then the rest in its order.

    A definition stands before any import or assignment of its name: the course's own cells import functions of the
    same names.
    """
    own = {name for part in some if part.kind in DEFINITIONS for name in part.gives}
    some = [part for part in some if part.kind not in ASSIGNMENTS or not part.gives & own]
    givers, kept, todo = {}, set(), [*wanted, "*"]
    for place, part in enumerate(some):
        for name in part.gives:
            givers.setdefault(name, []).append(place)
    while todo:
        for place in givers.pop(todo.pop(), ()):
            kept.add(place)
            todo += some[place].uses
    kept = [some[place] for place in sorted(kept)]
    order = sorted(kept, key=lambda part: (not part.text.startswith("from __future__"), part.kind not in IMPORTS))
    return "\n\n".join(part.text for part in order) + "\n"


# ---- statements ----


def parts(text: str) -> list[Part]:
    """The statements of a cell that define, import or assign; of one that cannot be read, those that can."""
    for found in (text, without_magics(text)):
        if (tree := readable(found)) is not None:
            return list(_parts(tree.body, found.split("\n")))
    return [part for block, tree in blocks(without_magics(text)) for part in _parts(tree.body, block)]


def _parts(body: list[ast.stmt], lines: list[str]) -> Iterator[Part]:
    for node in body:
        if isinstance(node, (*DEFINITIONS, *IMPORTS, *ASSIGNMENTS)) or harmless(node):
            yield from _part(node, lines)
        else:
            for inner in within(node):
                yield from _parts(inner, lines)


def _part(node: ast.stmt, lines: list[str]) -> Iterator[Part]:
    """The statement, if Python would take it at the top of a file."""
    for write in (as_written, lambda node, lines: ast.unparse(node)):
        try:
            text = write(node, lines)
            compile(text, "cell", "exec")
            table = symtable.symtable(text, "cell", "exec")
            gives = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}
            star = isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
            gives |= {"*"} if star or text.startswith("from __future__") else set()
            yield Part(text, type(node), frozenset(gives), frozenset(used(table)))
        except UNREADABLE:
            continue
        return


def as_written(node: ast.stmt, lines: list[str]) -> str:
    """With its decorators and comments, moved to the left margin."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    lines = lines[first - 1 : node.end_lineno]
    lines[-1] = lines[-1].encode()[: node.end_col_offset].decode()
    if first == node.lineno:
        lines[0] = " " * node.col_offset + lines[0].encode()[node.col_offset :].decode()
    return "\n".join(line.removeprefix(" " * node.col_offset) for line in lines)


def used(table: symtable.SymbolTable) -> set[str]:
    """Names that a statement, or a function or class in it, takes from the module."""
    top = table.get_type() == "module"
    mine = {s.get_name() for s in table.get_symbols() if s.is_referenced() and (top or s.is_global())}
    return mine.union(*map(used, table.get_children()))


def harmless(node: ast.stmt) -> bool:
    """An `if` or `try` in which nothing is done but to define, import and assign."""
    return isinstance(node, ast.If | ast.Try) and all(
        isinstance(one, (*DEFINITIONS, *IMPORTS, *ASSIGNMENTS, ast.Pass)) or harmless(one)
        for inner in within(node)
        for one in inner
    )


def within(node: ast.stmt) -> list[list[ast.stmt]]:
    """The bodies of a statement that has such."""
    handlers = [handler.body for handler in getattr(node, "handlers", [])]
    return [getattr(node, name, None) or [] for name in ("body", "orelse", "finalbody")] + handlers


def blocks(text: str) -> Iterator[tuple[list[str], ast.Module]]:
    """Stretches of an unreadable text that can be read: each from a line at the left margin to the next such line."""
    lines = text.split("\n")
    starts = [i for i, line in enumerate(lines) if line[:1].isidentifier() or line[:1] == "@"] + [len(lines)]
    at, tries = 0, ALL
    while at < len(starts) - 1 and tries > 0:
        end = at + 1
        while (tree := readable("\n".join(lines[starts[at] : starts[end]]))) is None:
            tries, end = tries - 1, end + 1
            if end == len(starts) or end > at + TRIES:
                break
        if tree is not None:
            yield lines[starts[at] : starts[end]], tree
        at = end if tree is not None else at + 1


def readable(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except UNREADABLE:
        return None


def missing(found: list[Cell], some: list[Part], names: frozenset[str]) -> Iterator[str]:
    """For each function that was not found, one that says so: its cell cannot be read, or what is there instead."""
    there = dict.fromkeys(name for part in some if part.kind in DEFINITIONS for name in part.gives)
    for name in sorted(names):
        broken = [
            f"the cell with {name}: {why}"
            for cell in found
            if f"def {name}(" in cell.text and (why := unread(without_magics(cell.text)))
        ]
        kind, said = (
            ("SyntaxError", broken[0])
            if broken
            else (
                "NameError",
                f"the notebook defines no function {name}; it defines {', '.join(list(there)[:12]) or 'nothing'}",
            )
        )
        yield f"def {name}(*args, **kwargs):\n    raise {kind}({said!a})\n"


def unread(text: str) -> str:
    try:
        ast.parse(text)
    except SyntaxError as error:
        return f"{error.msg}, line {error.lineno}: {(error.text or '').strip()}"
    except UNREADABLE as error:
        return str(error)
    return ""
