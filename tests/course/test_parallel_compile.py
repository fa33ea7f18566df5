"""Kernels are compiled in several processes at once. Whatever ends one, the cache stays whole and none is left."""

import os
import signal
import subprocess
import sys

import pytest

from dlmini import jit
from dlmini.course import parallel_compile
from dlmini.course import warm_up as warm

SMALL = ("simulator", "optimisers")
ENDLESS = """
from dlmini.course.parallel_compile import *
print('begun', flush=True)
hear(SimpleQueue())
"""
PARENT = f"""
import sys
from dlmini.course import parallel_compile
parallel_compile.COMMAND = {ENDLESS!r}
child = parallel_compile.start()
child.stdout.readline()
print(child.pid, flush=True)
sys.stdin.read()
"""
WARM = f"""
from dlmini.course import warm_up as warm
stages = warm.stages()
print(*sorted(warm.prepared({{name: stages[name] for name in {SMALL}}})))
"""
LOAD = """
import numba.core.event as event
from dlmini.course import warm_up as warm
with event.install_recorder("numba:compile") as compiled:
    for name in ("simulator", "optimisers"):
        warm.stages()[name]()
print(len(compiled.buffer))
"""


def python(code, cache, **options):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    env = {**os.environ, "DLMINI_CACHE": str(cache), "DLMINI_KERNELS": "numba"}
    return subprocess.Popen([sys.executable, "-c", code], env=env, **pipes, **options)


def answer(process) -> str:
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return out.strip()


def nothing_is_left_to_compile(cache) -> bool:
    return answer(python(LOAD, cache)) == "0" and not list(cache.rglob("*.tmp.*"))


def test_stages_compile_apart_and_together_fill_one_cache(tmp_path):
    assert answer(python(WARM, tmp_path)) == "optimisers simulator"
    assert nothing_is_left_to_compile(tmp_path)


def test_two_warm_ups_at_once_fill_one_cache(tmp_path):
    both = [python(WARM, tmp_path) for _ in range(2)]
    assert [answer(one) for one in both] == ["optimisers simulator"] * 2
    assert nothing_is_left_to_compile(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
def test_a_warm_up_that_is_interrupted_leaves_a_cache_that_the_next_one_completes(tmp_path):
    first = python(WARM, tmp_path, start_new_session=True)
    while first.poll() is None and not list(tmp_path.rglob("*.nbi")):
        pass  # until the first kernel is on disk
    os.killpg(first.pid, signal.SIGINT)
    first.communicate(timeout=600)
    assert answer(python(WARM, tmp_path)) == "optimisers simulator"
    assert answer(python(LOAD, tmp_path)) == "0"


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_stage_does_not_outlive_a_parent_that_is_killed(tmp_path):
    parent = python(PARENT, tmp_path)
    child = int(parent.stdout.readline())
    parent.kill()
    parent.communicate(timeout=60)
    while alive(child):
        pass  # a child that stays is a test that never ends


def alive(pid) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


STAGES = """
import os, sys
from dlmini.course import parallel_compile, warm_up
warm_up.stages = lambda: {"short": lambda: None, "endless": lambda: orders.read(), "fatal": lambda: os._exit(7)}
orders = open(os.pipe()[0])  # into which nobody writes
parallel_compile.main()
"""


@pytest.fixture
def begun(monkeypatch):
    """The processes that were started, whose stages are short, endless or fatal."""
    begun, start = [], parallel_compile.start
    monkeypatch.setattr(parallel_compile, "COMMAND", STAGES)
    monkeypatch.setattr(parallel_compile, "start", lambda: begun.append(start()) or begun[-1])
    return begun


def test_who_stops_listening_ends_what_is_running(begun):
    news = parallel_compile.compiled_in_parallel(["endless", "short"], at_once=2)
    assert next(news) == "short"
    news.close()
    assert len(begun) == 2
    assert all(child.returncode is not None for child in begun)


def test_a_process_does_one_stage_after_the_other(begun):
    news = parallel_compile.compiled_in_parallel(["endless", "short", "short", "short"], at_once=2)
    assert [next(news) for _ in range(3)] == ["short"] * 3
    news.close()
    assert len(begun) == 2
    assert list(parallel_compile.compiled_in_parallel(["short"] * 3, at_once=5)) == ["short"] * 3
    assert len(begun) == 5
    assert all(child.returncode is not None for child in begun)


def test_a_process_that_dies_in_its_second_stage_is_named(begun):
    news = parallel_compile.compiled_in_parallel(["short", "fatal", "short"], at_once=1)
    assert next(news) == "short"
    with pytest.raises(RuntimeError, match="stage fatal of the warm-up has failed: exit code 7"):
        next(news)
    assert len(begun) == 1


def test_a_stage_that_fails_says_why(monkeypatch):
    monkeypatch.setattr(parallel_compile, "COMMAND", "raise MemoryError('no room')")
    with pytest.raises(RuntimeError, match="stage networks of the warm-up has failed: MemoryError: no room"):
        list(parallel_compile.compiled_in_parallel(["networks"]))


def test_what_cannot_be_kept_is_not_compiled_apart(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("a file where a folder is wanted")
    monkeypatch.setattr(jit, "cache_root", lambda: tmp_path / "file" / "kernels")
    monkeypatch.setattr(warm, "cold", lambda: ["everything"])
    monkeypatch.setattr(warm, "compiled_in_parallel", lambda names: [pytest.fail("in vain")] if names else [])
    done = []
    assert list(warm.prepared({name: lambda name=name: done.append(name) for name in SMALL})) == list(SMALL) == done


KEPT = """
import sys
from dlmini.course import warm_up as warm
print(warm.nothing_kept(), "numba" in sys.modules)
warm.optimisers()
print(warm.nothing_kept(), "numba" in sys.modules)
"""


def test_an_empty_cache_is_seen_without_numba(tmp_path):
    assert answer(python(KEPT, tmp_path)) == "True False\nFalse True"


def test_the_stages_that_compile_are_those_that_are_named():
    assert set(warm.COMPILING) == warm.stages().keys() - {"notebooks"}
