"""Who gets which portion, which copy counts, in which order they are added."""

from itertools import pairwise

import numpy as np
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from dlmini.sandblaster.layout import Layout
from dlmini.sandblaster.portions import LATE, Handout, TreeSum, next_portion


def test_a_free_replica_first_gets_what_it_had_then_what_nobody_had_then_anything():
    held = {0: [1]}
    assert next_portion(0, {3, 5, 7}, held, had={5, 7}, taken={3, 5, 7}) == 5
    assert next_portion(0, {3, 5, 7}, held, had={1}, taken={1, 3}) == 5
    assert next_portion(0, {3, 7}, held, had={1}, taken={1, 3, 7}) == 3


def test_copies_are_of_late_portions_only_and_never_of_ones_own():
    held = {4: [1], 2: [0, 1], 6: [2]}
    assert next_portion(0, set(), held, set(), set()) is None
    assert next_portion(0, set(), held, set(), set(), late={2}) is None
    assert next_portion(3, set(), held, set(), set(), late={2, 6}) == 6  # fewer copies
    assert next_portion(3, set(), held, set(), set(), late={6, 4}) == 4  # handed out first
    assert next_portion(3, {9}, held, set(), set(), late={4}) == 9  # what waits comes first


def test_a_portion_is_late_after_twice_the_usual_time():
    handout = Handout(2, backup=True)
    handout.begin()
    assert (handout.next(0, 0.0), handout.next(1, 0.0)) == (0, 1)
    assert handout.next_due(0.0) is None  # nobody knows yet what is usual
    handout.times.append(1.0)
    handout.count(1, 1)
    assert handout.next(1, 1.0) is None
    assert handout.next_due(1.0) == LATE - 1.0
    assert handout.next(1, LATE) == 0
    assert handout.next(1, LATE + 5) is None  # it holds it already
    assert not Handout(2, backup=False).due()


def test_what_was_pushed_is_not_copied():
    handout = Handout(1, backup=True)
    handout.begin()
    handout.next(0, 0.0)
    handout.times.append(0.1)
    handout.push(0, 0)
    assert handout.next(1, 9.0) is None
    handout.lose(0)
    assert handout.next(1, 9.0) == 0


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["next", "count", "lose", "push"])), max_size=60))
@examples(150)
def test_every_portion_is_waiting_held_or_counted_and_never_two_of_them(deeds):
    handout, now = Handout(5, backup=True), 0.0
    handout.begin()
    handout.times.append(1.0)
    for replica, deed in deeds:
        now += 1.0
        mine = [p for p, holders in handout.held.items() if replica in holders]
        if deed == "next":
            handout.next(replica, now)
        elif deed == "lose":
            handout.lose(replica)
        elif mine and deed == "push":
            handout.push(mine[0], replica)
        elif mine:
            assert handout.count(mine[0], replica)
            assert not handout.count(mine[0], replica)
        together = [*handout.waiting, *handout.held, *handout.counted]
        assert sorted(together) == list(range(5))
        assert all(handout.held.values())


@given(st.integers(1, 40), st.integers(0, 10**6))
@examples(100)
def test_the_sum_does_not_depend_on_the_order_of_coming(count, seed):
    coin = np.random.default_rng(seed)
    vectors = coin.standard_normal((count, 3)).astype(np.float32)

    def total(order):
        tree, found = TreeSum(count), None
        for number in order:
            assert found is None
            found = tree.add(int(number), vectors[number].copy())
        assert not tree.nodes
        return found

    first = total(range(count))
    assert (total(coin.permutation(count)) == first).all()
    np.testing.assert_allclose(first, vectors.sum(0), atol=1e-4)


def test_the_sum_keeps_little_while_one_portion_is_missing():
    """In order all but one would have to be kept."""
    tree = TreeSum(64)
    for number in range(1, 64):
        tree.add(number, np.zeros(1))
        assert len(tree.nodes) <= 6 + 6
    assert len(tree.nodes) == 6


@given(
    st.integers(1, 9),
    st.lists(st.integers(1, 30), min_size=1, max_size=5),
    st.integers(1, 4),
    st.sampled_from(["ranges", "arrays", "scattered"]),
)
@examples(100)
def test_shards_and_members_cover_the_vector_once(shards, slices, replicas, how):
    edges, length = np.cumsum([0, *slices]), sum(slices)
    order = np.random.default_rng(length).permutation(length) if how == "scattered" else np.arange(length)
    places = tuple(order[a:b] for a, b in pairwise(edges))
    if how == "ranges":
        places = tuple(range(int(place[0]), int(place[-1]) + 1) for place in places)
    layout = Layout(replicas * len(slices) + shards + 1, shards, length, places)
    assert layout.replicas == replicas
    whole, seen = np.arange(length), np.zeros(length, int)
    for shard in range(shards):
        low, high = layout.bounds(shard)
        assert layout.members_at(shard)
        for member in layout.members_at(shard):
            mine, there = layout.commons[member, shard]
            assert (np.array(places[member])[mine] == whole[low:high][there]).all()
            seen[low:high][there] += 1
            assert shard in layout.shards_at(member)
    assert (seen == 1).all()
    for rank in range(layout.first_shard):
        assert rank in layout.ranks_of(layout.replica_of(rank))
