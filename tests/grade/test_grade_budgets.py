"""What a submission may use as a whole: memory of all its processes and ranks, seconds of all its tests."""

import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from dlmini.grade.examine import Examiner
from dlmini.grade.lesson import Call, Lesson, World
from dlmini.grade.runner.memory_watch import MemoryWatch, below, resident
from dlmini.grade.runner.process import Runners
from dlmini.grade.runner.values import HEAD, TABLE, Garbled, frame, lengths, strict
from dlmini.grade.sandbox.limits import Limits
from dlmini.grade.verdict import FAILED, INFRA, PASSED, TIMED_OUT

only_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says who is whose child")
SMALL = Limits(memory=600 << 20, wall=20.0, cpu=10)
PIECE = 250 << 20  # each process is within its own limit, three of them are not within that of all


def made(case, tests=1, limits=SMALL) -> Lesson:
    """A lesson with so many tests of one function, all with the same case."""
    lesson = Lesson("98_made_up", limits)
    for number in range(tests):

        def gives_one(case, found):
            """It returns 1."""
            assert found.values == [1] * len(found.values)

        gives_one.__name__ = f"gives_one_{number}"
        lesson.test("f", points=1, cases=lambda coin: [case])(gives_one)
    return lesson


def verdicts(lesson, source, sandbox):
    with Runners(sandbox, lesson.limits) as runners:
        examiner = Examiner(lesson, source, runners)
        return [examiner.examine(test, seed=0) for test in lesson.tests]


HOLD = f"""
import os, time
def hold():
    kept = bytearray({PIECE})
    for i in range(0, len(kept), 4096):
        kept[i] = 1
    time.sleep(60)
"""
PROCESSES = f"{HOLD}\ndef f():\n    for _ in range(3):\n        if not os.fork():\n            hold()\n    hold()\n"
RANKS = f"{HOLD}\ndef f(comm):\n    hold()\n"
HONEST = f"def f(*comm):\n    kept = bytes({PIECE})\n    return 1\n"


@only_linux
@pytest.mark.parametrize("source", [PROCESSES, RANKS], ids=["processes of a rank", "ranks"])
def test_memory_is_limited_for_all_processes_of_a_submission_together(source, sandbox):
    case = Call() if source is PROCESSES else World(4, [()] * 4)
    began = time.monotonic()
    (found,) = verdicts(made(case), source, sandbox)
    assert found.status == FAILED
    assert "held more than 600 MB of memory together" in found.detail
    assert time.monotonic() - began < 60  # it was not waited for


def test_what_is_within_the_limit_is_let_be(sandbox):
    (found,) = verdicts(made(Call()), HONEST, sandbox)
    assert found.status == PASSED
    (found,) = verdicts(made(World(4, [()] * 4)), "def f(comm):\n    kept = bytes(100 << 20)\n    return 1\n", sandbox)
    assert found.status == PASSED


@only_linux
def test_the_watch_sees_what_children_hold_and_not_what_was_there_before():
    import subprocess

    script = "import sys; x = b'x' * (%d << 20); print(flush=True); sys.stdin.read()"
    child = subprocess.Popen([sys.executable, "-c", script % 64], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        child.stdout.readline()
        assert child.pid in below(child.pid)
        assert resident(child.pid) > 64 << 20
        watch = MemoryWatch(1 << 30)
        watch.add(child.pid)
        assert watch.held() < 8 << 20
        watch.bases[child.pid] = 0
        assert watch.held() > 64 << 20
        watch.forget(child.pid)
        assert watch.held() == 0
    finally:
        child.communicate()
    assert resident(child.pid) == 0


def test_a_submission_whose_tests_all_take_long_is_stopped(sandbox):
    slow = "import time\ndef f():\n    time.sleep(0.4)\n    return 1\n"
    found = verdicts(made(Call(), tests=20, limits=Limits(total=0.5)), slow, sandbox)
    ran = [v for v in found if v.status == PASSED]
    assert 1 <= len(ran) < 20
    assert {v.status for v in found[len(ran) :]} == {TIMED_OUT}
    assert "took more than 0.5 s together" in found[-1].detail
    lesson = made(Call(), tests=2, limits=Limits(total=0.5))
    with Runners(sandbox, lesson.limits) as runners:
        examiner = Examiner(lesson, slow, runners)
        examiner.remember(replace(ran[0], seconds=100.0))  # as a resumed run does
        assert examiner.examine(lesson.tests[1], seed=0).status == TIMED_OUT


ANSWERS = {
    "many small values": f"[None] * {TABLE}",
    "many small values, deep": f"[[None] * 1000] * {TABLE // 1000}",
    "a dict": f"{{i: None for i in range({TABLE})}}",
    "a long array": f"__import__('numpy').zeros({1 << 20})",
    "a long text": f"'x' * {5 << 20}",
    "a long number": "1 << 100_000_000",
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=list(ANSWERS))
def test_no_answer_keeps_the_judge_busy(answer, sandbox):
    (found,) = verdicts(made(Call()), f"def f():\n    return {answer}\n", sandbox)
    assert found.status in (FAILED, TIMED_OUT), found
    assert found.status != INFRA
    assert found.seconds < 30


def test_the_longest_honest_answers_pass():
    data = frame((np.zeros(400_000), [1.5] * 10_000))
    whole, toc = lengths(data[: HEAD.size])
    assert len(strict(bytearray(data[HEAD.size :]), toc)) == 2
    assert whole == len(data) - HEAD.size


def numbered(count, key):
    """A dict in a tuple, as bytes: no process has to make such a dict to send it."""
    data = frame(tuple(part for i in range(count) for part in (key(i), None)))
    (_, toc), body = lengths(data[: HEAD.size]), data[HEAD.size :]
    inner = b"{" + body[1:toc]
    return bytearray(b"(" + (1).to_bytes(8, "little") + inner + body[toc:]), toc + 9


PRIME = (1 << 61) - 1  # whole numbers are hashed by what is left of them when divided by this, complex ones by a sum
ONE_HASH = {"whole numbers": lambda i: i * PRIME, "complex": lambda i: np.complex128(1000003 * (4000 - i) + i * 1j)}


@pytest.mark.parametrize("key", ONE_HASH.values(), ids=list(ONE_HASH))
def test_a_dict_whose_keys_have_one_hash_is_refused_before_it_is_made(key):
    """Of thirteen thousand such keys the judge took seconds, in which it heard nobody else's answers."""
    assert len({hash(key(i)) for i in range(4000)}) == 1
    assert len(strict(*numbered(50, key))[0]) == 50
    with pytest.raises(Garbled, match="a hash of keys has 4000, more than 64"):
        strict(*numbered(4000, key))
    assert len(strict(*numbered(4000, lambda i: (i, str(i))))[0]) == 4000


HOARDS = {
    "nothings": "[None] * 50_000",
    "empty arrays": "[__import__('numpy').empty(0)] * 5_000",
}


@pytest.mark.parametrize("lot", HOARDS.values(), ids=list(HOARDS))
def test_messages_of_very_many_values_count_for_what_the_judge_needs_to_keep_them(lot, sandbox):
    source = f"def f(comm):\n    lot = {lot}\n    while True:\n        comm.send(0, lot)\n"
    (found,) = verdicts(made(World(1, [()])), source, sandbox)
    assert found.status == FAILED
    assert "bytes were sent" in found.detail


def test_who_finds_no_process_for_a_case_waits_and_it_is_nobodys_fault(monkeypatch):
    import os

    from dlmini.grade.runner import host
    from dlmini.grade.runner.ending import ending
    from dlmini.grade.runner.judge_pipes import Broken
    from dlmini.grade.runner.pipes import NO_PROCESS

    tries = []

    def full():
        tries.append(1)
        if len(tries) < 5:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        return 4711

    monkeypatch.setattr(os, "fork", full)
    monkeypatch.setattr(host, "LOOK", 0.0)
    assert host.forked() == 4711
    monkeypatch.setattr(host, "PATIENCE", 3)
    tries.clear()
    assert host.forked() is None
    with pytest.raises(Broken, match="no process left"):
        ending("over", [NO_PROCESS, 0.0], 1, SMALL)


def test_whom_the_kernel_ends_for_its_time_is_late_whatever_the_books_say_it_used():
    """Two clocks: the kernel ends a process by one, and the books are kept by the other."""
    import signal

    from dlmini.grade.runner.ending import ended
    from dlmini.grade.runner.judge_pipes import Late

    by_the_kernel, by_itself = ended(-signal.SIGXCPU, 0.1, SMALL), ended(-signal.SIGKILL, 0.1, SMALL)
    assert isinstance(by_the_kernel, Late)
    assert "processor time" in str(by_the_kernel)
    assert not isinstance(by_itself, Late)
    assert "killed" in str(by_itself)
    assert isinstance(ended(-signal.SIGKILL, SMALL.cpu + 1.0, SMALL), Late)  # it did not hear the first signal


def test_a_time_limit_has_a_second_between_the_signal_and_the_end():
    import resource
    import subprocess
    import sys

    program = "; ".join(
        [
            "import resource",
            "from dlmini.grade.sandbox.limits import Limits, bind_time",
            "{0}",
            "bind_time(Limits(cpu=7))",
            "print(*resource.getrlimit(resource.RLIMIT_CPU))",
        ]
    )
    for before, after in {"": "7 8", "(7, 7)": "7 7", "(5, 5)": "5 5", "(9, 30)": "7 8"}.items():
        bound = before and f"resource.setrlimit(resource.RLIMIT_CPU, {before})"
        run = subprocess.run([sys.executable, "-c", program.format(bound or "pass")], capture_output=True, text=True)
        assert run.stdout.strip() == after, run.stderr
    assert resource.getrlimit(resource.RLIMIT_CPU)[0] not in (7, 5)


def test_a_case_in_which_the_judge_stood_still_is_tried_again(monkeypatch):
    from dlmini.grade.lesson import Found
    from dlmini.grade.runner.judge_pipes import LATE, Interrupted, Late

    lesson, ends = made(Call()), []

    def answered(examiner, test, case):
        if ends and (error := ends.pop()):
            raise error(LATE)
        return Found([1])

    monkeypatch.setattr(Examiner, "_answered", answered)
    for said, status in (([Interrupted] * 2, PASSED), ([Interrupted] * 3, TIMED_OUT), ([Late], TIMED_OUT)):
        ends[:] = said
        assert Examiner(lesson, "", None).examine(lesson.tests[0], seed=0).status == status
        assert not ends
