"""Who works on what: units, hosts, the queue and the deadlines, as one state machine without clock or disk.

    orders = dispatcher.apply(event)
The state is a function of the events alone, and each event carries its time. So the server keeps a journal of events
and nothing else: replayed, it gives the same state. Events without orders, or with refusals only, change nothing but
the time of the latest event, and need not be kept.

Events and orders (dispatch_events.py):
    Join                 Offer, Validate, Accept, GiveUp    (unit.py)
    Add                  Send       this copy to this host, until this deadline
    Ask                  Refuse     a report that cannot be taken, and why
    Report               Took       a report that counts: keep its answer
    Judge                Missed     a deadline has passed
    Tick                 Noted      a host is known, units were added, a report came too late to be needed

Cost: O(log n) per event in the number of copies under way; nothing grows with units that are over, but the list of
those that were given up. Copies that are made anew go first, because others wait for them.
"""

from __future__ import annotations

import heapq
from collections import Counter, OrderedDict

from dlmini.checks import whole
from dlmini.volunteer.dispatch_events import Add, Ask, Join, Judge, Missed, Noted, Refuse, Report, Send, Tick, Took
from dlmini.volunteer.hosts import DAY, Host, coin
from dlmini.volunteer.unit import (
    ERROR,
    INVALID,
    NOBODY,
    NOT_NEEDED,
    SENT,
    SUCCESS,
    UNSENT,
    Accept,
    Expired,
    GiveUp,
    Judged,
    Offer,
    Reported,
    Sent,
    Unit,
    begin,
    transition,
)

LOOK = 64  # copies looked at to find one that a host may have: it must not work on a unit twice


class Dispatcher:
    """seed: of the coins that trust is decided by. daily: the most copies a host takes a day. at_once: at one time."""

    def __init__(self, seed: int = 0, daily: int = 100_000, at_once: int = 4):
        self.seed, self.daily = whole(seed, "seed", 0), whole(daily, "daily", 1)
        self.at_once = whole(at_once, "at_once", 1)
        self.now, self.born = 0.0, 0
        self.units: dict[int, Unit] = {}  # those that are not over, or have a copy under way
        self.hosts: dict[int, Host] = {}
        self.kinds = Counter()  # hosts of each kind
        self.queues: dict[str, OrderedDict] = {"": OrderedDict()}  # by kind of host; "": of any
        self.deadlines: list[tuple[float, int, int]] = []
        self.slack = 1000  # deadlines of copies that have come, before they are swept out
        self.failed: dict[int, str] = {}
        self.done = 0
        self.counts = Counter()  # copies by state

    def apply(self, event) -> list:
        """What is to be done now. Deadlines that have passed come first."""
        if event.at > self.now:  # a clock that was set back does not give time back
            self.now = event.at
        orders = []
        while self.deadlines and self.deadlines[0][0] <= self.now:
            _, unit, copy = heapq.heappop(self.deadlines)
            self.expire(unit, copy, orders)
        handlers[type(event)](self, event, orders)
        return orders

    # ---- events ----

    def join(self, event: Join, orders: list) -> None:
        if event.host not in self.hosts:
            self.hosts[event.host] = Host(event.kind, self.daily)
            self.kinds[event.kind] += 1
            orders.append(Noted("host"))

    def add(self, event: Add, orders: list) -> None:
        for number in range(self.born, self.born + event.count):
            unit, offered = begin(number, event.terms)
            self.put(None, unit)
            self.offer(unit, offered, first=False)
        self.born += event.count
        orders.append(Noted("units"))

    def ask(self, event: Ask, orders: list) -> None:
        """Send the first copy that this host may have, if it may have one."""
        host = self.hosts.get(event.host)
        if host is None or not (self.queues[""] or self.queues.get(host.kind)):
            return
        day = int(self.now // DAY)
        if not host.may_take(day, self.at_once):
            return
        found = self.find(event.host, host)
        if found is None:
            return
        (number, copy), unit = found, self.units[found[0]]
        deadline = self.now + unit.terms.delay
        trusted = unit.terms.adaptive and host.trusted(coin(self.seed, number, event.host))
        host.takes(day)
        orders.append(Send(event.host, number, copy, deadline))
        self.change(unit, Sent(copy, event.host, deadline, trusted), orders)
        self.watch(deadline, number, copy)

    def report(self, event: Report, orders: list) -> None:
        unit = self.units.get(event.unit)
        if why := refusal(unit, event, self.born):
            orders.append(Refuse(event.host, why))
            return
        if unit.over:
            self.hosts[event.host].busy -= 1
        else:
            self.hosts[event.host].reports(event.ok, self.daily)
        orders.append(Took(event.unit, event.copy) if event.ok and not unit.over else Noted("report"))
        self.change(unit, Reported(event.copy, event.ok), orders)

    def judge(self, event: Judge, orders: list) -> None:
        """The validator's word; without weight if the unit is over, or if it speaks of copies that gave no answer."""
        unit, named = self.units.get(event.unit), {event.canonical, *event.valid, *event.invalid} - {NOBODY}
        if unit is None or unit.over or not named <= {*unit.having(SUCCESS)}:
            return
        orders.append(Noted("verdict"))
        for copy in event.valid:
            self.hosts[unit.copies[copy].host].proves(self.daily, len(event.valid) > 1)
        for copy in event.invalid:
            self.hosts[unit.copies[copy].host].fails()
        self.change(unit, Judged(*event[2:]), orders)

    def tick(self, event: Tick, orders: list) -> None:
        """Nothing but time has passed."""

    # ---- what they share ----

    def expire(self, number: int, copy: int, orders: list) -> None:
        if self.under_way(number, copy):
            unit = self.units[number]
            host = self.hosts[unit.copies[copy].host]
            host.busy -= 1
            host.fails()
            orders.append(Missed(unit.copies[copy].host, number, copy))
            self.change(unit, Expired(copy), orders)

    def watch(self, *deadline) -> None:
        """Remember a deadline; now and then forget those of copies that have come: the heap stays short."""
        heapq.heappush(self.deadlines, deadline)
        if len(self.deadlines) > self.slack + 4 * self.counts[SENT]:
            self.deadlines = [d for d in self.deadlines if self.under_way(*d[1:])]
            heapq.heapify(self.deadlines)

    def under_way(self, number: int, copy: int) -> bool:
        return number in self.units and self.units[number].copies[copy].state == SENT

    def change(self, unit: Unit, event, orders: list) -> None:
        """Let a unit live on by one event; see to the queue; forget it when nobody is at it any more."""
        after, news = transition(unit, event)
        self.put(unit, after)
        if unsent := unit.having(UNSENT):
            self.requeue(unit, after, unsent)
        if news:
            self.offer(after, news, first=True)
            orders += news
        if after.over:
            self.end(after, news)

    def requeue(self, unit: Unit, after: Unit, unsent: tuple[int, ...]) -> None:
        """Take copies that wait no longer out of the queue; all of them, if the unit is another kind's now."""
        before, now = self.kind(unit), self.kind(after)
        waiting = [k for k in unsent if after.copies[k].state == UNSENT]
        for k in unsent:
            if k not in waiting or now != before:
                self.queues[before].pop((unit.number, k))
        if now != before:
            self.enqueue(after, waiting, first=True)

    def end(self, unit: Unit, news: list) -> None:
        for order in news:
            if isinstance(order, GiveUp):
                self.failed[order.unit] = order.why
            self.done += isinstance(order, Accept)
        if not unit.count(SENT):
            del self.units[unit.number]

    def put(self, before: Unit | None, after: Unit) -> None:
        """Remember a unit, and count its copies by state."""
        old = before.copies if before else ()
        for was, copy in zip(old, after.copies, strict=False):
            if was is not copy:
                self.counts[was.state] -= 1
                self.counts[copy.state] += 1
        for copy in after.copies[len(old) :]:
            self.counts[copy.state] += 1
        self.units[after.number] = after

    def offer(self, unit: Unit, orders: list, first: bool) -> None:
        for order in orders:
            if isinstance(order, Offer):
                self.enqueue(unit, order.copies, first)

    def enqueue(self, unit: Unit, copies, first: bool) -> None:
        queue = self.queues.setdefault(self.kind(unit), OrderedDict())
        for copy in copies:
            queue[unit.number, copy] = None
            if first:
                queue.move_to_end((unit.number, copy), last=False)

    def kind(self, unit: Unit) -> str:
        """The kind of host that this unit is bound to: that of those who have answered or are at it."""
        if unit.terms.alike:
            for copy in unit.copies:
                if copy.state in (SENT, SUCCESS):
                    return self.hosts[copy.host].kind
        return ""

    def find(self, number: int, host: Host) -> tuple[int, int] | None:
        """The first of LOOK copies in the queue of its kind, then in that of all, that this host may have."""
        for kind in dict.fromkeys((host.kind, "")):
            for _, (unit, copy) in zip(range(LOOK), self.queues.get(kind, ()), strict=False):
                if may_have(self.units[unit], number) and self.enough(self.units[unit], host.kind):
                    return unit, copy
        return None

    def enough(self, unit: Unit, kind: str) -> bool:
        """Whether there are hosts of this kind for a quorum: else a unit that is bound to it would wait for ever."""
        return not unit.terms.alike or self.kinds[kind] >= unit.terms.quorum

    def state(self) -> dict:
        """Everything, as plain numbers and words: two dispatchers with equal states go on alike."""
        return {
            "born": self.born,
            "done": self.done,
            "failed": {str(unit): why for unit, why in sorted(self.failed.items())},
            "counts": {state: n for state, n in sorted(self.counts.items()) if n},
            "units": {str(n): [unit.terms.plain(), *map(plain, unit[2:])] for n, unit in sorted(self.units.items())},
            "hosts": {str(number): host.plain() for number, host in sorted(self.hosts.items())},
            "queues": {kind: [*map(list, queue)] for kind, queue in sorted(self.queues.items()) if queue},
        }


def plain(value):
    return [plain(part) for part in value] if isinstance(value, tuple) else value


handlers = {Join: Dispatcher.join, Add: Dispatcher.add, Ask: Dispatcher.ask, Report: Dispatcher.report}
handlers |= {Judge: Dispatcher.judge, Tick: Dispatcher.tick}


def may_have(unit: Unit, host: int) -> bool:
    """Not twice the same host: it would only agree with itself. One that merely went away may try again."""
    return not [copy for copy in unit.copies if copy.host == host and copy.state in (SENT, SUCCESS, ERROR, INVALID)]


def refusal(unit: Unit | None, event: Report, born: int) -> str:
    """Why a report is not taken; empty if it is."""
    if not 0 <= event.unit < born:
        return f"there is no unit {event.unit}"
    if unit is None:
        return f"unit {event.unit} is over"
    if not 0 <= event.copy < len(unit.copies) or unit.copies[event.copy].host != event.host:
        return f"copy {event.copy} of unit {event.unit} was not given to you"
    state = unit.copies[event.copy].state
    if state == SENT:
        return ""
    late = "its deadline has passed" if state not in (SUCCESS, ERROR, INVALID, NOT_NEEDED) else "it was reported before"
    return f"copy {event.copy} of unit {event.unit} is not awaited: {late}"


def replay(events, **terms) -> Dispatcher:
    """The dispatcher to which all this has happened."""
    dispatcher = Dispatcher(**terms)
    for event in events:
        dispatcher.apply(event)
    return dispatcher
