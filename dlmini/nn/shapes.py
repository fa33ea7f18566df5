"""The arrays that a vector of parameters is made of."""

from itertools import accumulate, pairwise


class Shapes(tuple):
    """The shapes of all arrays, end to end. `together`: how many of them each layer has; their gradients come at once.

    Shapes.of([((3, 4), (4,)), (), ((4, 2), (2,))]) == ((3, 4), (4,), (4, 2), (2,)), together == (2, 2)
    """

    together: tuple[int, ...]

    @classmethod
    def of(cls, parts) -> "Shapes":
        """parts: of each layer, the shapes of its arrays."""
        found = cls(shape for part in parts for shape in part)
        found.together = tuple(len(part) for part in parts if part)
        return found

    def __reduce__(self):
        ends = accumulate(self.together, initial=0)
        return Shapes.of, ([tuple(self[a:b]) for a, b in pairwise(ends)],)
