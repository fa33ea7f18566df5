"""How mpiexec is found and called, without starting it; and the line between the notebook and a rank."""

import socket
import threading
from contextlib import suppress

import pytest

from dlmini.comm.mpi import Mpi
from dlmini.comm.mpi import connection as line
from dlmini.comm.mpi import mpiexec as start
from dlmini.comm.mpi.failures import cause

SAYS = {
    "open": "mpiexec (Open MPI) 5.0.11",
    "mpich": "HYDRA build details:\n    Version: 5.0.2",
    "other": "Microsoft MPI Startup Program",
}


@pytest.fixture
def program(monkeypatch):
    def pretend(kind):
        monkeypatch.setattr(start, "mpiexec", lambda: "mpiexec")
        monkeypatch.setattr(start, "version", lambda program: SAYS[kind])

    return pretend


@pytest.mark.parametrize(
    ("size", "hosts", "places"),
    [
        (4, ("a", "b"), "a:2,b:2"),
        (5, ("a", "b"), "a:2,b:3"),
        (8, ("a:5", "b", "c"), "a:5,b:1,c:2"),
        (2, ("a", "b", "c"), "b:1,c:1"),
        (3, ("a:1", "b:2"), "a:1,b:2"),
    ],
)
def test_ranks_are_spread_over_hosts(size, hosts, places):
    assert start.placed(size, hosts) == places


def test_each_mpi_is_spoken_to_in_its_own_words(program):
    for kind, where, environment in (("open", "--host", True), ("mpich", "-hosts", False), ("other", "-hosts", False)):
        program(kind)
        words = start.command(4, ("a", "b"), ("--more",))
        assert words[:3] == ["mpiexec", "-n", "4"]
        assert words[words.index(where) + 1] == "a:2,b:2"
        assert ("-x" in words) == environment
        assert words[-4] == "--more"
        assert words[-2:] == ["-m", "dlmini.comm.mpi.rank_main"]


def test_settings_of_the_reader_win_but_ranks_have_one_thread(monkeypatch):
    monkeypatch.delenv("OMPI_MCA_mpi_yield_when_idle", raising=False)
    monkeypatch.setenv("OMPI_MCA_btl", "tcp,self")
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    found = start.environment(start.cores() + 1, None)
    assert found["OMPI_MCA_btl"] == "tcp,self"
    assert found["OMPI_MCA_mpi_yield_when_idle"] == "1"
    assert "OMPI_MCA_mpi_yield_when_idle" not in start.environment(start.cores(), None)
    assert {found[name] for name in start.THREADS} == {"1"}


def test_what_is_missing_is_said_in_one_sentence(monkeypatch):
    monkeypatch.setattr(start, "mpiexec", lambda: None)
    monkeypatch.setattr(start, "find_spec", lambda name: object())
    with pytest.raises(ModuleNotFoundError, match=r'program mpiexec.*pip install "dlmini\[mpi\]"'):
        Mpi(2)
    monkeypatch.setattr(start, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r'package mpi4py.*pip install "dlmini\[mpi\]"'):
        Mpi(2)


def test_a_letter_that_is_sent_whole_is_sent_at_once():
    messages = pytest.importorskip("dlmini.comm.mpi.messages", exc_type=ImportError)
    found = start.environment(2, None)
    for name in ("sm", "vader"):  # since version 5, and before
        room = int(found[f"OMPI_MCA_btl_{name}_eager_limit"])
        assert room >= messages.ENVELOPE.size + messages.SMALL + 256  # Open MPI's own header is of some 30 bytes


def test_a_rank_knows_itself_by_its_environment(monkeypatch):
    for name in start.RANKS:
        monkeypatch.delenv(name, raising=False)
    assert start.rank_here() == -1
    monkeypatch.setenv("PMI_RANK", "3")
    assert start.rank_here() == 3


def test_only_who_has_the_key_gets_a_line():
    key, door = bytes(range(32)), socket.create_server(("127.0.0.1", 0))
    with door:
        for shown in (key, key[::-1]):
            caller = threading.Thread(target=say, args=(door.getsockname()[1], shown))
            caller.start()
            found = line.answer(door.accept()[0], key)
            assert (found is not None) == (shown == key)
            if found is not None:
                assert found.recv() == {"a": [1, 2]}
                with pytest.raises(EOFError):
                    found.recv()
                found.close()
            caller.join()


def say(port, key):
    with suppress(ConnectionError):  # nobody listens to a stranger
        end = line.call([("127.0.0.1", port)], key)
        end.send({"a": [1, 2]})
        end.close()


def test_nobody_answering_is_an_error_that_says_where_it_looked():
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
    with pytest.raises(ConnectionError, match=f"127.0.0.1.*port {port}"):
        line.call([("127.0.0.1", port)], bytes(32))


def test_the_end_of_a_rank_is_read_from_what_mpiexec_says():
    assert cause(3, "") == "ended with exit code 3"
    assert cause(137, "PID 77 on node a exited on\nsignal 9 (Killed).") == "was killed by SIGKILL"
    assert cause(None, "") == "was lost"
