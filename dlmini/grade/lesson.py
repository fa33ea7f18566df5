"""The form of a lesson's tests: who writes one needs this file and `expect.py`.

    lesson = Lesson("04_allreduce")

    @lesson.test("ring_allgather", points=2, cases=worlds)
    def all_ranks_hold_all_chunks(case, found):
        '''Every rank returns the whole vector, chunks in their order.'''
        for rank, value in enumerate(found.values):
            same(value, case.truth, f"rank {rank}")

`cases(coin)` yields cases made from random numbers alone; the test's function compares what was found with a truth of
its own and raises `Wrong`; its docstring is the sentence a student reads. A test is passed if all its cases are.
Inputs travel to the student's process, the truth never does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from dlmini import lessons
from dlmini.comm.ledger import Books
from dlmini.comm.network import Network
from dlmini.grade.sandbox.limits import Limits
from dlmini.sim.cluster import Cluster

VISIBLE, HIDDEN = "public", "hidden"


class Wrong(Exception):
    """A sentence for the student and, where it helps, a picture: rows of text. mistakes: well-known ones, by name."""

    def __init__(self, sentence: str, picture: str = "", cells: list | None = None, mistakes: tuple[str, ...] = ()):
        super().__init__(sentence)
        self.picture, self.cells, self.mistakes = picture, cells, mistakes


@dataclass(frozen=True)
class Call:
    """One call of a plain function.

    repeat=2: called again with the same arguments; it must not change them. about: what is special here, said before
    an error that the function raises.
    """

    args: tuple = ()
    kwargs: dict = field(default_factory=dict)
    truth: object = None
    repeat: int = 1
    about: str = ""


@dataclass(frozen=True)
class Calls:
    """Several calls of a plain function, one after the other in one process."""

    args: list[tuple] = field(default_factory=list)
    kwargs: dict = field(default_factory=dict)
    truth: object = None
    repeat: int = 1
    about: str = ""


@dataclass(frozen=True)
class World:
    """function(comm, *args[rank], **kwargs) on every rank, each a process of its own, in virtual time."""

    size: int
    args: list[tuple]
    kwargs: dict = field(default_factory=dict)
    truth: object = None
    on: Cluster | Network | None = None
    seed: int = 0  # of the order of messages
    repeat: int = 1
    about: str = ""


Case = Call | Calls | World


@dataclass(frozen=True)
class Found:
    """What came back: of a call `value`, of several `values`; of a world `values` by rank, and the judge's books."""

    values: list
    printed: str = ""
    books: Books = field(default_factory=lambda: Books([]))
    seconds: float = 0.0
    work: dict[str, int] = field(default_factory=dict)  # how often each label of `compute` was charged
    left: list = field(default_factory=list)  # the arguments after the call, for each of `values`

    @property
    def value(self):
        return self.values[0]


@dataclass(frozen=True)
class Property:
    """A property of one function."""

    task: str
    name: str
    points: float
    visibility: str
    sentence: str
    cases: Callable[[np.random.Generator], Iterable[Case]]
    judge: Callable[[Case, Found], None]
    collectives: bool = False  # may the library's own collectives be used?

    def drawn(self, seed: int) -> list[Case]:
        """The cases of a seed: the same for the same seed."""
        return list(self.cases(np.random.default_rng([seed, key(self.task + self.name)])))


@dataclass
class Lesson:
    """All tests of `exercises/<name>.py`, in the order in which they were written."""

    name: str
    limits: Limits = field(default_factory=Limits)
    tests: list[Property] = field(default_factory=list)

    @property
    def number(self) -> str:
        return self.name[:2]

    @property
    def file(self) -> str:
        return f"{self.name}.py"

    @property
    def points(self) -> float:
        return sum(test.points for test in self.tests)

    def tasks(self) -> list[str]:
        return list(dict.fromkeys(test.task for test in self.tests))

    def of(self, task: str) -> list[Property]:
        return [test for test in self.tests if test.task == task]

    def test(self, task: str, points: float, cases, hidden: bool = False, collectives: bool = False):
        """Register the decorated function as a test of the student's function `task`."""

        def register(judge):
            sentence = " ".join((judge.__doc__ or "").split())
            if not sentence:
                raise ValueError(f"the test {judge.__name__} needs a docstring: it is what the student reads")
            seen = HIDDEN if hidden else VISIBLE
            self.tests.append(Property(task, judge.__name__, points, seen, sentence, cases, judge, collectives))
            return judge

        return register


def graded_lessons() -> list[str]:
    """All lessons that can be graded: those with a `grading.py`."""
    return list(lessons.folders("grading.py"))


def find_lesson(word: str) -> Lesson:
    """The lesson that `word` names: 04, 04_allreduce or 04.ring_allgather."""
    names = graded_lessons()
    found = [name for name in names if name.startswith(str(word)[:2] + "_")]
    if not found:
        raise ValueError(f"there is no lesson {word!r} to grade; there are {', '.join(names)}")
    return lessons.part(found[0], "grading").lesson


def key(*words: object) -> int:
    """A number of 63 bits that stands for these words: for seeds."""
    return int.from_bytes(blake2b("\0".join(map(str, words)).encode(), digest_size=8).digest(), "little") >> 1
