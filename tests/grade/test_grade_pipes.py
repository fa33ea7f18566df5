"""What the judge hears of a runner: frames in their order, then the host's last word; and nobody else's."""

import os
import time
from types import SimpleNamespace

import pytest

from dlmini.grade.runner import judge_pipes
from dlmini.grade.runner.judge_pipes import Greedy, Interrupted, Late, Lost, Over, PatientPipes
from dlmini.grade.runner.values import HEAD, Garbled, frame

pytestmark = pytest.mark.skipif(os.name != "posix", reason="elsewhere a runner ends with its case")
NONCE, OTHER = b"\1" * 8, b"\2" * 8


class Runner:
    """Three pipes, and no process behind them: the test writes what a child and its host would."""

    def __init__(self):
        ends = [os.pipe() for _ in range(3)]
        (self.stdin, stdin), (stdout, self.child), (stderr, self.host) = ends[0], ends[1], ends[2]
        ours = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
        self.open = {self.stdin, self.child, self.host, *ours.values()}
        process = SimpleNamespace(**{name: SimpleNamespace(fileno=lambda fd=fd: fd) for name, fd in ours.items()})
        self.pipes = PatientPipes(process, time.monotonic() + 120)
        self.pipes.turn_to(NONCE, time.monotonic() + 120)

    def over(self, nonce, code=0, cpu=0.5):
        os.write(self.host, f"\nover {nonce.hex()} {code} {cpu}\n".encode())

    def close(self, fd):
        self.open.discard(fd)
        os.close(fd)


@pytest.fixture
def runner():
    made = Runner()
    yield made
    for fd in list(made.open):
        made.close(fd)


def test_an_answer_is_heard_before_the_last_word_that_came_with_it(runner):
    os.write(runner.child, frame((NONCE, "answer", 7)))
    runner.over(NONCE, -6)
    assert runner.pipes.hear() == (NONCE, "answer", 7)
    for _ in range(2):  # it stays said
        with pytest.raises(Over) as last:
            runner.pipes.hear()
        assert last.value.args == (-6, 0.5)


def test_half_a_frame_of_a_dead_child_does_not_spoil_the_next_case(runner):
    os.write(runner.child, frame((NONCE, "answer", 7))[:20])
    runner.over(NONCE)
    with pytest.raises(Over):
        runner.pipes.hear()
    runner.pipes.turn_to(OTHER, time.monotonic() + 120)
    os.write(runner.child, frame((OTHER, "answer", 8)))
    assert runner.pipes.hear() == (OTHER, "answer", 8)


@pytest.mark.parametrize(
    "said", [b"a warning\n", b"\nover 00 0 0.1\n", b"\nover " + OTHER.hex().encode() + b" 0 0.1\n"]
)
def test_what_is_not_about_this_case_does_not_end_it(runner, said):
    os.write(runner.host, said)
    runner.pipes.deadline = time.monotonic() + 0.05
    with pytest.raises(Late):
        runner.pipes.hear()


def test_a_host_that_is_gone_is_not_waited_for(runner):
    """Even if something of its child's still holds the other pipe open."""
    runner.close(runner.host)
    with pytest.raises(Lost) as why:
        runner.pipes.hear()
    assert not isinstance(why.value, Late)


def test_complaints_are_kept_for_those_who_ask(runner):
    os.write(runner.host, b"no such module\n")
    assert runner.pipes.mutter() == "no such module"


def test_a_wait_is_interrupted_for_a_look_around(runner):
    """What the look finds ends the wait, however far the deadline."""
    looks = []

    def look():
        looks.append(1)
        if len(looks) == 3:
            raise Greedy("too much")

    runner.pipes.look = look
    with pytest.raises(Greedy):
        runner.pipes.hear()


def test_a_frame_of_many_small_values_is_refused_before_it_is_read(runner):
    """A megabyte of None takes seconds to read."""
    os.write(runner.child, HEAD.pack(1 << 20, 1 << 20))
    with pytest.raises(Garbled, match="table of 1048576 bytes"):
        runner.pipes.hear()


def test_who_seems_late_because_the_judge_stood_still_is_not(runner, monkeypatch):
    """A judge that is stopped, and goes on later, has heard nothing meanwhile. It holds for one case alone."""
    monkeypatch.setattr(judge_pipes, "_still", [0.0])
    monkeypatch.setattr(judge_pipes, "STILL", -1.0)  # any look takes longer than it may
    runner.pipes.turn_to(NONCE, time.monotonic() + 0.2)
    with pytest.raises(Interrupted):
        runner.pipes.hear()
    with pytest.raises(Interrupted):  # also where nothing is waited for
        runner.pipes.hear()
    monkeypatch.setattr(judge_pipes, "STILL", 600.0)
    runner.pipes.turn_to(OTHER, time.monotonic() + 0.2)
    with pytest.raises(Late) as late:
        runner.pipes.hear()
    assert not isinstance(late.value, Interrupted)
