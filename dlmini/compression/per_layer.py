"""Each layer by itself: its own scale, its own threshold, its own columns."""

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from math import prod

from dlmini.checks import settle, shapes_of, whole
from dlmini.compression.compressor import Compressor, NotFinite, check_finite, check_inner, check_update
from dlmini.compression.int8 import Int8
from dlmini.compression.none import None_
from dlmini.compression.packets import Joined


@dataclass(frozen=True, repr=False)
class PerLayer(Compressor):
    """Another compressor on each array of a model separately.

    Gradients of different layers differ in size by orders of magnitude; one scale or threshold for all silences the
    small ones. `shapes` are those of the arrays, end to end (`fit(shapes)` fills them in). Arrays of fewer than `small`
    numbers are sent as they are: QSGD's authors leave all below 10 000 alone. Not summable.
    Wire: the packets', and 4 bytes, and 5 for each.
    """

    word = "per_layer"
    tried = ({"inner": Int8()},)
    inner: Compressor
    shapes: tuple[tuple[int, ...], ...] = ()
    small: int = 0

    def __post_init__(self):
        check_inner(self.inner, "PerLayer")
        settle(self, small=whole(self.small, "small", 0), shapes=shapes_of(self.shapes, "shapes"))

    @property
    def wants_feedback(self):
        return self.inner.wants_feedback

    @property
    def shared_coin(self):
        return self.inner.shared_coin

    def fit(self, shapes):
        return replace(self, shapes=tuple(shapes))

    def encode(self, update, coin=None):
        check_update(update)
        starts = [0, *accumulate(map(prod, self.shapes))]
        if starts[-1] != update.size:
            raise ValueError(
                f"the shapes {self.shapes} hold {starts[-1]} numbers, the update {update.size}; give PerLayer the "
                "shapes of all arrays of the model: PerLayer(inner, shapes), or .fit(shapes)"
            )
        layers = zip(self.shapes, pairwise(starts), strict=True)
        try:
            return Joined(tuple(self.of(shape).encode(update[lo:hi], coin) for shape, (lo, hi) in layers))
        except NotFinite:
            check_finite(update)  # says the same, with the place counted from the beginning
            raise

    def of(self, shape) -> Compressor:
        return None_() if prod(shape) < self.small else self.inner.fit((shape,))

    def __repr__(self):
        """The legend names no shapes: they are the model's."""
        small = f", small={self.small}" if self.small else ""
        return f"PerLayer({self.inner!r}{small})"
