"""Sends far too much, then changes what is kept on this side: the ledger, the phases, the clock. Costs are counted."""

import contextlib


def attack(comm, x, *rest):
    total = x.copy()
    for other in range(comm.size):
        if other != comm.rank:
            for _ in range(3):
                comm.send(other, x)
    for other in range(comm.size):
        if other != comm.rank:
            total += comm.recv(other)
            comm.recv(other)
            comm.recv(other)
    with contextlib.suppress(AttributeError):
        comm.ledger.lines.clear()
        comm.phases.waiting = comm.phases.communication = 0.0
    comm.clock = comm._clock = comm.size = 0
    type(comm).now = lambda self: 0.0
    return total
