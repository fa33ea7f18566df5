"""Traces: what one rank of a training program computes and sends, in order; as a file, and replayed on every rank.

Every rank of such a program does the same (SPMD), so one rank's trace is all of them. An event is work (products in
FLOPs, passes over memory in bytes, and how many of each) or a collective (kind, bytes of the whole vector, and its
group: `count` ranks, `stride` apart). A trace is written by `trace` (torch_trace.py), or by any other program:

    {"format": "dlmini trace", "version": 1, "world": 3072, "events": 2}
    {"collective": "allgather", "bytes": 100773888, "stride": 1, "count": 3072}
    {"flops": 51539607552, "products": 6, "bytes": 167772160, "passes": 14}
One JSON object a line. Kinds: allreduce, allgather, reduce_scatter, broadcast, barrier. `events`, how many follow, may
be left out; where it stands, a file that lost some is found out.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dlmini import files
from dlmini.checks import refuse, settle, shown, truth, whole, word
from dlmini.comm.ghost import Ghost
from dlmini.comm.launch import launch
from dlmini.plan.device import Device, device_of
from dlmini.sim.cluster import Cluster
from dlmini.sim.simulated import SimResults, Simulated

KINDS = ("allreduce", "allgather", "reduce_scatter", "broadcast", "barrier")
HEAD = {"format": "dlmini trace", "version": 1}


@dataclass(frozen=True)
class Work:
    """Between two collectives."""

    flops: int = 0
    products: int = 0
    nbytes: int = 0
    passes: int = 0

    def __post_init__(self):
        for name in ("flops", "products", "nbytes", "passes"):
            settle(self, **{name: whole(getattr(self, name), name, 0)})

    def __add__(self, other: Work) -> Work:
        return Work(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))

    def seconds(self, device: Device) -> float:
        """Each product and each pass pays for its beginning (device.py)."""
        rates = ((device.products, self.flops, self.products), (device.memory, self.nbytes, self.passes))
        return sum((amount + count * rate.half) / (rate.peak * rate.best) for rate, amount, count in rates)

    def row(self) -> dict:
        return {"flops": self.flops, "products": self.products, "bytes": self.nbytes, "passes": self.passes}


@dataclass(frozen=True)
class Collective:
    """One of all ranks of a group. nbytes: of the whole vector, not of a rank's part."""

    kind: str
    nbytes: int
    stride: int
    count: int

    def __post_init__(self):
        word(self.kind, "collective", KINDS)
        settle(self, nbytes=whole(self.nbytes, "bytes", 0))
        settle(self, stride=whole(self.stride, "stride", 1), count=whole(self.count, "count", 1))

    def group(self, rank: int) -> range:
        """The ranks that rank `rank` does it with."""
        first = rank - rank // self.stride % self.count * self.stride
        return range(first, first + self.stride * self.count, self.stride)

    def check(self, world: int) -> Collective:
        """This one, if its groups fill the world; or a sentence."""
        if world % (self.stride * self.count):
            raise ValueError(
                f"{self} in a world of {world}: groups of {self.count} ranks, {self.stride} apart, do not fill it"
            )
        return self

    def row(self) -> dict:
        return {"collective": self.kind, "bytes": self.nbytes, "stride": self.stride, "count": self.count}


@dataclass(frozen=True)
class Trace:
    """What every rank of `world` does."""

    world: int
    events: tuple[Work | Collective, ...]

    def __post_init__(self):
        if not isinstance(self.events, list | tuple):
            refuse(TypeError, "events", self.events, "a row of Work and Collective")
        settle(self, world=whole(self.world, "world", 1), events=tuple(self.events))
        for event in self.events:
            if isinstance(event, Collective):
                event.check(self.world)
            elif not isinstance(event, Work):
                refuse(TypeError, "an event", event, "Work(...) or Collective(...)")

    @property
    def collectives(self) -> list[Collective]:
        return [event for event in self.events if isinstance(event, Collective)]

    @property
    def work(self) -> Work:
        """All of it."""
        return sum((event for event in self.events if isinstance(event, Work)), Work())

    def table(self) -> dict[tuple[str, int, int], int]:
        """(kind, bytes, ranks): how often."""
        return dict(Counter((one.kind, one.nbytes, one.count) for one in self.collectives))

    def save(self, path) -> Path:
        """As a file of one JSON object a line; an older file of that name is replaced whole."""
        rows = [HEAD | {"world": self.world, "events": len(self.events)}, *(event.row() for event in self.events)]
        text = "\n".join(json.dumps(row) for row in rows) + "\n"
        return files.write_text(path, text)


def read_trace(path) -> Trace:
    """A trace from a file; what is wrong with it is said with its line."""
    lines = Path(path).read_bytes().split(b"\n")
    rows = [(number, parsed(path, number, line)) for number, line in enumerate(lines, 1) if line.strip()]
    if not rows or {key: rows[0][1].get(key) for key in HEAD} != HEAD:
        raise ValueError(
            f"{path} is no trace: its first line must be {json.dumps(HEAD | {'world': 8})}, with its world"
        )
    world, said = head_of(path, *rows[0])
    events = [event_of(path, number, row, world) for number, row in rows[1:]]
    if said is not None and said != len(events):
        raise ValueError(f"{path}, line {rows[0][0]}: events is {said}, but {len(events)} follow; it is damaged")
    return Trace(world, tuple(events))


def head_of(path, number: int, row: dict) -> tuple[int, int | None]:
    """World, and how many events follow, if that is said."""
    with told_where(path, number):
        return whole(row.get("world"), "world", 1), whole(row["events"], "events", 0) if "events" in row else None


@contextmanager
def told_where(path, number: int):
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(f"{path}, line {number}: {error}") from None


def once(pairs: list[tuple]) -> dict:
    """An object whose names are all different."""
    if len(row := dict(pairs)) < len(pairs):
        raise ValueError(f"a name stands twice: {', '.join(name for name, _ in pairs)}"[:80])
    return row


def parsed(path, number: int, line: bytes) -> dict:
    try:
        row = json.loads(line, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}, line {number}: no JSON ({str(error)[:80]})") from None
    if not isinstance(row, dict):
        raise ValueError(f"{path}, line {number}: {shown(row)} is no event; write an object")
    return row


def event_of(path, number: int, row: dict, world: int) -> Work | Collective:
    kind, names = (Collective, ("collective", "bytes", "stride", "count"))
    if "collective" not in row:
        kind, names = Work, ("flops", "products", "bytes", "passes")
    if set(row) != set(names):
        raise ValueError(f"{path}, line {number}: an event has {', '.join(names)}; this has {', '.join(map(str, row))}")
    with told_where(path, number):
        event = kind(*(row[name] for name in names))
        return event if kind is Work else event.check(world)


# ---- replaying ----


def replayed_trace(comm, trace: Trace, seconds: list[float], overlap: bool) -> float:
    """One rank; when it ends. With overlap a gather is posted one stretch of work before its place, and sums are
    waited for at the end: as frameworks prefetch weights and put sums off."""
    pending, ahead = [], {}
    for i, event in enumerate(trace.events):
        if isinstance(event, Work):
            if overlap:
                following = i + 1
                while following < len(trace.events) and post_ahead(comm, trace.events[following], ahead, following):
                    following += 1
            comm.compute("work", None, flops=seconds[i])
        elif i in ahead:
            ahead.pop(i).wait()
        elif overlap and event.kind in ("allreduce", "reduce_scatter"):
            pending.append(post(comm, event, wait=False))
        else:
            post(comm, event, wait=True)
    for one in pending:
        one.wait()
    return comm.now()


def post_ahead(comm, event, ahead: dict, place: int) -> bool:
    if not isinstance(event, Collective) or event.kind != "allgather":
        return False
    if place not in ahead:
        ahead[place] = post(comm, event, wait=False)
    return True


def post(comm, event: Collective, wait: bool):
    """Bytes are sent as bytes: a ghost of so many."""
    ranks = event.group(comm.rank)
    group = comm if event.count == comm.size else comm.group(ranks)
    if event.kind == "barrier":
        return group.barrier()
    if event.kind == "broadcast":
        return group.bcast(Ghost(event.nbytes, "u1") if group.rank == 0 else None)
    if event.kind == "allgather":
        return group.allgather(Ghost(-(-event.nbytes // event.count), "u1"), wait=wait)
    return getattr(group, event.kind)(Ghost(event.nbytes, "u1"), wait=wait)


def replay(trace: Trace, device="a100-80gb", overlap: bool = True) -> SimResults:
    """The trace on every rank of its world, in virtual time."""
    device = device_of(device)
    if not isinstance(trace, Trace):
        raise TypeError(f"trace is {shown(trace)}; it must be a Trace: of trace(fn, world) or read_trace(path)")
    seconds = [event.seconds(device) if isinstance(event, Work) else 0.0 for event in trace.events]
    cluster = Cluster(device.network, flops=1.0)
    return launch(replayed_trace, Simulated(trace.world, cluster), (trace, seconds, truth(overlap, "overlap")))
