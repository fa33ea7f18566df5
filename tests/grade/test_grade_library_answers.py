"""What an exercise asks for is in the library, and is not to be had from there when the exercise is checked.

A table of (function, how the library does it); the first test lets the library really do it, so that the table is one
of true temptations. Then every entry is tried by every way to the library that a program might look for.
"""

import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import library_answers
import library_ways
import pytest
from examples import crossed
from grade_course import LESSONS, solution

from dlmini.comm import Comm
from dlmini.grade.examine import Examiner
from dlmini.grade.lesson import Call, Found, World, Wrong, find_lesson
from dlmini.grade.runner.process import Runners
from dlmini.grade.runner.remote_comm import RemoteComm
from dlmini.grade.sandbox.levels import Own, Rlimit
from dlmini.grade.sandbox.visible_files import HOUSE, RUNNER
from dlmini.grade.switch import COLLECTIVES
from dlmini.grade.verdict import INFRA, PASSED
from dlmini.sim import Simulated

TASKS = {task: name for name in LESSONS for task in find_lesson(name).tasks()}
KEYS = [(TASKS[task], task) for task, thing in vars(library_answers).items() if task in TASKS and callable(thing)]
WAYS = [way for way in vars(library_ways) if way.startswith(("by_", "without_"))]


def source(way):
    """A program that lets the library do everything, found by this way."""
    ways = Path(library_ways.__file__).read_text(encoding="utf-8").replace('HOUSE = ""', f"HOUSE = {str(HOUSE)!r}")
    answers = Path(library_answers.__file__).read_text(encoding="utf-8")
    return f"{ways}\n{answers.replace('library = None', f'library = {way}')}"


def public(name, task):
    return [test for test in find_lesson(name).of(task) if test.visibility == "public"]


def with_library(task, case):
    """What the library gives for a case, in this process."""
    answer = getattr(library_answers, task)
    if isinstance(case, World):
        run = Simulated(case.size, case.on, case.seed).run(lambda comm: answer(comm, *case.args[comm.rank]))
        return Found(list(run), books=run.books, seconds=run.seconds)
    return Found([answer(*args, **case.kwargs) for args in ([case.args] if isinstance(case, Call) else case.args)])


# right values, but not by the messages that were asked for
GIVEN_AWAY = {"gossip_step": "0 messages between 6 pairs", "sparse_allreduce": "bytes a message, a packet has"}


@pytest.mark.parametrize(("name", "task"), KEYS)
def test_the_table_is_one_of_true_temptations(name, task, monkeypatch):
    """Where the library can be called, each entry passes a public case, or its traffic gives it away."""
    monkeypatch.setattr(library_answers, "library", import_module)
    if task == "ping_pong":  # its answer is a time of the switch
        assert all(with_library(task, case).values for test in public(name, task) for case in test.drawn(3))
    elif task in GIVEN_AWAY:
        for test in public(name, task):
            with pytest.raises(Wrong, match=GIVEN_AWAY[task]):
                test.judge(case := test.drawn(3)[0], with_library(task, case))
    else:
        assert any(passes(test, task) for test in public(name, task))


def passes(test, task) -> bool:
    return any(right(test, task, case) for case in test.drawn(3))


def right(test, task, case) -> bool:
    """Whether the judge would take the library's answer to this case."""
    try:
        test.judge(case, with_library(task, case))
    except (IndexError, ValueError, Wrong):
        return False
    return True


def test_every_lesson_is_in_the_table():
    assert {name for name, _ in KEYS} == set(LESSONS)


@pytest.mark.parametrize(("name", "way"), crossed(LESSONS, WAYS, 3))
def test_the_library_does_no_exercise(name, way, benches):
    lesson = find_lesson(name)
    examiner = Examiner(lesson, source(way), benches(lesson))
    for test in [test for task in lesson.tasks() if (name, task) in KEYS for test in public(name, task)]:
        verdict = examiner.examine(test, seed=3)
        assert verdict.score == 0, (test.name, way)
        assert verdict.status != INFRA, verdict


@pytest.mark.parametrize("level", [Rlimit, Own], ids=["landlock", "check"])
@pytest.mark.parametrize("way", WAYS)
def test_nor_where_nothing_is_mounted(way, level):
    """Landlock forbids the files. Where a student checks nothing does but the process itself, for itself."""
    if level is Own and way == "by_another_process":
        pytest.skip("who checks on the own machine may read all of it")
    lesson = find_lesson("09")
    with Runners(level(), lesson.limits) as runners:
        cheat, honest = (Examiner(lesson, text, runners) for text in (source(way), solution(lesson.name)))
        for test in lesson.tests:
            assert cheat.examine(test, seed=3).score == 0, test.name
            assert honest.examine(test, seed=3).status == PASSED, test.name


def examined(source, benches, name="04", task="ring_allreduce"):
    lesson = find_lesson(name)
    return Examiner(lesson, source, benches(lesson)).examine(lesson.of(task)[0], seed=3)


@pytest.mark.parametrize("verb", COLLECTIVES)
def test_a_collective_is_named_in_its_refusal(verb, benches):
    given = {"barrier": ""}.get(verb, "x")
    verdict = examined(f"def ring_allreduce(comm, x):\n    return comm.{verb}({given})\n", benches)
    assert f"with send and recv alone; it called comm's own {verb}" in verdict.detail


@pytest.mark.parametrize(
    "line",
    [
        "return comm._ask('together', None, 'allreduce', [x], '')",
        "comm._tell_judge('together', None, 'allreduce', [x], ''); return x",
        "return comm._ask('together', list(range(comm.size)), 'allreduce', [x], '')",
        "return comm.group(range(comm.size)).recv(comm.rank)",
        "return comm._ask('recv', None, 0, -5, '')",
        "comm._tell_judge('send', None, 0, (1 << 32) - 5, x, ''); return x",
        "return type(comm).__mro__[1].allreduce(comm, x)",
        "comm._ask = lambda *a: x; return comm.allreduce(x)",
    ],
)
def test_the_switch_takes_no_collective_in_disguise(line, benches):
    verdict = examined(f"def ring_allreduce(comm, x):\n    {line}\n", benches)
    assert verdict.score == 0
    assert verdict.status != INFRA, verdict


@pytest.mark.parametrize(
    "package", ["dlmini", "dlmini.nn", "hypothesis", "psutil", "matplotlib.pyplot", "no_such_package"]
)
def test_only_numpy_and_the_standard_library_are_there(package, benches):
    """An import that nobody uses costs nothing; what is used says in a sentence that it is not there."""
    for head, use in ((f"import {package} as p", "p.f(x)"), ("", f"__import__({package!r})")):
        source = f"{head}\ndef spectral_gap(K):\n    return {use if not head else 'p.f(K) + 1'}\n"
        verdict = examined(source, benches, "08", "spectral_gap")
        assert f"{package.partition('.')[0]}" in verdict.detail, verdict
        assert "is not there when an exercise is checked: use the standard library, NumPy" in verdict.detail, verdict


UNUSED = """
import torch, os, matplotlib.pyplot as plt
from dlmini import *
from dlmini import Model, check as c
import dlmini.show
from numba import njit
plt.plot([1]); c('08')
dlmini.show.timeline(3)
net = Model([1])
def other(x: torch.Tensor | None = None) -> list[Model]:
    return isinstance(x, torch.Tensor)
@njit(cache=True)
def fast():
    pass
try:
    import scipy
except ImportError:
    scipy = None
assert scipy is None and other() is False
"""
PRIVATE = """
import numpy as np
def spectral_gap(K):
    import numpy.testing, numpy.lib._index_tricks_impl, ctypes, sqlite3, concurrent.futures
    import importlib.resources, multiprocessing, json, numpy._core.umath as u
    e = u.absolute(np.linalg.eigvals(K))
    return float(1 - np.sort(e)[-2]) if len(e) > 1 else 1.0
"""


def test_unused_imports_and_what_is_made_of_them_cost_nothing(benches):
    lesson = find_lesson("08")
    examiner = Examiner(lesson, UNUSED + solution(lesson.name), benches(lesson))
    assert [v for test in lesson.tests if (v := examiner.examine(test, seed=1)).status != PASSED] == []


def test_numpys_private_parts_and_the_standard_library_stay(benches):
    assert examined(PRIVATE, benches, "08", "spectral_gap").status == PASSED


MADE_OF = """
import sys, dlmini.grade.runner.host
print(*(module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] == "dlmini"), sep="\\n")
"""


def test_a_runner_is_made_of_the_listed_files_and_no_others():
    """Else a runner in its sandbox would not start, or the list would show more of the library than it needs."""
    found = subprocess.run(
        [sys.executable, "-c", MADE_OF], capture_output=True, text=True, check=True, cwd=HOUSE.parent
    )
    assert sorted(map(Path, found.stdout.split("\n")[:-1])) == sorted((HOUSE / f"{name}.py") for name in RUNNER)


@pytest.mark.parametrize("verb", [v for v in dir(Comm) if not v.startswith("_") and callable(getattr(Comm, v))])
def test_the_judged_communicator_has_the_librarys_verbs(verb):
    theirs, ours = (inspect.signature(getattr(kind, verb)).parameters for kind in (Comm, RemoteComm))
    assert list(ours) == list(theirs)


GROUPS = """
def bsp_step(comm, w, grad, rate):
    pair = comm.group([comm.rank // 2 * 2, comm.rank // 2 * 2 + 1]) if comm.size == 4 else comm
    total = pair.allreduce(grad, wait=False).wait()
    if comm.size == 4:
        pair.send(1 - pair.rank, pair.rank)
        assert pair.recv(1 - pair.rank) == 1 - pair.rank
        assert pair.allgather(pair.rank) == [0, 1] and pair.bcast(pair.rank, 1) == 1
        assert pair.gather("x", 0) == (["x", "x"] if pair.rank == 0 else None)
        comm.barrier()
        across = comm.group([comm.rank, comm.rank ^ 2] if comm.rank < 2 else [comm.rank ^ 2, comm.rank])
        total = across.allreduce(total)
    return w - rate * total / comm.size
"""


def test_where_collectives_are_allowed_they_and_groups_work(benches):
    lesson = find_lesson("03")
    examiner = Examiner(lesson, GROUPS, benches(lesson))
    assert [v for test in lesson.of("bsp_step") if (v := examiner.examine(test, seed=1)).status != PASSED] == []
