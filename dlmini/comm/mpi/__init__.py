"""Ranks of MPI, for those who outgrow one machine; no system-wide MPI is needed (`pip install "dlmini[mpi]"`).

notebook, script:    Mpi(8) or Mpi(60, hosts=["a", "b:16"])    each run starts mpiexec and ends it
inside mpiexec:      Mpi()                                     the ranks that are already there

mpiexec.py      which mpiexec, with which words          comm.py                a rank as a Comm
guard.py        a process that ends it, whatever happens messages.py            sending, receiving, waiting
job.py          one run, seen from the notebook          parts.py               large payloads in parts
rank_main.py    one run, seen from a rank                native_collectives.py  MPI's own collectives
connection.py   the connection between the two           clock.py               clocks aligned by ping-pong
listener.py     the notebook's end of all of them        inside_mpiexec.py      ranks that somebody else started
key_file.py     how its key comes to other hosts         report.py, failures.py what came of it
host_file.py    the hosts, one on a line
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dlmini.checks import real, refuse, settle, whole
from dlmini.comm.launch import Results
from dlmini.comm.mpi.host_file import read_hosts
from dlmini.comm.mpi.mpiexec import missing, placed, rank_here
from dlmini.events import Event


@dataclass(frozen=True)
class Mpi:
    """`size` ranks of MPI, one process each, one thread each.

    hosts     names of machines, as `name` or `name:ranks`; without numbers the ranks are spread evenly, in order.
              A Path is a host file (host_file.py); `dlmini doctor --hosts FILE` looks its machines over.
              Each needs this Python and dlmini at the same path, and must be reachable by ssh without a password.
              Programs and results pass the network between them unencrypted (connection.py says what is protected).
    timeout   seconds after which a run is given up.
    options   further words for mpiexec, as its manual has them.

    A start costs about a second: put many experiments into one program, or use Processes on one machine.
    """

    size: int | None = None
    hosts: tuple[str, ...] | Path | None = None
    timeout: float | None = None
    options: tuple[str, ...] = ()

    def __post_init__(self):
        if missing():
            raise ModuleNotFoundError(missing())
        if isinstance(self.hosts, Path):
            settle(self, hosts=read_hosts(self.hosts))
        names(() if self.hosts is None else self.hosts, "hosts"), names(self.options, "options")
        if self.timeout is not None:
            settle(self, timeout=real(self.timeout, "timeout", above=0, infinite=True, hint="seconds"))
        found = self._found() if rank_here() >= 0 else self._asked()
        fields = {"size": found, "hosts": tuple(self.hosts) if self.hosts else None, "options": tuple(self.options)}
        settle(self, **fields)
        if self.hosts:
            placed(self.size, self.hosts)  # says so if they do not fit

    def _asked(self) -> int:
        if self.size is None:
            raise ValueError("Mpi() finds its ranks only inside mpiexec; elsewhere say how many, as in Mpi(4)")
        return whole(self.size, "size", 1, hint="ranks")

    def _found(self) -> int:
        from dlmini.comm.mpi.inside_mpiexec import size

        if self.size in (None, size()):
            return size()
        raise ValueError(
            f"Mpi({self.size}) inside an mpiexec with {size()} ranks; use Mpi(), which takes what there is"
        )

    def run(self, program: Callable, args: tuple = (), listen: Callable[[Event], None] | None = None) -> Results:
        """program(comm, *args) on every rank.

        Inside mpiexec all ranks must call this; each gets the results of all, rank 0 alone the events.
        """
        if rank_here() >= 0:
            from dlmini.comm.mpi.inside_mpiexec import run_here

            return run_here(program, args, listen)

        from dlmini.comm.mpi.job import run_job

        return run_job(self, program, args, listen)


def names(row, name: str) -> None:
    if isinstance(row, str):
        raise TypeError(f'{name} is a list of names, not one string; write {name}=["{row}"]')
    if not isinstance(row, list | tuple) or not all(isinstance(one, str) for one in row):
        refuse(TypeError, name, row, f'a list of names, such as {name}=["a", "b"]')
