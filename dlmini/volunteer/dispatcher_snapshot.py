"""A dispatcher's state as plain values, and back: a server that begins anew replays the journal from there on only.

Which deadlines are watched follows from the copies that are under way, so they are not written down.
Cost: in proportion to open units and known hosts; what is over is a count.
"""

from __future__ import annotations

import heapq
from collections import Counter, OrderedDict
from functools import cache

from dlmini.volunteer.dispatcher import Dispatcher
from dlmini.volunteer.hosts import Host
from dlmini.volunteer.unit import SENT, Copy, Terms, Unit

OFTEN = 10_000  # lines of the journal between two snapshots at least


def due(it: Dispatcher, lines: int) -> bool:
    """Whether so many lines of the journal are worth another snapshot: what it costs is a part of what they cost."""
    return lines > max(OFTEN, 4 * len(it.units) + len(it.hosts))


def taken(it: Dispatcher) -> dict:
    return it.state() | {"now": it.now}


def restored(state: dict, **terms) -> Dispatcher:
    """The dispatcher whose state this was. terms: as it was made with."""
    it, shared = Dispatcher(**terms), cache(lambda *values: Terms(*values))  # one object for all units alike
    it.now, it.born, it.done = state["now"], state["born"], state["done"]
    it.failed = {int(unit): why for unit, why in state["failed"].items()}
    it.counts = Counter(state["counts"])
    it.hosts = {int(number): Host(*row) for number, row in state["hosts"].items()}
    it.kinds = Counter(host.kind for host in it.hosts.values())
    for number, (values, target, quorum, copies, *rest) in state["units"].items():
        found = tuple(Copy(*copy) for copy in copies)
        it.units[int(number)] = Unit(int(number), shared(*values), target, quorum, found, *rest)
    it.queues |= {kind: OrderedDict.fromkeys(map(tuple, queue)) for kind, queue in state["queues"].items()}
    it.deadlines = [
        (copy.deadline, number, k)
        for number, unit in it.units.items()
        for k, copy in enumerate(unit.copies)
        if copy.state == SENT
    ]
    heapq.heapify(it.deadlines)
    return it
