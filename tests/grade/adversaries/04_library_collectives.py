"""Lets the library do the exercise."""


def attack(comm, x, *rest):
    return comm.allreduce(x)
