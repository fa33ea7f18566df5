"""What transports that really run ranks have in common: programs that travel, plans that are booked, sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

import cloudpickle
import numpy as np

from dlmini.comm.channels import ANY, name_of
from dlmini.comm.errors import Unreceived
from dlmini.comm.schedules import NOBODY, Plan, cut, tree


def pickled(*things) -> bytes:
    """By value: functions and classes of a notebook's cells travel too."""
    try:
        return cloudpickle.dumps(things)
    except Exception as error:
        raise TypeError(f"the program or its arguments cannot travel to another process: {error}") from error


# ---- native collectives send no messages of their own: what the plan would have sent is booked ----


@cache
def tree_from(root: int, size: int) -> Plan:
    return tree.bcast(size, root)


@lru_cache(maxsize=256)
def chunk_weights(plan: Plan, length: int, itemsize: int) -> tuple[int, ...]:
    """Bytes of each chunk of a vector. In a half, chunk c is the part of the rank that owns it."""
    parts = itemsize * np.diff(cut(length, plan.chunks))
    return tuple((parts if plan.owner is None else parts[plan.owner]).tolist())


@lru_cache(maxsize=256)
def sent_by(rank: int, plan: Plan, weights: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """(dest, messages, bytes): what `rank` would send if the plan were played, with chunks of these weights."""
    sent: dict[int, list[int]] = {}
    for to, lo, hi, *_ in plan.steps(rank):
        if to != NOBODY:
            sent.setdefault(to, []).append(sum(weights[lo:hi]))
    return [(to, len(parts), sum(parts)) for to, parts in sent.items()]


# ---- sentences ----


def deserted(rank: int, source: int, channel: int, dead: bool = False) -> str:
    """A rank waits for somebody who has finished, or died."""
    if dead:
        return f"rank {rank} waits for {name_of(channel)} from rank {source}, which has died without sending it"
    if source == rank:
        return f"rank {rank} waits for {name_of(channel)} from itself, but has not sent it"
    who = "anybody, but all others have" if source == ANY else f"rank {source}, which has"
    return f"rank {rank} waits for {name_of(channel)} from {who} finished without sending it"


def unreceived(unread: Iterable[Mapping[tuple[int, int], int]]) -> Unreceived:
    """unread: of each rank, how many messages lie unread by source and channel."""
    messages = [(*key, dest, n) for dest, found in enumerate(unread) for key, n in found.items()]
    text = "; ".join(f"{n} of {name_of(channel)} from rank {s} to rank {d}" for s, channel, d, n in messages)
    return Unreceived(f"all ranks have finished, but messages lie unread: {text}", messages)
