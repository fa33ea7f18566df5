import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from dlmini.data import Dataset, shapes, split_by_label, split_by_quantity, split_dirichlet, split_iid

SPLITS = {
    "iid": lambda labels, parts, seed: split_iid(labels, parts, seed),
    "shards": lambda labels, parts, seed: split_by_label(labels, parts, 1, seed),
    "dirichlet 0.01": lambda labels, parts, seed: split_dirichlet(labels, parts, 0.01, seed),
    "dirichlet 1": lambda labels, parts, seed: split_dirichlet(labels, parts, 1, seed),
    "quantity 0.01": lambda labels, parts, seed: split_by_quantity(labels, parts, 0.01, seed),
    "weights": lambda labels, parts, seed: split_by_quantity(labels, [10.0**-i for i in range(parts)], seed=seed),
}
some_labels = st.lists(st.integers(0, 5), min_size=1, max_size=80).map(np.array)


@pytest.mark.parametrize("split", SPLITS.values(), ids=SPLITS.keys())
@examples(60)
@given(labels=some_labels, data=st.data(), seed=st.integers(0, 2**32))
def test_parts_are_disjoint_complete_and_never_empty(split, labels, data, seed):
    parts = data.draw(st.integers(1, len(labels)))
    found = split(labels, parts, seed)
    assert len(found) == parts
    assert all(len(part) > 0 for part in found)
    np.testing.assert_array_equal(np.sort(np.concatenate(found)), np.arange(len(labels)))


@pytest.mark.parametrize("split", SPLITS.values(), ids=SPLITS.keys())
def test_a_split_depends_on_its_seed_alone(split):
    labels = np.arange(200) % 10
    once, again, other = split(labels, 8, 1), split(labels, 8, 1), split(labels, 8, 2)
    assert all(np.array_equal(a, b) for a, b in zip(once, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(once, other, strict=True))


@given(n=st.integers(1, 200), data=st.data())
def test_iid_parts_differ_in_size_by_one_at_most(n, data):
    sizes = [len(part) for part in split_iid(n, data.draw(st.integers(1, n)))]
    assert max(sizes) - min(sizes) <= 1


def test_a_number_labels_and_a_dataset_are_split_alike():
    labels = np.arange(60) % 3
    data = Dataset("points", np.zeros((60, 2), np.float32), labels, ("a", "b", "c"))
    for split in (split_iid, split_by_quantity):
        truth = split(60, 4)
        for rows in (labels, data):
            assert all(np.array_equal(a, b) for a, b in zip(split(rows, 4), truth, strict=True))
    by_labels, by_data = split_dirichlet(labels, 4, 0.5), split_dirichlet(data, 4, 0.5)
    assert all(np.array_equal(a, b) for a, b in zip(by_labels, by_data, strict=True))


@pytest.mark.parametrize("shards", [1, 2, 3])
def test_a_part_of_s_shards_knows_few_classes(shards):
    """100 rows of each of 10 classes, 100 or more shards of equal size: no shard spans more than two classes."""
    labels = np.random.default_rng(0).permutation(np.arange(1000) % 10)
    for part in split_by_label(labels, 20, shards):
        assert len(part) == 50 or shards == 3
        assert len(np.unique(labels[part])) <= 2 * shards


def test_shards_that_fit_into_classes_hold_one_class_each():
    labels = np.random.default_rng(1).permutation(np.arange(1000) % 10)
    assert all(len(np.unique(labels[part])) == 1 for part in split_by_label(labels, 20, 1))


def skew(labels, parts):
    """Mean distance between the mixture of classes in a part and in the whole (0: the same, up to 1)."""
    whole = np.bincount(labels, minlength=10) / len(labels)
    mixtures = [np.bincount(labels[part], minlength=10) / len(part) for part in parts]
    return np.mean([abs(mixture - whole).sum() / 2 for mixture in mixtures])


def test_a_smaller_alpha_gives_more_different_parts():
    labels = np.arange(5000) % 10
    skews = [skew(labels, split_dirichlet(labels, 10, alpha, seed=3)) for alpha in (1000, 1, 0.05)]
    assert skews[0] < 0.05 < skews[1] < 0.6 < skews[2]


def test_dirichlet_shares_have_the_mean_and_the_variance_of_the_distribution():
    """Share of a part in a class: mean 1/P, variance (1/P)(1 - 1/P) / (P alpha + 1)."""
    labels, parts, alpha = np.repeat(np.arange(400), 200), 4, 0.7
    counts = np.stack([np.bincount(labels[p], minlength=400) for p in split_dirichlet(labels, parts, alpha)]) / 200
    np.testing.assert_allclose(counts.mean(axis=1), 1 / parts, atol=0.05)
    np.testing.assert_allclose(counts.var(axis=1), 0.25 * 0.75 / (parts * alpha + 1), rtol=0.2)


def test_quantities_follow_the_weights():
    assert [len(part) for part in split_by_quantity(1000, (3, 1, 1))] == [600, 200, 200]


def test_rows_are_dealt_at_random_whatever_the_amounts():
    """The mean row number of a large part lies within five standard errors of the middle."""
    one_class = np.zeros(100_000, int)
    for parts in (split_iid(100_000, 2), split_by_quantity(100_000, (1, 1)), split_dirichlet(one_class, 2, 100)):
        assert abs(parts[0].mean() - 49_999.5) < 5 * 28_868 / np.sqrt(len(parts[0]))


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: split_iid(3, 5), ValueError, "3 rows cannot fill 5 parts.*at most 3"),
        (lambda: split_iid(3, 0), ValueError, "parts is 0; it must be a whole number of at least 1"),
        (lambda: split_iid(0, 1), ValueError, "rows is 0; it must be a whole number of at least 1"),
        (lambda: split_iid(3.0, 1), TypeError, "rows is 3.0; it must be a whole number"),
        (lambda: split_iid([], 1), ValueError, "0 rows cannot fill 1 parts"),
        (lambda: split_iid(3, 1, seed=-2), ValueError, "epoch is -2; it must be a whole number of at least 0"),
        (lambda: split_by_label([0, 1, 1], 2), ValueError, r"3 rows cannot fill 4 shards \(2 parts of 2\)"),
        (lambda: split_by_label([0.5, 1], 2), ValueError, "one whole label for each row.*float64"),
        (lambda: split_by_label(shapes(3), 2), ValueError, "one whole label for each row.*use split_iid"),
        (lambda: split_dirichlet([0, 1], 2, 0), ValueError, "alpha is 0; it must be a finite number above 0"),
        (lambda: split_dirichlet([0, 1], 2, float("nan")), ValueError, "alpha is nan"),
        (lambda: split_dirichlet([0, 1], 3, 1), ValueError, "2 rows cannot fill 3 parts"),
        (lambda: split_by_quantity(9, (1, 0)), ValueError, "a weight in parts is 0; it must be a finite number"),
        (lambda: split_by_quantity(2, (1, 1, 1)), ValueError, "2 rows cannot fill 3 parts"),
    ],
)
def test_impossible_splits_are_refused_with_a_sentence(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()
