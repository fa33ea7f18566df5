"""A rank that a notebook started: `mpiexec -n N python -m dlmini.comm.mpi.rank_main`. Runs the program, reports.

    rank -> home    ("hello", rank, process id)
    home -> rank 0  the task: search path of modules, pickled (program, args); rank 0 passes it on by MPI
    rank -> home    ("event", event), any number
    rank -> home    ("done", Report)  or  ("raised", pickled exception or None, traceback)

When the line breaks, the rank ends: it never outlives who asked for it.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback

import cloudpickle

from dlmini.comm.mpi import key_file as deposit
from dlmini.comm.mpi import report
from dlmini.comm.mpi.connection import Connection, call
from dlmini.comm.mpi.mpiexec import FILE, HOME, KEY, rank_here

PATIENCE = 5  # seconds in which home ends a job that has failed, before the rank does it itself


def main() -> None:
    sys.stdout.reconfigure(line_buffering=True, write_through=False)  # what is printed comes at once, in whole lines
    line = call(homes(os.environ[HOME]), key())
    line.send(("hello", rank_here(), os.getpid()))
    try:
        work(line)
    except BaseException as error:
        line.send(raised(error))
        threading.Event().wait(PATIENCE)
        abort()


def homes(text: str) -> list[tuple[str, int]]:
    """`address:port,address:port` as pairs."""
    pairs = (one.rsplit(":", 1) for one in text.split(","))
    return [(address, int(port)) for address, port in pairs]


def key() -> bytes:
    """The key of this run, which the program's own children need not inherit."""
    if FILE in os.environ:
        return deposit.read(os.environ.pop(FILE))
    return bytes.fromhex(os.environ.pop(KEY))


def work(line: Connection) -> None:
    mpi = world()
    path, task = mpi.bcast(line.recv() if mpi.rank == 0 else None)
    threading.Thread(target=leash, args=(line,), daemon=True).start()
    sys.path.extend(folder for folder in path if folder not in sys.path)
    program, args = cloudpickle.loads(task)

    from dlmini.comm.mpi.comm import MpiComm

    comm = MpiComm(mpi, tell=lambda event: line.send(("event", event)))
    line.send(("done", report.live(program, args, comm)))


def world():
    """MPI's communicator of all ranks. One thread speaks MPI, which spares it its locks."""
    import mpi4py

    mpi4py.rc.thread_level = "funneled"
    from mpi4py import MPI

    if MPI.COMM_WORLD.rank != rank_here():
        raise RuntimeError(
            f"rank {rank_here()} finds itself alone: mpi4py uses {MPI.Get_library_version().splitlines()[0]}, but the "
            'mpiexec that started it is of another MPI; take both from pip install "dlmini[mpi]", or neither'
        )
    return MPI.COMM_WORLD


def leash(line: Connection) -> None:
    """Home sends nothing more: what ends this waiting is the end of the line."""
    try:
        line.recv_bytes()
    except EOFError:
        os._exit(1)


def raised(error: BaseException) -> tuple:
    try:
        pickled = cloudpickle.dumps(error)
    except Exception:
        pickled = None  # an exception that cannot travel: its traceback can
    return "raised", pickled, "".join(traceback.format_exception(type(error), error, theirs(error.__traceback__)))


def theirs(tb):
    """The traceback from the program's first line on, without ours above it; all of it, if it is all ours."""
    inner = tb
    while inner is not None and inner.tb_frame.f_code.co_filename in (__file__, report.__file__):
        inner = inner.tb_next
    return inner or tb


def abort() -> None:
    """End all ranks; where MPI has not even begun, this one, which mpiexec takes as a reason to end the others."""
    if "mpi4py.MPI" in sys.modules:
        sys.modules["mpi4py.MPI"].COMM_WORLD.Abort(1)
    os._exit(1)


if __name__ == "__main__":
    main()
