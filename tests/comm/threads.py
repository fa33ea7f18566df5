"""The smallest transport there is, to test what `Comm` inherits: threads, one mailbox per rank, the wire format."""

import threading
import time
from collections import defaultdict, deque

from dlmini.comm import wire
from dlmini.comm.base import Comm
from dlmini.comm.channels import ANY
from dlmini.comm.launch import Results


class ThreadComm(Comm):
    def __init__(self, rank, boxes, errors):
        super().__init__(rank, len(boxes))
        self.boxes, self.errors, self.told = boxes, errors, []

    def now(self):
        return time.perf_counter()

    def _post(self, dest, channel, message):
        frame, (news, box) = wire.pack(message), self.boxes[dest]
        letter = (self.now(), frame.header, frame.payload())
        with news:
            box[self.rank, channel].append(letter)
            news.notify_all()
        return frame.nbytes

    def _take(self, source, channel):
        news, box = self.boxes[self.rank]
        with news:
            self._wait(news, lambda: box[source, channel])
            sent, header, payload = box[source, channel].popleft()
        return wire.unpack(header, payload), sent

    def _take_any(self, channel):
        news, _ = self.boxes[self.rank]
        with news:
            self._wait(news, lambda: self._found(ANY, channel))
            source = self._found(ANY, channel)[0]
        return source, *self._take(source, channel)

    def _wait(self, news, ready):
        news.wait_for(lambda: ready() or self.errors)
        if not ready():
            raise RuntimeError("another rank has failed")

    def _ready(self, source, channel):
        with self.boxes[self.rank][0]:
            return bool(self._found(source, channel))

    def _found(self, source, channel):
        letters = self.boxes[self.rank][1].items()
        return [s for (s, c), box in letters if box and c == channel and source in (s, ANY)]

    def _tell(self, event):
        self.told.append(event)


class Threads:
    """Runs a program on `size` threads; `comms` are the communicators of the last run."""

    def __init__(self, size, spans=False):
        self.size, self.spans = size, spans

    def run(self, program, args=(), listen=None):
        boxes = [(threading.Condition(), defaultdict(deque)) for _ in range(self.size)]
        values, errors = [None] * self.size, []
        self.comms = [ThreadComm(rank, boxes, errors) for rank in range(self.size)]

        def live(comm):
            comm.spans = self.spans
            try:
                values[comm.rank] = program(comm, *args)
            except Exception as error:
                errors.append(error)
                for news, _ in boxes:
                    with news:
                        news.notify_all()

        threads = [threading.Thread(target=live, args=(comm,)) for comm in self.comms]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
        entries = [entry for comm in self.comms for entry in comm.ledger.entries()]
        return Results(values, entries, [comm.phases for comm in self.comms])
