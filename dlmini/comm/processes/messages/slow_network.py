"""A slow network on a fast machine: each message is held back until the link model says that it has arrived.

The model is that of network.py, and time is real: a message passes the first port of its route when it is sent, the
others when its first byte would reach them. A port is a word of the board that says until when it is busy; whoever
passes through sets it, in the order in which the first bytes come. Nothing arrives early; late, by what the machine
itself needs (copying, waking up: some ten microseconds).

Exact where a port behind the first serves one receiver (Switch, Medium, ranks inside a node). Where several receivers
share one (a machine's network card, a link of a graph), a receiver that does not look passes its messages on too late.
"""

from __future__ import annotations

from collections import Counter
from heapq import heappop, heappush

from dlmini.comm.channels import ANY
from dlmini.comm.mailboxes import weight_of
from dlmini.comm.network import Network
from dlmini.comm.processes.kernels import layout
from dlmini.comm.processes.messages.receiving import Inbox, Letter


class Links:
    """The network as one rank sees it."""

    def __init__(self, network: Network, rank: int, size: int, words, kernels):
        self.network, self.rank, self.size, self.words, self.enter = network, rank, size, words, kernels.enter
        self.ports, self.routes = network.ports(size), {}
        if len(self.ports) > layout.ports(size):
            raise ValueError(f"a network of {len(self.ports)} ports is too large to be imitated among {size} processes")

    def route(self, source: int, dest: int) -> tuple[int, ...]:
        if (source, dest) not in self.routes:
            self.routes[source, dest] = tuple(self.network.route(source, dest, self.size))
        return self.routes[source, dest]

    def depart(self, dest: int, now: float, nbytes: int) -> tuple[float, float]:
        """Through the first port: when the first byte is behind it, and when the last one can be."""
        return self._through(self.route(self.rank, dest)[:1], now, now, nbytes)

    def arrive(self, source: int, head: float, tail: float, nbytes: int) -> float:
        """Through the other ports: when the last byte is here."""
        return self._through(self.route(source, self.rank)[1:], head, tail, nbytes)[1]

    def _through(self, way: tuple[int, ...], head: float, tail: float, nbytes: int) -> tuple[float, float]:
        for port in way:
            latency, per_byte, _ = self.ports[port]
            start = self.enter(self.words, layout.port_word(self.size, port), head, nbytes * per_byte)
            head, tail = start + latency, max(tail, start + nbytes * per_byte) + latency
        return head, tail


class SlowInbox(Inbox):
    """A post inbox whose letters are under way for a while. `now` is the clock of this rank."""

    def __init__(self, links: Links, now, *args):
        self.links, self.now = links, now
        self.coming: list[tuple[float, int, Letter]] = []  # by the time their first byte reaches my port
        self.held: list[tuple[float, int, Letter]] = []  # by the time their last byte is here
        self.passed = 0  # letters, so that those of one moment keep their order
        super().__init__(*args)

    def come(self, letter: Letter) -> None:
        if letter.source == self.rank:
            self.file(letter)
        else:
            heappush(self.coming, (letter.envelope.head, self.passed, letter))
            self.passed += 1
            self._tell_held()

    def wait(self, limit: float | None = None) -> None:
        """For news, or until a letter is here."""
        if not self.deliver():
            limits = [queue[0][0] - self.now() for queue in (self.coming, self.held) if queue]
            super().wait(min(limits + [limit] * (limit is not None), default=None))

    def read_all(self) -> None:
        super().read_all()
        self.deliver()

    def deliver(self) -> bool:
        """File the letters that have arrived by now. Were there any?"""
        now, before = self.now(), self.came
        while self.coming and self.coming[0][0] <= now:
            head, _, letter = heappop(self.coming)
            here = self.links.arrive(letter.source, head, letter.envelope.tail, weight_of(letter))
            heappush(self.held, (here, self.passed, letter))
            self.passed += 1
        while self.held and self.held[0][0] <= now:
            self.file(heappop(self.held)[2])
        self._tell_held()
        return self.came > before

    def expects(self, source: int) -> bool:
        return super().expects(source) or any(source in (ANY, x.source) for _, _, x in self.coming + self.held)

    def unread(self) -> dict[tuple[int, int], int]:
        under_way = Counter((letter.source, letter.channel) for _, _, letter in self.coming + self.held)
        return dict(Counter(super().unread()) + under_way)

    def _tell_held(self) -> None:
        """So that nobody takes a rank for stuck whose letters are under way."""
        self.words[layout.rank_words(self.rank) + layout.HELD] = len(self.coming) + len(self.held)
