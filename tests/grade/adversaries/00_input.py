"""Waits for somebody to type."""


def attack(*args, **kwargs):
    return eval(input("what is the answer? "))
