"""What a layer computes: products, which may be bound by multiplying or by memory, and passes, by memory alone.

With b sequences of s tokens, h wide, a heads, t tensor-parallel devices; everything in half precision, as Megatron-LM
runs it: bias, dropout and addition in one pass, scale, mask and softmax in one, gradients of weights added up in
full precision by the product that makes them. Bytes are those that a pass must read and write.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from dlmini.plan.device import Device
from dlmini.plan.layout import Layout
from dlmini.plan.sheets import Sheet


class Product(NamedTuple):
    """`count` products of (rows x inner) by (inner x columns). learned: one of the two is a weight."""

    name: str
    rows: int
    inner: int
    columns: int
    count: int = 1
    learned: bool = True

    @property
    def flops(self) -> int:
        return 2 * self.rows * self.inner * self.columns * self.count

    def seconds(self, device: Device, out: int = 2) -> float:
        """The longer of multiplying, and reading and writing (`out` bytes a number of the result)."""
        read = 2 * (self.rows * self.inner + self.inner * self.columns)
        moved = self.count * (read + out * self.rows * self.columns)
        return max(device.products.seconds(self.occupied(device)), device.memory.seconds(moved))

    def occupied(self, device: Device) -> float:
        """FLOPs that could be made while it runs: results are made in tiles, tiles in waves of one for each unit, and a
        last wave that is not full takes as long as one that is. (NVIDIA, Matrix multiplication background: wave
        quantisation.) Of a tile that may stand or lie, the better way."""
        if not device.units:
            return self.flops
        return min(
            waves * device.units * high * wide * 2.0 * self.inner
            for high, wide in (device.tile, device.tile[::-1])
            for waves in [ceil(self.count * ceil(self.rows / high) * ceil(self.columns / wide) / device.units)]
        )

    def back(self, device: Device) -> float:
        """Seconds of both gradients."""
        return self._replace(inner=self.columns, columns=self.inner).seconds(device) + self.weight_gradient(device)

    def weight_gradient(self, device: Device) -> float:
        """Seconds of the right factor's: if that is a weight, it is added to in full precision, 8 bytes a number."""
        return self._replace(rows=self.inner, inner=self.rows).seconds(device, out=8 if self.learned else 2)


class Pass(NamedTuple):
    """So many numbers read and written: bytes each, there and back."""

    name: str
    numbers: float
    there: int
    back: int


def layer_products(sheet: Sheet, layout: Layout) -> list[Product]:
    h, s, t = sheet.hidden, sheet.sequence, layout.tensor
    rows, heads, width = s * layout.micro, sheet.heads // t * layout.micro, h // sheet.heads
    return [
        Product("query, key, value", rows, h, 3 * h // t),
        Product("scores", s, width, s, heads, learned=False),
        Product("context", s, s, width, heads, learned=False),
        Product("projection", rows, h // t, h),
        Product("up", rows, h, 4 * h // t),
        Product("down", rows, 4 * h // t, h),
    ]


def layer_passes(sheet: Sheet, layout: Layout) -> list[Pass]:
    """Back: gradients and what they need are read, gradients written; a gain's or bias's gradient reads once more."""
    h, s, t = sheet.hidden, sheet.sequence, layout.tensor
    rows, scores = s * layout.micro, layout.micro * sheet.heads * s * s / t
    around, mask = 2 * rows * h / layout.norm_share, int(sheet.dropout)
    return [
        Pass("norms", around, 4, 10),
        Pass("bias, dropout, addition", around, 6 + mask, 12 + mask),
        Pass("softmax", scores, 4, 6),
        Pass("dropout of scores", mask * scores, 5, 5),
        Pass("heads apart and together", 4 * rows * h / t, 4, 4),
        Pass("bias and gelu", 4 * rows * h / t, 4, 8),
    ]


def word_product(sheet: Sheet, layout: Layout) -> Product:
    """The last product: a score for every word."""
    return Product("words", sheet.sequence * layout.micro, sheet.hidden, sheet.word_share(layout.tensor))


def end_passes(sheet: Sheet, layout: Layout, last: bool) -> list[Pass]:
    """Embedding: looked up, added; or the last norm and the loss, in full precision: maximum, exponents, quotient."""
    rows = sheet.sequence * layout.micro
    numbers = rows * sheet.hidden / layout.norm_share
    if not last:
        return [Pass("embedding", rows * sheet.hidden, 8, 12), Pass("dropout", sheet.dropout * numbers, 5, 5)]
    scores = rows * sheet.word_share(layout.tensor)
    return [Pass("last norm", numbers, 4, 10), Pass("loss", scores, 38, 14)]


@dataclass(frozen=True)
class Times:
    """Seconds of one micro-batch in something, by what they are spent on."""

    products: float = 0.0
    memory: float = 0.0
    again: float = 0.0  # computed once more on the way back
    tensor: float = 0.0  # communication among those that share a layer

    def __add__(self, other: Times) -> Times:
        return Times(*(a + b for a, b in zip(self.each(), other.each(), strict=True)))

    def __mul__(self, factor: float) -> Times:
        return Times(*(factor * part for part in self.each()))

    def each(self) -> tuple[float, float, float, float]:
        return self.products, self.memory, self.again, self.tensor

    @property
    def total(self) -> float:
        return sum(self.each())


def there(products, passes, device: Device) -> Times:
    return Times(
        sum(one.seconds(device) for one in products),
        sum(device.memory.seconds(one.numbers * one.there) for one in passes),
    )


def back(products, passes, device: Device) -> Times:
    return Times(
        sum(one.back(device) for one in products),
        sum(device.memory.seconds(one.numbers * one.back) for one in passes),
    )
