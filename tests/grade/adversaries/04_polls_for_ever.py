"""Looks for a message that never comes."""


def attack(comm, x, *rest):
    while not comm.poll():
        pass
