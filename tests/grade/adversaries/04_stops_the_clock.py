"""Work that takes a negative time, or none that is a number."""


def attack(comm, x, *rest):
    comm.compute("rest", None, flops=-1e30)
    comm.compute("rest", None, flops=float("nan"))
    comm.compute("rest", None, flops=float("inf"))
    return x
