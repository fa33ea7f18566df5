"""Ctrl-C and SIGTERM end `volunteer serve`, `join` and `demo` with a sentence; no traceback, and nothing is left."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import suppress

import httpx
import psutil
import pytest
from volunteer_servers import until

from dlmini.volunteer.work import Work

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="Windows sends signals otherwise"),
]
WORK = Work("softmax_regression", "blobs", units=6, iterations=10**5, steps=4, batch=8)
DESCRIBED = [word for name, value in WORK.plain().items() for word in (f"--{name}", str(value))]
SIGNALS = pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])


class Command:
    """`dlmini volunteer ...` as a terminal starts it: in a process group of its own, which hears Ctrl-C as a whole."""

    def __init__(self, folder, *words):
        self.log = folder / f"{words[0]}.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "dlmini", "volunteer", *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=os.environ | {"DLMINI_KERNELS": "numpy"},
            )

    def text(self) -> str:
        return self.log.read_text("utf-8")

    def end(self, sign, times=1) -> int:
        for _ in range(times):
            os.killpg(self.process.pid, sign)
        return self.process.wait(60)

    def children(self) -> list:
        return psutil.Process(self.process.pid).children(recursive=True)


@pytest.fixture
def command(tmp_path):
    started = []

    def start(*words):
        started.append(Command(tmp_path, *words))
        return started[-1]

    yield start
    for one in started:
        with suppress(ProcessLookupError):
            os.killpg(one.process.pid, signal.SIGKILL)
        one.process.wait()


def served(command, folder):
    """A server that answers, and its address."""
    server = command("serve", str(folder / "p"), "--host", "127.0.0.1", "--port", "0", "--quorum", "1", *DESCRIBED)
    until(lambda: "admin token" in server.text())
    url = next(line.split()[1] for line in server.text().splitlines() if line.startswith("watch:"))
    until(lambda: server.children())
    return server, url.rstrip("/")


@SIGNALS
@pytest.mark.parametrize("times", [1, 2])
def test_a_server_ends_in_good_order_also_while_others_still_send(command, tmp_path, sign, times):
    server, url = served(command, tmp_path)
    looker, place = server.children(), url.removeprefix("http://").split(":")
    half = b"POST /join HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\nexpect: 100-continue\r\n\r\n"
    until(lambda: socket.create_connection(place).close() or True)
    with socket.create_connection(place) as slow, socket.create_connection(place) as idle:
        slow.sendall(half)
        assert slow.recv(100).startswith(b"HTTP/1.1 100")  # it waits for the body
        idle.sendall(b"GET /work HTTP")
        assert server.end(sign, times) == 0
        told = b""
        while part := slow.recv(1000):
            told += part
        assert told.startswith(b"HTTP/1.1 503")
        assert b"send it again when it is back" in told
    assert server.text().splitlines()[-1] == (
        f"The server has ended. Serve {tmp_path / 'p'} again, and the project goes on where it was."
    )
    assert "Traceback" not in server.text()
    assert "ERROR" not in server.text()
    assert not any(one.is_running() for one in looker)
    with sqlite3.connect(tmp_path / "p" / "project.db") as found:
        assert found.execute("pragma integrity_check").fetchone() == ("ok",)


@SIGNALS
def test_a_volunteer_leaves_with_a_sentence(command, tmp_path, sign):
    server, url = served(command, tmp_path)
    volunteer = command("join", url, "--folder", str(tmp_path / "c"), "--ram", "0", "--disk", "0")
    until(lambda: httpx.get(url + "/status", trust_env=False).json()["done"] > 0)
    assert volunteer.end(sign) == 0
    assert volunteer.text() == "Left. What is under way goes on when you join again.\n"
    assert server.end(sign) == 0


@SIGNALS
def test_a_demo_that_is_ended_before_a_part_was_done_says_so(command, sign):
    demo = command("demo", "--iterations", "64", "--crew", "1")
    until(lambda: "training volunteer_net" in demo.text())
    assert demo.end(sign) in (130, -signal.SIGINT)  # a shell says 130 of both: Python may end by the signal itself
    assert demo.text().endswith("stopped by hand before a part was done; nothing is written\n")
    assert "Traceback" not in demo.text()


def test_processes_of_a_notebooks_project_do_not_hear_its_ctrl_c(tmp_path):
    """Jupyter interrupts the group of the kernel's process: volunteers and the one that tries weights go on."""
    program = (
        "import os, psutil; from dlmini.volunteer.project import Project; from dlmini.volunteer.work import Work\n"
        f"with Project(Work(**{WORK.plain()}), folder={str(tmp_path / 'p')!r}) as project:\n"
        "    project.join(1)\n"
        "    print(*[os.getpgid(one.pid) == os.getpgid(0) for one in psutil.Process().children()])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"], done.stderr
