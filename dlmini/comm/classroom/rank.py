"""The process of a rank: one run after the other, each by its order, with connections of its own.

It speaks with the PC that started it through a pipe: messages of `protocol`, a head and the data. A thread hears them,
since the program may compute; what concerns the program that runs is put where its communicator looks (News).
"""

from __future__ import annotations

import contextlib
import pickle
import queue
import threading

import cloudpickle
import numpy as np

from dlmini.comm.classroom.comm import News, RoomComm, Waiting
from dlmini.comm.classroom.controlled import ObedientComm, take_over
from dlmini.comm.classroom.mesh import Mesh, Unreached
from dlmini.comm.classroom.protocol import Kind, Order, Peer, packed, unpacked, without_program
from dlmini.comm.classroom.sockets import HEAD, Bell
from dlmini.comm.errors import Cancelled
from dlmini.comm.processes.workers.event_sender import EventSender
from dlmini.comm.processes.workers.protocol import Exited, Raised, Returned, Said, Stopped
from dlmini.comm.processes.workers.worker import Voice, dumped, outcome_of
from dlmini.comm.processes.workers.worker_exit import die_with_parent, leave_last_words
from dlmini.events import as_row

ROOM = 1 << 26  # bytes of chat that the notebook may not have heard yet


def serve(pipe, last_words, port: int, home: str) -> None:
    """The process's main function. `port`: where it listens for other ranks; `home`: the notebook's address."""
    die_with_parent()
    leave_last_words(last_words)
    with contextlib.suppress(EOFError, OSError):  # the PC's own process is gone, and so is all reason to live
        Rank(pipe, port, home).live()


class Rank:
    def __init__(self, pipe, port: int, home: str):
        self.pipe, self.port, self.home, self.bell = pipe, port, home, Bell()
        self.runs: queue.SimpleQueue = queue.SimpleQueue()
        self.run, self.given_up, self.lock = 0, 0, threading.Lock()

    def live(self) -> None:
        threading.Thread(target=self.hear, daemon=True).start()
        while True:
            self.say(Kind.READY)
            run, data = self.runs.get()
            order, program = without_program(data)
            self.peers, self.news, self.unheard = queue.SimpleQueue(), News(order.size), Credit(ROOM)
            self.run = run  # from now on the thread puts there what it hears; and if it has heard already:
            self.news.cancelled |= self.given_up == run
            self.say(Kind.ANSWER, pickle.dumps(self.outcome(order, program)))

    def say(self, kind: Kind, data: bytes = b"") -> None:
        with self.lock:
            self.pipe.send_bytes(HEAD.pack(kind, self.run, len(data)))
            self.pipe.send_bytes(data)

    # ---- what the notebook says, in a thread of its own ----

    def hear(self) -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                kind, run, _ = HEAD.unpack(self.pipe.recv_bytes())
                data = self.pipe.recv_bytes()
                if kind == Kind.RUN:
                    self.given_up = 0  # another notebook may count from one again
                    self.runs.put((run, data))
                elif kind == Kind.ABORT:
                    self.given_up = run
                if run == self.run:
                    self.take_note(kind, data)

    def take_note(self, kind: int, data: bytes) -> None:
        if kind == Kind.PEERS:
            self.peers.put(unpacked(data))
        elif kind == Kind.LOST:
            self.news.deaths.append(unpacked(data))
        elif kind == Kind.ORDERS:
            take_over(self.news.orders, np.frombuffer(data))
        elif kind == Kind.ACK:
            self.unheard.give(unpacked(data))
        elif kind == Kind.ABORT:
            self.news.cancelled = True
            self.unheard.give(ROOM)
            self.peers.put(None)
        self.bell.ring()

    # ---- one run ----

    def outcome(self, order: Order, program: memoryview) -> Returned | Raised | Exited | Stopped:
        chat = EventSender(lambda events: self.chat(Said("events", events)))

        def voice(name: str) -> Voice:
            return Voice(name, lambda stream, text: (chat.flush(), self.chat(Said(stream, text))))

        out, err = voice("stdout"), voice("stderr")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            found = outcome_of(lambda: self.work(order, program, chat), __file__)
        for stream in (out, err):
            stream.flush()
        chat.end()
        return found

    def chat(self, said: Said) -> None:
        data = pickle.dumps(said)
        self.unheard.take(len(data))
        self.say(Kind.SAID, data)

    def work(self, order: Order, program: memoryview, chat: EventSender) -> Returned:
        mesh = Mesh(order.rank, order.size, order.encrypt, self.port, self.bell)
        fine = False
        try:
            self.meet(mesh)
            comm = self.communicator(order, mesh, chat)
            value, unread = self.live_as(comm, program)
            fine = True
        finally:
            mesh.close(farewell=fine)
        return Returned(value, comm.ledger.entries(), comm.phases, unread)

    def meet(self, mesh: Mesh) -> None:
        """Tell where I listen, hear where others do, and know each other."""
        self.say(Kind.BOUND, packed((mesh.port, mesh.public)))
        self.look()
        told = self.peers.get()
        self.look()
        peers, out, back = told
        peers = [Peer(*peer) for peer in peers]
        try:
            mesh.meet([peer._replace(address=peer.address or self.home) for peer in peers], out, back, self.look)
        except Unreached as error:
            raise ConnectionError(unmet(mesh.rank, peers, error.ranks, self.home)) from None

    def look(self) -> None:
        if self.news.cancelled:
            raise Cancelled("waits for the others to answer")

    def communicator(self, order: Order, mesh: Mesh, chat: EventSender) -> RoomComm:
        def tell(event) -> None:
            chat.tell(as_row(event) or dumped(event, f"an event that rank {order.rank} emits"))

        kind = ObedientComm if order.controlled else RoomComm
        comm = kind(mesh, self.news, tell, self.note)
        comm.spans = order.spans
        return comm

    def note(self, waiting: Waiting, broken: list[int]) -> None:
        self.say(Kind.WAITS, packed((tuple(waiting), broken)))

    def live_as(self, comm: RoomComm, program: memoryview) -> tuple[bytes, dict]:
        main, args = cloudpickle.loads(program)
        value = dumped(main(comm, *args), f"what rank {comm.rank} returned")
        return value, comm.close()


class Credit:
    """How many bytes may still be said before somebody must have heard some."""

    def __init__(self, most: int):
        self.left, self.change = most, threading.Condition()

    def take(self, nbytes: int) -> None:
        with self.change:
            self.change.wait_for(lambda: self.left > 0)
            self.left -= nbytes

    def give(self, nbytes: int) -> None:
        with self.change:
            self.left += nbytes
            self.change.notify_all()


def unmet(rank: int, peers: list[Peer], missing: list[int], home: str) -> str:
    """Whom this PC could not meet, and what may be the matter."""

    def shown(other: int) -> str:
        peer = peers[other]
        return f"{peer.name} (rank {other}) at {peer.address or home}:{peer.port}"

    return (
        f"{peers[rank].name} (rank {rank}) has not met {', '.join(map(shown, missing))}: is a firewall between them? "
        "Join with --port and let that port in on every PC"
    )
