"""A population of simulated volunteers that works for the real dispatcher, in virtual time.

    story = Population(75, delivery=VM, seed=0).run(units=297, iterations=64)
    story.success, story.good, story.failed, story.causes, story.days, story.first_results

Everything is decided by `Dispatcher` (quorum, deadlines, retries) and `judge` (whose answer counts); hosts are ordinary
sequential code that waits by yielding the time at which it goes on. What a unit's answer *is* does not matter here:
honest answers to a unit are equal, liars differ from them (and from each other, unless `together`). So a story tells
which units each iteration's mean is made of, and `studies/volunteers` trains exactly these.

`seats` hosts take part at a time: when one leaves for good another comes. As with BOINC a new host fetches the
application after it was given its first unit, so that a slow line can cost that unit its deadline.
Left out: the server's own line, several units at once on one host, days and nights.
Cost: about 20 microseconds an event; 64 iterations of 297 units and 75 hosts take some seconds.
"""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from math import inf
from statistics import median

import numpy as np

from dlmini.checks import real, truth, whole
from dlmini.volunteer.delivery import VM, Delivery
from dlmini.volunteer.dispatch_events import Add, Ask, Join, Judge, Missed, Report, Send
from dlmini.volunteer.dispatcher import Dispatcher
from dlmini.volunteer.simulated_host import DAY, HOUR, Nature, SimulatedHost
from dlmini.volunteer.unit import ERROR, INVALID, NO_REPLY, SUCCESS, Accept, GiveUp, Terms, Validate
from dlmini.volunteer.validator import judge

ONE = Terms(quorum=1, target=1, max_error=20, max_total=40, max_success=1, delay=12 * HOUR)
HONEST = "the answer"
LONGEST = 1000 * DAY  # virtual time after which nothing will come of it


@dataclass
class Iteration:
    """begun, ended: seconds. honest, lies: units by whose answer was accepted. given_up: units without an answer."""

    begun: float
    ended: float = inf
    honest: list[int] = field(default_factory=list)
    lies: list[int] = field(default_factory=list)
    given_up: list[int] = field(default_factory=list)


@dataclass
class Story:
    """What a population came to. log: (seconds, host, what), if it was asked for, where what is joins, asks, sent,
    good, lie, memory, disk, crash, late, leaves, found out, accepted; a host is off from `off` to `on`."""

    delivery: Delivery
    terms: Terms
    counts: dict[str, int] = field(default_factory=dict)
    causes: Counter = field(default_factory=Counter)
    iterations: list[Iteration] = field(default_factory=list)
    first_results: list[float] = field(default_factory=list)  # seconds from a host's first unit, of hosts that gave one
    came: int = 0  # hosts that were there at some time
    unable: int = 0  # hosts with too little memory or disk for the application
    log: list[tuple[float, int, str]] = field(default_factory=list)

    @property
    def good(self) -> int:
        return self.counts.get(SUCCESS, 0)

    @property
    def failed(self) -> int:
        return sum(self.counts.get(state, 0) for state in (ERROR, NO_REPLY, INVALID))

    @property
    def success(self) -> float:
        """The share of good results among all that came to an end."""
        return self.good / max(1, self.good + self.failed)

    @property
    def seconds(self) -> float:
        return self.iterations[-1].ended

    @property
    def days(self) -> float:
        return self.seconds / DAY

    @property
    def a_day(self) -> float:
        """Throughput: units with an answer, per day."""
        return sum(len(one.honest) + len(one.lies) for one in self.iterations) / self.days

    @property
    def first(self) -> float:
        """Seconds from a host's first unit, with the download, to its first good result; the median of hosts."""
        return median(self.first_results) if self.first_results else inf

    @property
    def wrong(self) -> int:
        return sum(len(one.lies) for one in self.iterations)


class Population:
    """seats: hosts at a time. liars: their share; together: they all tell the same lie. log: keep what happened."""

    def __init__(
        self,
        seats: int = 75,
        delivery: Delivery = VM,
        nature: Nature | None = None,
        liars: float = 0.0,
        together: bool = False,
        seed: int = 0,
        log: bool = False,
    ):
        self.seats, self.delivery, self.nature = whole(seats, "seats", 1), delivery, nature or Nature()
        self.liars, self.together = real(liars, "liars", least=0, most=1), truth(together, "together")
        self.seed, self.logged = whole(seed, "seed", 0), truth(log, "log")

    def run(self, units: int = 297, iterations: int = 64, terms: Terms = ONE, work: float = 1.0) -> Story:
        """Until the last iteration ends. work: of a unit, in units of `nature.compute`."""
        return Run(self, units, iterations, terms, work).run()


class Run:
    """One run: the dispatcher, the hosts' stories on a heap, and what is written down."""

    def __init__(self, people: Population, units: int, iterations: int, terms: Terms, work: float):
        self.people, self.nature, self.terms = people, people.nature, terms
        self.units, self.left = whole(units, "units", 1), whole(iterations, "iterations", 1)
        self.seconds = people.nature.compute * real(work, "work", above=0)
        self.it, self.story = Dispatcher(people.seed, daily=100, at_once=1), Story(people.delivery, terms)
        self.coin = np.random.default_rng([people.seed, 0, 0, 19])
        self.now, self.heap, self.hosts = 0.0, [], []
        self.answers: dict[int, dict[int, object]] = {}  # open units -> copy -> what it says

    def run(self) -> Story:
        for _ in range(self.people.seats):
            self.newcomer(self.nature.arrive * self.coin.random())
        self.add()
        while self.left:
            self.now, number, life = heapq.heappop(self.heap)
            if self.now > LONGEST:
                raise ValueError(f"after {LONGEST / DAY:.0f} days the units are not done; {self.hint()}")
            following = next(life, inf)
            if following < inf:
                heapq.heappush(self.heap, (following, number, life))
            else:
                self.note(number, "leaves")
                self.newcomer(max(self.now, self.hosts[number].leaves) + self.coin.exponential(self.nature.gap))
        self.story.counts, self.story.came = dict(self.it.counts), sum(host.arrives <= self.now for host in self.hosts)
        return self.story

    def hint(self) -> str:
        able = len(self.it.hosts)
        return "make the deadline longer, or ask for less" if able else "no host has the memory and disk that it takes"

    def newcomer(self, at: float) -> None:
        number = len(self.hosts)
        host = SimulatedHost(number, self.nature, self.people.seed, at, bool(self.coin.random() < self.people.liars))
        self.hosts.append(host)
        heapq.heappush(self.heap, (at, number, self.life(host)))

    # ---- a host's life ----

    def life(self, host: SimulatedHost):
        """Yields when it goes on; ends when the host leaves for good."""
        by = self.people.delivery
        if not host.can_take_part(by):
            self.story.unable += 1
            return
        self.apply(Join(self.now, host.number))
        self.note(host.number, "joins")
        while self.now < inf:
            send = self.ask(host.number)
            if send is None:
                yield host.next_on(self.now + self.nature.poll)
                continue
            self.note(host.number, "sent")
            host.begun = min(host.begun, self.now)
            if not host.ready:
                yield host.fetch(self.now, by)
                host.ready = True
            if missing := host.missing(by):
                yield host.spend(self.now, by.start)
                self.report(host, send, missing)
                yield host.next_on(self.now + host.backs_off())
                continue
            host.row = 0
            done = host.spend(self.now, self.seconds / host.speed, self.nature.checkpoint, by.start, send.deadline)
            if done == inf:  # it was off when the deadline passed, and looks for other work
                yield host.next_on(max(self.now, send.deadline))
            else:
                yield done
                self.report(host, send)

    def ask(self, number: int) -> Send | None:
        return next((order for order in self.apply(Ask(self.now, number)) if isinstance(order, Send)), None)

    def report(self, host: SimulatedHost, send: Send, missing: str = "") -> None:
        """Late reports are refused by the dispatcher, which has counted them as missing already."""
        self.answers.setdefault(send.unit, {})[send.copy] = self.answer(host)
        before = self.it.counts[ERROR] + self.it.counts[SUCCESS]
        orders = self.apply(Report(self.now, host.number, send.unit, send.copy, not missing))
        taken = self.it.counts[ERROR] + self.it.counts[SUCCESS] > before
        if taken and missing:
            self.story.causes[missing] += 1
        elif taken and not host.proven:
            self.story.first_results.append(self.now - host.begun)
            host.proven = True
        self.note(host.number, missing or ("lie" if host.liar else "good"))
        for order in orders:
            if isinstance(order, Validate):
                self.validate(order)
        if send.unit not in self.it.units or self.it.units[send.unit].over:
            self.answers.pop(send.unit, None)

    def answer(self, host: SimulatedHost):
        return HONEST if not host.liar else "the lie" if self.people.together else host.number

    # ---- what the server does ----

    def apply(self, event) -> list:
        orders = self.it.apply(event)
        for order in orders:
            if isinstance(order, Missed):
                host = self.hosts[order.host]
                why = "left for good" if host.leaves <= self.it.now else "away" if host.ready else "still fetching"
                self.story.causes[why] += 1
                self.note(order.host, "late")
            elif isinstance(order, (Accept, GiveUp)):
                self.over(order)
        return orders

    def validate(self, order: Validate) -> None:
        said = {copy: self.answers[order.unit][copy] for copy in order.copies}
        found = judge(said, order.quorum, lambda a, b: a == b)
        for copy in found.invalid:
            self.story.causes["lie"] += 1
            self.note(self.it.units[order.unit].copies[copy].host, "found out")
        self.apply(Judge(self.now, order.unit, *found))

    def over(self, order: Accept | GiveUp) -> None:
        """A unit has ended; with the last one of an iteration the next one begins."""
        now, said = self.story.iterations[-1], self.answers.pop(order.unit, {})
        if isinstance(order, GiveUp):
            now.given_up.append(order.unit)
        else:
            (now.honest if said[order.copy] == HONEST else now.lies).append(order.unit)
        if len(now.honest) + len(now.lies) + len(now.given_up) == self.units:
            now.ended = self.now
            self.left -= 1
            if self.left:
                self.add()

    def add(self) -> None:
        self.story.iterations.append(Iteration(self.now))
        self.apply(Add(self.now, self.units, self.terms))

    def note(self, host: int, what: str) -> None:
        if self.people.logged:
            self.story.log.append((self.now, host, what))
