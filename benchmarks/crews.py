"""Other libraries' processes that all-reduce on command. Between two commands they sleep in a read, so that whoever is
measured has the machine to itself.

    python -m benchmarks.crews gloo RANK SIZE FILE ADDRESS         started by `Crew`, once per rank
    mpiexec -n SIZE python -m benchmarks.crews mpi ADDRESS
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from multiprocessing.connection import Client, Listener
from pathlib import Path

import numpy as np

KEY = b"benchmark"


class Crew:
    """`size` processes of a peer; `seconds(count, reps)` is what one all-reduce of `count` float32 took them."""

    def __init__(self, peer: str, size: int):
        self.folder = tempfile.TemporaryDirectory()
        with Listener(family="AF_UNIX", authkey=KEY) as door:
            self.processes = [
                subprocess.Popen(command, stdout=subprocess.DEVNULL)
                for command in COMMANDS[peer](size, door.address, self.folder.name)
            ]
            self.lines = [door.accept() for _ in range(size)]

    def seconds(self, count: int, reps: int) -> float:
        for line in self.lines:
            line.send((count, reps))
        return max(line.recv() for line in self.lines)

    def close(self) -> None:
        for line in self.lines:
            line.send(None)
        for process in self.processes:
            process.wait(20)
        self.folder.cleanup()


def gloo_commands(size: int, address: str, folder: str) -> list[list[str]]:
    here = [sys.executable, "-m", "benchmarks.crews", "gloo"]
    return [[*here, str(rank), str(size), f"{folder}/meet", address] for rank in range(size)]


def mpi_commands(size: int, address: str, folder: str) -> list[list[str]]:
    """Bound to cores if there are enough of them; else told that there are not."""
    crowded = size > len(os.sched_getaffinity(0))
    how = ["--map-by", ":OVERSUBSCRIBE"] if crowded else ["--bind-to", "core"]
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return [[mpiexec(), *root, *how, "-n", str(size), sys.executable, "-m", "benchmarks.crews", "mpi", address]]


COMMANDS = {"gloo": gloo_commands, "Open MPI": mpi_commands}


def mpiexec() -> str | None:
    """The one beside this Python, else the system's."""
    beside = Path(sys.executable).with_name("mpiexec")
    return str(beside) if beside.exists() else shutil.which("mpiexec")


def missing(peer: str) -> str:
    """Why a peer cannot run here; empty if it can."""
    if not hasattr(os, "sched_getaffinity"):
        return "peers are measured on Linux only"
    if peer == "gloo":
        return "" if find_spec("torch") else "PyTorch is not installed"
    if not find_spec("mpi4py"):
        return "mpi4py is not installed"
    return "" if mpiexec() else "there is no mpiexec"


def timed(call, reps: int) -> float:
    call()
    start = time.perf_counter()
    for _ in range(reps):
        call()
    return (time.perf_counter() - start) / reps


def gloo(rank: str, size: str, file: str, address: str) -> None:
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=int(rank), world_size=int(size))
    obey(address, lambda count: sum_of(dist, torch.ones(count)))
    dist.destroy_process_group()


def sum_of(dist, x):
    return lambda: dist.all_reduce(x)


def mpi(address: str) -> None:
    from mpi4py import MPI

    def make(count):
        x, out = np.ones(count, np.float32), np.empty(count, np.float32)
        return lambda: MPI.COMM_WORLD.Allreduce(x, out)

    obey(address, make)


def obey(address: str, make) -> None:
    with Client(address, authkey=KEY) as line:
        while (order := line.recv()) is not None:
            count, reps = order
            line.send(timed(make(count), reps))


if __name__ == "__main__":
    {"gloo": gloo, "mpi": mpi}[sys.argv[1]](*sys.argv[2:])
