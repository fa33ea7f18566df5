"""A judge that is killed without warning leaves nobody behind, whatever its submissions have started."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from ordinary_user import AS_NOBODY, python_for_all, surroundings

from dlmini.grade.runner.memory_watch import below
from dlmini.grade.sandbox.levels import works
from dlmini.grade.sandbox.visible_files import HOUSE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says who is whose child")
DAEMONS = """
import ctypes, os, signal, time
def f(*args):
    for number in range(1, 30):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    for _ in range(3):
        if not os.fork():
            os.setsid()
            if os.fork():
                os._exit(0)
            ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
            for fd in range(64):
                try:
                    os.close(fd)
                except OSError:
                    pass
            while True:
                time.sleep(1)
    while True:
        time.sleep(1)
"""
JUDGE = f"""
from dlmini.grade.examine import Examiner
from dlmini.grade.lesson import Lesson, World
from dlmini.grade.runner.process import Runners
from dlmini.grade.sandbox.levels import Bwrap, Rlimit
from dlmini.grade.sandbox.limits import Limits

lesson = Lesson("98_made_up", Limits(wall=600.0))

@lesson.test("f", points=1, cases=lambda coin: [World(2, [(), ()])])
def nothing(case, found):
    '''It never returns.'''

with Runners({{level}}, lesson.limits) as runners:
    Examiner(lesson, {DAEMONS!r}, runners).examine(lesson.tests[0], 0)
"""
LEVELS = ["Bwrap()", "Rlimit()", "Rlimit(namespaces=False)", "Rlimit(False, False, False)"]
WHO = ["as this user", "as an ordinary user"]


def judge(level, who):
    """A judge whose only submission has started daemons on two ranks."""
    if level == "Bwrap()" and not works():
        pytest.skip("bubblewrap does not work here")
    ordinary = who == "as an ordinary user"
    python, more = (python_for_all(), AS_NOBODY) if ordinary else (sys.executable, {})
    env = surroundings() if ordinary else {**os.environ, "PYTHONPATH": str(HOUSE.parent), "HOME": "/nonexistent"}
    command = [python, "-c", JUDGE.format(level=level)]
    return subprocess.Popen(command, env=env, cwd="/", stderr=subprocess.PIPE, **more)


def wait_for(count, process):
    """Until so many processes descend from the judge: all daemons of both ranks are there."""
    while len([p for p in below(process.pid) if "python" in name(p)]) < count:
        if process.poll() is not None:
            pytest.skip(f"a judge does not start for this user: {process.stderr.read().decode()[-300:]}")
        time.sleep(0.05)
    return below(process.pid)[1:]


def alive_of(pids):
    for pid in pids:
        with suppress(psutil.NoSuchProcess):  # over in this moment
            yield psutil.Process(pid)


def name(pid):
    try:
        return Path(f"/proc/{pid}/comm").read_text()
    except OSError:
        return ""


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("level", LEVELS)
def test_a_judge_that_is_killed_leaves_no_runner_alive(level, who):
    process, family = judge(level, who), []
    try:
        family = list(alive_of(wait_for(1 + 2 * 5, process)))
        assert len(family) >= 10
        process.send_signal(signal.SIGKILL)
        process.wait()
        gone, alive = psutil.wait_procs(family, timeout=30)
        assert [p for p in alive if p.status() != psutil.STATUS_ZOMBIE] == []
        assert len(gone) >= 10
    finally:
        for one in (process, *family):
            with suppress(psutil.Error):
                one.kill()
        process.communicate()
