import tracemalloc
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlmini.data import Dataset, batches, shapes, split_by_label, stream


def numbered(n, dtype=np.float32):
    """Row i holds the number i, so that rows can be recognised in batches."""
    x = np.arange(n, dtype=dtype)
    return Dataset("numbered", np.tile(x[:, None, None, None], (1, 2, 2, 1)), np.arange(n) % 3, ("a", "b", "c"))


def rows(epoch):
    return np.concatenate([batch.x[:, 0, 0, 0] for batch in epoch]).astype(int)


@given(n=st.integers(1, 60), data=st.data(), seed=st.integers(0, 2**64), epoch=st.integers(0, 1000))
def test_an_epoch_holds_every_row_exactly_once(n, data, seed, epoch):
    ranks = data.draw(st.integers(1, n))
    size = data.draw(st.integers(1, n // ranks))
    found = [rows(batches(numbered(n), size, seed=seed, rank=r, ranks=ranks, epoch=epoch)) for r in range(ranks)]
    np.testing.assert_array_equal(np.sort(np.concatenate(found)), np.arange(n))


def test_the_order_is_the_permutation_of_seed_rank_and_epoch():
    part = np.arange(10, 30)
    expected = part[np.random.default_rng([7, 2, 5]).permutation(20)]
    np.testing.assert_array_equal(rows(batches(numbered(40), 6, seed=7, rank=2, part=part, epoch=5)), expected)


def test_another_seed_rank_or_epoch_is_another_order():
    orders = {
        tuple(rows(batches(numbered(40), 8, part=range(40), **key)))
        for key in ({}, {"seed": 1}, {"rank": 1}, {"epoch": 1})
    }
    assert len(orders) == 4


def test_without_shuffling_rows_come_in_their_order():
    np.testing.assert_array_equal(rows(batches(numbered(10), 4, shuffle=False)), np.arange(10))


def test_the_short_last_batch_is_kept_unless_dropped():
    assert [len(b.x) for b in batches(numbered(10), 4)] == [4, 4, 2]
    assert [len(b.x) for b in batches(numbered(10), 4, drop_last=True)] == [4, 4]
    assert [len(b.x) for b in batches(numbered(8), 4, drop_last=True)] == [4, 4]


def test_labels_stay_with_their_rows():
    for batch in batches(numbered(20), 7):
        np.testing.assert_array_equal(batch.y, batch.x[:, 0, 0, 0].astype(int) % 3)


def test_bytes_become_float32_in_the_unit_interval_and_labels_int64():
    data = numbered(256, np.uint8)
    (batch,) = batches(data, 256, shuffle=False)
    assert (batch.x.dtype, batch.y.dtype) == (np.float32, np.int64)
    np.testing.assert_array_equal(batch.x, data.scaled().x)


def test_masks_travel_with_their_images():
    data = shapes(7, size=8)
    (batch,) = batches(data, 7, shuffle=False)
    np.testing.assert_array_equal(batch.y, data.y)
    assert batch.y.dtype == np.int64


def test_the_key_names_seed_rank_epoch_and_index():
    keys = [b.key for b in batches(numbered(10), 4, seed=3, rank=1, part=range(10), epoch=9)]
    assert keys == [(3, 1, 9, 0), (3, 1, 9, 1), (3, 1, 9, 2)]


def test_a_stream_is_one_epoch_after_the_other():
    data = numbered(10)
    expected = [batch for epoch in (2, 3, 4) for batch in batches(data, 4, seed=5, epoch=epoch)]
    for ours, truth in zip(islice(stream(data, 4, seed=5, epoch=2), 9), expected, strict=True):
        assert ours.key == truth.key
        np.testing.assert_array_equal(ours.x, truth.x)


def test_batches_of_one_rank_come_from_its_own_part():
    data = numbered(30)
    for rank, part in enumerate(split_by_label(data, 3)):
        np.testing.assert_array_equal(np.sort(rows(batches(data, 4, rank=rank, part=part))), part)


def test_batches_are_safe_to_keep_unless_reuse_is_asked_for():
    data = numbered(12)
    np.testing.assert_array_equal(np.sort(rows(list(batches(data, 4)))), np.arange(12))
    kept = list(batches(data, 4, reuse=True))
    assert all(np.shares_memory(kept[0].x, b.x) for b in kept)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_reused_batches_hold_the_same_numbers(dtype):
    data = numbered(22, dtype)
    for ours, truth in zip(islice(stream(data, 4, reuse=True), 15), stream(data, 4), strict=False):
        np.testing.assert_array_equal(ours.x, truth.x)
        np.testing.assert_array_equal(ours.y, truth.y)


def test_reuse_allocates_nothing_of_the_size_of_a_batch():
    x = np.zeros((400, 28, 28, 1), np.uint8)
    endless = stream(Dataset("black", x, np.zeros(400, np.uint8), ("a",)), 100, reuse=True)
    next(endless)
    tracemalloc.start()
    for _ in range(12):
        next(endless)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * 28 * 28 // 2  # half of the batch even in bytes


@pytest.mark.parametrize("make", [batches, stream])
@pytest.mark.parametrize(
    ("size", "options", "error", "sentence"),
    [
        (11, {}, ValueError, "a batch of 11 is larger than the 10 rows that rank 0 has; ask for batches of at most 10"),
        (4, {"ranks": 3, "rank": 2}, ValueError, "larger than the 3 rows that rank 2 has"),
        (0, {}, ValueError, "size is 0; it must be a whole number of at least 1"),
        (2.5, {}, TypeError, "size is 2.5; it must be a whole number"),
        (2, {"rank": 3, "ranks": 3}, ValueError, "rank 3 does not exist"),
        (2, {"ranks": 11}, ValueError, "10 rows cannot fill 11 parts"),
        (2, {"part": range(4), "ranks": 2}, ValueError, "ranks=2 has no meaning"),
        (2, {"part": [3, 10]}, IndexError, "rows from 0 to 9"),
        (2, {"seed": -1}, ValueError, "seed, rank or epoch is -1|seed is -1"),
        (2, {"epoch": -1}, ValueError, "epoch is -1; it must be a whole number of at least 0"),
    ],
)
def test_impossible_batches_are_refused_when_asked_for_not_later(make, size, options, error, sentence):
    with pytest.raises(error, match=sentence):
        make(numbered(10), size, **options)
