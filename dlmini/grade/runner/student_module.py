"""A student's file as a module, made from its text: no file lies beside it that could be imported by mistake."""

from __future__ import annotations

import ast
import linecache
import os
import sys
import tempfile
from types import ModuleType

from dlmini.grade.runner.imports import Absent, absent

SHOWN = 4000  # characters of what was printed


def load(source: str, name: str, packages: tuple[str, ...] = ("numpy",)) -> ModuleType:
    """Run the text as a module `exercise`; tracebacks show its lines."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    module = ModuleType("exercise")
    module.__file__ = name
    sys.modules["exercise"] = module
    tree = ast.parse(source, name)
    module.__dict__.update(absent(tree, packages))
    exec(compile(tree, name, "exec"), module.__dict__)
    return module


def asked_for(module: ModuleType, function: str):
    """The function of this name; or a sentence that names what is there instead."""
    found = getattr(module, function, None)
    if callable(found) and not isinstance(found, Absent):
        return found
    if isinstance(found, Absent):
        found._used()
    there = [k for k, v in vars(module).items() if getattr(v, "__module__", None) == "exercise" and callable(v)]
    raise NameError(f"{module.__file__} has no function {function}; it has {', '.join(there[:12]) or 'none'}")


def quiet():
    """Send what is printed, by whatever means, to a file that the file-size limit bounds. Returns how to read it."""
    file = os.memfd_create("printed") if hasattr(os, "memfd_create") else _unnamed()
    for stream in (1, 2):
        os.dup2(file, stream)
    sys.stdin, sys.stdout, sys.stderr = (_stream(n, mode) for n, mode in enumerate("rww"))

    def printed() -> str:
        os.lseek(file, 0, os.SEEK_SET)
        return os.read(file, SHOWN).decode("utf-8", "replace")

    return printed


def _stream(number: int, mode: str):
    return open(number, mode, encoding="utf-8", errors="replace", closefd=False, buffering=1)


def _unnamed() -> int:
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
