"""What is measured on real links, and predicted in virtual time, by the same program: exchanges, each after a barrier.

python -m dlmini.studies.classroom.exchange FILE ROUNDS     on the first host of hosts.py; writes JSON
"""

from __future__ import annotations

import json
import sys
import time
from hashlib import blake2b
from pathlib import Path

import numpy as np

from dlmini.comm.launch import launch
from dlmini.files import write_text
from dlmini.loop import program
from dlmini.optim import SGD
from dlmini.recipe import Recipe
from dlmini.studies.classroom.learning import WAYS
from dlmini.studies.classroom.published import PCS
from dlmini.studies.classroom.timing import whole_unet
from dlmini.studies.hosts import addresses
from dlmini.topology import Star
from dlmini.topology.turn import Turn

NAMES = ("float32", "float16", "int8", "int8 + deflate")


def recipe_of(name: str, rounds: int) -> Recipe:
    """As published: the same packets both ways, and nothing remembered."""
    codec = WAYS[name].compression
    memory = False if codec.wants_feedback else None
    return Recipe(topology=Star(codec), compression=codec, optimizer=SGD(0.01), rounds=rounds, feedback=memory)


def exchanges(comm, name: str, rounds: int) -> dict:
    """Seconds of each exchange, the slowest rank's; packets are made before, from real gradients."""
    task, recipe = whole_unet(), recipe_of(name, rounds)
    w, start, grad, mixed = (task.initial() for _ in range(4))
    task.loss_and_grad(w, next(task.batches(comm.rank, comm.size, 0)), grad)
    packet = recipe.compression.encode(grad)
    talk, outer = recipe.topology.start(comm, w, recipe, task.shapes), recipe.optimizer.start(task.size)
    seconds = []
    for t in range(rounds):
        comm.barrier()
        began = comm.now()
        talk.exchange(comm, Turn(t, start, w, packet, mixed, recipe.compression.summable), outer)
        seconds.append(float(np.max(comm.allgather(np.array([comm.now() - began])))))
    return {"seconds": seconds, "packet": packet.nbytes, "handling": handling(comm, recipe.compression, grad)}


def handling(comm, codec, grad: np.ndarray) -> float:
    """Seconds that worker 0 needs to read everybody's packet and to make the one that goes back, while others wait for
    it; and then all together, on the cores that there are, to read that one.

    The wires know nothing of it. For deflate it is most of an exchange.
    """
    packets, total, answer = comm.gather(codec.encode(grad)), np.zeros_like(grad), None
    comm.barrier()
    began = time.perf_counter()
    if comm.rank == 0:
        for packet in packets:
            packet.add_to(total, 1 / comm.size)
        answer = codec.encode(total)
    first = time.perf_counter() - began
    answer = comm.bcast(answer)
    comm.barrier()
    began = time.perf_counter()
    answer.add_to(total)
    then = float(np.max(comm.allgather(np.array([time.perf_counter() - began]))))
    return first + then


def training(comm, name: str, rounds: int) -> dict:
    """Real training: seconds of a round, of those synchronisation, and a digest of the weights."""
    comm.barrier()
    began, before = comm.now(), comm.phases.waiting + comm.phases.communication
    w = program(comm, whole_unet(), recipe_of(name, rounds))
    spent, synced = comm.now() - began, comm.phases.waiting + comm.phases.communication - before
    return {
        "round": spent / rounds,
        "synchronisation": synced / rounds,
        "weights": blake2b(w, digest_size=8).hexdigest(),
    }


def everything(comm, rounds: int) -> dict:
    """By way."""
    return {name: {**exchanges(comm, name, rounds), **training(comm, name, rounds)} for name in NAMES}


def results(on, rounds: int) -> dict:
    """Plain numbers of a run: by way what the first rank found; what passed between ranks; whether weights agree."""
    found = launch(everything, on, (rounds,))
    pairs = {f"{a} to {b}": [t.messages, t.nbytes] for (a, b), t in sorted(found.books.per_pair().items())}
    equal = all(one[name]["weights"] == found[0][name]["weights"] for one in found for name in NAMES)
    return {"ways": found[0], "pairs": pairs, "equal": equal}


if __name__ == "__main__":
    from dlmini.comm.mpi import Mpi

    file, count = Path(sys.argv[1]), int(sys.argv[2])
    write_text(file, json.dumps(results(Mpi(PCS, hosts=addresses(PCS), timeout=500), count)))
