"""Letters that have come, and receives that wait for them: what transports have in common whose ranks file letters.

A letter is whatever a transport makes of a message on its way: it has a `source`, a `channel`, a `header` and a
`payload` (wire.py), and `message()` opens it.
"""

from __future__ import annotations

from collections import defaultdict, deque

from dlmini.comm import wire
from dlmini.comm.base import Comm
from dlmini.comm.channels import ANY, name_of
from dlmini.comm.errors import DeadRank, Unserved
from dlmini.comm.real_transports import deserted

GHOST, CONTAINER = b"h", b"C"  # how headers of such messages begin (codec.py, wire.py)


def weight_of(letter) -> int:
    """What the sender has booked: the payload's length; but ghosts weigh more than they carry."""
    if letter.header[:1] in (GHOST, CONTAINER):
        return wire.pack(letter.message()).nbytes
    return len(letter.payload)


class Mailboxes:
    """What has come to one rank, from anybody: `boxes[source, channel]` holds it, numbered (number, letter).

    `ended` are the ranks that have finished, or died: nothing more comes from them. `lost` are the dead.
    """

    def __init__(self, rank: int, size: int):
        self.rank, self.size, self.came = rank, size, 0
        self.boxes: dict[tuple[int, int], deque] = defaultdict(deque)
        self.ended: set[int] = set()
        self.lost: set[int] = set()

    def come(self, letter) -> None:
        """A letter is here. (It may have to wait first: where links are slow, or cut.)"""
        self.file(letter)

    def file(self, letter) -> None:
        self.came += 1
        self.boxes[letter.source, letter.channel].append((self.came, letter))

    def found(self, source: int, channel: int) -> int | None:
        """Whose letter of this channel came first, among those of `source` (or ANY)."""
        if source != ANY:
            return source if (source, channel) in self.boxes else None
        orders = [(self.boxes[s, channel][0][0], s) for s in range(self.size) if (s, channel) in self.boxes]
        return min(orders)[1] if orders else None

    def take(self, source: int, channel: int):
        box = self.boxes[source, channel]
        _, letter = box.popleft()
        if not box:
            del self.boxes[source, channel]
        return letter

    def expects(self, source: int) -> bool:
        """May more come from there (or from ANY)?"""
        if source == ANY:
            return len(self.ended) < self.size - 1
        return source != self.rank and source not in self.ended

    def unread(self) -> dict[tuple[int, int], int]:
        """How many letters lie unread, by source and channel."""
        return {key: len(box) for key, box in self.boxes.items()}


class MailboxComm(Comm):
    """A rank whose letters lie in `_inbox` (Mailboxes). A transport says how it waits for news, by `_wait`."""

    def __init__(self, rank: int, size: int):
        super().__init__(rank, size)
        self._told: set[int] = set()  # of whose death a receive from anybody has told

    def _wait(self, source: int, channel: int) -> None:
        """For news of any kind, and see to it; the rank is in a receive from this source and channel."""
        raise NotImplementedError

    def _due(self, source: int, channel: int) -> bool:
        return self._poll(source, channel) or not self._inbox.expects(source)

    def _work_until(self, source: int, channel: int) -> None:
        """As inherited, asleep while there is nothing to do.

        Each look files what is here, also what the posted wait for: if something came since they were worked on, it is
        their turn, and nobody may sleep on it.
        """
        while self._unfinished and not self._due(source, channel):
            came = self._inbox.came
            self._work_on_posted()
            if self._unfinished and not self._due(source, channel) and self._inbox.came == came:
                self._wait(source, channel)

    def _await(self, source: int, channel: int):
        return self._inbox.take(self._arrived(source, channel), channel)

    def _arrived(self, source: int, channel: int) -> int:
        """Wait until a letter is here: whose."""
        inbox = self._inbox
        while (found := inbox.found(source, channel)) is None:
            if source == ANY and self._tell_of_deaths(channel):
                continue
            if inbox.expects(source):
                self._wait(source, channel)
            elif inbox.found(source, channel) is None:
                dead = source in inbox.lost
                raise (DeadRank if dead else Unserved)(deserted(self.rank, source, channel, dead))
        return found

    def _tell_of_deaths(self, channel: int) -> bool:
        """DeadRank, once for each death, when all that the dead one sent has been taken. Is there a letter now?

        Whoever asks what is still expected may read what is here: to wait then would be to wait beside it.
        """
        untold = self._inbox.lost - self._told
        lost = {rank for rank in untold if not self._inbox.expects(rank)}
        if untold and self._inbox.found(ANY, channel) is not None:
            return True
        self._told |= lost
        if lost:
            raise DeadRank(f"rank {self.rank} waits for {name_of(channel)} from anybody, and {died(lost)}")
        return False

    def _receiving(self, source: int, channel: int) -> tuple[str, tuple[int, ...]]:
        """What a rank does in such a receive, in words, and on whom it waits."""
        if source == ANY:
            return f"receives from anybody ({name_of(channel)})", self._others()
        return f"receives from rank {source} ({name_of(channel)})", (source,)

    def _others(self) -> tuple[int, ...]:
        return tuple(rank for rank in range(self.size) if rank != self.rank)


def died(ranks: set[int]) -> str:
    return " and ".join(f"rank {rank}" for rank in sorted(ranks)) + (" has" if len(ranks) == 1 else " have") + " died"
