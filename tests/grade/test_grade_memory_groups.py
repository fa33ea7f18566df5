"""Control groups: made only where the tree of groups was handed over, and told by what /proc and the groups say.

The kernel's files are played by plain ones: whoever runs these tests need not own a part of the real tree. Where one
was handed over (DLMINI_CGROUP), the last test asks the kernel itself.
"""

import errno
import os
from pathlib import Path

import pytest

from dlmini.grade.examine import Examiner
from dlmini.grade.lesson import Call, Lesson
from dlmini.grade.runner.judge_pipes import Greedy
from dlmini.grade.runner.memory_watch import MemoryWatch
from dlmini.grade.runner.process import Runners
from dlmini.grade.sandbox import memory_groups
from dlmini.grade.sandbox.levels import LEVELS, works
from dlmini.grade.sandbox.limits import Limits
from dlmini.grade.sandbox.memory_groups import MemoryGroup, group_of, handed_over, home, homes
from dlmini.grade.verdict import FAILED, PASSED

FILES = {
    1: {"memory.limit_in_bytes": "", "memory.oom_control": "under_oom 0\noom_kill 0\n", "cgroup.procs": ""},
    2: {"memory.max": "max", "memory.swap.max": "max", "memory.events": "oom 0\noom_kill 0\n", "cgroup.procs": ""},
}


@pytest.fixture(params=[1, 2])
def kernel(request, monkeypatch):
    """Fills new folders with the files of a group, and removes groups with what is in them."""
    mkdir, rmdir = Path.mkdir, Path.rmdir

    def filled(folder, *args, **more):
        mkdir(folder, *args, **more)
        for name, text in FILES[request.param].items():
            (folder / name).write_text(text)

    def emptied(folder):
        if (folder / "busy").exists():
            raise OSError(errno.EBUSY, "busy")
        for file in folder.iterdir():
            file.unlink()
        rmdir(folder)

    monkeypatch.setattr(Path, "mkdir", filled)
    monkeypatch.setattr(Path, "rmdir", emptied)
    monkeypatch.setattr(memory_groups, "_left", set())
    monkeypatch.setattr(memory_groups, "_closed", set())
    return request.param


def test_a_group_has_a_limit_takes_processes_and_is_gone_afterwards(tmp_path, kernel):
    group = MemoryGroup(tmp_path / "g", 1 << 29)
    assert (group.folder / group.limit).read_text() == str(1 << 29)
    assert kernel == 1 or (group.folder / "memory.swap.max").read_text() == "0"
    group.take([17])
    assert (group.folder / "cgroup.procs").read_text() == "17"
    assert not group.ended()
    (group.folder / group.events).write_text("oom 1\noom_kill 2\n")
    assert group.ended()
    assert not group.ended()  # it is said once
    group.close()
    assert not group.folder.exists()


def test_a_group_that_is_not_empty_yet_is_removed_with_the_next(tmp_path, kernel):
    one, other = MemoryGroup(tmp_path / "one", 1), MemoryGroup(tmp_path / "other", 1)
    (one.folder / "busy").touch()
    one.close()
    assert one.folder.exists()
    (one.folder / "busy").unlink()
    other.close()
    assert list(tmp_path.iterdir()) == []


def test_a_group_whose_runner_is_not_up_yet_is_not_removed_when_another_ends(tmp_path, kernel):
    """Submissions are graded side by side: a group without a process is not one that is left over."""
    one, other = MemoryGroup(tmp_path / "one", 1), MemoryGroup(tmp_path / "other", 1)
    one.close()
    assert list(tmp_path.iterdir()) == [other.folder]
    other.take([17])
    other.close()
    assert list(tmp_path.iterdir()) == []


def test_who_was_ended_for_memory_is_greedy_and_others_are_not(tmp_path, kernel):
    watch = MemoryWatch(1 << 30, MemoryGroup(tmp_path / "g", 1 << 30))
    watch.add(os.getpid())
    watch.blame()
    (watch.group.folder / watch.group.events).write_text("oom_kill 1\n")
    with pytest.raises(Greedy, match="1024 MB of memory together"):
        watch.blame()
    watch.blame()
    watch.close()
    watch.close()
    MemoryWatch(1).blame()


def test_where_the_system_makes_no_group_there_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("DLMINI_CGROUP", str(tmp_path))
    home.cache_clear()
    assert home() == tmp_path
    assert group_of(1 << 30) is None  # a plain folder limits nothing
    assert list(tmp_path.iterdir()) == []
    home.cache_clear()


def test_what_killed_judges_left_is_removed_and_what_living_ones_have_is_not(tmp_path, monkeypatch):
    mine, gone = f"{memory_groups.PREFIX}-{os.getpid()}-0", f"{memory_groups.PREFIX}-{2**22 + 1}-0"
    for name in (mine, gone, "another"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("DLMINI_CGROUP", str(tmp_path))
    home.cache_clear()
    assert home() == tmp_path
    assert {p.name for p in tmp_path.iterdir()} == {mine, "another"}
    home.cache_clear()


def told(tmp_path, cgroup, mounts):
    (tmp_path / "cgroup").write_text(cgroup)
    (tmp_path / "mountinfo").write_text(mounts)
    return homes(tmp_path)


def test_the_judges_own_group_is_found_under_its_mount(tmp_path):
    tree = tmp_path / "tree"
    (tree / "user" / "scope").mkdir(parents=True)
    v1 = f"30 23 0:26 / {tree} rw shared:9 - cgroup cgroup rw,memory\n"
    assert told(tmp_path, "4:memory:/user/scope\n0::/\n", v1) == [tree / "user" / "scope"]
    inside = f"30 23 0:26 /user {tree / 'user'} rw - cgroup cgroup rw,memory\n"
    assert told(tmp_path, "4:memory:/user/scope\n", inside) == [tree / "user" / "scope"]
    assert told(tmp_path, "4:memory:/elsewhere\n", v1) == []
    v2 = f"30 23 0:26 / {tree} rw - cgroup2 cgroup2 rw\n"
    assert told(tmp_path, "0::/user/scope\n", v2) == []
    (tree / "user" / "cgroup.subtree_control").write_text("cpu memory pids\n")
    assert told(tmp_path, "0::/user/scope\n", v2) == [tree / "user"]
    assert homes(tmp_path / "nowhere") == []


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="marks are extended attributes, of Linux")
def test_only_what_is_marked_as_delegated_is_divided(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert not handed_over(tmp_path / "a" / "b")
    try:
        os.setxattr(tmp_path / "a", "user.delegate", b"1")
    except OSError:
        pytest.skip("this file system keeps no attributes")
    assert handed_over(tmp_path / "a" / "b")
    assert handed_over(tmp_path / "a")
    assert not handed_over(tmp_path)


def test_nothing_is_made_where_nothing_was_handed_over(monkeypatch):
    monkeypatch.delenv("DLMINI_CGROUP", raising=False)
    monkeypatch.setattr(memory_groups, "handed_over", lambda group: False)
    home.cache_clear()
    assert home() is None
    assert group_of(1 << 30) is None
    home.cache_clear()


# ---- with the kernel itself, where whoever runs these tests has handed a group over ----

MEMORY, PIECE = 600 << 20, 100 << 20  # of a submission; of each of its processes, all within their own limit
MANY = f"""
import os, time
def f():
    for _ in range(12):
        if not os.fork():
            kept = bytearray({PIECE})
            for i in range(0, len(kept), 4096):
                kept[i] = 1
            time.sleep(600)
"""
GREEDY = {"answers nevertheless": "    os.wait()\n    return 1\n", "sleeps on": "    time.sleep(600)\n"}


@pytest.mark.skipif(home() is None, reason="no group was handed over: DLMINI_CGROUP, or systemd's Delegate")
@pytest.mark.parametrize("level", ["bwrap", "rlimit"])
@pytest.mark.parametrize("rest", GREEDY.values(), ids=GREEDY)
def test_the_kernel_ends_a_submission_of_many_processes_and_nobody_else(level, rest, monkeypatch):
    """The judge counts nothing here. The next submission has a group of its own, and all of its memory."""
    monkeypatch.setattr(MemoryWatch, "held", lambda watch: 0)
    if level == "bwrap" and not works():
        pytest.skip("bubblewrap does not work here")
    lesson = Lesson("98_made_up", Limits(memory=MEMORY, wall=300.0, cpu=10))

    @lesson.test("f", points=1, cases=lambda coin: [Call()])
    def gives_one(case, found):
        """It returns 1."""
        assert found.value == 1

    def verdict(source):
        with Runners(LEVELS[level](), lesson.limits) as runners:
            found = Examiner(lesson, source, runners).examine(lesson.tests[0], seed=0)
            assert runners.watch.group is not None  # it was really made, and was not given up
            return found

    greedy, honest = verdict(MANY + rest), verdict(f"def f():\n    kept = bytes({3 * PIECE})\n    return 1\n")
    assert greedy.status == FAILED
    assert "held more than 600 MB of memory together" in greedy.detail
    assert greedy.seconds < 100  # others of it that sleep are not waited for
    assert honest.status == PASSED
    assert list(home().glob(f"{memory_groups.PREFIX}-{os.getpid()}-*")) == []
