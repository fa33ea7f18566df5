"""What DeepSpeed's ZeRO 2 sends: gradients in buckets of so many *elements*, then weights.

Gradients come in the order of the way back, the tied embedding last. One that would overflow the bucket flushes it
first; a tensor larger than a bucket goes alone. A flush is, by choice,

    "allreduce"    one all-reduce of the bucket, of which every rank keeps its part: 1.5 times the bytes needed
    "reduce"       for each rank that owns some of it, one reduce to that rank: thousands of small ones
Then one all-gather of all weights, and two all-reduces of a number each: the norm of gradients, and whether any is no
number. Rank r owns the elements [r Psi / N, (r + 1) Psi / N) of all, in the order of the forward pass.
Regimes as in DeepSpeed's own stage_1_and_2.py, whose bucket is 5e8 elements where nobody says otherwise.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from dlmini.checks import whole, word
from dlmini.comm.schedules import cut
from dlmini.plan.sheets import Sheet, Tensor, sheet_of
from dlmini.plan.transfers import Transfer

BUCKET = 500_000_000
FLUSHES = ("allreduce", "reduce")


def flushes(tensors: Iterable[Tensor], bucket: int = BUCKET) -> list[list[Tensor]]:
    """The buckets, in the order of their leaving; `tensors` in the order of the forward pass."""
    whole(bucket, "bucket", 1, hint="elements, not bytes")
    found, full = [[]], 0
    for tensor in reversed(list(tensors)):
        if found[-1] and full + tensor.size > bucket:
            found.append([])
            full = 0
        found[-1].append(tensor)
        full += tensor.size
    return [one for one in found if one]


def flush_sizes(sheet: Sheet, bucket: int = BUCKET) -> list[int]:
    """Elements of each flush."""
    return [sum(tensor.size for tensor in one) for one in flushes(sheet_of(sheet).tensors(), bucket)]


def owned(sheet: Sheet, ranks: int, bucket: int = BUCKET) -> list[list[tuple[int, int]]]:
    """Of every flush: (owner, elements) of all ranks that own some of it."""
    found, high, edges = [], sheet.parameters, cut(sheet.parameters, ranks).tolist()
    for size in flush_sizes(sheet, bucket):
        low, row = high - size, []
        owner = bisect_right(edges, low) - 1
        while owner < ranks and edges[owner] < high:
            if edges[owner + 1] > edges[owner]:
                row.append((owner, min(high, edges[owner + 1]) - max(low, edges[owner])))
            owner += 1
        found.append(row)
        high = low
    return found


def zero2(sheet, ranks: int, bucket: int = BUCKET, flush: str = "allreduce", gradient: int = 2) -> list[Transfer]:
    """All collectives of one iteration, in their order. nbytes of each is the size of the vector it is about."""
    sheet, ranks, gradient = sheet_of(sheet), whole(ranks, "ranks", 1), whole(gradient, "gradient", 1, hint="bytes")
    word(flush, "flush", FLUSHES)
    if flush == "allreduce":
        sent = [Transfer("gradients", "allreduce", ranks, ranks, gradient * n) for n in flush_sizes(sheet, bucket)]
    else:
        parts = (size for row in owned(sheet, ranks, bucket) for _, size in row)
        sent = [Transfer("gradients", "reduce", ranks, ranks, gradient * size) for size in parts]
    numbers = [Transfer("a number", "allreduce", ranks, ranks, 4, 2)]
    return [*sent, *numbers, Transfer("weights", "allgather", ranks, ranks, 2 * sheet.parameters)]
