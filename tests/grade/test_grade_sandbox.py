"""What holds a submission: each wall by itself, what is left without it, and what is said about it.

Where the machine lacks a wall, or nobody can become another user, a test says so and is skipped.
"""

import errno
import os
import subprocess
import sys
import tempfile
import textwrap

import pytest

from dlmini.grade.examine import Examiner
from dlmini.grade.lesson import Call, Lesson
from dlmini.grade.protections import SENTENCES, Protections, demand, protections
from dlmini.grade.runner.process import Runners
from dlmini.grade.sandbox import landlock
from dlmini.grade.sandbox.levels import LEVELS, Own, Rlimit, choose
from dlmini.grade.sandbox.seccomp import program
from dlmini.grade.sandbox.system_calls import architecture, numbers
from dlmini.grade.sandbox.visible_files import HOUSE

linux = pytest.mark.skipif(sys.platform != "linux", reason="these walls are Linux's")
HAS_LANDLOCK = landlock.version() > 0
filtered = pytest.mark.skipif(not architecture(), reason="the filter knows x86-64 and arm64, on Linux")


def script(text, *args):
    """What a Python of its own prints."""
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text), *args], capture_output=True, text=True, timeout=60
    )
    assert found.returncode == 0, found.stderr
    return found.stdout.split()


CLOSED = """
    import ctypes, fcntl, os, socket, struct, sys, threading, subprocess
    from dlmini.grade.sandbox import seccomp
    parent, libc = os.getppid(), ctypes.CDLL(None, use_errno=True)
    reader, writer = os.pipe()
    code = os.open(seccomp.__file__, os.O_RDONLY)
    assert seccomp.close(writing={writing})
    def tried(what, *args, **more):
        try:
            return what(*args, **more)
        except OSError:
            return "closed"
    def mapped(file):
        libc.mmap.restype = ctypes.c_void_p
        return ctypes.c_void_p(libc.mmap(None, 4096, 1, 2, file, 0))
    {attempts}
"""
FORBIDDEN = {
    "internet": "tried(socket.socket)",
    "unix sockets": "tried(socket.socket, socket.AF_UNIX)",
    "netlink": "tried(socket.socket, socket.AF_NETLINK, socket.SOCK_RAW)",
    "shared memory": "'closed' if libc.shmget(0, 4096, 0o1600) < 0 else 'open'",
    "message queues": "'closed' if libc.msgget(0, 0o1600) < 0 else 'open'",
    "semaphores": "'closed' if libc.semget(0, 1, 0o1600) < 0 else 'open'",
    "files in memory": "tried(os.memfd_create, 'x')",
    "a signal to the parent": "tried(os.kill, parent, 0)",
    "a signal to everybody": "tried(os.kill, -1, 0)",
    "a signal to process 1": "tried(os.kill, 1, 0)",
    "limits of the parent": "tried(__import__('resource').prlimit, parent, __import__('resource').RLIMIT_CPU)",
    "priority of the parent": "tried(os.setpriority, os.PRIO_PROCESS, parent, 19)",
    "cores of the parent": "tried(os.sched_setaffinity, parent, {0})",
    "signals by files": "tried(__import__('fcntl').fcntl, reader, 8, parent)",
    "locks of files": "tried(fcntl.flock, code, fcntl.LOCK_SH)",
    "locks of places in files": "tried(fcntl.lockf, code, fcntl.LOCK_SH)",
    "locks that forks share": "tried(fcntl.fcntl, code, 37, struct.pack('hhqqi4x', fcntl.F_RDLCK, 0, 0, 1, 0))",
    "who holds a lock": "tried(fcntl.fcntl, code, fcntl.F_GETLK, struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 0, 0, 0))",
    "who opens a folder": "tried(fcntl.fcntl, os.open('/', os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS)",
    "notes on a file": "tried(fcntl.fcntl, code, 1036, struct.pack('Q', 3))",
    "reading notes on a file": "tried(fcntl.fcntl, code, 1035, bytes(8))",
    "what is known of a file's place": "tried(fcntl.ioctl, code, 0x6612, 0)",
    "whether a page is in memory, by reading": "tried(os.preadv, code, [bytearray(1)], 0, os.RWF_NOWAIT)",
    "whether a page is in memory": "'closed' if libc.mincore(mapped(code), 4096, bytes(1)) else 'open'",
    "how many pages are in memory": "'closed' if libc.syscall(451, code, bytes(16), bytes(40), 0) else 'open'",
    "dropping pages of a file": "tried(os.posix_fadvise, code, 0, 4096, os.POSIX_FADV_DONTNEED)",
    "fetching pages of a file": "'closed' if libc.readahead(code, 0, 4096) else 'open'",
    "advice to fetch pages": "'closed' if libc.madvise(mapped(code), 4096, 3) else 'open'",
    "advice to drop pages": "'closed' if libc.madvise(mapped(code), 4096, 21) else 'open'",
    "reading without waiting": "'closed' if libc.syscall({io_setup}, 1, bytes(8)) else 'open'",
    "watches of files": "'closed' if libc.inotify_init1(0) < 0 else 'open'",
    "namespaces": "'closed' if libc.unshare(0x10000000) else 'open'",
    "new namespaces": "'closed' if libc.syscall({clone}, 0x10000000 | 17, 0, 0, 0, 0) < 0 else 'open'",
    "memory of the parent": "'closed' if libc.ptrace(16, parent, 0, 0) else 'open'",
    "keys": "'closed' if libc.syscall({add_key}, b'user', b'x', b'y', 1, -3) < 0 else 'open'",
    "rings of calls": "'closed' if libc.syscall(425, 8, ctypes.create_string_buffer(200)) < 0 else 'open'",
    "mounts": "'closed' if libc.mount(b'x', b'/tmp', b'tmpfs', 0, None) else 'open'",
    "pairs that can speak to others": "tried(socket.socketpair, socket.AF_UNIX, socket.SOCK_DGRAM)",
    "names of sockets": "tried(socket.socketpair()[0].bind, '\\0dlmini')",
    "handles of processes": "tried(os.pidfd_open, parent)",
    "modes of files": "tried(os.chmod, mine, 0o600)",
    "owners of files": "tried(os.chown, mine, os.getuid(), -1)",
    "times of files": "tried(os.utime, mine, (5, 5))",
    "lengths of files": "tried(os.truncate, mine, 0)",
    "attributes of files": "tried(os.setxattr, mine, 'user.x', b'y')",
    "flags of files": "tried(fcntl.ioctl, code, 0x40086602, bytes(8))",
}


@filtered
@pytest.mark.parametrize("what", FORBIDDEN)
def test_the_filter_refuses(what):
    attempt = FORBIDDEN[what]
    for name, number in numbers("clone:56:220 add_key:248:217 io_setup:206:0").items():
        attempt = attempt.replace(f"{{{name}}}", str(number))
    with tempfile.NamedTemporaryFile() as mine:
        attempts = f"mine = {mine.name!r}; print({attempt})"
        assert script(CLOSED.format(writing=False, attempts=attempts)) == ["closed"]


ALLOWED, REFUSED, UNKNOWN = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS


def decided(rows, number, *args):
    """What a filter answers to a call, as the kernel would run it."""
    seen = {0: number, 4: architecture()} | {16 + 8 * place: value for place, value in enumerate(args)}
    held, at = 0, 0
    while True:
        what, yes, no, value = rows[at]
        if what == 0x06:
            return value
        if what == 0x20:
            held = seen.get(value, 0)
        else:
            met = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[what]
            at += yes if met else no
        at += 1


@filtered
def test_what_would_hit_everybody_or_is_not_known_yet_is_refused_whoever_asks():
    """Tried on the filter itself: let through, the first would slow down every process of this user."""
    rows, me = program(77, writing=False), os.getpid()
    number = numbers("setpriority:141:140 chmod:90: fchmodat:268:53 read:0:63 kill:62:129 socketpair:53:199")
    for which, who, answer in ((0, 0, ALLOWED), (0, 77, ALLOWED), (0, me, REFUSED), (1, 0, REFUSED), (2, 0, REFUSED)):
        assert decided(rows, number["setpriority"], which, who, 19) == answer, (which, who)
    assert decided(rows, number["read"], 3) == ALLOWED
    assert decided(rows, number["kill"], 2**32 - 1, 9) == REFUSED
    for later in (463, 467, 469, 600, 0x40000000 | 1, 2**32 - 1):  # setxattrat, open_tree_attr, file_setattr, ...
        assert decided(rows, later) == UNKNOWN, later
    for kind, answer in ((1, ALLOWED), (1 | 0x80800, ALLOWED), (2, REFUSED), (2 | 0x80000, REFUSED), (3, REFUSED)):
        assert decided(rows, number["socketpair"], 1, kind) == answer, kind


WRITING = [
    "open('{}/x', 'w')",
    "os.open('{}', os.O_TMPFILE | os.O_RDWR)",
    "os.mkdir('{}/y')",
    "os.rename('{}/there', '{}/elsewhere')",
    "os.remove('{}/there')",
    "os.symlink('/', '{}/z')",
    "os.link('{}/there', '{}/w')",
    "os.chmod('{}/there', 0o600)",
    "os.truncate('{}/there', 0)",
    "os.utime('{}/there')",
    "os.mkfifo('{}/p')",
    "open('{}/there', 'r+')",
    "open('{}/there', 'a')",
    "os.setxattr('{}/there', 'user.x', b'y')",
]


@filtered
def test_the_filter_lets_nobody_write_where_it_is_to(tmp_path):
    (tmp_path / "there").write_text("x")
    attempts = "\n    ".join(f"print(tried(lambda: {w.replace('{}', str(tmp_path))}))" for w in WRITING)
    assert script(CLOSED.format(writing=True, attempts=attempts)) == ["closed"] * len(WRITING)
    assert [p.name for p in tmp_path.iterdir()] == ["there"]
    assert (tmp_path / "there").read_text() == "x"


@filtered
def test_the_filter_lets_honest_programs_work(tmp_path):
    """Threads, forks, other programs, signals to oneself, imports, NumPy, pairs of sockets, its own limits, and files
    read in pieces, looked at and handed on."""
    attempts = """
    import signal, resource, asyncio, tempfile, multiprocessing.dummy
    import numpy as np
    found = []
    t = threading.Thread(target=found.append, args=(1,)); t.start(); t.join()
    pid = os.fork()
    if not pid:
        os._exit(7)
    found.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    found.append(subprocess.run([sys.executable, '-c', 'print(3)'], stdout=subprocess.PIPE).stdout.decode().strip())
    signal.signal(signal.SIGUSR1, lambda *_: found.append(4)); signal.raise_signal(signal.SIGUSR1)
    os.kill(os.getpid(), signal.SIGUSR1)
    resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))
    found.append(asyncio.run(asyncio.sleep(0, 5)))
    found.append(round(float(np.linalg.inv(np.eye(300) * 2).sum())))
    found.append(open('/dev/null', 'w').write('xxxxxx'))
    found.append(os.preadv(code, [bytearray(7)], 0))
    os.isatty(code), os.set_inheritable(code, True), os.set_blocking(reader, False), os.dup(code)
    print(*found)
    """
    assert script(CLOSED.format(writing=False, attempts=attempts)) == ["1", "7", "3", "4", "4", "5", "150", "6", "7"]


@filtered
def test_every_path_through_the_filter_ends_in_an_answer():
    """Jumps stay inside, forwards, and the last row answers: so the kernel takes it, whatever the pid."""
    for pid in (1, 2, 2**22):
        for writing in (True, False):
            rows = program(pid, writing)
            assert len(rows) < 4096
            assert rows[-1][0] == 0x06
            for at, (_, yes, no, _) in enumerate(rows):
                assert at + 1 + max(yes, no) < len(rows) or rows[at][0] == 0x06


def test_numbers_of_calls_are_those_of_the_c_library():
    """Where this machine has the headers: each number of the table is the header's."""
    from pathlib import Path

    from dlmini.grade.sandbox import system_calls as calls

    headers = [Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), Path("/usr/include/asm-generic/unistd.h")]
    if not all(h.is_file() for h in headers):
        pytest.skip("the kernel's headers are not installed here")
    import re

    known = []
    for header in headers:
        pairs = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text())
        known.append({name: int(number) for name, number in pairs})
    tables = (calls.NETWORK, calls.SHARED, calls.CACHE, calls.OTHERS, calls.SYSTEM, calls.UNREADABLE, calls.LOOKED_AT)
    tables += calls.WRITING, calls.CHANGING
    for word in " ".join(tables).split():
        name, *given = word.split(":")
        for number, header in zip(given, known, strict=True):
            assert number == "" or name not in header or header[name] == int(number), word


# ---- what is left if a wall is missing ----


@linux
@pytest.mark.parametrize("namespaces", [True, False])
@pytest.mark.parametrize("files", [True, False])
@pytest.mark.parametrize("calls", [True, False])
def test_each_wall_closes_what_it_can_and_what_is_open_is_said(namespaces, files, calls):
    found = protections(Rlimit(namespaces, files, calls))
    by_calls = {"network", "writing", "changing", "sockets", "signals", "memory"} if calls and architecture() else set()
    by_files = {"tests", "files", "writing", "processes"} if files and HAS_LANDLOCK else set()
    by_files |= {"network", "signals"} if files and landlock.version() >= 6 else set()
    if not by_files and set(protections(Own()).closed) >= {"network", "processes"}:
        by_files = {"tests", "files"} if namespaces else set()  # empty folders are mounted over others
        if HOUSE.is_relative_to(tempfile.gettempdir()):  # the library lies beside the file that is tried
            by_files -= {"files"}
    assert by_calls | by_files <= set(found.closed)
    if not (by_calls or by_files or namespaces):
        assert set(found.open) == set(SENTENCES)
    assert found.counted
    for name in found.open:
        assert SENTENCES[name] in str(found)


@linux
def test_what_is_in_force_is_named_with_the_version_of_landlock(sandbox):
    for level in (Rlimit(), Rlimit(namespaces=False), Rlimit(False, False, False), sandbox):
        found, weaker = protections(level), isinstance(level, Rlimit)
        names = {f"Landlock {landlock.version()}"} if weaker and level.landlock and HAS_LANDLOCK else set()
        names |= {"seccomp"} if architecture() and (not weaker or level.seccomp) else set()
        assert set(found.walls) - {"namespaces"} == names
        if not weaker or not level.namespaces:
            assert ("namespaces" in found.walls) is not weaker
        assert f"held by {', '.join(found.walls) or 'limits alone'}; " in str(found)


POWERS = """
import os, resource
def f():
    def tried(what, *args):
        try:
            return what(*args) is None
        except (OSError, ValueError):
            return False
    more = resource.RLIM_INFINITY, resource.RLIM_INFINITY
    return [tried(os.setpriority, os.PRIO_PROCESS, 0, -20), tried(os.setresuid, 4711, 4711, 4711),
            tried(resource.setrlimit, resource.RLIMIT_CPU, more), tried(resource.setrlimit, resource.RLIMIT_AS, more)]
"""


@linux
@pytest.mark.parametrize("level", [Rlimit(), Rlimit(namespaces=False), Rlimit(False, False, True)], ids=str)
def test_no_submission_has_the_powers_of_root_though_its_judge_has(level, monkeypatch):
    """An interpreter in root's home leaves a runner root: root without them."""
    monkeypatch.setattr("dlmini.grade.sandbox.levels.passable", lambda path: False)
    lesson = Lesson("98_made_up")

    @lesson.test("f", points=1, cases=lambda coin: [Call(())])
    def is_ordinary(case, found):
        """It can raise no limit and no priority, and become nobody else."""
        assert found.value == [False] * 4, found.value

    with Runners(level, lesson.limits) as runners:
        verdict = Examiner(lesson, POWERS, runners).examine(lesson.tests[0], seed=0)
    assert verdict.score == 1, verdict


@linux
def test_the_strongest_sandbox_here_leaves_nothing_open(sandbox):
    if sandbox.name == "rlimit" and not (HAS_LANDLOCK and architecture()):
        pytest.skip("this kernel has no Landlock, or the filter does not know this machine")
    found = protections(sandbox)
    assert found.open == []
    demand(found, sandbox.name)


def test_strict_refuses_to_go_on_with_anything_open():
    for name, sentence in SENTENCES.items():
        with pytest.raises(ValueError, match=sentence):
            demand(Protections([], [name], True), "rlimit")
    assert choose("strict") == choose("auto")
    with pytest.raises(ValueError, match="auto, strict, bwrap"):
        choose("best")
    assert set(LEVELS) == {"bwrap", "rlimit", "none"}


def test_a_student_may_read_and_write_in_a_check_of_his_own():
    assert not Own().settings(Lesson("x").limits)["filter"]


# ---- nothing is left from one case to the next ----

LEAVES = """
import ctypes, os
libc = ctypes.CDLL(None)
PLACES = ["/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", ".", os.path.expanduser("~")]

def f(turn):
    if turn:
        left = [p for p in PLACES if os.path.exists(p + "/BREACH")]
        left += ["shm"] * (libc.shmget(4711, 1, 0) >= 0) + ["sem"] * (libc.semget(4711, 1, 0) >= 0)
        left += ["queue"] * (libc.msgget(4711, 0) >= 0)
        left += ["key"] * (libc.syscall(249, b"user", b"BREACH", None, -3) >= 0)
        return left
    for place in PLACES:
        try:
            open(place + "/BREACH", "w").close()
        except OSError:
            pass
    libc.shmget(4711, 4096, 0o1600), libc.semget(4711, 1, 0o1600), libc.msgget(4711, 0o1600)
    libc.syscall(248, b"user", b"BREACH", b"x", 1, -3)
    return []
"""


PIPES = """
import fcntl
def f(turn):
    found = []
    for fd in range(9):
        try:
            found.append([fd, fcntl.fcntl(fd, fcntl.F_GETFL)])
            found[-1].append(fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ))
        except OSError:
            pass
        for what, value in ((fcntl.F_SETPIPE_SZ, 1 << 18), (fcntl.F_SETFL, 0o6000)):
            try:
                fcntl.fcntl(fd, what, value)
            except OSError:
                pass
    return found
"""


@linux
@pytest.mark.parametrize("level", [None, Rlimit(), Rlimit(False, False, True)], ids=str)
def test_no_case_leaves_a_word_in_its_pipes_or_ends_the_host_by_them(level, sandbox):
    if isinstance(level, Rlimit) and not architecture():
        pytest.skip("the filter does not know this machine")
    lesson, seen = Lesson("98_made_up"), []

    @lesson.test("f", points=1, cases=lambda coin: [Call((turn,)) for turn in range(3)])
    def looks_at_pipes(case, found):
        """Each case finds them as the first did."""
        seen.append(found.value)

    with Runners(level or sandbox, lesson.limits) as runners:
        verdict = Examiner(lesson, PIPES, runners).examine(lesson.tests[0], seed=0)
    assert verdict.score == 1, verdict
    assert sum(len(one) == 3 for one in seen[0]) >= 2  # there were pipes
    assert seen == seen[:1] * 3


@linux
@pytest.mark.parametrize("level", [None, Rlimit(), Rlimit(namespaces=False), Rlimit(False, False, True)], ids=str)
def test_no_file_memory_queue_or_key_outlives_a_case(level, sandbox):
    if isinstance(level, Rlimit) and not architecture():
        pytest.skip("the filter does not know this machine")
    lesson = Lesson("98_made_up")

    @lesson.test("f", points=1, cases=lambda coin: [Call((0,)), Call((1,))])
    def leaves_nothing(case, found):
        """It finds nothing."""
        assert found.value == [], found.value

    with Runners(level or sandbox, lesson.limits) as runners:
        verdict = Examiner(lesson, LEAVES, runners).examine(lesson.tests[0], seed=0)
    assert verdict.score == 1, verdict
    assert not os.path.exists("/tmp/BREACH")
