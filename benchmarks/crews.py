"""Other libraries' processes that all-reduce or train on command. Between two commands they sleep in a read, so that
whoever is measured has the machine to itself.

    python -m benchmarks.crews gloo|ddp|pipe RANK SIZE FILE ADDRESS     started by `Crew`, once per rank
    mpiexec -n SIZE python -m benchmarks.crews mpi ADDRESS
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from importlib.util import find_spec
from multiprocessing.connection import Client, Listener
from pathlib import Path

import numpy as np

KEY = b"benchmark"


class Crew:
    """`size` processes of a peer; `seconds(what, reps)` is how long it took them to do it once.

    what: the length of a float32 vector to all-reduce; for MPI, also (how, length) of messages (`mpi_messages`); for
    DDP and pipelining, a training step (crews_ddp.py, crews_pipe.py).
    """

    def __init__(self, peer: str, size: int):
        self.folder = tempfile.TemporaryDirectory()
        with Listener(family="AF_UNIX", authkey=KEY) as door:
            self.processes = [
                subprocess.Popen(command, stdout=subprocess.DEVNULL)
                for command in COMMANDS[peer](size, door.address, self.folder.name)
            ]
            self.lines = [door.accept() for _ in range(size)]

    def seconds(self, what, reps: int) -> float:
        for line in self.lines:
            line.send((what, reps))
        return max(line.recv() for line in self.lines)

    def close(self) -> None:
        for line in self.lines:
            line.send(None)
        for process in self.processes:
            process.wait(20)
        self.folder.cleanup()


def torch_commands(kind: str, size: int, address: str, folder: str) -> list[list[str]]:
    here = [sys.executable, "-m", "benchmarks.crews", kind]
    return [[*here, str(rank), str(size), f"{folder}/meet", address] for rank in range(size)]


def mpi_commands(size: int, address: str, folder: str) -> list[list[str]]:
    """Bound to cores if there are enough of them; else told that there are not."""
    crowded = size > len(os.sched_getaffinity(0))
    how = ["--map-by", ":OVERSUBSCRIBE"] if crowded else ["--bind-to", "core"]
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return [[mpiexec(), *root, *how, "-n", str(size), sys.executable, "-m", "benchmarks.crews", "mpi", address]]


COMMANDS = {
    "gloo": partial(torch_commands, "gloo"),
    "DDP": partial(torch_commands, "ddp"),
    "pipelining": partial(torch_commands, "pipe"),
    "Open MPI": mpi_commands,
}


def mpiexec() -> str | None:
    """The one beside this Python, else the system's."""
    beside = Path(sys.executable).with_name("mpiexec")
    return str(beside) if beside.exists() else shutil.which("mpiexec")


def missing(peer: str) -> str:
    """Why a peer cannot run here; empty if it can."""
    if not hasattr(os, "sched_getaffinity"):
        return "peers are measured on Linux only"
    if peer in ("gloo", "DDP", "pipelining"):
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


def in_torch(make, rank: str, size: str, file: str, address: str) -> None:
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=int(rank), world_size=int(size))
    obey(address, make)
    dist.destroy_process_group()


def gloo_sum(count: int):
    import torch
    import torch.distributed as dist

    x = torch.ones(count)
    return lambda: dist.all_reduce(x)


def ddp_step(what):
    from benchmarks.crews_ddp import step

    return step(*what)


def pipe_step(what):
    from benchmarks.crews_pipe import step

    return step(*what)


def mpi(address: str) -> None:
    from mpi4py import MPI

    def make(what):
        if isinstance(what, tuple):
            return mpi_messages(MPI.COMM_WORLD, *what)
        x, out = np.ones(what, np.float32), np.empty(what, np.float32)
        return lambda: MPI.COMM_WORLD.Allreduce(x, out)

    obey(address, make)


def mpi_messages(world, how: str, count: int):
    """A message there and back, pickled or between buffers; or one to the next rank, around all of them."""
    x, out, other = np.ones(count, np.float32), np.empty(count, np.float32), 1 - world.rank
    calls = {
        "pickled": (lambda: world.send(x, other), lambda: world.recv(source=other)),
        "buffers": (lambda: world.Send(x, other), lambda: world.Recv(out, other)),
    }
    if how == "around":
        before, after = ((world.rank + step) % world.size for step in (-1, 1))
        return lambda: world.Sendrecv(x, after, recvbuf=out, source=before)
    first, second = calls[how] if world.rank == 0 else calls[how][::-1]

    def once():
        first()
        second()

    return once


def obey(address: str, make) -> None:
    with Client(address, authkey=KEY) as line:
        while (order := line.recv()) is not None:
            what, reps = order
            line.send(timed(make(what), reps))


if __name__ == "__main__":
    steps = {"gloo": gloo_sum, "ddp": ddp_step, "pipe": pipe_step}
    life = mpi if sys.argv[1] == "mpi" else partial(in_torch, steps[sys.argv[1]])
    life(*sys.argv[2:])
