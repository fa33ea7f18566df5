"""Programs on arrays that NumPy would rather reuse than allocate. Run in a process of their own: they may kill it.

    python tests/sim/elision_programs.py student
Each is repeated in one process: the stack above a greenlet's start differs from run to run.
"""

import sys

import numpy as np

from dlmini import AllReduce, Classify, Dense, Gossip, Model, ParameterServer, Recipe, TopK, blobs, launch, train
from dlmini.sim import Cluster, Simulated

RANKS, LENGTHS = 16, (40_000, 60_000, 100_000)  # of float64: 320 to 800 KB, above NumPy's 256 KB


def arithmetic(x):
    """Every operator that may write its result into a temporary operand: binary, reflected, unary, powers."""
    y = (x + 1) + (x + 2)
    y = (x - 1) - y * 0.5
    y = (3 - (x * 2)) / (y * y + 1)
    y = (y + 2) // 0.25 + (y + 3) % 0.5
    y = -(abs(y + 1) ** 2) + (y + 1) ** 0.5 + (y * y + 1) ** -1
    bits = ((y * 8).astype(np.int64) & 255) | ((x * 8).astype(np.int64) << 2)
    return y + (~(bits ^ 5) >> 1)


def student(comm, length):
    """A function in a function, a generator, a class: calls of Python that leave no mark on the C stack."""

    class Net:
        def step(self, x):
            return x - 0.1 * (arithmetic(x) * 0.5 + (x - 1))

    def batches(x):
        for shift in range(2):
            yield (x + shift) * 2 - (x * 3)

    x = np.full(length, 1.0 + comm.rank)
    comm.send((comm.rank + 1) % comm.size, Net().step(x) + (x + 1))
    y = comm.recv((comm.rank - 1) % comm.size)
    return [((z + y) * 0.5 - (y + 1)).sum() for z in batches(x)]


def posted(comm, length):
    """While collectives are under way, in a greenlet of their own where they are played."""
    x = np.full(length, 1.0 + comm.rank)
    pending = [comm.allreduce(arithmetic(x) + k, wait=False) for k in range(3)]
    y = arithmetic(x + 1) * 2 + (x + 3)
    return sum((p.wait() / comm.size + (y * 2)).sum() for p in pending)


def returned(comm, length):
    """By a rank that has died and come back: it has a greenlet anew."""
    x = np.full(length, 1.0 + comm.rank)
    for _ in range(3):
        x = arithmetic(x) * 1e-3 + (x * 0.5)
        comm.compute("work", None, flops=1e9)
    return x.sum()


def training(length):
    """Recipes of the lessons, on a model of so many numbers."""
    data = blobs(320, seed=1), blobs(40, seed=2)
    inputs, classes = int(np.prod(data[0].shape)), len(data[0].classes)
    model = Model([Dense(2 * length // (inputs + classes)), Dense(classes)], data[0].shape)
    for recipe in (
        Recipe(topology=Gossip(), rounds=2),
        Recipe(topology=AllReduce(), rounds=2),
        Recipe(topology=ParameterServer(1), compression=TopK(0.1), rounds=2),
    ):
        train(Classify(model, *data, batch=4), recipe, on=Simulated(RANKS)).result()


WORLDS = {
    student: [Cluster()],
    posted: [Cluster(priced=False), Cluster()],
    returned: [Cluster(crash={1: 1.5}, back={1: 2.0})],
}


def main(name):
    np.seterr(all="ignore")
    for length in LENGTHS * 2:
        if name == "training":
            training(length)
            continue
        for world in WORLDS[globals()[name]]:
            launch(globals()[name], Simulated(RANKS, world), (length,))


if __name__ == "__main__":
    main(sys.argv[1])
    print("alive")
