"""A crowd of hosts for trying out the dispatcher at any size: no training, only coming, going, failing and lying.

Each of `hosts` works at a speed of its own; of all copies a few per cent are errors, a few never come back, and one
host in a hundred lies. Virtual time: a heap of (when, host). What really trains stands in population.py.
"""

from __future__ import annotations

import heapq

import numpy as np

from dlmini.checks import whole
from dlmini.volunteer.dispatch_events import Add, Ask, Join, Judge, Report, Send, Tick
from dlmini.volunteer.dispatcher import Dispatcher
from dlmini.volunteer.unit import Accept, Terms, Validate

ERRORS, VANISH, LIARS = 0.03, 0.02, 0.01
HOUR = 3600.0


class Crowd:
    """longest_watch, most_under_way: the largest sizes of what the dispatcher keeps. wrong: lies that were accepted."""

    def __init__(self, hosts: int, units: int, seed: int = 0, terms: Terms | None = None):
        self.count, self.units = whole(hosts, "hosts", 3), whole(units, "units", 1)
        self.coin = np.random.default_rng([whole(seed, "seed", 0), 7])
        self.terms = terms or Terms(max_error=6, max_total=14, max_success=7, delay=24 * HOUR)
        self.dispatcher = Dispatcher(seed, at_once=2)
        self.seconds = self.coin.lognormal(np.log(HOUR), 0.7, self.count).tolist()
        self.liar = (self.coin.random(self.count) < LIARS).tolist()
        self.lies: dict[int, set[int]] = {}  # open units -> copies that lie
        self.events = self.wrong = self.longest_watch = self.most_under_way = 0

    def run(self, tell=None) -> None:
        """Until every unit is over. tell(events): called every now and then."""
        it = self.dispatcher
        for host in range(self.count):
            self.apply(Join(0.0, host))
        self.apply(Add(0.0, self.units, self.terms))
        heap = [(when, host) for host, when in enumerate((self.coin.random(self.count) * HOUR).tolist())]
        heapq.heapify(heap)
        draws = iter(())
        while it.done + len(it.failed) < self.units:
            at, host = heap[0]
            luck = next(draws, None)
            if luck is None:
                draws = iter(self.coin.random(10_000).tolist())
                luck = next(draws)
            heapq.heapreplace(heap, (self.turn(at, host, luck), host))
            if tell and self.events % 4096 < 3:
                tell(self.events)
        self.apply(Tick(it.now + self.terms.delay))

    def turn(self, at: float, host: int, luck: float) -> float:
        """A host asks, works and reports; returns when it asks again."""
        orders = self.apply(Ask(at, host))
        send = next((order for order in orders if isinstance(order, Send)), None) if orders else None
        if send is None:
            return at + HOUR
        if luck < VANISH:
            return at + 2 * self.terms.delay
        ok, lies = luck >= VANISH + ERRORS, self.liar[host]
        if ok and lies:
            self.lies.setdefault(send.unit, set()).add(send.copy)
        for order in self.apply(Report(at, host, send.unit, send.copy, ok)):
            if isinstance(order, Validate):
                self.validate(at, order)
        return at + self.seconds[host]

    def validate(self, at: float, order: Validate) -> None:
        """Liars differ from everybody, each other included."""
        lies = self.lies.get(order.unit, ())
        honest = tuple(copy for copy in order.copies if copy not in lies)
        agreed = len(honest) >= order.quorum // 2 + 1
        verdict = (honest[0], honest, tuple(c for c in order.copies if c in lies)) if agreed else (-1,)
        self.apply(Judge(at, order.unit, *verdict))

    def apply(self, event) -> list:
        it = self.dispatcher
        orders = it.apply(event)
        self.events += 1
        if not orders:
            return orders
        self.longest_watch = max(self.longest_watch, len(it.deadlines))
        self.most_under_way = max(self.most_under_way, it.counts["sent"])
        for order in orders:
            if isinstance(order, Accept):
                self.wrong += order.copy in self.lies.pop(order.unit, ())
        return orders
