"""Matrices of one's own, who drifts apart, and how far workers are from one another."""

import numpy as np
import pytest

from dlmini.comm.launch import launch
from dlmini.sim import Simulated
from dlmini.topology.graphs import (
    GRAPHS,
    consensus_distance,
    drifts_apart,
    graph_of,
    heard,
    is_fixed,
    least_pull,
    matrix_of,
    period_mean,
)
from dlmini.topology.own import Own

SWAP = [[0.2, 0.8], [0.8, 0.2]]


def lazy(size, t):
    """Half oneself, half the next, on the rounds of an even number."""
    return np.eye(size) if t % 2 else (np.eye(size) + np.roll(np.eye(size), 1, axis=1)) / 2


def test_a_matrix_of_ones_own_is_used_as_it_is():
    np.testing.assert_array_equal(matrix_of(Own(SWAP), 2, 5), SWAP)
    np.testing.assert_array_equal(matrix_of(Own(lazy, period=2), 3, 4), lazy(3, 0))


def test_equal_matrices_are_equal_graphs_and_their_names_are_short():
    assert Own(SWAP) == Own(np.array(SWAP))
    assert hash(Own(SWAP)) == hash(Own(np.array(SWAP)))
    assert Own(SWAP) != Own(np.eye(2))
    assert Own(lazy) != Own(lazy, period=2)
    assert repr(Own(np.eye(60))) == "Own(60 x 60)"
    assert repr(Own(lazy)) == "Own(lazy)"


def test_the_matrix_cannot_be_changed_behind_the_graphs_back():
    given = np.array(SWAP)
    graph = Own(given)
    given[:] = 0
    np.testing.assert_array_equal(graph.K, SWAP)
    with pytest.raises(ValueError, match="read-only"):
        matrix_of(graph, 2, 0)[0, 0] = 1


def test_a_graph_is_a_known_name_or_becomes_a_checked_matrix():
    assert graph_of("ring") == "ring"
    assert graph_of(SWAP) == Own(SWAP)
    assert graph_of(lazy) == Own(lazy)
    assert graph_of(Own(SWAP)) == Own(SWAP)
    with pytest.raises(ValueError, match=r"no graph called 'rign'; choose one of ring, .*rotating, or give a matrix"):
        graph_of("rign")


@pytest.mark.parametrize(
    ("K", "why"),
    [
        ([[0.5, 0.5]], "must be square"),
        ([1.0], "must be square"),
        (np.zeros((0, 0)), "must be square"),
        ([[1, 0], [0]], "a square of numbers"),
        ("abc", "a square of numbers"),
        ([[np.nan, 1], [1, 0]], "NaN or infinity"),
        ([[0.5, 0.4], [0.5, 0.5]], "row 0 of this mixing matrix sums to 0.9, not to 1"),
        ([[0.5, 0.5], [0.3, 0.7]], "column 0 of this mixing matrix sums to 0.8.*PushSum"),
        ([[2, -1], [-1, 2]], "enlarges differences up to 3-fold"),
    ],
)
def test_matrices_that_do_not_keep_the_mean_are_refused_with_a_reason(K, why):
    with pytest.raises(ValueError, match=why):
        Own(K)


def test_a_matrix_for_other_workers_is_refused():
    with pytest.raises(ValueError, match=r"Own\(2 x 2\) mixes 2 workers, but there are 3"):
        matrix_of(Own(SWAP), 3, 0)
    with pytest.raises(ValueError, match="row 0 of this mixing matrix sums to 2"):
        matrix_of(Own(lambda size, t: 2 * np.eye(size)), 3, 0)


@pytest.mark.parametrize(("K", "period"), [(lazy, 0), (lazy, 1.5), (SWAP, 2)])
def test_periods_without_meaning_are_refused(K, period):
    with pytest.raises((ValueError, TypeError), match="period"):
        Own(K, period)


def test_negative_entries_are_allowed_where_differences_still_die():
    """A path of three with an edge weight of 0.6: the eigenvalues are 1, 0.4 and -0.8."""
    K = np.eye(3) - 0.6 * np.array([[1, -1, 0], [-1, 2, -1], [0, -1, 1]])
    assert K.min() < 0
    np.testing.assert_allclose(np.linalg.matrix_power(matrix_of(Own(K), 3, 0), 200), 1 / 3, atol=1e-12)


def test_neighbours_of_some_graphs_stay_the_same():
    for name in GRAPHS:
        same = all(np.array_equal(matrix_of(name, 8, 0), matrix_of(name, 8, t)) for t in range(5))
        assert is_fixed(name) is same, name
    assert is_fixed(Own(SWAP))
    assert not is_fixed(Own(lazy))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 12])
@pytest.mark.parametrize("name", GRAPHS)
def test_the_mean_over_a_period_is_the_mean_over_many_rounds(name, size):
    rounds = 1000 if name == "random" else 60  # a multiple of every period
    mean = np.mean([GRAPHS[name](size, t) for t in range(rounds)], axis=0)
    tolerance = 4 * 0.5 / np.sqrt(rounds) if name == "random" else 1e-12
    np.testing.assert_allclose(period_mean(name, size), mean, atol=tolerance)


def growth(graph, size, steps, eta):
    """Workers on one parabola of curvature 1 mix gradients: by how much their differences grow at most."""
    left = np.eye(size) - 1 / size
    for t in range(steps):
        left = left - eta * matrix_of(graph, size, t) @ left
    return np.linalg.norm(left, 2)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 7, 8, 12])
@pytest.mark.parametrize("graph", [*GRAPHS, Own(lazy, period=2)], ids=str)
def test_workers_who_mix_gradients_drift_apart_exactly_where_it_is_said(graph, size):
    """To first order in eta differences grow by exp(-eta L) a step, for L = least_pull."""
    if drifts_apart(graph, size):
        assert growth(graph, size, 400, 0.1) > 5
    else:
        assert growth(graph, size, 400, 0.1) < 1.3  # an imaginary L (exponential, 4 workers) grows with eta^2 only


def test_two_workers_who_trust_each_other_more_than_themselves_drift_apart():
    assert least_pull(Own(SWAP), 2) == pytest.approx(-0.6)
    assert growth(Own(SWAP), 2, 100, 0.02) == pytest.approx(1.012**100)


def test_rotating_partners_hold_together_where_a_ring_does_not():
    assert [size for size in range(1, 20) if drifts_apart("rotating", size)] == [2]
    assert [size for size in range(1, 9) if drifts_apart("ring", size)] == [2, 4, 5, 6, 7, 8]
    for size in range(6, 20):
        known = 1 / 3 - 4 / (3 * size) if size % 2 == 0 else (size - 3) / (3 * (size - 1))
        assert least_pull("rotating", size) == pytest.approx(known)


def test_consensus_distance_is_the_root_of_the_mean_squared_distance_from_the_mean():
    assert consensus_distance([[0.0, 0.0], [6.0, 8.0]]) == pytest.approx(5)
    assert consensus_distance(np.ones((4, 3), np.float32)) == 0
    far = np.full((2, 1), 1e8, np.float32) + np.float32([[0], [16]])
    assert consensus_distance(far) == pytest.approx(8)


def test_hearing_yields_row_i_and_sends_column_i():
    K = np.array([[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]])

    def program(comm):
        return [(int(said), share) for said, share in heard(comm, K, comm.rank)]

    found = launch(program, on=Simulated(3))
    assert found == [[(0, 0.5), (1, 0.5)], [(1, 0.5), (2, 0.5)], [(0, 0.5), (2, 0.5)]]
