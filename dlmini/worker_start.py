"""The first minute of a worker process, before it has imported anything heavy.

BLAS and Numba read how many threads they may use when they are imported. So it is said here, in the new process, and
not in the environment of the one that starts it: there, other threads would see it change, and inherit it.
"""

from __future__ import annotations

import os

LIBRARIES = ("OMP", "OPENBLAS", "MKL", "NUMBA", "NUMEXPR")
ALONE = {f"{library}_NUM_THREADS": "1" for library in LIBRARIES} | {"VECLIB_MAXIMUM_THREADS": "1"}


def one_thread() -> None:
    """Libraries that this process imports from now on keep to one thread."""
    os.environ.update(ALONE)


def serve(pipe, last_words, order: tuple) -> None:
    """The process's main function. All it is given is plain: to unpickle it imports nothing of the house."""
    one_thread()

    from dlmini.comm.processes.workers import worker
    from dlmini.comm.processes.workers.protocol import StartOrder

    worker.serve(pipe, last_words, StartOrder(*order))


def serve_in_room(pipe, last_words, port: int, home: str) -> None:
    """The same of a rank in a classroom."""
    one_thread()

    from dlmini.comm.classroom import rank

    rank.serve(pipe, last_words, port, home)
