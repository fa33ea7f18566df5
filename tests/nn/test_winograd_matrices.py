"""The matrices of Winograd's algorithm are an identity, not an approximation."""

import numpy as np
import pytest

from dlmini.nn.kernels.transforms import BT, OUTPUTS, POINTS, output_matrix

SCALES = (1 / 4, -1 / 6, -1 / 6, 1 / 24, 1 / 24)


@pytest.mark.parametrize("r", OUTPUTS)
def test_one_dimension_equals_sliding_products_exactly(r):
    m = OUTPUTS[r]
    rng = np.random.default_rng(r)
    d, g = rng.integers(-9, 9, 6), rng.integers(-9, 9, r)
    G = [[s * p**j for j in range(r)] for p, s in zip(POINTS, SCALES, strict=True)] + [[0] * (r - 1) + [1]]
    y = np.array(output_matrix(m)) @ ((np.array(G) @ g) * (np.array(BT) @ d))
    np.testing.assert_allclose(y, [d[i : i + r] @ g for i in range(m)], atol=1e-11)


@pytest.mark.parametrize("r", OUTPUTS)
def test_the_point_one_one_holds_the_sum(r):
    A = np.array(output_matrix(OUTPUTS[r])).T
    dY = np.random.default_rng(0).standard_normal((OUTPUTS[r],) * 2)
    assert (A @ dY @ A.T)[1, 1] == pytest.approx(dY.sum())
