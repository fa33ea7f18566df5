"""Sends for ever, to drown the judge's switch."""


def attack(comm, x, *rest):
    while True:
        comm.send((comm.rank + 1) % comm.size, x)
