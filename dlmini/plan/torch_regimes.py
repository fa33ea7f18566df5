"""What PyTorch's own data parallelism sends, reckoned without PyTorch: DDP's buckets, FSDP's filled-up shards.

    DDP     gradients in the order of the way back; a bucket is closed by the gradient that fills it. The first holds
            1 MiB, so that sums begin early, the others 25 MiB; each is all-reduced.
    FSDP    (`fully_shard`) cuts every parameter by its first dimension into one part a rank, all of equal length: rows
            that do not come out even are filled up. A matrix of 1,024 rows on 3,072 ranks travels three times its size.
Li et al., PyTorch distributed: experiences on accelerating data parallel training, 2020; Zhao et al., PyTorch FSDP:
experiences on scaling fully sharded data parallel, 2023.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dlmini.checks import refuse, whole
from dlmini.plan.sheets import Sheet, sheet_of

FIRST, BUCKET = 1 << 20, 25 << 20  # bytes


def ddp_buckets(sizes: Iterable[int], each: int = 4, first: int = FIRST, bucket: int = BUCKET) -> list[int]:
    """Bytes of DDP's all-reduces, in the order of leaving. sizes: elements of parameters, in the order of the model."""
    first, bucket, each = (
        whole(n, name, 1, hint="bytes") for n, name in ((first, "first"), (bucket, "bucket"), (each, "each"))
    )
    if not isinstance(sizes, Iterable):
        refuse(TypeError, "sizes", sizes, "a row of whole numbers: elements of each parameter")
    found, filled, limit = [], 0, first
    for size in reversed([whole(n, "a size", 0) for n in sizes]):
        filled += size * each
        if filled >= limit:
            found.append(filled)
            filled, limit = 0, bucket
    return found + [filled] * (filled > 0)


def padded_elements(shapes: Iterable[Sequence[int]], ranks: int) -> int:
    """Elements of a gather of these parameters, each cut by its first dimension into `ranks` equal parts."""
    total = 0
    for rows, *others in shapes:
        part = -(-rows // ranks)
        for n in others:
            part *= n
        total += part * ranks
    return total


def layer_shapes(sheet) -> list[tuple[int, ...]]:
    """Of one layer's parameters, as PyTorch keeps them: (outputs, inputs)."""
    h = sheet_of(sheet).hidden
    return [(h,), (h,), (3 * h, h), (3 * h,), (h, h), (h,), (h,), (h,), (4 * h, h), (4 * h,), (h, 4 * h), (h,)]


def root_shapes(sheet: Sheet) -> list[tuple[int, ...]]:
    """Of all that is in no layer: embedding, positions, norms."""
    sheet = sheet_of(sheet)
    h, outer = sheet.hidden, [(sheet.vocabulary, sheet.hidden)]
    outer += [(sheet.sequence, h)] * sheet.positions + [(h,), (h,)] * sheet.embedding_norm
    return [*outer, (h,), (h,)]


def fsdp_collectives(sheet, ranks: int, each: int = 4) -> dict[tuple[str, int], int]:
    """(kind, bytes): how often, of a step of one micro-batch, a unit for each layer and one for the rest.

    A layer's weights are gathered there and back; the outermost unit's stay between, and are gathered once.
    """
    sheet = sheet_of(sheet)
    layer, root = (each * padded_elements(shapes(sheet), ranks) for shapes in (layer_shapes, root_shapes))
    gathers, sums = {("allgather", layer): 2 * sheet.layers}, {("reduce_scatter", layer): sheet.layers}
    return gathers | {("allgather", root): 1} | sums | {("reduce_scatter", root): 1}
