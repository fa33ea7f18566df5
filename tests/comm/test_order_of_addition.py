"""In which order numbers are added: by some schedules everywhere alike, by others according to a number's place."""

from itertools import pairwise

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from dlmini.comm import doubling, halving_doubling, naive, ring, tree
from dlmini.comm.collectives import plan_of
from dlmini.comm.schedules import added, cut

EVERYWHERE_ALIKE = (naive, tree, doubling, halving_doubling)


def vectors(ranks, length, seed=0):
    return list(np.random.default_rng([seed, ranks, length]).standard_normal((ranks, length)).astype(np.float32))


def summed(how, xs, verb="allreduce"):
    return added(plan_of(how, verb, len(xs)), xs)


def in_buckets(how, xs, edges):
    return np.concatenate([summed(how, [x[lo:hi] for x in xs]) for lo, hi in pairwise(edges)])


@pytest.mark.parametrize("how", EVERYWHERE_ALIKE, ids=repr)
@examples(40)
@given(ranks=st.integers(1, 9), length=st.integers(0, 60), cuts=st.lists(st.integers(0, 60), max_size=4))
def test_schedules_that_add_everywhere_alike_give_a_bucket_the_bits_of_the_whole(how, ranks, length, cuts):
    xs, edges = vectors(ranks, length), sorted({0, length, *(c for c in cuts if c < length)})
    if length:
        np.testing.assert_array_equal(in_buckets(how, xs, edges), summed(how, xs))


@examples(40)
@given(ranks=st.integers(1, 9), length=st.integers(0, 60))
def test_halving_doubling_gives_every_owner_the_bits_of_the_whole_sum(ranks, length):
    xs = vectors(ranks, length)
    np.testing.assert_array_equal(summed(halving_doubling, xs, "reduce_scatter"), summed(halving_doubling, xs))


@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
def test_around_a_ring_the_place_decides_from_the_third_rank_on(ranks):
    """Of two numbers the sum is the same in either order; of more, the last bit depends on where the sum begins."""
    xs = vectors(ranks, 30_000)
    whole, edges = summed(ring, xs), cut(30_000, 7).tolist()
    for other in (in_buckets(ring, xs, edges), summed(ring, xs, "reduce_scatter")):
        differing = np.mean(other != whole)
        assert differing == 0 if ranks == 2 else 0.1 < differing < 0.7
        np.testing.assert_allclose(other, whole, atol=ranks * 4e-7 * np.abs(xs).sum(0).max())
