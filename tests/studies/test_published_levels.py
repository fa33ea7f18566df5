"""Algorithms 1 to 3 of the third source do what its formulas say: a plain loop over devices, made from them alone."""

from itertools import islice

import numpy as np
import pytest

from dlmini import Processes, Simulated, blobs, train
from dlmini.configurations import compare
from dlmini.nn import Dense, Model
from dlmini.studies.published_levels.algorithms import program
from dlmini.studies.published_levels.clusters import CLUSTERS
from dlmini.studies.published_levels.dealing import Dealt
from dlmini.studies.published_levels.description import AsPublished, ten_as_published
from dlmini.studies.published_levels.readings import CHOICES, Reading, read_reading
from dlmini.studies.published_levels.side_by_side import other_readings, ours, page

ITERATIONS, RATE = 23, 0.05
READINGS = [Reading(), *other_readings(Reading(), ("own", "advance", "mixed")).values()]


class Regression:
    """Softmax regression by hand, the loss a sum: a task of NumPy alone, in any float type."""

    def __init__(self, dtype):
        coin = np.random.default_rng(5)
        self.dtype, self.flops = dtype, 1.0
        self.x, self.y = coin.standard_normal((60, 7)).astype(dtype), coin.integers(0, 4, 60)

    def initial(self, seed):
        return np.random.default_rng(seed).standard_normal(28).astype(self.dtype) / 10

    def batches(self, shard, of, seed):
        coin = np.random.default_rng([seed, shard])
        while True:
            yield coin.integers(0, 60, 5)

    def loss_and_grad(self, w, rows, grad):
        x, y, W = self.x[rows], self.y[rows], w.reshape(7, 4)
        z = x @ W
        p = np.exp(z - z.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        p[np.arange(5), y] -= 1
        grad[:] = (x.T @ p).ravel()
        return 0.0


def by_formulas(task, plan, P):
    """The document's three algorithms: all devices in one loop, in the order of its lines."""
    dtype, reading, p = task.dtype, plan.reading, plan.period
    w, streams = [task.initial(plan.seed) for _ in range(P)], [task.batches(i, P, plan.seed) for i in range(P)]
    eta, third, s = dtype(plan.rate), dtype(plan.rate / 3), 1
    begun, sums = [v.copy() for v in w], [np.zeros_like(v) for v in w]
    for k in range(1, plan.rounds + 1):
        g = [np.zeros_like(v) for v in w]
        for i in range(P):
            task.loss_and_grad(w[i], next(streams[i]), g[i])
            sums[i] += g[i]
        if k % p:
            w = [w[i] - eta * g[i] for i in range(P)]
        elif not plan.gossips:  # Algorithm 1, lines 5 and 6
            mean = sum(w) / dtype(P)
            w = [mean - eta * g[i] for i in range(P)]
        elif p > 1 and reading.mixed == "weights":
            w = [(w[(i - s) % P] + w[i] + w[(i + s) % P]) / dtype(3) - eta * g[i] for i in range(P)]
        else:
            said = sums if p > 1 and reading.mixed == "sum" else g
            base = begun if p > 1 and reading.mixed == "sum" else w
            w = [base[i] - third * three(said, i, s, P, plan) for i in range(P)]
        if k % p == 0:
            begun, sums = [v.copy() for v in w], [np.zeros_like(v) for v in w]
        if k % p == 0 or reading.advance == "iteration":
            s = s + 1 if s + 1 <= P / 2 else 1
    return w


def three(said, i, s, P, plan):
    """grad E_l + grad E_i + grad E_r, as the threshold and the reading have it."""
    mine, others = said[i], (said[(i - s + P) % P], said[(i + s) % P])
    if plan.threshold is not None:
        large = [np.abs(v) > plan.threshold for v in (others[0], mine, others[1])]
        if plan.reading.own != "whole":
            mine = np.where(large[1] if plan.reading.own == "sent" else np.any(large, axis=0), mine, 0)
        others = [np.where(big, v, 0) for big, v in zip(large[::2], others, strict=True)]
    return others[0] + mine + others[1]


def run(task, plan, P):
    return Simulated(P).run(program, (task, plan)).values


@pytest.mark.parametrize("P", [1, 2, 5, 8])
@pytest.mark.parametrize("period", [1, 4, 16])
def test_algorithm_1_averages_weights_and_then_steps(P, period):
    plan, task = AsPublished(period, rate=RATE, rounds=ITERATIONS), Regression(np.float64)
    np.testing.assert_allclose(run(task, plan, P), by_formulas(task, plan, P), rtol=0, atol=1e-12)


@pytest.mark.parametrize("reading", READINGS, ids=str)
@pytest.mark.parametrize("P", [1, 2, 5, 8])
@pytest.mark.parametrize("threshold", [None, 0.8])
def test_algorithms_2_and_3_to_the_bit_by_every_reading(P, threshold, reading):
    task = Regression(np.float32)
    for period in (1, 4):
        if threshold is not None and period > 1 and reading.mixed == "weights":
            continue
        plan = AsPublished(period, True, threshold, rate=RATE, rounds=ITERATIONS, reading=reading)
        np.testing.assert_array_equal(run(task, plan, P), by_formulas(task, plan, P))


def test_every_switch_changes_what_comes_out():
    """A switch that does nothing would be no switch."""
    task, usual = Regression(np.float32), Reading()
    for reading in READINGS[1:]:
        threshold = None if reading.mixed == "weights" else 0.8
        plans = [AsPublished(4, True, threshold, rate=RATE, rounds=24, reading=r) for r in (usual, reading)]
        first, other = (run(task, plan, 8)[0] for plan in plans)
        assert np.abs(first - other).max() > 1e-4, reading


def test_by_iterations_partners_of_a_period_of_sixteen_never_change_among_sixteen():
    """What the lines say: s is 8 at every exchange, so both partners are one, and news never leaves a pair."""
    for advance, distances in (("iteration", {8}), ("exchange", {1, 2, 3})):
        plan = AsPublished(16, True, rate=RATE, rounds=48, reading=Reading(advance=advance))
        books = Simulated(16).run(program, (Regression(np.float32), plan)).books
        gone = {(entry.source - entry.dest) % 16 for entry in books.entries}
        assert gone == distances | {16 - s for s in distances}


@pytest.fixture(scope="module")
def dealt():
    sets = blobs(610, seed=1), blobs(100, seed=2)
    return Dealt(Model([Dense(6), Dense(3)], sets[0].shape), *sets, batch=10)


def test_all_rows_are_dealt_anew_in_every_epoch(dealt):
    """Nobody shares a row with another in an epoch; what is left over is less than a mini-batch for each."""
    workers = 4
    assert dealt.per_epoch(workers) == 15
    places = {row.tobytes(): i for i, row in enumerate(dealt.train.x)}
    epochs = []
    for epoch in range(2):
        dealt_now = [
            [
                places[row.tobytes()]
                for batch in islice(dealt.batches(i, workers, 3, 15 * epoch), 15)
                for row in batch.x.copy()
            ]
            for i in range(workers)
        ]
        assert len({row for rows in dealt_now for row in rows}) == 600
        epochs.append(dealt_now)
    assert all(set(before) != set(after) for before, after in zip(*epochs, strict=True))


def test_rate_and_threshold_are_of_a_sum(dealt):
    w, batch = dealt.initial(0), next(dealt.batches(0, 4, 0))
    summed, mean = np.zeros_like(w), np.zeros_like(w)
    assert dealt.loss_and_grad(w, batch, summed) == Dealt(*list(vars(dealt).values())[:5], loss="mean").loss_and_grad(
        w, batch, mean
    )
    np.testing.assert_allclose(summed, 10 * mean, rtol=1e-6)


def test_it_learns_and_is_tried_after_every_epoch(dealt):
    plans = ten_as_published(15 * 6, 0.005, 0.3, every=15)
    rows = compare(dealt, plans, Simulated(4), per_epoch=15)
    assert [row.period for row in rows] == [1, 1, 1, 4, 4, 4, 16, 16, 16, 32]
    for row in rows:
        assert [point.epochs for point in row.curve] == [1, 2, 3, 4, 5, 6]
        assert row.accuracy > 0.8
    by_number = {row.number: row for row in rows}
    assert by_number[3].megabytes < by_number[2].megabytes
    assert by_number[9].messages < by_number[2].messages


def test_who_is_tried_is_the_first_or_the_mean_of_all(dealt):
    plans = [AsPublished(4, True, rounds=8, rate=0.01, reading=Reading(tested=who)) for who in CHOICES["tested"]]
    values = Simulated(3).run(program, (dealt, plans[0])).values
    first, mean = (train(dealt, plan, Simulated(3)).result().weights for plan in plans)
    np.testing.assert_array_equal(first, values[0])
    np.testing.assert_array_equal(mean, np.mean(values, axis=0))


def test_processes_learn_the_same_bits_as_virtual_ranks(dealt):
    plan = AsPublished(2, True, 0.2, rounds=6, rate=0.01)
    here, there = (on.run(program, (dealt, plan)) for on in (Simulated(2), Processes(2)))
    np.testing.assert_array_equal(here.values, there.values)
    assert here.books.total() == there.books.total()


def test_ours_get_the_same_rate_of_a_mean(dealt):
    task, tables = ours(dealt, 90, 1e-4, "1,9", repeat=2)
    assert [list(table) for table in tables] == [[1, 9], [1, 9]]
    assert tables[0][1].optimizer.rate == pytest.approx(1e-3)
    assert task.batch == dealt.batch
    rows = compare(dealt, ten_as_published(15, only=(1, 9)), Simulated(4))
    assert page({"as_published": (rows, "here"), "ours": (rows, "here")}).count("Local-SGD(16)") == 1


def test_clusters_have_the_shape_of_the_documents():
    for name, workers, nodes in (
        ("polus", 60, 3),
        ("lomonosov2", 32, 3),
        ("lomonosov2", 60, 5),
        ("lomonosov2", 210, 15),
    ):
        network = CLUSTERS[name].cluster(workers).network
        assert -(-workers // network.per_node) == nodes
        assert network.per_node <= CLUSTERS[name].cores
        assert network.shared
    with pytest.raises(ValueError, match="had 60 cores at most"):
        CLUSTERS["polus"].cluster(61)


WRONG = {
    "own=half": "own is one of sent",
    "mine=whole": "give some of own=",
    "own": "give some of own=",
    "own=whole,own=sent": "stands there twice",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_reading_that_is_none_gets_a_sentence(text):
    with pytest.raises(ValueError, match=WRONG[text]):
        read_reading(text)
    assert read_reading("own=whole, tested=mean") == Reading(own="whole", tested="mean")


def test_what_has_no_meaning_is_refused(dealt):
    with pytest.raises(ValueError, match="gossips=True"):
        AsPublished(threshold=1.0)
    with pytest.raises(ValueError, match="leave configurations 6 and 9 out"):
        AsPublished(4, True, 1.0, reading=Reading(mixed="weights"))
    with pytest.raises(ValueError, match="fewer than 62 workers"):
        dealt.per_epoch(62)
    with pytest.raises(TypeError, match="a Reading"):
        AsPublished(reading="sent")
