"""The matrices of Winograd's algorithm are an identity, not an approximation."""

import numpy as np
import pytest

from dlmini.nn.kernels.points import ONE, OUTPUTS, POINTS, filter_matrix, input_matrix, output_matrix, tile


@pytest.mark.parametrize("r", POINTS)
def test_one_dimension_equals_sliding_products(r):
    rng = np.random.default_rng(r)
    d, g = rng.integers(-9, 9, tile(r)), rng.integers(-9, 9, r)
    y = np.array(output_matrix(r)) @ ((filter_matrix(r) @ g) * (np.array(input_matrix(r)) @ d))
    np.testing.assert_allclose(y, [d[i : i + r] @ g for i in range(OUTPUTS)], atol=1e-4)


def test_the_matrices_for_3x3_filters_are_the_published_ones():
    """Lavin and Gray, 2016, F(4, 3)."""
    assert input_matrix(3)[:3] == [[4, 0, -5, 0, 1, 0], [0, -4, -4, 1, 1, 0], [0, 4, -4, -1, 1, 0]]
    assert output_matrix(3)[3] == [0, 1, -1, 8, -8, 1]
    np.testing.assert_allclose(
        filter_matrix(3)[[0, 1, 3, 5]] * 24, [[6, 0, 0], [-4, -4, -4], [1, 2, 4], [0, 0, 24]], 1e-6
    )


@pytest.mark.parametrize("r", POINTS)
def test_the_point_one_one_holds_the_sum(r):
    A = np.array(output_matrix(r)).T
    dY = np.random.default_rng(0).standard_normal((OUTPUTS, OUTPUTS))
    assert (A @ dY @ A.T)[ONE, ONE] == pytest.approx(dY.sum())
