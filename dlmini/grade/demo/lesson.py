"""The exercise of the demonstration: two functions that no lesson asks for, so that nothing is given away."""

from __future__ import annotations

import numpy as np

from dlmini.grade.expect import close, named, nothing, whole
from dlmini.grade.lesson import Call, Lesson, World
from dlmini.grade.sandbox.limits import Limits

lesson = Lesson("98_demo", Limits(cpu=1, wall=3.0))
EXERCISE = '''"""Exercise 98. Smooth a curve, and pass a number on."""

import numpy as np


def smoothed(x, width):
    """The means of every `width` neighbours of the vector x: len(x) - width + 1 of them, float64."""
    raise NotImplementedError("not done yet: smoothed")


def passed_on(comm, number):
    """Rank 0 sends its number to rank 1; every rank adds 1 and sends it on. The last returns it, the others None."""
    raise NotImplementedError("not done yet: passed_on")
'''


def curves(coin):
    for length, width in ((8, 1), (int(coin.integers(5, 40)), 3), (6, 6)):
        x = coin.normal(size=length)
        yield Call((x, width), truth=np.convolve(x, np.ones(width) / width, "valid"), repeat=2)


def long_curves(coin):
    for width in (2, 7, 50):
        x = coin.normal(size=int(coin.integers(50, 500)))
        yield Call((x, width), truth=np.convolve(x, np.ones(width) / width, "valid"), repeat=2)


def famous(case: Call) -> dict[str, np.ndarray]:
    """What well-known mistakes give."""
    x, width = case.args
    found = {"the sum in the place of the mean": case.truth * width, "one too few": case.truth[:-1]}
    if width > 1:
        found["the ends are filled up with zeros"] = np.convolve(x, np.ones(width) / width, "same")
    return found


def right(case, found) -> None:
    named(found.value, case.truth, f"width {case.args[1]}", famous(case))
    close(found.value, case.truth, f"width {case.args[1]}", terms=case.args[1])


@lesson.test("smoothed", points=2, cases=curves)
def short_curves_are_smoothed(case, found):
    """Every value is the mean of its neighbours."""
    right(case, found)


@lesson.test("smoothed", points=3, cases=long_curves, hidden=True)
def long_curves_are_smoothed(case, found):
    """Also of long curves, and the argument stays as it was."""
    right(case, found)


def rows(coin):
    for size in (2, 4):
        number = int(coin.integers(0, 1000))
        yield World(size, [(number if rank == 0 else 0,) for rank in range(size)], truth=number)


def alone(coin):
    yield World(1, [(int(coin.integers(0, 1000)),)], truth=0)
    yield World(5, [(rank,) for rank in range(5)], truth=0)


def arrived(case, found) -> None:
    last = case.size - 1
    for rank in range(last):
        nothing(found.values[rank], f"rank {rank} of {case.size}")
    start = case.args[0][0]
    wrong = {"nobody added anything": start, "the last rank did not add its 1": start + last - 1}
    named(found.values[last], start + last, f"rank {last} of {case.size}", wrong)
    whole(found.values[last], start + last, f"rank {last} of {case.size}")


@lesson.test("passed_on", points=2, cases=rows)
def the_last_rank_returns_it(case, found):
    """The last rank returns the number, one larger for every rank behind the first."""
    arrived(case, found)


@lesson.test("passed_on", points=3, cases=alone, hidden=True)
def any_number_of_ranks_will_do(case, found):
    """Also one rank alone, and five; a message goes to the next rank only."""
    arrived(case, found)
    whole(found.books.total().messages, case.size - 1, "messages in all")
