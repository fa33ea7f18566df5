"""The room, seen from the notebook: a door with a key, and who has come in.

A thread of its own owns the sockets. It answers the door, hears the PCs, and sends each a TICK several times a second:
libzmq has hung up on who was silent for too long, and then the tick cannot be sent. Runs speak to it by `send` and are
told by the queue that they leave with `take`.
"""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import psutil
import zmq

from dlmini.comm.classroom.greeting import Hello, doubt, heard, hello, mismatch
from dlmini.comm.classroom.key import RoomKey
from dlmini.comm.classroom.protocol import Kind, packed
from dlmini.comm.classroom.sockets import SOME, Bell, Doorkeeper, Together, frames, serve_curve, settle
from dlmini.comm.errors import CommError
from dlmini.files import plainly

BEAT = 0.1  # seconds between ticks
GOODBYE = 1.0  # seconds for PCs to leave a room that is closed
LOOK = 0.5  # seconds between two words about whom a run waits for
MOST = 1 << 40  # bytes of a message; of the first one, SOME
LEFT = "left the room"
LOST = "was lost: its `dlmini join` was killed, it was switched off, or its cable is out"
REMEMBERED = 5  # who was refused last


@dataclass(eq=False)
class Member:
    """A PC that has come in."""

    caller: bytes  # by which libzmq knows its connection
    address: str
    hello: Hello
    doubt: str
    together: Together
    ready: bool = False
    news: queue.SimpleQueue | None = None  # of the run that has taken it
    came: float = field(default_factory=time.time)

    @property
    def name(self) -> str:
        return self.hello.name


class Room:
    """Open from the first moment. `silence`: seconds after which a PC that gives no sign is gone."""

    def __init__(self, key: RoomKey, port: int, address: str, silence: float):
        self.key, self.silence, self.hello = key, silence, hello("the room", "")
        self.context, self.bell, self.orders = zmq.Context(), Bell(), deque()
        self.members: dict[bytes, Member] = {}
        self.strangers: dict[bytes, Together] = {}  # who has the key, and has not said who it is
        self.refused: deque[str] = deque(maxlen=REMEMBERED)
        self.wrong: deque[str] = deque(maxlen=REMEMBERED)  # addresses that called with a wrong key
        self.change, self.closing, self.runs = threading.Condition(), False, 0
        self.keeper = Doorkeeper(self.context, self._may_call)
        self.door = settle(self.context.socket(zmq.ROUTER), SOME, silence)
        self.door.set(zmq.ROUTER_MANDATORY, 1)
        self.keeper.watch(self.door)
        serve_curve(self.door, key.server)
        self.address, self.port = address, self._bind(address, port)
        self.thread = threading.Thread(target=self._live, name="dlmini room", daemon=True)
        self.thread.start()

    def _bind(self, address: str, port: int) -> int:
        try:
            self.door.bind(f"tcp://{address or '*'}:{port or '*'}")
        except zmq.ZMQError as error:
            self.context.destroy(0)
            raise OSError(occupied(address, port, error)) from error
        return int(self.door.get_string(zmq.LAST_ENDPOINT).rpartition(":")[2])

    def addresses(self) -> list[str]:
        """What PCs may call, first the likeliest."""
        return [self.address] if self.address else own_addresses()

    # ---- for runs ----

    def take(self, count: int, news: queue.SimpleQueue, told: Callable[[int], None]) -> tuple[int, list[Member]]:
        """A number for a run, and the first `count` PCs that are ready; told(how many are missing) while it waits."""
        while True:
            with self.change:
                self.change.wait_for(lambda: self.closing or len(self._free()) >= count, LOOK)
                free = self._free()[:count]
                if self.closing:
                    raise CommError("the room was closed")
                if len(free) == count:
                    for member in free:
                        member.news, member.ready = news, False
                    self.runs += 1
                    return self.runs, free
            told(count - len(free))

    def _free(self) -> list[Member]:
        return [member for member in self.members.values() if member.ready and member.news is None]

    def give_back(self, members: list[Member]) -> None:
        with self.change:
            for member in members:
                member.news = None
            self.change.notify_all()

    def send(self, member: Member, kind: Kind, run: int = 0, data=b"") -> None:
        """From any thread; on its way soon."""
        self.orders.append((member.caller, frames(kind, run, data)))
        self.bell.ring()

    def close(self, dismiss: bool = True) -> None:
        """No more calls; PCs are sent home, or left waiting for the next notebook."""
        if dismiss:
            with self.change:
                for member in self.members.values():
                    self.send(member, Kind.DISMISS)
                self.change.wait_for(lambda: not self.members, GOODBYE)
        self.closing = True
        self.bell.ring()
        self.thread.join(5)

    # ---- the thread ----

    def _live(self) -> None:
        poller, next_tick = zmq.Poller(), 0.0
        for one in (self.door, self.keeper.socket, self.bell.fileno()):
            poller.register(one, zmq.POLLIN)
        try:
            while not self.closing:
                poller.poll(int(1e3 * BEAT))
                self.bell.hush()
                self.keeper.answer()
                self._hear()
                self._carry_out()
                if time.monotonic() > next_tick:
                    next_tick = time.monotonic() + BEAT
                    self._tick()
        finally:
            self.closing = True
            self._carry_out()
            self.door.close(500)
            self.context.destroy()
            for member in list(self.members.values()):
                self._lose(member, LEFT)

    def _may_call(self, address: str, key: bytes) -> bool:
        if key == self.key.members.public:
            return True
        self.wrong.append(address)
        return False

    def _hear(self) -> None:
        with suppress(zmq.Again):
            while True:
                caller, *said = self.door.recv_multipart(zmq.NOBLOCK, copy=False)
                if len(said) == 1:  # nobody of us says anything in several frames
                    self._heard(caller.bytes, said[0])

    def _heard(self, caller: bytes, frame: zmq.Frame) -> None:
        member = self.members.get(caller)
        together = member.together if member else self.strangers.setdefault(caller, Together(SOME))
        try:
            message = together.add(frame.bytes)
            if message is not None and member is None:
                self._greeted(caller, address_of(frame), *message)
            elif message is not None:
                self._told(member, *message)
        except Exception as error:  # whatever a PC says, the others stay
            self._refuse(caller, f"{address_of(frame)} says what cannot be understood ({error})")

    def _greeted(self, caller: bytes, address: str, kind: int, run: int, data: bytes) -> None:
        if kind == Kind.BYE:  # of one who was refused
            return
        if kind != Kind.HELLO:
            raise ValueError("the first word must be a greeting")
        theirs = heard(data)
        before = next((m for m in self.members.values() if m.name == theirs.name), None)
        if before is not None and before.hello.session == theirs.session:  # it calls again, sooner than we noticed
            self._lose(before, LOST)
            before = None
        if before is not None:
            self._refuse(caller, twins(theirs.name, before.address, address))
        elif why := mismatch(theirs, self.hello):
            self._refuse(caller, why)
        else:
            self.strangers.pop(caller, None)
            self._reply(caller, Kind.WELCOME)
            with self.change:
                new = Member(caller, address, theirs, doubt(theirs, self.hello), Together(MOST))
                self.members[caller] = new
                self.change.notify_all()

    def _refuse(self, caller: bytes, why: str) -> None:
        self.refused.append(why)
        self.strangers.pop(caller, None)
        self._reply(caller, Kind.REFUSED, packed(why))
        if caller in self.members:
            self._lose(self.members[caller], f"speaks another language: {why}")

    def _told(self, member: Member, kind: int, run: int, data: bytes) -> None:
        if kind == Kind.READY:
            with self.change:
                member.ready = True
                self.change.notify_all()
        elif kind == Kind.BYE:
            self._lose(member, LEFT)
        elif member.news is not None:
            member.news.put((member, kind, run, data))

    def _carry_out(self) -> None:
        with suppress(IndexError):
            while True:
                caller, parts = self.orders.popleft()
                if caller in self.members:
                    self._say(caller, parts)

    def _reply(self, caller: bytes, kind: Kind, data: bytes = b"") -> None:
        self._say(caller, frames(kind, 0, data))

    def _say(self, caller: bytes, parts: list) -> None:
        try:
            for part in parts:
                self.door.send(caller, zmq.SNDMORE | zmq.NOBLOCK)
                self.door.send(part, zmq.NOBLOCK, copy=len(part) < SOME)
        except zmq.ZMQError:  # libzmq has hung up on it
            if caller in self.members:
                self._lose(self.members[caller], LOST)

    def _tick(self) -> None:
        for caller in list(self.members):
            self._reply(caller, Kind.TICK)
        for caller in list(self.strangers):
            try:
                self.door.send_multipart([caller, *frames(Kind.TICK, 0)], zmq.NOBLOCK)
            except zmq.ZMQError:
                del self.strangers[caller]

    def _lose(self, member: Member, why: str) -> None:
        with self.change:
            self.members.pop(member.caller, None)
            if member.news is not None:
                member.news.put((member, None, 0, why))
            self.change.notify_all()


def address_of(frame: zmq.Frame) -> str:
    """From where a frame came."""
    return frame.get("Peer-Address")


def occupied(address: str, port: int, error: zmq.ZMQError) -> str:
    if error.errno == zmq.EADDRINUSE:
        return (
            f"port {port} is in use: another notebook may have its room there; close it (or its kernel), or take "
            "another port"
        )
    return f"this PC cannot listen at {address or 'any address'}, port {port} ({plainly(error)}); take another"


def twins(name: str, here: str, there: str) -> str:
    return (
        f"a PC called {name} is in the room already (it came from {here}, the new one from {there}); "
        f"join with another name: --name {name}-2"
    )


def own_addresses() -> list[str]:
    """This PC's addresses: first the one that leads to the network, at the end itself. Nothing is sent."""
    found = []
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # an address for documentation, RFC 5737
        found.append(probe.getsockname()[0])
    for cards in psutil.net_if_addrs().values():
        found += [card.address for card in cards if card.family == socket.AF_INET]
    return sorted(dict.fromkeys(found), key=lambda address: address.startswith("127."))
