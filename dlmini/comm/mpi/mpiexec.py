"""Which mpiexec, with which words and which environment; and whether this process is itself a rank already."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

# where a rank finds home; the key of this run, or the name of the file that holds it
HOME, KEY, FILE = "DLMINI_MPI_HOME", "DLMINI_MPI_KEY", "DLMINI_MPI_KEY_FILE"
RANKS = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK")  # set for their ranks by Open MPI, by PMIx, by MPICH
BATCH = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE")  # a batch system's mpiexec knows its hosts by itself
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS")
INSTALL = 'pip install "dlmini[mpi]" brings both mpi4py and an mpiexec'

# Open MPI's settings, under their names since version 5 and before. No rank is tied to a core. On one host ranks may
# outnumber cores (with hosts that would put them all on the first), and those that wait inside MPI then give way; they
# speak through shared memory, without a search for network cards. A letter that messages.py sends whole is sent at once
# (EAGER bytes; 4096 by default): a longer one waits until its receiver has answered, which costs several times as much.
EAGER = 2**14 + 2**12
UNBOUND = {"PRTE_MCA_hwloc_default_binding_policy": "none", "OMPI_MCA_hwloc_base_binding_policy": "none"}
ONE_HOST = {
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,sm",
    "OMPI_MCA_btl_sm_eager_limit": str(EAGER),
    "OMPI_MCA_btl_vader_eager_limit": str(EAGER),
}
CROWDED = {"OMPI_MCA_mpi_yield_when_idle": "1"}
SESSION = ("PRTE_MCA_prte_tmpdir_base", "OMPI_MCA_orte_tmpdir_base", "OMPI_MCA_btl_sm_backing_directory")
MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(2**25), "MALLOC_TRIM_THRESHOLD_": str(2**28)}  # glibc: keep what was freed
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # containers: there is nobody else


def rank_here() -> int:
    """This process's rank, by its environment: -1 if no mpiexec started it."""
    return next((int(os.environ[name]) for name in RANKS if name in os.environ), -1)


def missing() -> str:
    """What Mpi lacks on this machine, as a sentence; empty if nothing. A rank has its mpiexec behind it."""
    if find_spec("mpi4py") is None:
        return f"Mpi needs the package mpi4py, which is not installed; {INSTALL}"
    if mpiexec() is None and rank_here() < 0:
        return f"Mpi needs the program mpiexec, which is neither beside this Python nor in the PATH; {INSTALL}"
    return ""


def mpiexec() -> str | None:
    """The one beside this Python, which mpi4py from a wheel belongs to; else the first in the PATH."""
    beside = os.pathsep.join(str(Path(sys.prefix) / folder) for folder in ("bin", "Scripts", "Library/bin"))
    return shutil.which("mpiexec", path=beside) or shutil.which("mpiexec")


@lru_cache
def version(program: str) -> str:
    """What mpiexec says of itself: `(Open MPI) 5.0.11`, `HYDRA build details: ...` (MPICH), or something else."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=False)
    return said.stdout + said.stderr


def one_host(hosts: tuple[str, ...] | None) -> bool:
    return not hosts and not any(name in os.environ for name in BATCH)


def command(size: int, hosts: tuple[str, ...] | None, options: tuple[str, ...]) -> list[str]:
    """mpiexec and its words. MPICH and its kin hand on the whole environment, Open MPI to other hosts what is named."""
    program = mpiexec()
    words, places = [program, "-n", str(size)], placed(size, hosts) if hosts else None
    if "Open MPI" in version(program):
        words += [word for name in (HOME, FILE if hosts else KEY, *THREADS) for word in ("-x", name)]
        words += ["--host", places] if places else []
    else:
        words += ["-hosts", places] if places else []
    if "HYDRA" in version(program):
        words.append("-disable-auto-cleanup")  # else a rank's death kills the others at once, and hides who was first
    return [*words, *options, sys.executable, "-m", "dlmini.comm.mpi.rank_main"]


def placed(size: int, hosts: tuple[str, ...]) -> str:
    """`name:ranks` of each host: as given, and what then remains evenly, in the order of hosts."""
    given = {host: int(host.rpartition(":")[2]) for host in hosts if ":" in host}
    free = [host for host in hosts if host not in given]
    rest = size - sum(given.values())
    if rest < 0 or (rest and not free):
        raise ValueError(f"hosts={list(hosts)} are places for {size - rest} ranks, but there are {size}; change one")
    share = {host: (i + 1) * rest // len(free) - i * rest // len(free) for i, host in enumerate(free)}
    return ",".join(host if host in given else f"{host}:{share[host]}" for host in hosts if share.get(host, 1))


def environment(size: int, hosts: tuple[str, ...] | None) -> dict[str, str]:
    """Our settings where the reader's own do not say otherwise; one thread per rank in any case."""
    ours = UNBOUND | MEMORY
    if one_host(hosts):
        ours |= ONE_HOST | (CROWDED if size > cores() else {})
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        ours |= AS_ROOT
    return ours | os.environ | dict.fromkeys(THREADS, "1")


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def names(hosts: tuple[str, ...]) -> list[str]:
    """Hosts without their numbers of ranks."""
    return [host.rsplit(":", 1)[0] for host in hosts]


def heard_at(hosts: tuple[str, ...] | None) -> list[str]:
    """At which of this machine's addresses ranks will call: the interfaces that lead to their hosts, and no other.

    Connecting a datagram socket finds them, and sends nothing. Where that fails (a batch system knows the hosts; a name
    that ssh alone understands), it must be all: "".
    """
    if one_host(hosts):
        return ["127.0.0.1"]
    found = []
    for name in names(hosts or ()):
        with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((name, 9))
            found.append(probe.getsockname()[0])
    return list(dict.fromkeys(found)) if hosts and len(found) == len(hosts) else [""]


def addresses(hosts: tuple[str, ...] | None, ports: list[int]) -> list[tuple[str, int]]:
    """What ranks should call, first the likeliest: (address, port). Listening everywhere, this machine by its names."""
    found = list(zip(heard_at(hosts), ports, strict=True))
    if found[0][0]:
        return found
    return [(name, ports[0]) for name in dict.fromkeys([socket.getfqdn(), socket.gethostname()])]
