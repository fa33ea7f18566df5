"""What a device must hold: weights, gradients, the optimiser's memory, activations. Said before anything runs.

Mixed precision with Adam, for each parameter: 2 bytes of weight, 2 (or 4) of gradient, 12 of the optimiser (weight,
momentum and variance in full). ZeRO shares them out among N copies (2-byte gradients):

    stage 0    16 Psi             stage 2    2 Psi + 14 Psi / N
    stage 1    4 Psi + 12 Psi / N     stage 3    16 Psi / N
Rajbhandari et al., ZeRO: memory optimizations toward training trillion parameter models, 2020.

Activations of a layer and micro-batch (s tokens, b sequences, h wide, a heads, t tensor-parallel), in bytes:

    none         s b h (10 + 24/t + 5 a s / (h t))        with sequence parallelism  s b h / t (34 + 5 a s / h)
    selective    the same without the last term           full    2 s b h: the layer's input alone
Korthikanti et al., Reducing activation recomputation in large transformer models, 2022. Without dropout there are no
masks: 8 in the place of 10, 2 in that of 5.
"""

from __future__ import annotations

from dataclasses import dataclass

from dlmini.plan.layout import Layout, layout_of
from dlmini.plan.sheets import Sheet, sheet_of

OPTIMISER = 12  # bytes a parameter: Adam's momentum and variance, and the weight itself, in full precision


@dataclass(frozen=True)
class Memory:
    """Bytes on one device. working: what is needed for a moment: one layer recomputed, or gathered by ZeRO 3."""

    weights: float
    gradients: float
    optimiser: float
    activations: float = 0.0
    working: float = 0.0

    @property
    def total(self) -> float:
        return self.weights + self.gradients + self.optimiser + self.activations + self.working


def state(parameters: float, copies: int, zero: int, gradient: int = 2) -> Memory:
    """Weights, gradients and optimiser of so many parameters, shared out among data-parallel copies."""
    held = [
        bytes_each / (copies if zero >= stage else 1) for stage, bytes_each in ((3, 2), (2, gradient), (1, OPTIMISER))
    ]
    return Memory(*(parameters * bytes_each for bytes_each in held))


def layer_activations(sheet: Sheet, layout: Layout, recompute: str | None = None) -> float:
    """What one layer keeps of one micro-batch until its way back."""
    recompute = recompute or layout.recompute
    t, whole = layout.tensor, layout.norm_share
    numbers = sheet.sequence * layout.micro * sheet.hidden
    if recompute == "full":
        return 2 * numbers / whole
    around, scores = (10, 5) if sheet.dropout else (8, 2)
    attention = scores * sheet.heads * sheet.sequence / sheet.hidden if recompute == "none" else 0
    return numbers * (around / whole + 24 / t + attention / t)


def end_activations(sheet: Sheet, layout: Layout, last: bool) -> float:
    """What embedding (a mask) or loss (norm, product, scores in full precision) keep of one micro-batch."""
    rows = sheet.sequence * layout.micro
    if not last:
        return sheet.dropout * rows * sheet.hidden / layout.norm_share
    return rows * (4 * sheet.hidden / layout.norm_share + 4 * sheet.word_share(layout.tensor))


def pieces(layout: Layout, micros: int, rank: int) -> int:
    """Micro-batches in flight on a rank of the pipeline; with chunks, pieces of them (parallel/pipeline.py)."""
    p, v = layout.pipe, layout.chunks
    if v == 1:
        return min(micros, p - rank)
    return min(v * micros, 2 * (p - rank - 1) + (v - 1) * p + 1)


def rank_memory(sheet: Sheet, layout: Layout, batch: int, rank: int) -> Memory:
    """Of a device in place `rank` of its pipeline."""
    layers, t, micros = layout.layers(sheet), layout.tensor, layout.micros(batch)
    mine = [layers[chunk * layout.pipe + rank] for chunk in range(layout.chunks)]
    first, last = rank == 0, rank == layout.pipe - 1
    held = state(sheet.stage_parameters(sum(mine), t, first, last), layout.data, layout.zero, layout.gradient)
    flying = pieces(layout, micros, rank)
    kept = flying * sum(mine) / layout.chunks * layer_activations(sheet, layout)
    kept += (flying / layout.chunks * end_activations(sheet, layout, False)) * first
    kept += end_activations(sheet, layout, True) * last
    working = layer_activations(sheet, layout, "none") if layout.recompute == "full" else 0.0
    if layout.zero == 3:
        working += 2 * max(sheet.layer_share(t), (first or last) * sheet.word_share(t) * sheet.hidden)
    return Memory(held.weights, held.gradients, held.optimiser, kept, working)


def memory(sheet, layout: Layout, batch: int) -> Memory:
    """Of the device that must hold the most: at an end of the pipeline, or beside its first; from there on ever fewer
    micro-batches are in flight."""
    sheet = sheet_of(sheet)
    layout_of(layout).check(sheet, batch)
    ranks = {0, min(1, layout.pipe - 1), layout.pipe - 1}
    return max((rank_memory(sheet, layout, batch, rank) for rank in ranks), key=lambda one: one.total)
