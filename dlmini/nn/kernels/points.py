"""The matrices of Winograd's convolution, from the points at which polynomials are multiplied.

Sliding r taps g over n = r + 3 numbers d, to m = 4 outputs, is a product of polynomials in disguise: evaluate at n
points, multiply, interpolate. With points a_p, of which the last is infinity, that is (Toom, Cook, Winograd)

    y = A^T [ (G g) * (B^T d) ]        A^T[i, p] = a_p^i        G[p, j] = a_p^j / prod_{q != p} (a_p - a_q)
                                       B^T[p] = the coefficients of prod_{q != p} (x - a_q)

In two dimensions: Y = A^T [ (G g G^T) * (B^T d B) ] A, with n n multiplications instead of m m r r.
Lavin and Gray, Fast algorithms for convolutional neural networks, 2016.
"""

import numpy as np

OUTPUTS = 4  # outputs per side of a tile
POINTS = {3: (0, 1, -1, 2, -2), 5: (0, 1, -1, 2, -2, 0.5, -0.5)}  # by filter size; infinity is always the last
ONE = 1  # the place of the point 1, where a polynomial is the sum of its coefficients


def tile(r: int) -> int:
    """The side of a tile: 6 for 3x3 filters (36 multiplications for 144), 8 for 5x5 (64 for 400)."""
    return OUTPUTS + r - 1


def input_matrix(r: int) -> list[list[float]]:
    """B^T."""
    points, n = POINTS[r], tile(r)
    rows = [polynomial([q for q in points if q != p], n) for p in points]
    return [*rows, polynomial(points, n)]


def polynomial(roots, n: int) -> list[float]:
    """The coefficients of the product of (x - root), from the constant upwards, as a row of n."""
    coefficients = np.poly(roots)[::-1]
    return [*map(float, coefficients), *[0.0] * (n - len(coefficients))]


def filter_matrix(r: int) -> np.ndarray:
    """G."""
    points = POINTS[r]
    rows = [[p**j / np.prod([p - q for q in points if q != p]) for j in range(r)] for p in points]
    return np.array([*rows, [0] * (r - 1) + [1]], np.float32)


def output_matrix(r: int) -> list[list[float]]:
    """A^T."""
    return [[float(p**i) for p in POINTS[r]] + [float(i == OUTPUTS - 1)] for i in range(OUTPUTS)]


def transposed(matrix: list) -> list:
    return [list(column) for column in zip(*matrix, strict=True)]
