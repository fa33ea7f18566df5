"""Says every number by the tag of an empty message."""

import numpy as np


def attack(comm, x, *rest):
    n, total = comm.size, x.copy()
    right, left = (comm.rank + 1) % n, (comm.rank - 1) % n
    for i, value in enumerate(x[:4]):
        comm.send(right, None, tag=200 * i + int(value) + 100)
    for i in range(min(4, len(x))):
        tag = next(t for t in range(200 * i, 200 * i + 200) if comm.poll(left, t))
        comm.recv(left, tag)
        total[i] += tag - 200 * i - 100
    return np.asarray(total)
