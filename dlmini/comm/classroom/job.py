"""One run, seen from the notebook: PCs are taken, told the program, introduced to each other, heard, given back."""

from __future__ import annotations

import pickle
import queue
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import cloudpickle
import numpy as np

from dlmini.comm.classroom.comm import Waiting
from dlmini.comm.classroom.failures import Left, broken_line, judged, lost_sentence
from dlmini.comm.classroom.protocol import Kind, Order, packed, unpacked, with_program
from dlmini.comm.classroom.room import Member, Room
from dlmini.comm.control import Control, length
from dlmini.comm.errors import CommError, RankFailed
from dlmini.comm.launch import Results
from dlmini.comm.processes.workers.edited_sources import source_of
from dlmini.comm.processes.workers.failures import whereabouts
from dlmini.comm.processes.workers.protocol import Died, Returned, Said, Silent, Stopped
from dlmini.comm.real_transports import pickled
from dlmini.events import Event, Fault, Round, from_row

TICK = 0.02  # seconds between looks at a control, and at the clock
START = 60.0  # seconds in which all ranks must have said where they listen
GRACE = 2.0  # seconds for ranks to say where they were when a run is given up
ALONE = 2.0  # seconds that a connection may be broken while both its ends live
_registry = threading.Lock()  # of cloudpickle: which modules travel by value


@dataclass(eq=False)
class Job:
    """A run on these PCs: member i is rank i."""

    room: Room
    run: int
    members: list[Member]
    news: queue.SimpleQueue
    encrypt: bool = True
    spans: bool = False
    timeout: float | None = None
    control: Control | None = None
    may_die: frozenset[int] = frozenset()
    answers: dict[int, object] = field(default_factory=dict)
    lost: set[int] = field(default_factory=set)
    stuck: bool = False

    def __post_init__(self):
        self.size, self.began = len(self.members), time.monotonic()
        self.rank_of = {id(member): rank for rank, member in enumerate(self.members)}
        self.bound: dict[int, tuple[int, bytes]] = {}
        self.waiting: dict[int, Waiting] = {}
        self.broken: dict[tuple[int, int], float] = {}  # connections: since when
        self.version = None

    # ---- the way of a run ----

    def go(self, program: bytes, listen: Callable[[Event], None]) -> None:
        """Until all have answered, or one has failed: see `answers`. Whatever happens, nobody goes on after it."""
        try:
            if self.control is not None:
                self.control.bind(np.zeros(length(self.size)), self._kill, self._cancel)
            for rank in range(self.size):
                order = Order(rank, self.size, self.encrypt, self.spans, self.control is not None, self.room.silence)
                self._send(rank, Kind.RUN, with_program(order, program))
            self._follow(listen)
        finally:
            if self.control is not None:
                self.control.unbind()
            if not self.succeeded():
                self._give_up()

    def _follow(self, listen: Callable[[Event], None]) -> None:
        while len(self.answers) < self.size and not self._over():
            try:
                self._hear(*self.news.get(timeout=TICK), listen)
            except queue.Empty:
                self._look()
            self._hand_on_orders()

    def _over(self) -> bool:
        """Has one failed who may not, or do all wait for one another?"""
        failed = any(not isinstance(self.answers[rank], Returned) for rank in self.answers.keys() - self.lost)
        return failed or self.stuck

    def succeeded(self) -> bool:
        returned = {rank for rank, answer in self.answers.items() if isinstance(answer, Returned)}
        return len(returned | self.lost) == self.size

    def _look(self) -> None:
        """Nothing was said for a moment."""
        passed = time.monotonic() - self.began
        if self.timeout is not None and passed > self.timeout:
            raise TimeoutError
        if passed > START and len(self.bound) < self.size and len(self.answers) < self.size:
            late = ", ".join(self.members[rank].name for rank in range(self.size) if rank not in self.bound)
            raise RankFailed(f"after {START:.0f} s these PCs have not begun: {late}; is the network slow?")
        for (source, dest), since in self.broken.items():
            if time.monotonic() - since > ALONE and not {source, dest} & self.answers.keys():
                raise broken_line(self.members, source, dest)

    # ---- what ranks say ----

    def _hear(self, member: Member, kind: int | None, run: int, data, listen: Callable[[Event], None]) -> None:
        if kind == CANCEL:
            raise CommError("the run was cancelled")
        rank = self.rank_of[id(member)]
        if kind is None:
            self._died(rank, Left(data), listen)
        elif run == self.run and rank not in self.answers:
            self._heard(rank, kind, data, listen)

    def _heard(self, rank: int, kind: int, data: bytes, listen: Callable[[Event], None]) -> None:
        if kind == Kind.BOUND:
            self.bound[rank] = unpacked(data)
            if len(self.bound) == self.size:
                self._introduce()
        elif kind == Kind.SAID:
            self._chat(rank, pickle.loads(data), listen)
            self._send(rank, Kind.ACK, packed(len(data)))
        elif kind == Kind.WAITS:
            self._note(rank, *unpacked(data))
        elif kind == Kind.ANSWER:
            self.answers[rank] = pickle.loads(data)
        elif kind == Kind.DIED:
            self._died(rank, Died(*unpacked(data)), listen)
        elif kind == Kind.SILENT:
            self.answers[rank] = Silent(unpacked(data))

    def _chat(self, rank: int, said: Said, listen: Callable[[Event], None]) -> None:
        if said.stream != "events":
            getattr(sys, said.stream).write(said.text)
            return
        for told in said.text:
            event = from_row(told) if type(told) is tuple else pickle.loads(told)
            if self.control is not None and isinstance(event, Round):
                self.control.done[rank] = event.t + 1
            listen(event)

    def _introduce(self) -> None:
        """Tell everybody where the others listen, and give every two a secret for each direction."""
        peers = []
        for rank, member in enumerate(self.members):
            port, public = self.bound[rank]
            at_home = member.address.startswith("127.")  # on the notebook's own PC
            peers.append((member.name, "" if at_home else member.address, port, public))
        keys = [[secrets.token_bytes(32) for _ in self.members] for _ in self.members]
        self._hand_on_orders()
        for rank in range(self.size):
            self._send(rank, Kind.PEERS, packed((peers, keys[rank], [row[rank] for row in keys])))

    def _died(self, rank: int, how: Died | Left, listen: Callable[[Event], None]) -> None:
        if rank in self.answers:
            return
        self.answers[rank] = how
        if rank in self.may_die and self.may_die - self.lost - {rank} and len(self.bound) == self.size:
            self.lost.add(rank)
            for other in self._missing():
                self._send(other, Kind.LOST, packed(rank))
            at = time.monotonic() - self.began
            listen(Fault("killed", lost_sentence(self.members, rank, how), rank=rank, at=at))

    def _note(self, rank: int, waiting: tuple, broken: list[int]) -> None:
        """A rank has waited for a while."""
        self.waiting[rank] = Waiting(*waiting)
        if self.control is not None:
            self.control.waits[rank] = self.waiting[rank].cut
        for other in broken:
            self.broken.setdefault((rank, other), time.monotonic())
        self.stuck = self._deadlocked()

    def _deadlocked(self) -> bool:
        """Do all wait, and no letter is under way?

        Notes are of different moments. But the first who went on after its note was woken by a letter, which its
        sender had counted when it made its own note, and the receiver not. So if all counts agree nobody went on.
        (Mattern, Algorithms for distributed termination detection, Distributed Computing 2, 1987.)
        """
        missing = self._missing()
        if not all(rank in self.waiting and self.waiting[rank].lost == len(self.lost) for rank in missing):
            return False
        pairs = ((a, b) for a in missing for b in missing if a != b)
        return all(self.waiting[a].sent[b] == self.waiting[b].received[a] for a, b in pairs)

    # ---- what they are told ----

    def _send(self, rank: int, kind: Kind, data=b"") -> None:
        self.room.send(self.members[rank], kind, self.run, data)

    def _hand_on_orders(self) -> None:
        if self.control is not None and len(self.bound) == self.size and self.control.version != self.version:
            self.version = self.control.version
            for rank in self._missing():
                self._send(rank, Kind.ORDERS, self.control.words.tobytes())

    def _missing(self) -> list[int]:
        return [rank for rank in range(self.size) if rank not in self.answers]

    def _kill(self, rank: int) -> None:
        self._send(rank, Kind.KILL)

    def _cancel(self) -> None:
        self.news.put((None, CANCEL, 0, None))

    def _give_up(self) -> None:
        """Tell all who have not answered; they say where they were."""
        for rank in self._missing():
            self._send(rank, Kind.ABORT)
        end = time.monotonic() + GRACE
        while self._missing() and time.monotonic() < end:
            try:
                member, kind, run, data = self.news.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                break
            if member is not None and run in (self.run, 0) and kind in LAST:
                rank = self.rank_of[id(member)]
                self.answers.setdefault(rank, Left(data) if kind is None else LAST[kind](data))


CANCEL = -1
LAST = {
    None: Left,
    Kind.ANSWER: pickle.loads,
    Kind.DIED: lambda data: Died(*unpacked(data)),
    Kind.SILENT: lambda data: Silent(unpacked(data)),
}


def run_in(
    room: Room,
    size: int,
    program: Callable,
    args: tuple,
    listen: Callable[[Event], None] | None,
    told: Callable[[int], None],
    **options,
) -> Results:
    """program(comm, *args) on `size` PCs of the room."""
    data, events, news = travelling(program, args), [], queue.SimpleQueue()
    run, members = room.take(size, news, told)
    job = Job(room, run, members, news, **options)
    began, late = time.perf_counter(), False
    try:
        job.go(data, listen or events.append)
    except TimeoutError:
        late = True
    except KeyboardInterrupt as stop:
        stop.add_note(where(job))
        raise
    finally:
        room.give_back(members)
    answers = judged(job, late)
    return Results(
        [pickle.loads(answer.value) for answer in answers],
        [entry for answer in answers for entry in answer.entries],
        [answer.phases for answer in answers],
        time.perf_counter() - began,
        events,
    )


def where(job: Job) -> str:
    known = Stopped | Silent | Died | Returned
    return whereabouts({rank: answer for rank, answer in job.answers.items() if isinstance(answer, known)})


def travelling(program: Callable, args: tuple) -> bytes:
    """The program by value: what is written in the user's own files travels too, which no other PC has."""
    with _registry, by_value(own_modules()):
        return pickled(program, args)


def own_modules() -> list:
    return [module for name, module in list(sys.modules.items()) if name != "__main__" and source_of(module)]


@contextmanager
def by_value(modules: list) -> Iterator[None]:
    new = [m for m in modules if m.__name__ not in cloudpickle.list_registry_pickle_by_value()]
    new = [m for m in new if sys.modules.get(m.__name__) is m]
    for module in new:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in new:
            cloudpickle.unregister_pickle_by_value(module)
