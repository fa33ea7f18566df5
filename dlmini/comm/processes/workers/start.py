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
import signal
import sys
import threading
from collections.abc import Callable
from functools import wraps
from importlib import import_module

import multiprocess
from multiprocess import forkserver, resource_tracker, spawn

from dlmini.comm.processes.workers.protocol import StartOrder
from dlmini.worker_start import serve

METHOD = "forkserver" if sys.platform == "linux" else "spawn"
PRELOAD, WARM = ["dlmini.preload"], "dlmini.comm.processes.workers.warm_workers"
_starting, _here = threading.RLock(), threading.local()


def prepare() -> None:
    """Let the fork server warm up, so that the first call finds it ready. Returns at once."""
    if multiprocess.current_process().daemon:
        raise RuntimeError("a rank cannot have ranks of its own; use comm.group(...) to divide those that there are")
    if METHOD == "forkserver":
        with starting():
            forkserver.ensure_running()


def compile_once() -> None:
    """Where every worker loads the kernels for itself, let this process compile them first, not all at once."""
    if METHOD == "spawn":
        import_module(WARM)


def start_worker(order: StartOrder) -> tuple:
    """As start_process."""
    return start_process(serve, tuple(order))


def start_process(life: Callable, *args) -> tuple:
    """Start life(pipe, last words, *args) in a process that ends with this one.

    Returns my end of its pipe, what its fault handler may write (None on Windows), and the process.
    """
    with starting() as context:
        mine, theirs = context.Pipe()
        words, last_words = context.Pipe(duplex=False) if os.name == "posix" else (None, None)
        process = context.Process(target=life, args=(theirs, last_words, *args), daemon=True)
        process.start()
    for end in filter(None, (theirs, last_words)):
        end.close()
    return mine, words, process


@contextlib.contextmanager
def deaf_to_ctrl_c():
    """A process that is born here does not hear of Ctrl-C, also while it imports: it would print where it was."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # whoever starts it lets signals through again: not within the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def starting():
    """The way to start processes. Nothing that other threads of this process can see is different meanwhile."""
    with _starting, deaf_to_ctrl_c():
        context = multiprocess.get_context(METHOD)
        context.set_forkserver_preload(PRELOAD)
        _here.starting = True
        try:
            yield context
        finally:
            _here.starting = False


def without_main(prepared):
    """Processes that a thread starts in the starting do not run the script that started them: what they need of it
    travels by value. For all others this is the function that it wraps.
    """

    @wraps(prepared)
    def get_preparation_data(name):
        data = prepared(name)
        if getattr(_here, "starting", False):
            data = {key: value for key, value in data.items() if not key.startswith("init_main_from")}
        return data

    return get_preparation_data


spawn.get_preparation_data = without_main(spawn.get_preparation_data)
