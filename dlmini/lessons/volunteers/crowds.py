"""Lesson 15: a crowd that works for the real dispatcher in virtual time, with everything that happened written down.

The hosts are those of `dlmini/volunteer/crowd.py`: each at a speed of its own, about an hour for a unit. Here the share
that fails and the share that lies can be chosen, all liars tell the same lie, and one copy in twenty is taken by a
machine that is then switched off until after the deadline.
"""

from __future__ import annotations

import numpy as np

from dlmini.checks import real
from dlmini.volunteer.crowd import HOUR, Crowd
from dlmini.volunteer.dispatch_events import Ask, Missed, Report, Send
from dlmini.volunteer.dispatch_events import Judge as Verdict
from dlmini.volunteer.unit import ERROR, INVALID, NO_REPLY, SUCCESS, GiveUp, Terms, Validate
from dlmini.volunteer.validator import judge

SEATS, UNITS, OFF = 36, 144, 0.05
DAY = 24 * HOUR


class Watched(Crowd):
    """log: (seconds, host, what): sent, good, lie, failed, late, off, found out."""

    def __init__(self, fails=0.05, quorum: int = 2, hours: float = 12.0, liars: float = 0.1, seed: int = 0):
        terms = Terms(quorum, quorum, 30, 60, max(4 * quorum, 8), real(hours, "hours", above=0) * HOUR)
        super().__init__(SEATS, UNITS, seed, terms)
        self.fails = real(fails, "fails", least=0, below=1)
        self.liar = (self.coin.permutation(SEATS) < round(real(liars, "liars", least=0, most=1) * SEATS)).tolist()
        self.log: list[tuple[float, int, str]] = []
        self.held: dict[int, Send] = {}
        self.given_up = 0
        self.run()

    def turn(self, at: float, host: int, luck: float) -> float:
        """A host reports what it has, or asks; returns when it is back."""
        if host in self.held:
            self.report(at, host, self.held.pop(host), luck >= self.fails)
            return at
        send = next((order for order in self.apply(Ask(at, host)) if isinstance(order, Send)), None)
        if send is None:
            return at + HOUR / 4
        self.log.append((at, host, "sent"))
        if luck < OFF:
            self.log.append((at, host, "off"))
            return at + 1.5 * self.terms.delay
        self.held[host] = send
        return at + self.seconds[host]

    def report(self, at: float, host: int, send: Send, ok: bool) -> None:
        if ok and self.liar[host]:
            self.lies.setdefault(send.unit, set()).add(send.copy)
        self.log.append((at, host, ("lie" if self.liar[host] else "good") if ok else "failed"))
        for order in self.apply(Report(at, host, send.unit, send.copy, ok)):
            if isinstance(order, Validate):
                self.validate(at, order)

    def validate(self, at: float, order: Validate) -> None:
        """All lies are equal, and all honest answers are."""
        lies = self.lies.get(order.unit, ())
        found = judge({copy: np.array([copy in lies]) for copy in order.copies}, order.quorum)
        for copy in found.invalid:
            self.log.append((at, self.dispatcher.units[order.unit].copies[copy].host, "found out"))
        self.apply(Verdict(at, order.unit, *found))

    def apply(self, event) -> list:
        orders = super().apply(event)
        for order in orders:
            if isinstance(order, Missed):
                self.log.append((self.dispatcher.now, order.host, "late"))
            self.given_up += isinstance(order, GiveUp)
        return orders

    @property
    def days(self) -> float:
        return max(at for at, _, what in self.log if what in ("good", "lie")) / DAY

    @property
    def results(self) -> int:
        """Copies that came to an end."""
        return sum(self.dispatcher.counts[state] for state in (SUCCESS, ERROR, NO_REPLY, INVALID))

    @property
    def good(self) -> float:
        return self.dispatcher.counts[SUCCESS] / self.results
