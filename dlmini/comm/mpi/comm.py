"""MpiComm: a rank of MPI as a `Comm`.

The last thing a rank says to every other is that it has FINISHED. As letters of one rank come in their order, nothing
of it is under way then: all can leave together, and who waits for it in vain can say so.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from mpi4py import MPI

from dlmini.comm.channels import ANY
from dlmini.comm.errors import Unserved
from dlmini.comm.mpi.clock import offset_to_rank_0
from dlmini.comm.mpi.messages import Mail
from dlmini.comm.mpi.native_collectives import Native
from dlmini.comm.real_transports import deserted
from dlmini.events import Event

FINISHED = -(2**31)  # a channel that neither programs nor collectives use


class MpiComm(Native):
    """The ranks of an MPI communicator; `tell` takes the events away. Time 0 is when rank 0 came here."""

    def __init__(self, mpi: MPI.Comm, tell: Callable[[Event], None]):
        super().__init__(mpi.rank, mpi.size)
        self._mpi, self._mail, self._tell = mpi, Mail(mpi), tell
        self._zero = offset_to_rank_0(mpi, time.perf_counter)
        self._zero += mpi.bcast(-self.now())

    def now(self) -> float:
        return time.perf_counter() + self._zero

    def _post(self, dest: int, channel: int, message) -> int:
        return self._mail.post(dest, channel, message, self.now())

    def _take(self, source: int, channel: int) -> tuple[object, float]:
        box = self._mail.boxes[channel][source]
        if not box:
            self._mail.await_from(source, channel, lambda: box or self._silent(source))
        if not box:
            raise Unserved(deserted(self.rank, source, channel))
        return self._mail.take(source, box)

    def _take_any(self, channel: int) -> tuple[int, object, float]:
        boxes = self._mail.boxes[channel]
        self._mail.until(lambda: self._mail.here(channel) or not (any(boxes.values()) or self._others()))
        if not any(boxes.values()):
            raise Unserved(deserted(self.rank, ANY, channel))
        source = self._mail.here(channel)[0]
        return source, *self._take(source, channel)

    def _ready(self, source: int, channel: int) -> bool:
        while self._mail.fetch():
            pass
        here = self._mail.here(channel)
        return bool(here) if source == ANY else source in here

    def _due(self, source: int, channel: int) -> bool:
        return self._poll(source, channel) or (source != ANY and self._silent(source)) or not self._others()

    # ---- the end ----

    def _finished(self) -> dict[int, int]:
        """Ranks that have finished, and how many native collectives they had called."""
        boxes = self._mail.boxes[FINISHED]
        return {source: box[0].open()[0] for source, box in boxes.items()}

    def _silent(self, source: int) -> bool:
        """Will nothing more come from there?"""
        return source == self.rank or source in self._mail.boxes[FINISHED]

    def _others(self) -> bool:
        """May anything more come from anybody?"""
        return len(self._mail.boxes[FINISHED]) < self.size - 1

    def close(self) -> dict[tuple[int, int], int]:
        """Leave together, when all letters have come and MPI needs no memory of ours: the unread ones."""
        self._finish_posted()
        for other in range(self.size):
            if other != self.rank:
                self._post(other, FINISHED, self.natives)
        self._mail.until(lambda: not self._others())
        self._mail.until(lambda: not self._mail.moving())
        self._mail.close()
        return {key: n for key, n in self._mail.unread().items() if key[1] != FINISHED}
