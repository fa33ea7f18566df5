"""Channels: a tag, and the group it is meant for, as one integer.

    channel = context + tag        context: a multiple of 2^32, 0 for the world; tag: -2^31 ... 2^31 - 1

Programs use tags from 0; the library's collectives use negative ones. Messages of different channels never meet.
A channel fits into 16 bytes, signed. The context of a group is a hash of its ranks in their order: every rank computes
the same one without a message, and two views of the same ranks are the same group.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from numbers import Integral

from dlmini.checks import shown

ANY = -1  # as a source: whoever comes first
WORLD = 0
TAGS = range(2**31)

BARRIER, BCAST, GATHER, ALLGATHER, ALLREDUCE, REDUCE_SCATTER = range(-1, -7, -1)
NAMES = {
    BARRIER: "barrier",
    BCAST: "bcast",
    GATHER: "gather",
    ALLGATHER: "allgather",
    ALLREDUCE: "allreduce",
    REDUCE_SCATTER: "reduce_scatter",
}


def context_of(ranks: Sequence[int]) -> int:
    digest = blake2b(",".join(map(str, ranks)).encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "little") | 1) << 32


def tag_of(channel: int) -> int:
    return (channel + 2**31) % 2**32 - 2**31


def name_of(channel: int) -> str:
    """For people: `tag 3`, `allreduce`, `tag 3 of a group`."""
    tag = tag_of(channel)
    return NAMES.get(tag, f"tag {tag}") + (" of a group" if channel - tag else "")


def checked_tag(tag: int) -> int:
    if type(tag) is int and tag in TAGS:
        return tag
    if isinstance(tag, bool) or not isinstance(tag, Integral):
        raise TypeError(f"a tag is a whole number, not {shown(tag)}")
    whole = int(tag)
    if whole not in TAGS:
        raise ValueError(f"tag {shown(whole)} is outside 0 ... 2^31 - 1 (negative tags belong to the collectives)")
    return whole
