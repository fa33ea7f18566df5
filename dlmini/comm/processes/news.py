"""Events on their way to the parent: one after a quiet moment goes at once, those that come soon after it go together.

Every send wakes the parent, and it takes a core from some worker to listen: for a fifth of a millisecond, while a round
of a small network lasts two. So there is at most one send in PAUSE seconds. What waits is sent by whoever comes first:
the next event, anything else there is to say, or a thread; so an event is never late by more than PAUSE.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic

PAUSE = 0.02  # seconds: fifty pictures in a second are enough for any eye


class News:
    """The events of one run, pickled. `send` takes a list of them."""

    def __init__(self, send: Callable[[list[bytes]], None]):
        self.send, self.waiting, self.last = send, [], float("-inf")
        self.lock, self.over, self.helper = threading.Lock(), threading.Event(), None

    def tell(self, event: bytes) -> None:
        with self.lock:
            self.waiting.append(event)
        self.flush(PAUSE)
        if self.waiting and self.helper is None:
            self.helper = threading.Thread(target=self._help, daemon=True)
            self.helper.start()

    def flush(self, since: float = 0.0) -> None:
        """Send what waits, if the last send was so many seconds ago."""
        with self.lock:
            if self.waiting and monotonic() - self.last >= since:
                self.send(self.waiting)
                self.waiting, self.last = [], monotonic()

    def end(self) -> None:
        """The last of it, before the answer."""
        self.over.set()
        self.flush()

    def _help(self) -> None:
        """The thread: for events that are followed by nothing."""
        while not self.over.wait(PAUSE):
            self.flush(PAUSE)
