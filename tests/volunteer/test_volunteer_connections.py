"""Connections of strangers: limits hold while a body comes in, not after it; nobody takes them all, nobody stays."""

import logging
import socket
import sys
from contextlib import ExitStack, suppress

import httpx
import pytest
import volunteer_servers
from volunteer_servers import Hasty, project, until

from dlmini.volunteer import guards
from dlmini.volunteer.work import Work

LARGE = Work("lenet", "mnist", units=2, iterations=1)


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with project(tmp_path_factory.mktemp("bodies"), LARGE, body=1.0) as (url, _):
        token = httpx.post(url + "/join", json={"name": "me"}, trust_env=False).json()["token"]
        yield url, f"host: x\r\nauthorization: Bearer {token}\r\n"


def connected(url):
    place = httpx.URL(url)
    return socket.create_connection((place.host, place.port), timeout=30)


def sent(sock, piece, most):
    """How many bytes are taken until the server has had enough: `most` if it never has."""
    done = 0
    with suppress(ConnectionError):
        while done < most:
            done += sock.send(piece)
    return done


def status(sock):
    with suppress(ConnectionError):
        return int(sock.recv(65536).split()[1])


CHUNKS = (b"%x\r\n" % 60_000 + bytes(60_000) + b"\r\n") * 10
ENDLESS = [  # what is asked, how the body is said to come, what comes, and the answer
    ("POST /report/0/0", "content-length: 10\r\ntransfer-encoding: chunked", CHUNKS, 411),
    ("POST /report/0/0", "transfer-encoding: chunked\r\ncontent-length: 10", CHUNKS, 411),
    ("POST /report/0/0", "transfer-encoding: chunked", CHUNKS, 411),
    ("POST /join", "transfer-encoding: chunked", CHUNKS, 411),
    ("POST /report/0/0", "content-length: 999999999999", bytes(600_000), 413),
    ("POST /join", "content-length: 999999999999", bytes(600_000), 413),
    ("GET /status", "content-length: 999999999999", bytes(600_000), 200),
    ("POST /nowhere", "transfer-encoding: chunked", CHUNKS, 404),
]


@pytest.mark.parametrize(("asked", "length", "piece", "answer"), ENDLESS)
def test_who_has_his_answer_cannot_go_on_sending(url, monkeypatch, asked, length, piece, answer):
    monkeypatch.setattr(guards, "LINGER", 0.2)
    address, head = url
    with connected(address) as sock:
        sock.sendall(f"{asked} HTTP/1.1\r\n{head}{length}\r\n\r\n".encode())
        assert status(sock) == answer
        assert sent(sock, piece, 2**30) < 2**30
    assert httpx.get(address + "/work", trust_env=False).status_code == 200


def test_a_body_byte_by_byte_is_one_body(url):
    address, _ = url
    body = b'{"name": "slow hand"}'
    with connected(address) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.sendall(f"POST /join HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n".encode())
        for k in range(len(body)):
            sock.sendall(body[k : k + 1])
        assert status(sock) == 200


def test_who_does_not_read_his_answer_is_not_waited_for(url, monkeypatch):
    monkeypatch.setattr(Hasty, "unread", 0.2)
    address, head = url
    with connected(address) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        asked = f"GET /weights/0 HTTP/1.1\r\n{head}\r\n".encode()
        assert sent(sock, asked * 100, 2**30) < 2**30  # with all buffers full it would wait for ever


@pytest.fixture
def few(tmp_path, monkeypatch):
    """A server for eight connections, four of them from one address."""

    class Few(Hasty):
        most, patience = 8, 60.0

    monkeypatch.setattr(volunteer_servers, "Hasty", Few)
    with project(tmp_path) as (url, _):
        yield url


def full(url):
    """Whether one more is turned away."""
    with suppress(httpx.TransportError):
        return httpx.get(url + "/work", trust_env=False).status_code == 503


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere 127.0.0.2 is no address of this machine")
def test_one_address_has_half_of_all_connections_and_the_next_ones_are_told(few):
    with ExitStack() as open_ones:
        socks = [open_ones.enter_context(connected(few)) for _ in range(4)]
        until(lambda: full(few))
        with connected(few) as late:
            told = late.recv(65536)
            assert told.startswith(b"HTTP/1.1 503")
            assert b"too many connections are open; come again later" in told
        other = socket.create_connection((httpx.URL(few).host, httpx.URL(few).port), 30, ("127.0.0.2", 0))
        with other:
            other.sendall(b"GET /work HTTP/1.1\r\nhost: x\r\n\r\n")
            assert status(other) == 200
        socks[0].close()
        until(lambda: httpx.get(few + "/work", trust_env=False).status_code == 200)


def test_files_are_left_for_others_where_few_may_be_open(monkeypatch):
    resource = pytest.importorskip("resource")
    for most, found in ((256, 156), (64, 32), (10**6, 1000), (resource.RLIM_INFINITY, 1000)):
        monkeypatch.setattr(resource, "getrlimit", lambda which, most=most: (most, most))
        assert guards.connections() == found


def test_what_strangers_send_prints_nothing_in_the_terminal(url, caplog):
    address, _ = url
    logging.getLogger("uvicorn.error").addHandler(caplog.handler)
    upgrade = b"GET /work HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"
    for said in (b"\x16\x03\x01\x02\r\n\r\n", upgrade):
        with connected(address) as sock:
            sock.sendall(said)
            assert status(sock) in (200, 400)
    logging.getLogger("uvicorn.error").removeHandler(caplog.handler)
    assert not caplog.records
