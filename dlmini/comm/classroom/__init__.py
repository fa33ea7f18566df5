"""Ranks on the PCs of a room, without MPI, ssh or accounts: every PC joins by a line that the lecturer shows.

    room = Classroom(6, 5555).open()          says: dlmini join 192.168.1.5:5555 --key k...
    train(task, recipe, on=room)              waits for six PCs, with a list of who has come; then as everywhere

key.py       the key: one line of text                  mesh.py        connections between ranks, each end proved
sockets.py   how sockets are set, wake, are guarded     letters.py     messages in frames, what has come
room.py      the notebook's door, who has come in       comm.py        a rank as a Comm
roll.py      the list of them                           controlled.py  one that obeys a Control
job.py       one run, seen from the notebook            protocol.py    what all of them say
member.py    a PC that has joined                       greeting.py    its first words; the same versions?
rank_process.py, rank.py   its rank, outside, inside    failures.py    what came of a run
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from dlmini.checks import real, refuse, settle, text, truth, whole
from dlmini.comm.control import Control
from dlmini.comm.launch import Results
from dlmini.events import Event

INSTALL = "Classroom needs the package pyzmq, which Jupyter has and this Python has not; pip install dlmini brings it"
_rooms: dict[tuple, object] = {}  # (address, port) -> open rooms of this process
_lock = threading.Lock()


@dataclass(frozen=True)
class Classroom:
    """`size` ranks, one on each PC that has joined the room at this port of the notebook's PC, in the order they came.

    port       which PCs call; 0: any that is free. All rooms of one port in one notebook are the same room.
    encrypt    False: what ranks say to each other passes in the clear, at half the cost; everybody is known all the
               same, and programs and results stay secret.
    address    of this PC, at which it listens; empty: at all.
    patience   seconds without a sign after which a PC is gone: its cable may be out. (Who leaves or is killed is known
               at once.) On a network that stalls now and then, more.
    wait       seconds that a run waits for PCs to come.
    timeout    seconds after which a run is given up.
    spans      emit a Span for every stretch of a rank's time.
    key_file   where the room's key is kept; None: one file for all rooms of this user, so that PCs find back to a
               notebook that was started again.
    """

    size: int
    port: int
    encrypt: bool = True
    address: str = ""
    patience: float = 1.0
    wait: float = 3600.0
    timeout: float | None = None
    spans: bool = False
    key_file: str | Path | None = None
    _own: list = field(default_factory=list, init=False, repr=False, compare=False)  # of port 0: the room

    def __post_init__(self):
        demand_zmq()
        settle(
            self,
            size=whole(self.size, "size", 1, hint="ranks"),
            port=whole(self.port, "port", 0, 65535, hint="0 is any that is free"),
            encrypt=truth(self.encrypt, "encrypt"),
            address=text(self.address, "address"),
            patience=real(self.patience, "patience", 0.1, most=3600, hint="seconds"),
            wait=real(self.wait, "wait", 0, infinite=True, hint="seconds"),
            spans=truth(self.spans, "spans"),
        )
        if self.timeout is not None:
            settle(self, timeout=real(self.timeout, "timeout", above=0, infinite=True, hint="seconds"))
        if self.key_file is not None and not (isinstance(self.key_file, str | Path) and str(self.key_file)):
            refuse(TypeError, "key_file", self.key_file, "a path, or None")

    # ---- the room ----

    def open(self) -> Classroom:
        """Let PCs come in, and say how. `run` does it too, where nobody has."""
        if not self.is_open:
            self._room()
            print(self.invitation())
        return self

    def close(self) -> None:
        """Send everybody home."""
        with _lock:
            room = self._found()
            if room is not None:
                self._forget(room)
        if room is not None:
            room.close()

    @property
    def is_open(self) -> bool:
        with _lock:
            return self._found() is not None

    def invitation(self) -> str:
        """What to type on every PC."""
        room = self._room()
        first, *others = room.addresses()
        line = f"On every PC:  dlmini join {first}:{room.port} --key {room.key.text}"
        also = f"\n(this PC is also {', '.join(others)})" if others else ""
        return line + also

    @property
    def key(self) -> str:
        """What PCs join with."""
        return self._room().key.text

    @property
    def where(self) -> str:
        """HOST:PORT that PCs call."""
        room = self._room()
        return f"{room.addresses()[0]}:{room.port}"

    def who(self):
        """Who has come, as a table."""
        from dlmini.comm.classroom.roll import Roll

        return Roll.of(self._room())

    def renew_key(self) -> None:
        """Send everybody home, and make a new key: who has the old one can come no more."""
        from dlmini.comm.classroom.key import kept_key, key_file

        self.close()
        kept_key(key_file(self.key_file), renew=True)

    # ---- runs ----

    def run(
        self,
        program: Callable,
        args: tuple = (),
        listen: Callable[[Event], None] | None = None,
        control: Control | None = None,
        may_die: frozenset[int] = frozenset(),
    ) -> Results:
        """program(comm, *args) on every rank, as soon as there are enough PCs; another run takes others, or waits."""
        from dlmini.comm.classroom.job import run_in
        from dlmini.comm.classroom.roll import Arrivals

        self.open()
        arrivals = Arrivals(self._room(), self.size, self.wait, listen)
        options = {"encrypt": self.encrypt, "spans": self.spans, "timeout": self.timeout}
        return run_in(
            self._room(), self.size, program, args, listen, arrivals, control=control, may_die=may_die, **options
        )

    # ---- the one room behind all descriptions of it ----

    def _room(self):
        with _lock:
            return self._found() or self._opened()

    def _found(self):
        if self.port == 0:
            return self._own[0] if self._own else None
        room = _rooms.get((self.address, self.port))
        if room is not None and room.silence != self.patience:
            raise ValueError(f"the room at port {self.port} is open with patience={room.silence}; close() it first")
        return room

    def _opened(self):
        from dlmini.comm.classroom.key import kept_key, key_file
        from dlmini.comm.classroom.room import Room

        room = Room(kept_key(key_file(self.key_file)), self.port, self.address, self.patience)
        if self.port == 0:
            self._own.append(room)
        _rooms[self.address, room.port] = room
        return room

    def _forget(self, room) -> None:
        self._own.clear()
        _rooms.pop((self.address, room.port), None)


def demand_zmq() -> None:
    if find_spec("zmq") is None:
        raise ModuleNotFoundError(INSTALL)


@atexit.register
def leave_rooms() -> None:
    """The notebook ends: PCs wait for the next one."""
    for room in list(_rooms.values()):
        room.close(dismiss=False)
    _rooms.clear()
