"""PowerSGD: linear, conserving, and with a memory of where the large singular vectors are."""

import numpy as np
import pytest
from topology_play import Adding, play, updates

from dlmini import SGD, Recipe, launch
from dlmini.comm.processes import Processes
from dlmini.comm.schedules import tree
from dlmini.compression import None_
from dlmini.loop import program
from dlmini.sim import Simulated
from dlmini.topology import AllReduce
from dlmini.topology.low_rank import LowRank, orthogonal
from dlmini.topology.turn import Turn

N, M = 12, 9
SHAPES = ((3, 4, M), (M,), (5,))  # a stack of filters is the matrix N x M; two vectors
SIZE = N * M + M + 5


def low_rank_updates(rounds, workers, rank, seed=0):
    """Updates whose mean over workers has a matrix of this rank, though no worker's own has; vectors at random."""
    said = updates(rounds, workers, SIZE, seed)
    coin = np.random.default_rng([seed, 4])
    for t in range(rounds):
        wanted = coin.standard_normal((N, rank)) @ coin.standard_normal((rank, M))
        said[t, :, : N * M] += (wanted.ravel() - said[t, :, : N * M].mean(axis=0)).astype(np.float32)
    return said


@pytest.mark.parametrize("workers", [1, 2, 3, 5, 8])
def test_a_mean_of_no_higher_rank_is_decoded_exactly(workers):
    said = low_rank_updates(3, workers, rank=2)
    for weights, _ in launch(play, on=Simulated(workers), args=(LowRank(2), said, SHAPES)):
        np.testing.assert_allclose(weights, np.cumsum(said.mean(axis=1), axis=0), atol=1e-4)


@pytest.mark.parametrize("rank", [5, 6, 9, 100])
def test_where_nothing_is_saved_it_is_an_all_reduce_to_the_bit(rank):
    """5 (12 + 9) < 108 <= 6 (12 + 9): from rank 6 on the matrix travels whole."""
    said = updates(3, 3, SIZE)
    found, plain = (launch(play, on=Simulated(3), args=(top, said, SHAPES)) for top in (LowRank(rank), AllReduce()))
    same = np.array_equal(found[0][0], plain[0][0])
    assert same is (rank >= 6)
    assert ("Q0" in found[0][1]) is (rank < 6)


def test_full_rank_equals_an_all_reduce_in_training(task):
    def run(topology):
        return launch(program, on=Simulated(3), args=(task, Recipe(topology=topology, optimizer=SGD(0.1), rounds=6)))

    np.testing.assert_allclose(run(LowRank(100))[0], run(AllReduce())[0], atol=1e-5)


def test_everybody_decodes_the_mean_as_one_worker_alone_would_who_has_it():
    """Linearity: five workers with own matrices, and one with their mean, come to the same, round after round."""
    said = updates(6, 5, SIZE)
    alone = launch(play, on=Simulated(1), args=(LowRank(2), said.mean(axis=1, keepdims=True), SHAPES))[0][0]
    for weights, _ in launch(play, on=Simulated(5), args=(LowRank(2), said, SHAPES)):
        np.testing.assert_allclose(weights, alone, atol=1e-4)


def test_all_workers_hold_equal_bits():
    results = launch(play, on=Simulated(5), args=(LowRank(2), updates(6, 5, SIZE), SHAPES))
    assert len({weights.tobytes() for weights, _ in results}) == 1


def test_all_that_was_heard_and_the_mean_of_what_is_unsaid_is_all_that_was_produced():
    said = updates(20, 4, SIZE)
    results = launch(play, on=Simulated(4), args=(LowRank(1), said, SHAPES))
    unsaid = np.mean([memory["unsaid"] for _, memory in results], axis=0, dtype=np.float64)
    produced = said.mean(axis=1, dtype=np.float64).sum(axis=0)
    np.testing.assert_allclose(results[0][0][-1] + unsaid, produced, atol=1e-4)
    assert np.abs(unsaid[: N * M]).max() > 0.1  # much was unsaid of the matrix
    assert not unsaid[N * M :].any()  # and nothing of vectors


def errors_of_a_constant(topology, rounds):
    """Each round's error of what was decoded, against the matrix; and the least one that any of this rank can have."""
    matrix = updates(1, 1, SIZE)[0, 0]
    wanted = matrix[: N * M].reshape(N, M)

    def program(comm):
        found = []
        talk = topology.start(comm, np.zeros(SIZE, np.float32), Recipe(topology=topology), SHAPES)
        for t in range(rounds):
            talk.unsaid[:] = 0  # what was unsaid would change the matrix
            found.append(decoded(comm, talk, matrix, t)[: N * M].reshape(N, M))
        return [np.linalg.norm(d - wanted) for d in found]

    best = np.sqrt(np.sum(np.linalg.svd(wanted, compute_uv=False)[topology.rank :] ** 2))
    return launch(program, on=Simulated(3))[0], best


def decoded(comm, talk, matrix, t):
    start, w, mixed = (np.zeros(SIZE, np.float32) for _ in range(3))
    return talk.exchange(comm, Turn(t, start, w, None_().encode(matrix), mixed, True), Adding())


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_kept_factors_find_the_best_approximation_of_a_constant_matrix(rank):
    """With a fresh guess in every round the error would stay where it was in the first."""
    errors, best = errors_of_a_constant(LowRank(rank), rounds=60)
    assert errors[0] > 1.02 * best
    assert errors[-1] == pytest.approx(best, rel=1e-4)


def test_the_next_round_begins_where_the_last_one_ended():
    """Q after a round is M^T P of that round, no new noise."""
    said = updates(1, 3, SIZE)
    _, memory = launch(play, on=Simulated(3), args=(LowRank(2), said, SHAPES))[0]
    mean = said[0, :, : N * M].mean(axis=0, dtype=np.float64).reshape(N, M)
    guess = launch(
        lambda comm: LowRank(2).start(comm, np.zeros(SIZE, np.float32), Recipe(), SHAPES).Q[0], Simulated(1)
    )[0]
    P, _ = np.linalg.qr(mean @ guess)
    np.testing.assert_allclose(memory["Q0"] @ memory["Q0"].T, mean.T @ P @ P.T @ mean, atol=1e-4)


def test_workers_begin_with_the_same_guess_and_another_seed_brings_another():
    def guess(comm, seed):
        return LowRank(2).start(comm, np.zeros(SIZE, np.float32), Recipe(seed=seed), SHAPES).Q[0]

    first, second, third = launch(guess, on=Simulated(3), args=(0,))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, third)
    assert not np.array_equal(first, launch(guess, on=Simulated(1), args=(1,))[0])


def test_what_a_worker_hears_is_not_only_its_own():
    """Somebody who communicates with nobody would pass every test with one worker."""
    said = updates(1, 2, SIZE)
    alone = launch(play, on=Simulated(1), args=(LowRank(2), said[:, :1], SHAPES))[0][0]
    both = launch(play, on=Simulated(2), args=(LowRank(2), said, SHAPES))[0][0]
    assert np.abs(both - alone).max() > 0.1


@pytest.mark.parametrize("workers", [2, 3, 5])
def test_r_times_n_plus_m_numbers_travel_and_the_vectors(workers):
    traffic = launch(play, on=Simulated(workers), args=(LowRank(2), updates(4, workers, SIZE), SHAPES)).books.total()
    assert traffic.nbytes == 4 * 2 * (workers - 1) * 4 * (2 * (N + M) + M + 5)  # a ring: 2 (P - 1) times all numbers


def test_a_matrix_that_was_zero_is_heard_when_it_wakes_up():
    said = low_rank_updates(3, 2, rank=2)
    said[:2, :, : N * M] = 0
    weights, _ = launch(play, on=Simulated(2), args=(LowRank(2), said, SHAPES))[0]
    np.testing.assert_allclose(weights[-1], said.mean(axis=1).sum(axis=0), atol=1e-4)


def test_columns_become_orthonormal_and_dependent_ones_zero():
    P = updates(1, 1, 40)[0, 0].reshape(10, 4)
    P[:, 2] = 0
    Q = orthogonal(P)
    np.testing.assert_allclose(Q.T @ Q, np.diag([1, 1, 0, 1]), atol=1e-6)
    left, _ = np.linalg.qr(P[:, [0, 1, 3]].astype(np.float64))
    np.testing.assert_allclose(Q @ Q.T, left @ left.T, atol=1e-6)
    tiny = orthogonal((1e-30 * P).astype(np.float32))
    np.testing.assert_allclose(tiny.T @ tiny, np.diag([1, 1, 0, 1]), atol=1e-6)


def test_it_learns_with_a_fraction_of_the_bytes(task):
    def run(topology):
        recipe = Recipe(topology=topology, optimizer=SGD(0.1), rounds=40)
        results = launch(program, on=Simulated(4), args=(task, recipe))
        return task.evaluate(results[0])["loss"], results.books.total().nbytes

    (loss, nbytes), (plain, whole) = run(LowRank(1)), run(AllReduce())
    assert nbytes * 99 == whole * 56  # matrices of 2 x 16 and 16 x 3, vectors of 16 and 3
    assert loss < 1.2 * plain + 0.05


@pytest.mark.parametrize("rank", [0, -1, 1.5, True])
def test_ranks_without_meaning_are_refused(rank):
    with pytest.raises((ValueError, TypeError), match="rank is"):
        LowRank(rank)


def test_shapes_of_another_model_are_refused():
    with pytest.raises(ValueError, match="hold 6 numbers, but the vector has 7"):
        LowRank().layout(7, ((2, 3),))


@pytest.mark.parametrize("topology", [LowRank(1), LowRank(2, tree)], ids=repr)
def test_processes_give_the_same_bits(task, topology):
    recipe = Recipe(topology=topology, optimizer=SGD(0.1), rounds=5)
    for a, b in zip(*(launch(program, on=on(3), args=(task, recipe)) for on in (Simulated, Processes)), strict=True):
        np.testing.assert_array_equal(a, b)
