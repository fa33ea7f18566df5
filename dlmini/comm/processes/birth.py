"""How workers come into the world: by a fork server that has run the kernels once, or as fresh processes.

Never by forking this process: it may have threads. The fork server (Linux) imports `PRELOAD`, so its children have
NumPy, Numba and compiled kernels from their first moment. Elsewhere every worker imports everything itself. (Tested on
Linux, there also by `spawn`.)

Workers are not pinned to cores: on a shared machine that would make everybody's rank 0 queue for the same one. Two
that find themselves on one core separate by themselves (kernels/waiting.py).
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from importlib import import_module
from types import ModuleType

import multiprocess
from multiprocess import forkserver

from dlmini.comm.processes.answers import Birth
from dlmini.comm.processes.worker import serve

METHOD = "forkserver" if sys.platform == "linux" else "spawn"
PRELOAD = ["dlmini.comm.processes.warm"]
LIBRARIES = ("OMP", "OPENBLAS", "MKL", "NUMBA", "NUMEXPR")
ALONE = {f"{library}_NUM_THREADS": "1" for library in LIBRARIES} | {"VECLIB_MAXIMUM_THREADS": "1"}
_starting = threading.RLock()


def prepare() -> None:
    """Let the fork server warm up, so that the first call finds it ready. Returns at once."""
    if multiprocess.current_process().daemon:
        raise RuntimeError("a rank cannot have ranks of its own; use comm.group(...) to divide those that there are")
    if METHOD == "forkserver":
        with nursery():
            forkserver.ensure_running()


def compile_once() -> None:
    """Where every worker loads the kernels for itself, let this process compile them first, not all at once."""
    if METHOD == "spawn":
        for module in PRELOAD:
            import_module(module)


def born(birth: Birth) -> tuple:
    """Start a worker: my end of its pipe, what its fault handler may write (None on Windows), and the process."""
    with nursery() as context:
        mine, theirs = context.Pipe()
        words, last_words = context.Pipe(duplex=False) if os.name == "posix" else (None, None)
        process = context.Process(target=serve, args=(theirs, last_words, birth), daemon=True)
        process.start()
    for end in filter(None, (theirs, last_words)):
        end.close()
    return mine, words, process


@contextlib.contextmanager
def nursery():
    """The way to start processes, in an environment that suits them."""
    with _starting, alone(), hidden_main():
        context = multiprocess.get_context(METHOD)
        context.set_forkserver_preload(PRELOAD)
        yield context


@contextlib.contextmanager
def alone():
    """Processes started inside keep BLAS and Numba to one thread: the libraries read this when they are imported."""
    before = {name: os.environ.get(name) for name in ALONE}
    os.environ.update(ALONE)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


@contextlib.contextmanager
def hidden_main():
    """Processes started inside do not run the script that started them: what they need of it travels by value."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
