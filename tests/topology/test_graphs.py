"""The matrices of gossip: sums, known spectra, and how fast differences die."""

import numpy as np
import pytest

from dlmini.topology.graphs import GRAPHS, contraction, exponential, one_peer, ring, rotating, spectral_gap, torus

SIZES = [1, 2, 3, 4, 5, 8, 9, 12, 16]


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS.keys())
@pytest.mark.parametrize("size", SIZES)
def test_rows_and_columns_sum_to_one(graph, size):
    for t in range(5):
        K = graph(size, t)
        assert K.shape == (size, size)
        assert (K >= 0).all()
        np.testing.assert_allclose([K.sum(axis=0), K.sum(axis=1)], 1, atol=1e-12)


@pytest.mark.parametrize(
    ("graph", "gaps"),
    [
        (ring, {8: 0.19526, 16: 0.05075, 32: 0.01281, 60: 0.003652, 64: 0.003210}),
        (torus, {8: 0.40, 16: 0.40, 32: 0.11716, 60: 0.07639, 64: 0.11716}),
        (exponential, {8: 0.5, 16: 0.4, 32: 1 / 3, 60: 0.28571, 64: 0.28571}),
    ],
)
def test_spectral_gaps_are_the_known_ones(graph, gaps):
    for size, gap in gaps.items():
        assert spectral_gap(graph(size)) == pytest.approx(gap, rel=2e-4)


@pytest.mark.parametrize(
    ("size", "left", "on_a_fixed_ring"),
    [(8, 0.1111, 0.419), (16, 0.01235, 0.659), (32, 1.52e-4, 0.814), (60, 6.97e-8, 0.896)],
)
def test_rotating_partners_mix_far_better_than_fixed_neighbours(size, left, on_a_fixed_ring):
    assert contraction(rotating, size, size // 2) == pytest.approx(left, rel=5e-3)
    assert contraction(ring, size, size // 2) == pytest.approx(on_a_fixed_ring, rel=2e-3)


@pytest.mark.parametrize(("size", "left"), [(2, 0), (8, 0), (16, 0), (64, 0), (60, 0.0621)])
def test_one_peer_averages_exactly_for_powers_of_two(size, left):
    assert contraction(one_peer, size, (size - 1).bit_length()) == pytest.approx(left, abs=5e-5)


def test_rotating_at_half_the_circle_meets_one_partner_twice():
    np.testing.assert_allclose(rotating(4, 1)[0], [1 / 3, 0, 2 / 3, 0])
