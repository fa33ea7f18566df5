"""Says the numbers by the names of the fields of a type, which travel in the header for nothing."""

import numpy as np


def attack(comm, x, *rest):
    n, total = comm.size, x.copy()
    for other in range(n):
        if other != comm.rank:
            comm.send(other, np.empty(0, [(f"f{i}_{int(v) + 1000}", "u1") for i, v in enumerate(x)]))
    for other in range(n):
        if other != comm.rank:
            total += np.array([int(name.rpartition("_")[2]) - 1000 for name in comm.recv(other).dtype.names], x.dtype)
    return total
