"""A PC in a room: `dlmini join HOST:PORT --key KEY`. It stays until somebody presses Ctrl-C or the room is closed.

It keeps one process for the rank that this PC is, and carries messages between that and the notebook (protocol.py).
Whatever becomes of a program, the PC stays; when the notebook is gone, it waits until it is back.
"""

from __future__ import annotations

import queue
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import zmq
from zmq.utils.monitor import recv_monitor_message

from dlmini.comm.classroom.greeting import hello, new_session, said
from dlmini.comm.classroom.key import JoinKey
from dlmini.comm.classroom.protocol import FOR_RANKS, Kind, packed, unpacked
from dlmini.comm.classroom.rank_process import ENDED, RankProcess
from dlmini.comm.classroom.sockets import SOME, Bell, Together, call_curve, frames, settle

PATIENCE = 3.0  # seconds without a sign of the notebook after which it is gone
ANSWER = 10.0  # seconds for it to say welcome
AGAIN = 1.0  # seconds between two calls
GRACE = 0.5  # seconds for a rank to give up when it is told to
REACH = 3.0  # seconds for a connection to be made
BIRTHS = 3  # times that a rank's process may end before it was ready
MOST = 1 << 40  # bytes of a message
NEVER = 24 * 3600 * 1000  # milliseconds: we call again ourselves. (At -1 libzmq forgets what was not yet read.)
FAILED = zmq.EVENT_HANDSHAKE_FAILED_AUTH | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
EVENTS = zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED | FAILED


class Refused(ValueError):
    """The notebook does not want this PC, or the key is not its own: to call again would be in vain."""


class Gone(Exception):
    """The connection has ended."""


class Dismissed(Exception):
    """The room is closed."""


class Member:
    """This PC. `port`: where it listens for others of the room (0: any); `say` shows a person what happens."""

    def __init__(self, host: str, port: int, key: JoinKey, name: str, own_port: int, say: Callable[[str], None]):
        self.host, self.port, self.key, self.name, self.own_port, self.say = host, port, key, name, own_port, say
        self.context, self.bell, self.heard = zmq.Context(), Bell(), queue.SimpleQueue()
        self.hello, self.home = hello(name, new_session()), address_of(host)
        self.line = self.monitor = self.rank = None
        self.births, self.ready, self.run, self.late, self.last, self.doubts = 0, False, 0, None, "", 0

    def stay(self, wait: float | None = None) -> None:
        """Until the room is closed. wait: seconds after which a notebook that is not there is given up."""
        end = None if wait is None else time.monotonic() + wait
        try:
            self._start_rank()
            while True:
                try:
                    self._call()
                    end = None
                    self._serve()
                except Gone as gone:
                    self._free(str(gone))
                if end is not None and time.monotonic() > end:
                    raise ConnectionError(self.last)
                time.sleep(AGAIN)
        except Dismissed:
            self.say("The room is closed. Good-bye.")
        finally:
            self._leave()

    # ---- the notebook ----

    def _call(self) -> None:
        """Call the notebook, and be welcome; else Gone, to be tried again, or Refused."""
        if why := unreachable(self.host, self.port):
            raise Gone(why)
        self.line = settle(self.context.socket(zmq.DEALER), SOME, PATIENCE)
        self.line.set(zmq.RECONNECT_IVL, NEVER)
        call_curve(self.line, self.key.members, self.key.server)
        self.monitor, self.together = self.line.get_monitor_socket(EVENTS), Together(MOST)
        self.line.connect(f"tcp://{self.home}:{self.port}")
        self.welcome, self.handshake, end = False, False, time.monotonic() + ANSWER
        self._send(Kind.HELLO, 0, said(self.hello))
        while not self.welcome:
            if time.monotonic() > end:
                raise Gone(f"{self.host}:{self.port} takes the call, and says nothing: is it the right port?")
            self._look(AGAIN)
        if self.ready:
            self._send(Kind.READY)

    def _serve(self) -> None:
        while True:
            self._look(AGAIN if self.late is None else max(0.0, self.late - time.monotonic()))
            if self.late is not None and time.monotonic() > self.late:
                self._end_silent()

    def _look(self, seconds: float) -> None:
        """See to whatever comes: from the notebook, from the connection itself, from the rank."""
        poller = zmq.Poller()
        for one in (self.line, self.monitor, self.bell.fileno()):
            poller.register(one, zmq.POLLIN)
        poller.poll(int(1e3 * seconds) + 1)
        self.bell.hush()
        with suppress(queue.Empty):
            while True:
                self._said(*self.heard.get_nowait())
        events = list(self._events())
        with suppress(zmq.Again):  # the events are older than the last words: who hangs up may have said why
            while True:
                if (message := self.together.add(self.line.recv(zmq.NOBLOCK))) is not None:
                    self._told(*message)
        for event in events:
            self._happened(event)

    def _events(self) -> Iterator[int]:
        with suppress(zmq.Again):
            while True:
                yield recv_monitor_message(self.monitor, zmq.NOBLOCK)["event"]

    def _happened(self, event: int) -> None:
        if event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
            self.handshake = True
        elif self.handshake:
            raise Gone("The lecturer's notebook is gone; waiting until it is back. Ctrl-C leaves.")
        else:
            self._not_known(event)

    def _not_known(self, event: int) -> None:
        """The call was ended before both sides knew each other. It may have been an accident once, but not twice."""
        self.doubts += 1
        if event == zmq.EVENT_HANDSHAKE_FAILED_AUTH or self.doubts > 1:
            raise Refused(
                f"{self.host}:{self.port} does not know this key: copy it again from the lecturer's screen "
                "(and is it the right port?)"
            )
        raise Gone("")

    def _told(self, kind: int, run: int, data: bytes) -> None:
        if kind == Kind.WELCOME:
            self.welcome, self.last, self.doubts = True, "", 0
            self.say(f"In the room at {self.host}:{self.port} as {self.name}; waiting for work. Ctrl-C leaves.")
        elif kind == Kind.REFUSED:
            raise Refused(unpacked(data))
        elif kind == Kind.DISMISS:
            raise Dismissed
        elif kind == Kind.KILL and run == self.run:
            self.rank.end()
        elif kind in FOR_RANKS:
            self._pass_on(kind, run, data)

    def _pass_on(self, kind: int, run: int, data: bytes) -> None:
        if kind == Kind.RUN:
            self.run, self.ready, self.began = run, False, time.monotonic()
            self.say(f"Run {run} begins.")
        elif kind == Kind.ABORT and run == self.run:
            self.late = time.monotonic() + GRACE
        self.rank.tell(kind, run, data)

    def _send(self, kind: int, run: int = 0, data: bytes = b"") -> None:
        if self.line is not None:
            with suppress(zmq.Again):  # the connection broke, which is heard too
                for frame in frames(kind, run, data):
                    self.line.send(frame, zmq.NOBLOCK, copy=len(frame) < SOME)

    # ---- the rank ----

    def _start_rank(self) -> None:
        if self.births == BIRTHS:
            raise RuntimeError(
                f"this PC's rank ends before it is ready, with exit code {self.rank.code}: {self.rank.last_words()}"
            )
        self.births, self.ready, self.run, self.late = self.births + 1, False, 0, None
        self.rank = RankProcess(self.own_port, self.home, self.heard, self.bell.ring)

    def _said(self, rank: RankProcess, kind: int, run: int, data: bytes) -> None:
        if rank is not self.rank:  # an old one, which was ended
            return
        if kind == ENDED:
            self._rank_died()
            return
        if kind == Kind.READY:
            self.births, self.ready = 0, True
        elif kind == Kind.ANSWER:
            self.say(f"Run {run} has ended after {time.monotonic() - self.began:.1f} s.")
            self.run, self.late = 0, None
        if self.line is not None and self.welcome:
            self._send(kind, run, data)

    def _rank_died(self) -> None:
        if self.run:
            self.say(f"Run {self.run} has ended with the rank's process (exit code {self.rank.code}).")
            self._send(Kind.DIED, self.run, packed((self.rank.code, self.rank.last_words())))
        self._start_rank()

    def _end_silent(self) -> None:
        """It was told to give up, and does not: where is it? Then a new one takes its place."""
        run, words = self.run, self.rank.ask_where()
        self.rank.end()
        self.say(f"Run {run} was given up.")
        self._send(Kind.SILENT, run, packed(words))
        self._start_rank()

    # ---- the end ----

    def _free(self, why: str) -> None:
        """Without a notebook there is no run; wait for it to come back."""
        if why and why != self.last:
            self.say(why)
            self.last = why
        self._hang_up(0)
        if self.run:
            self.rank.end()
            self._start_rank()

    def _hang_up(self, linger: int) -> None:
        if self.line is not None:
            self.line.disable_monitor()
            self.monitor.close(0)
            self.line.close(linger)
            self.line = self.monitor = None

    def _leave(self) -> None:
        self._send(Kind.BYE)
        self._hang_up(500)
        if self.rank is not None:
            self.rank.end()
        self.context.term()
        self.bell.close()


def address_of(host: str) -> str:
    try:
        return socket.gethostbyname(host)
    except OSError as error:
        raise ValueError(f"there is no PC called {host!r} ({error.strerror}); type its address instead") from error


def unreachable(host: str, port: int) -> str:
    """Why no connection can be made, and what then: a sentence, empty if one can."""
    try:
        socket.create_connection((host, port), REACH).close()
    except ConnectionRefusedError:
        return f"Nobody listens at {host}:{port} yet; waiting for the lecturer's notebook. Ctrl-C leaves."
    except TimeoutError:
        return f"{host}:{port} does not answer: is a firewall there, or another network? Trying again; Ctrl-C leaves."
    except OSError as error:
        return f"There is no way to {host}:{port} ({error.strerror}): is this PC on the same network? Trying again."
    return ""


def split_address(text: str) -> tuple[str, int]:
    """HOST:PORT."""
    host, colon, port = text.strip().rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError(f"{text!r} is no HOST:PORT; copy the line from the lecturer's screen, as 192.168.1.5:5555")
    return host, int(port)
