"""A solution becomes an exercise: what stands between the markers is cut out.

    def double(x):                                    def double(x):
        \"\"\"Twice x.\"\"\"                                    \"\"\"Twice x.\"\"\"
        ### BEGIN SOLUTION                   ->           raise NotImplementedError("not done yet: double")
        return 2 * x
        ### END SOLUTION

Signature, docstring and hints stay. Markers are comments, found by Python's own tokenizer: the same words in a string
mean nothing. Whatever is not clearly a region is an error that names file and line, for the other mistake, a solution
handed out, cannot be taken back.
"""

from __future__ import annotations

import ast
import codecs
import io
import re
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
MEANT = re.compile(r"#+\s*(begin|end)[\s_-]*solution", re.I)
STUB = 'raise NotImplementedError("not done yet: {name}")'
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Region(NamedTuple):
    """Lines `first` to `last`, markers included, counted from 1; how far they are indented; whose body they are in."""

    first: int
    last: int
    indent: str
    name: str


def strip(content: bytes, file: str) -> bytes:
    """The exercise. Line ends and byte-order mark stay; a file without markers stays as it is."""
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    text = content[len(mark) :].decode("utf-8")
    plain = text.replace("\r\n", "\n")
    lines = plain.split("\n")
    for region in reversed(regions(plain, file)):
        lines[region.first - 1 : region.last] = [region.indent + STUB.format(name=region.name)]
    made = "\n".join(lines)
    parsed(made, file)
    return mark + (made.replace("\n", "\r\n") if "\r\n" in text else made).encode("utf-8")


def regions(text: str, file: str) -> list[Region]:
    """All marked regions, top to bottom, or a ValueError that says where the markers are wrong."""
    found, begun, tree = [], None, parsed(text, file)
    for token in markers(text, file):
        line, indent = token.start[0], token.line[: token.start[1]]
        if token.string.rstrip() == BEGIN:
            demand(begun is None, file, line, f"{BEGIN} inside the region that begins in line {begun and begun[0]}")
            begun = line, indent
        else:
            demand(begun is not None, file, line, f"{END} without {BEGIN}")
            demand(begun[1] == indent, file, line, f"{END} is not indented like {BEGIN} in line {begun[0]}")
            found.append(Region(begun[0], line, indent, owner(tree, begun[0], line, indent, file)))
            begun = None
    demand(begun is None, file, begun and begun[0], f"{BEGIN} without {END}")
    return found


def markers(text: str, file: str) -> Iterator[tokenize.TokenInfo]:
    """The comments that are markers; those that only look like one are refused."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and MEANT.match(token.string):
            line, column = token.start
            demand(token.string.rstrip() in (BEGIN, END), file, line, f"write {BEGIN} or {END}, not {token.string!r}")
            demand(not token.line[:column].strip(), file, line, "a marker stands on a line of its own")
            yield token


def owner(tree: ast.Module, first: int, last: int, indent: str, file: str) -> str:
    """In whose body these lines are: `Feedback.encode`."""
    inside = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and first < node.lineno < last]
    demand(inside, file, first, "there is nothing between the markers")
    top = min(inside, key=lambda node: node.lineno)
    leaving = min(inside, key=lambda node: node.col_offset)
    demand(leaving.col_offset >= len(indent), file, leaving.lineno, f"the region from line {first} leaves its function")
    around = [name for node, name in functions(tree) if node.lineno < top.lineno <= node.end_lineno]
    demand(around, file, first, "a region must lie in the body of a function: only there can a stub stand for it")
    return around[-1]


def functions(node: ast.AST, path: tuple[str, ...] = ()) -> Iterator[tuple[ast.AST, str]]:
    """All functions with their full names, outer ones before those in them."""
    for child in ast.iter_child_nodes(node):
        here = (*path, child.name) if isinstance(child, (*FUNCTIONS, ast.ClassDef)) else path
        if isinstance(child, FUNCTIONS):
            yield child, ".".join(here)
        yield from functions(child, here)


def parsed(text: str, file: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise ValueError(f"{file}, line {error.lineno}: this is not Python ({error.msg})") from error


def demand(true: object, file: str, line: int | None, otherwise: str) -> None:
    if not true:
        raise ValueError(f"{file}, line {line}: {otherwise}")


def stubs(text: str) -> list[str]:
    """The names of what is still to be written in an exercise."""
    return re.findall(re.escape(STUB).replace(r"\{name\}", r"([\w.]+)"), text)


def done_in(old: str, new: str) -> list[str]:
    """Functions that are stubs in `new`, but that somebody has written in `old`."""
    waiting = set(stubs(old))
    defined = {node.name for node in ast.walk(ast.parse(old)) if isinstance(node, FUNCTIONS)}
    return [name for name in stubs(new) if name not in waiting and name.split(".")[-1] in defined]
