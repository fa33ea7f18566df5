"""Strangers and liars at a room's doors: refused before a byte is unpickled, and the room goes on."""

import pickle
import socket
import struct
import threading
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass

import numpy as np
import psutil
import pytest
import zmq
from classrooms import another, classroom

from dlmini.comm import launch
from dlmini.comm.classroom import greeting
from dlmini.comm.classroom.key import new_key, read_key
from dlmini.comm.classroom.protocol import Kind, packed
from dlmini.comm.classroom.sockets import HEAD, SOME, Together, call_curve, frames
from dlmini.events import Event

GREETING = b"\xff\0\0\0\0\0\0\0\1\x7f\3\1"  # of ZMTP 3.1, what every peer sends first


class Bomb:
    """Unpickling it leaves a mark."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


@dataclass(frozen=True)
class Ports(Event):
    ports: tuple


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    with classroom(3, tmp_path_factory.mktemp("room")) as (found, _):
        launch(lambda comm: comm.rank, found)  # all have come
        yield found


def address(room):
    host, _, port = room.where.rpartition(":")
    return host, int(port)


def still_works(room):
    return launch(lambda comm: float(comm.allreduce(np.ones(2)).sum()), another(room, 3)) == [6.0] * 3


# ---- who has no key ----

JUNK = {
    "nothing": b"",
    "zeros": bytes(100_000),
    "a web browser": b"GET / HTTP/1.1\r\nHost: room\r\n\r\n" * 50,
    "a greeting without an end": GREETING,
    "a greeting in the clear": GREETING + b"NULL" + bytes(16 + 1 + 31),
    "CURVE and then noise": GREETING + b"CURVE" + bytes(15 + 1 + 31) + b"\4\xc8\5HELLO" + bytes(194),
    "an old ZMTP": b"\1\0" + b"\xff" * 5000,
    "a frame of 2^62 bytes": GREETING + b"CURVE" + bytes(15 + 1 + 31) + b"\6" + struct.pack(">Q", 2**62) + bytes(9999),
}


@pytest.mark.parametrize("what", JUNK)
def test_bytes_without_a_key_say_nothing_and_hurt_nobody(room, what, tmp_path):
    bomb = pickle.dumps(Bomb(tmp_path / "boom"))
    for data in (JUNK[what], JUNK[what] + bomb * 100):
        with socket.create_connection(address(room)) as link, suppress(OSError):
            link.sendall(data)
            link.shutdown(socket.SHUT_WR)
            link.settimeout(0.2)
            while link.recv(4096):
                pass
    assert sorted(row.name for row in room.who()) == ["pc-0", "pc-1", "pc-2"]
    assert not (tmp_path / "boom").exists()
    assert still_works(room)


def test_fifty_callers_who_say_nothing_keep_nobody_out(room, tmp_path):
    silent = [socket.create_connection(address(room)) for _ in range(50)]
    try:
        assert still_works(room)
        with classroom(1, tmp_path) as (other, _):  # nor is another room disturbed
            assert launch(lambda comm: comm.rank, other) == [0]
    finally:
        for link in silent:
            link.close()


def test_a_zmq_socket_without_keys_or_with_others_is_not_heard(room):
    with dealer() as plain:
        plain.connect(f"tcp://{room.where}")
        plain.send(frames(Kind.HELLO, 0, greeting.said(greeting.hello("in-the-clear", "1")))[0])
        assert not plain.poll(500)
    wrong = read_key(new_key().text)
    with dealer(wrong._replace(server=read_key(room.key).server)) as other:
        other.connect(f"tcp://{room.where}")
        other.send(frames(Kind.HELLO, 0, greeting.said(greeting.hello("wrong-key", "1")))[0])
        assert not other.poll(500)
    assert sorted(row.name for row in room.who()) == ["pc-0", "pc-1", "pc-2"]


@contextmanager
def dealer(key=None):
    context = zmq.Context()
    line = context.socket(zmq.DEALER)
    line.set(zmq.LINGER, 0)
    if key is not None:
        call_curve(line, key.members, key.server)
    try:
        yield line
    finally:
        context.destroy(0)


# ---- what was recorded, and a notebook that is none ----


class Recorder(threading.Thread):
    """A wire tap: passes a connection on, and keeps what the caller said."""

    def __init__(self, target):
        super().__init__(daemon=True)
        self.target, self.heard = target, []
        self.door = socket.create_server(("127.0.0.1", 0))
        self.where = f"127.0.0.1:{self.door.getsockname()[1]}"
        self.start()

    def run(self):
        with suppress(OSError):
            while True:
                link, _ = self.door.accept()
                heard = bytearray()
                self.heard.append(heard)
                there = socket.create_connection(self.target)
                threading.Thread(target=self.carry, args=(link, there, heard), daemon=True).start()
                threading.Thread(target=self.carry, args=(there, link, None), daemon=True).start()

    @staticmethod
    def carry(source, dest, heard):
        with suppress(OSError):
            while data := source.recv(65536):
                if heard is not None:
                    heard += data
                dest.sendall(data)
            dest.shutdown(socket.SHUT_WR)


def known(room, name, wanted):
    """Wait until the room lists somebody, or no longer does."""
    end = time.monotonic() + 60
    while (name in [row.name for row in room.who()]) is not wanted:
        assert time.monotonic() < end, [row.name for row in room.who()]
        time.sleep(0.01)


def test_a_recorded_call_said_again_is_not_understood(room, tmp_path):
    key = read_key(room.key)
    tap = Recorder(address(room))
    with dealer(key) as line, closing(tap.door):
        line.connect(f"tcp://{tap.where}")
        line.send(frames(Kind.HELLO, 0, greeting.said(greeting.hello("recorded", "7")))[0])
        assert line.poll(10_000)
        assert Together(SOME).add(line.recv())[0] == Kind.WELCOME
        known(room, "recorded", True)
    known(room, "recorded", False)
    recorded = bytes(max(tap.heard, key=len))
    assert b"recorded" not in recorded  # encrypted
    with socket.create_connection(address(room)) as link:
        link.sendall(recorded)
        link.settimeout(1.0)
        with suppress(OSError):
            while link.recv(4096):
                pass
    assert "recorded" not in [row.name for row in room.who()]
    assert still_works(room)


def test_who_holds_the_key_cannot_play_the_notebook(room):
    """Every member knows the text; but the notebook's own half is not in it."""
    from dlmini.comm.classroom.member import Member, Refused
    from dlmini.comm.classroom.sockets import Doorkeeper, serve_curve

    key, context = read_key(room.key), zmq.Context()
    keeper = Doorkeeper(context, lambda address, public: True)
    false = context.socket(zmq.ROUTER)
    keeper.watch(false)
    serve_curve(false, key.members)  # the only secret that a member has
    port = false.bind_to_random_port("tcp://127.0.0.1")
    thread = threading.Thread(target=lambda: [keeper.answer() or time.sleep(0.01) for _ in range(500)], daemon=True)
    thread.start()
    victim = Member("127.0.0.1", port, key, "victim", 0, lambda text: None)
    with pytest.raises(Refused, match="does not know this key"):
        victim.stay()
    thread.join()
    context.destroy(0)


# ---- who has the key, and lies ----


def welcomed(line, name):
    line.send(frames(Kind.HELLO, 0, greeting.said(greeting.hello(name, name)))[0])
    assert line.poll(10_000)
    assert Together(SOME).add(line.recv())[0] == Kind.WELCOME


LIES = {
    "no greeting": lambda line: line.send(b"junk"),
    "a pickle": lambda line: line.send(pickle.dumps(Bomb("/nowhere"))),
    "a pickle as greeting": lambda line: line.send(frames(Kind.HELLO, 0, pickle.dumps(Bomb("/nowhere")))[0]),
    "an endless greeting": lambda line: line.send(HEAD.pack(Kind.HELLO, 0, 2**60)),
    "several frames": lambda line: line.send_multipart([b"a"] * 1000),
    "an answer before the greeting": lambda line: line.send(frames(Kind.ANSWER, 1, pickle.dumps(Bomb("/nowhere")))[0]),
}


@pytest.mark.parametrize("what", LIES)
def test_an_insider_who_talks_nonsense_is_refused_alone(room, what):
    with dealer(read_key(room.key)) as line:
        line.connect(f"tcp://{room.where}")
        LIES[what](line)
        line.poll(300)
        assert still_works(room)
    assert sorted(row.name for row in room.who()) == ["pc-0", "pc-1", "pc-2"]


def test_frames_that_are_too_long_end_the_connection_and_cost_no_memory(room):
    before = psutil.Process().memory_info().rss
    with dealer(read_key(room.key)) as line:
        line.connect(f"tcp://{room.where}")
        welcomed(line, "glutton")
        big = bytes(2**26)
        line.send(big, copy=False)
        gone = time.monotonic() + 30
        while "glutton" in [row.name for row in room.who()] and time.monotonic() < gone:
            time.sleep(0.01)
    assert "glutton" not in [row.name for row in room.who()]
    assert psutil.Process().memory_info().rss - before < 3 * 2**26  # the sender's own copies
    assert still_works(room)


def test_an_insider_cannot_answer_for_another(room):
    """It is known by its connection: what it says of a run that is not its own is not heard."""
    with dealer(read_key(room.key)) as line:
        line.connect(f"tcp://{room.where}")
        welcomed(line, "liar")  # never ready, so no run takes it
        stop = threading.Event()

        def lie():
            while not stop.is_set():
                for run in range(1, 200):
                    line.send(frames(Kind.ANSWER, run, pickle.dumps("a lie"))[0])
                    line.send(frames(Kind.DIED, run, packed((-9, "")))[0])
                time.sleep(0.01)

        thread = threading.Thread(target=lie)
        thread.start()
        try:
            assert still_works(room)
        finally:
            stop.set()
            thread.join()


# ---- the doors between ranks ----


def strangers_at(port, encrypt):
    """All that a stranger can do to a rank's door, from beside it."""
    with suppress(OSError):
        for data in JUNK.values():
            with socket.create_connection(("127.0.0.1", port), 1) as link:
                link.sendall(data)
    with dealer() as line, suppress(zmq.Again):  # ranks that have ended meanwhile take nothing
        line.sndtimeo = 2000
        line.connect(f"tcp://127.0.0.1:{port}")
        for said in (b"", b"x" * 36, struct.pack("<I", 0) + bytes(32), struct.pack("<I", 99) + bytes(32), bytes(56)):
            line.send(said)
        line.send_multipart([b"a", b"b", b"c"])
        line.poll(50)
        line.send(bytes(32))  # a proof that is none
        line.send(bytes(2**20))
        line.poll(50)


@pytest.mark.parametrize("encrypt", [True, False])
def test_strangers_at_the_doors_of_ranks_are_not_heard(room, encrypt):
    """Each rank tells its port, and while all talk strangers do their worst."""

    def program(comm):
        ports = comm.allgather(comm._mesh.port)
        comm.emit(Ports(tuple(ports)))
        total = 0.0
        for _ in range(200):
            total += float(comm.allreduce(np.ones(1000)).sum())
        return total, len(comm._mesh.sources)

    def listen(event):
        if isinstance(event, Ports) and event.rank == 0:
            for port in event.ports:
                strangers_at(port, encrypt)

    found = launch(program, another(room, 3, encrypt=encrypt), (), listen)
    assert found == [(200 * 3000.0, 2)] * 3


def test_two_rooms_at_once_are_strangers_to_each_other(room, tmp_path):
    with classroom(2, tmp_path) as (other, _):
        found = {}
        programs = {"a": (another(room, 3), 3), "b": (other, 2)}

        def run(name, on, size):
            found[name] = launch(lambda comm: float(comm.allreduce(np.ones(5)).sum()), on).values

        threads = [threading.Thread(target=run, args=(name, *rest)) for name, rest in programs.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert found == {"a": [15.0] * 3, "b": [10.0] * 2}
        with pytest.raises(ValueError, match="copy"):
            read_key(room.key[:40] + other.key[40:])
