"""What a rank has to send: its ring buffers to the others, and letters that found no room in them.

A send never waits. What finds no room is kept, and sent on whenever the rank waits for something; while it computes or
sums, a thread does that.
"""

from __future__ import annotations

import threading
import time

import numpy as np

from dlmini.comm.processes.kernels.layout import ALL
from dlmini.comm.processes.messages.ring_buffer import Ends, Outgoing
from dlmini.comm.processes.shared_area import SharedArea
from dlmini.comm.wire import Envelope

HELP = 0.005  # seconds after which the thread sends on what its rank does not


class Outbox:
    """`left`: is there anything that found no room? If so, a change of one of the words `heads` may mean room."""

    def __init__(self, rank: int, area: SharedArea, ends: Ends):
        self.rings = {  # the ring to oneself is the one to all
            ALL if dest == rank else dest: Outgoing(area, rank, dest, ends) for dest in range(area.size)
        }
        self.words, self.heads = ends.words, [word for ring in self.rings.values() for word in ring.heads]
        self.seen = np.zeros(len(self.heads), np.int64)  # what the heads were when there was no more room
        self.left, self.closed, self.helper, self.lock = False, False, None, threading.Lock()

    def send(self, dest: int, envelope: Envelope, body: list[np.ndarray]) -> None:
        ring = self.rings[dest]
        with self.lock:
            ring.push(envelope, body)
            if ring.left:
                self._mind()

    def send_vector(self, dest: int, channel: int, now: float, data: np.ndarray) -> None:
        ring = self.rings[dest]
        with self.lock:
            ring.push_vector(channel, now, data)
            if ring.left:
                self._mind()

    def _mind(self) -> None:
        """Something is left: the rank sends it on when it waits, or the thread does."""
        self.left = True
        if self.helper is None:
            self.helper = threading.Thread(target=self._help, daemon=True)
            self.helper.start()

    def flush(self) -> None:
        """Send on what is left, as far as there is room."""
        with self.lock:
            if not self.closed:
                self.seen[:] = self.words[self.heads]
                for ring in self.rings.values():
                    ring.flush()
                self.left = any(ring.left for ring in self.rings.values())

    def shut(self) -> None:
        """The run is over, well or badly: from now on the thread leaves the buffers alone."""
        with self.lock:
            self.closed = True

    def _help(self) -> None:
        """The thread: steps in when what is left has not moved for a while, until the rank itself moves it again."""
        while not self.closed:
            before = self._moved()
            time.sleep(HELP)
            while self.left and self._moved() == before and not self.closed:
                self.flush()
                before = self._moved()
                time.sleep(HELP / 20)

    def _moved(self) -> int:
        return sum(ring.tail for ring in self.rings.values())
