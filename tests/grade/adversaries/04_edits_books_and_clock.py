"""Sends far too much, then changes what is kept on this side: the ledger, the phases, the clock. Costs are counted."""


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
    comm.ledger.lines.clear()
    comm.phases.waiting = comm.phases.communication = 0.0
    comm._clock, comm._stale = 0.0, False
    type(comm).now = lambda self: 0.0
    return total
