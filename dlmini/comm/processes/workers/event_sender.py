"""Events on their way to the parent: one after a quiet moment goes at once, those that come soon after it go together.

Every send wakes the parent, and it takes a core from some worker to listen: for a fifth of a millisecond, while a round
of a small network lasts two. So there is at most one send in PAUSE seconds, and an event is never late by more.

A pipe takes what the parent reads, and the parent may be busy. So it is a thread that sends, and the program goes on,
unless more than ROOM bytes wait to be sent: then it waits, since memory ends somewhere.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

PAUSE = 0.02  # seconds: fifty pictures in a second are enough for any eye
ROOM = 2**26  # bytes of events that may wait
ROW = 200  # bytes that a row of numbers takes, about


class EventSender:
    """The events of one run, pickled, or as rows of numbers (events.py). `send` takes a list of them, and may wait."""

    def __init__(self, send: Callable[[list[bytes | tuple]], None]):
        self.send, self.waiting, self.nbytes, self.helper = send, [], 0, None
        self.lock, self.sending = threading.Lock(), threading.Lock()  # of what waits; of the way to the parent
        self.bell, self.over = threading.Event(), threading.Event()

    def tell(self, event: bytes | tuple) -> None:
        with self.lock:
            self.waiting.append(event)
            self.nbytes += ROW if type(event) is tuple else len(event)
        if self.helper is None:
            self.helper = threading.Thread(target=self._help, daemon=True)
            self.helper.start()
        if not self.bell.is_set():
            self.bell.set()
        if self.nbytes > ROOM:
            self.flush()

    def flush(self) -> None:
        """Send what waits, now."""
        with self.sending:
            with self.lock:
                parcel, self.waiting, self.nbytes = self.waiting, [], 0
            if parcel:
                self.send(parcel)

    def end(self) -> None:
        """The last of it, before the answer."""
        self.over.set()
        self.bell.set()
        self.flush()

    def _help(self) -> None:
        """The thread: one event after a quiet moment at once, the next ones together after a pause."""
        while not self.over.is_set():
            self.bell.wait()
            self.bell.clear()
            with contextlib.suppress(OSError):  # the parent is gone, and so will we be
                self.flush()
            self.over.wait(PAUSE)
