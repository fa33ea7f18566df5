"""Strangers at the door of a run: refused before a byte is unpickled, in bounded time, and the run goes on."""

import os
import socket
import stat
import subprocess
import sys
import threading
import time
from contextlib import suppress

import cloudpickle
import mpi_programs
import pytest

from dlmini.comm.launch import launch
from dlmini.comm.mpi import Mpi, job
from dlmini.comm.mpi import connection as line
from dlmini.comm.mpi import key_file as deposit
from dlmini.comm.mpi import listener as listener
from dlmini.comm.mpi import mpiexec as start
from dlmini.comm.mpi.listener import STRANGERS, Listener

KEY = bytes(range(32))
needs_mpi = pytest.mark.skipif(bool(start.missing()), reason=start.missing() or "MPI is here")


class Bomb:
    """Unpickling it leaves a mark."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


def framed(message):
    data = cloudpickle.dumps(message)
    return line.LENGTH.pack(len(data)) + data


def drained(link):
    """What the other end says until it hangs up."""
    found = b""
    try:
        while more := link.recv(4096):
            found += more
    except ConnectionError:
        pass
    return found


def junk(port, bomb):
    """Bytes without sense, and a pickle that would do harm."""
    for data in (b"", b"\0" * 10_000, b"GET / HTTP/1.0\r\n\r\n" * 20, framed(bomb) * 3):
        with socket.create_connection(("127.0.0.1", port)) as link:
            with suppress(OSError):  # it may hang up before we have said it all
                link.sendall(data)
                link.shutdown(socket.SHUT_WR)
            assert len(drained(link)) <= line.NONCE


def wrong_key(port, bomb):
    with socket.create_connection(("127.0.0.1", port)) as link:
        theirs, mine = link.recv(line.NONCE), bytes(line.NONCE)
        link.sendall(mine + line.proof(bytes(32), b"rank", theirs, mine) + framed(bomb))
        assert drained(link) == b""


def half_a_handshake(port, bomb):
    """Says a little and hangs up, at every length."""
    for length in (1, line.NONCE, line.NONCE + line.DIGEST - 1):
        with socket.create_connection(("127.0.0.1", port)) as link:
            link.sendall(bytes(length))


def thrown_back(port, bomb):
    """The nonce it is sent as its own, and an answer that another line was sent: reflection."""
    with socket.create_connection(("127.0.0.1", port)) as one, socket.create_connection(("127.0.0.1", port)) as two:
        first, second = one.recv(line.NONCE), two.recv(line.NONCE)
        one.sendall(second + first)
        two.sendall(first + second)
        assert drained(one) == drained(two) == b""


HOSTILE = [junk, wrong_key, half_a_handshake, thrown_back]


@pytest.fixture
def board():
    found = Listener(2, ["127.0.0.1"])
    done = threading.Event()
    found.open(lambda: not done.is_set())
    yield found
    done.set()
    found.close()


def come(board, rank):
    """A rank with the key calls and says hello."""
    end = line.call([("127.0.0.1", board.ports()[0])], board.key)
    end.send(("hello", rank, os.getpid()))
    return end


def arrived(board):
    return sorted(board.news.get(timeout=60)[:2] for _ in range(2))


@pytest.mark.parametrize("attack", HOSTILE, ids=lambda attack: attack.__name__)
def test_a_stranger_is_refused_unpickles_nothing_and_ranks_still_come(board, attack, tmp_path):
    attack(board.ports()[0], Bomb(tmp_path / "boom"))
    ends = [come(board, 0)]
    attack(board.ports()[0], Bomb(tmp_path / "boom"))
    ends.append(come(board, 1))
    assert arrived(board) == [(0, "hello"), (1, "hello")]
    assert board.news.empty()
    assert not (tmp_path / "boom").exists()
    for end in ends:
        end.close()


def test_a_recorded_handshake_cannot_be_played_again(board, tmp_path):
    said = []

    class Recorder(socket.socket):
        def sendall(self, data, *flags):
            said.append(bytes(data))
            super().sendall(data, *flags)

    with Recorder(socket.AF_INET, socket.SOCK_STREAM) as link:
        link.connect(("127.0.0.1", board.ports()[0]))
        assert line.greet(link, board.key, time.monotonic() + 60)
        with socket.create_connection(("127.0.0.1", board.ports()[0])) as again:
            again.sendall(b"".join(said) + framed(Bomb(tmp_path / "boom")))
            assert len(drained(again)) == line.NONCE  # nothing after the challenge
    assert not (tmp_path / "boom").exists()


def test_many_silent_callers_keep_no_rank_out(board):
    port, crowd = board.ports()[0], []
    crowd += [socket.create_connection(("127.0.0.1", port)) for _ in range(STRANGERS + 20)]
    ends = [come(board, 0)]
    crowd += [socket.create_connection(("127.0.0.1", port)) for _ in range(STRANGERS + 20)]
    ends.append(come(board, 1))
    assert arrived(board) == [(0, "hello"), (1, "hello")]
    assert len(board.callers) <= board.size + STRANGERS
    for link in (*crowd, *ends):
        link.close()


def test_a_caller_who_drips_has_no_more_time_than_one_who_is_silent(monkeypatch):
    """Each byte in time, the whole too late: by a clock that the test moves."""
    now = [0.0]
    monkeypatch.setattr(line.time, "monotonic", lambda: now[0])
    mine, theirs = socket.socketpair()
    with mine, theirs:
        theirs.sendall(b"x")

        class Dripping:
            settimeout = mine.settimeout

            def recv(self, most):
                now[0] += line.SECONDS / 3
                theirs.sendall(b"x")
                return mine.recv(1)

        with pytest.raises(TimeoutError):
            line.read(Dripping(), line.NONCE, line.SECONDS)


def test_a_silent_caller_is_sent_away_when_its_time_is_over(monkeypatch):
    monkeypatch.setattr(line, "SECONDS", 0.01)
    mine, theirs = socket.socketpair()
    with theirs:
        assert line.answer(mine, KEY) is None
        assert len(drained(theirs)) == line.NONCE


def test_a_rank_that_is_lured_to_a_false_home_refuses_it(tmp_path):
    """Home must show the key too: else whoever takes its port would send the rank a program."""

    def false_home(door):
        link = door.accept()[0]
        with link:
            link.sendall(bytes(line.NONCE))
            said = line.read(link, line.NONCE + line.DIGEST, time.monotonic() + 60)
            link.sendall(said[line.NONCE :] + framed(Bomb(tmp_path / "boom")))  # its own answer thrown back

    with socket.create_server(("127.0.0.1", 0)) as door:
        thread = threading.Thread(target=false_home, args=(door,))
        thread.start()
        with pytest.raises(ConnectionError, match="with the key of this run"):
            line.call([door.getsockname()], KEY)
        thread.join()
    assert not (tmp_path / "boom").exists()


@needs_mpi
def test_a_run_goes_on_while_strangers_knock(monkeypatch, tmp_path):
    ports, over = [], threading.Event()

    class Board(Listener):
        def __init__(self, *args):
            super().__init__(*args)
            ports.extend(self.ports())

    def knock():
        while not over.is_set():
            for attack in HOSTILE if ports else ():
                with suppress(OSError, AssertionError):  # the door was closed while we knocked
                    attack(ports[0], Bomb(tmp_path / "boom"))

    monkeypatch.setattr(job, "Listener", Board)
    thread = threading.Thread(target=knock)
    thread.start()
    try:
        found = launch(mpi_programs.everything, Mpi(2, timeout=120), (2,))
    finally:
        over.set()
        thread.join()
    assert all(here["aliasing"] for here in found)
    assert not (tmp_path / "boom").exists()
    with pytest.raises(ConnectionError):  # nobody listens any more
        socket.create_connection(("127.0.0.1", ports[0])).close()


def test_ranks_of_this_machine_are_heard_on_the_loopback_alone(monkeypatch):
    for name in start.BATCH:
        monkeypatch.delenv(name, raising=False)
    assert start.heard_at(None) == start.heard_at(("localhost:2",)) == ["127.0.0.1"]
    assert start.addresses(None, [7]) == [("127.0.0.1", 7)]
    assert start.heard_at(("no.such.host.invalid",)) == [""]  # ssh may know better
    monkeypatch.setenv(start.BATCH[0], "1")
    assert start.heard_at(None) == [""]
    assert start.addresses(None, [7])[-1] == (socket.gethostname(), 7)


def test_the_key_is_on_no_command_line_and_not_in_what_mpiexec_hands_on_to_hosts(monkeypatch):
    monkeypatch.setattr(start, "mpiexec", lambda: "mpiexec")
    monkeypatch.setattr(start, "version", lambda program: "mpiexec (Open MPI) 5.0.11")
    here, there = start.command(2, None, ()), start.command(2, ("a", "b"), ())
    assert start.KEY in here
    assert start.KEY not in there
    assert start.FILE in there
    assert KEY.hex() not in " ".join(deposit.command("a", "name"))


def left(path):
    """The file that holds the key, as soon as it is there."""
    found = os.stat(path)
    return stat.S_IMODE(found.st_mode), found.st_uid


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_the_key_lies_in_a_file_of_its_owner_for_as_long_as_it_is_needed():
    name = f"dlmini-test-{os.getpid()}"
    deposits = deposit.Deposits(["127.0.0.1", "localhost"], name, KEY, 60)
    assert left(deposit.path_of(name)) == (0o600, os.getuid())
    assert deposit.read(name) == KEY
    deposits.end()
    assert not os.path.exists(deposit.path_of(name))
    with pytest.raises(RuntimeError, match="is not on"):
        deposit.read(name)


@pytest.mark.skipif(os.name != "posix", reason="kills")
def test_a_key_does_not_outlive_a_notebook_that_is_killed():
    name = f"dlmini-test-killed-{os.getpid()}"
    script = f"from dlmini.comm.mpi.key_file import Deposits; d = Deposits(['localhost'], {name!r}, bytes(32), 60)"
    script += "; print(d.there['localhost'].pid, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        int(parent.stdout.readline())
        assert os.path.exists(deposit.path_of(name))
        parent.kill()
    while os.path.exists(deposit.path_of(name)):  # if it stayed, this would not end
        threading.Event().wait(0.01)


def test_a_host_that_cannot_be_reached_is_named(monkeypatch, tmp_path):
    agent = tmp_path / "agent"
    agent.write_text("#!/bin/sh\necho no route to $1 >&2\nexit 255\n")
    agent.chmod(0o755)
    monkeypatch.setenv(deposit.AGENTS[0], str(agent))
    with pytest.raises(RuntimeError, match=r"brought to far\.invalid \(no route to far\.invalid\)"):
        deposit.Deposits(["far.invalid"], "name", KEY, 60)


def test_a_host_that_never_answers_is_given_up(monkeypatch, tmp_path):
    agent = tmp_path / "agent"
    agent.write_text("#!/bin/sh\nexec sleep 1000\n")
    agent.chmod(0o755)
    monkeypatch.setenv(deposit.AGENTS[0], str(agent))
    with pytest.raises(RuntimeError, match=r"brought to far\.invalid \(no answer\)"):
        deposit.Deposits(["far.invalid"], "name", KEY, 0.01)


def test_strangers_leave_no_threads_behind(board):
    for _ in range(3 * STRANGERS):
        socket.create_connection(("127.0.0.1", board.ports()[0])).close()
    ends = [come(board, 0), come(board, 1)]
    assert arrived(board) == [(0, "hello"), (1, "hello")]
    for end in ends:
        end.close()
    assert len(board.threads) <= STRANGERS + board.size + len(board.doors) + 1
    assert listener.TICK < line.SECONDS
