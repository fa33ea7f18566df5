"""Robust rules against liars: where they hold, where they fail, and how many clients each needs. Secrets and noise."""

import math

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from dlmini import Simulated
from dlmini.federated import FedAvg, Federation, federate
from dlmini.federated.attacks import Alie, InnerProduct, LabelFlip, Mimic, SignFlip, attacked, flipped, hidden
from dlmini.federated.outcomes import table
from dlmini.federated.privacy import PrivateMean, epsilon, renyi
from dlmini.federated.robust import (
    RULES,
    Bucketing,
    Bulyan,
    CentredClipping,
    GeometricMedian,
    Krum,
    Mean,
    Median,
    MultiKrum,
    TrimmedMean,
    squared_distances,
)
from dlmini.federated.secure import masked, quantised, unmasked_sum

LEAST = {Mean: (1, 1), Median: (1, 5), TrimmedMean: (1, 5), Krum: (3, 7), MultiKrum: (3, 7), Bulyan: (3, 11)}
LEAST |= {GeometricMedian: (1, 5), CentredClipping: (1, 5)}


def made(rule, f):
    return rule() if rule is Mean else rule(f=f)


def honest(n=16, d=40, spread=0.3, seed=0):
    """Updates around a common direction of length about 6."""
    return (1 + spread * np.random.default_rng([seed, 8]).normal(size=(n, d))).astype(np.float32)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_too_few_clients_are_refused_with_the_inequality(rule):
    for f, least in zip((0, 2), LEAST[rule], strict=True):
        one = made(rule, f)
        assert one.least(f) == least
        assert one(honest(least)).shape == (40,)
        if least > 1:
            with pytest.raises(ValueError, match=rf"needs n >= {one.inequality.replace('+', '.')} clients"):
                one(honest(least - 1))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_equal_updates_are_what_comes_out(rule):
    same = np.tile(np.arange(5, dtype=np.float32), (11, 1))
    assert np.allclose(made(rule, 2)(same), same[0], atol=1e-6)


@pytest.mark.parametrize("rule", [r for r in RULES if r not in (Krum, Bulyan)], ids=lambda rule: rule.__name__)
@examples(20)
@given(st.integers(0, 2**31))
def test_the_order_of_clients_does_not_matter(rule, seed):
    updates = honest(11, 6, seed=seed)
    other = updates[np.random.default_rng(seed).permutation(11)]
    assert np.allclose(made(rule, 2)(updates), made(rule, 2)(other), atol=1e-5)


def test_krum_by_hand():
    """Five on a line, f = 1: n - f - 2 = 2 nearest. Scores 5, 2, 2 (1 + 1), 5, far."""
    x = np.array([[0.0], [1.0], [2.0], [3.0], [100.0]])
    assert Krum(1)(x)[0] == 1.0  # the first of the two that tie
    assert squared_distances(x)[0].tolist() == [0, 1, 4, 9, 10000]
    assert MultiKrum(1, m=2)(x)[0] == 1.5
    assert MultiKrum(1)(x)[0] == 1.5  # n - f = 4 of them


def test_trimming_and_medians_by_hand():
    x = np.array([[1.0], [2.0], [4.0], [8.0], [1000.0]])
    assert TrimmedMean(1)(x)[0] == pytest.approx(14 / 3)
    assert TrimmedMean(2)(x)[0] == 4.0
    assert Median()(x)[0] == 4.0


def test_bulyan_by_hand():
    """n = 7, f = 1: five chosen by Krum, then the mean of the three nearest to their median."""
    x = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [1000.0]])
    chosen = Bulyan(1).select(squared_distances(x))
    assert len(chosen) == 5
    assert 6 not in chosen
    values = np.sort(x[chosen, 0])
    assert Bulyan(1)(x)[0] == pytest.approx(
        values[np.argsort(np.abs(values - np.median(values)), kind="stable")][:3].mean()
    )


def test_the_geometric_median_is_where_the_pulls_cancel():
    x = honest(9, 3, spread=1.0).astype(np.float64)
    z = GeometricMedian(steps=500)(x)
    pulls = (x - z) / np.linalg.norm(x - z, axis=1, keepdims=True)
    assert np.linalg.norm(pulls.sum(axis=0)) < 1e-6


def test_the_geometric_median_leaves_a_point_that_it_began_on():
    """The median of each coordinate is the point (0, 0); the least sum of distances is elsewhere."""
    x = np.array([[0.0, 0.0], [3.0, -0.1], [2.0, -0.2], [-0.1, 3.0], [-0.2, 2.0]])
    assert np.median(x, axis=0).tolist() == [0.0, 0.0]
    z = GeometricMedian()(x)
    away = np.linalg.norm(x - z, axis=1)
    assert away.sum() < np.linalg.norm(x, axis=1).sum() - 0.05
    assert np.linalg.norm(((x - z) / away[:, None]).sum(axis=0)) < 1e-6


@examples(60)
@given(st.integers(0, 2**31))
def test_no_point_has_a_smaller_sum_of_distances_than_the_geometric_median(seed):
    """Against all given points, their mean and medians, and small moves; ties and equal points included."""
    coin = np.random.default_rng(seed)
    x = coin.integers(0, 4, size=(coin.integers(1, 9), coin.integers(1, 4))) * 1e-4
    z = GeometricMedian()(x)
    others = [*x, x.mean(axis=0), np.median(x, axis=0), *(z + 1e-7 * coin.normal(size=(5, z.size)))]
    least = min(np.linalg.norm(x - other, axis=1).sum() for other in others)
    assert np.linalg.norm(x - z, axis=1).sum() <= least * (1 + 1e-5) + 1e-15


def test_a_clipped_liar_pulls_no_further_than_tau():
    x = honest(10, 5, spread=0.01).astype(np.float64)
    lied = np.concatenate([x, [[1e6] * 5]])
    assert np.linalg.norm(CentredClipping(tau=0.1, steps=1)(lied) - np.median(lied, axis=0)) <= 0.1 + 1e-12


ATTACK = {"sign flip": SignFlip(10.0), "inner product": InnerProduct(0.5), "ALIE": Alie(), "mimic": Mimic()}
HOLDS = [Median(), TrimmedMean(3), Krum(3), MultiKrum(3), Bulyan(3), GeometricMedian(), CentredClipping(tau=2.0)]


@pytest.mark.parametrize("attack", ATTACK)
@pytest.mark.parametrize("rule", HOLDS, ids=lambda rule: type(rule).__name__)
def test_three_liars_of_nineteen_do_not_turn_a_robust_rule(rule, attack):
    """Clients alike: the outcome stays within the honest clients' own spread of their mean."""
    good = honest()
    found = rule(attacked(good, ATTACK[attack], 3))
    distance = np.linalg.norm(found - good.mean(axis=0))
    assert distance < 1.2 * np.linalg.norm(good - good.mean(axis=0), axis=1).max()
    assert found @ good.mean(axis=0) > 0


def test_where_they_fail():
    """The mean is turned by a sign flip. With half the clients lying, so is the median. Krum, where honest clients
    differ, picks the liars who agree with each other."""
    good = honest()
    mean = good.mean(axis=0)
    assert Mean()(attacked(good, SignFlip(10.0), 3)) @ mean < 0
    assert Median()(attacked(honest(8), SignFlip(1.0), 9)) @ mean < 0
    strewn = honest(16, spread=6.0)
    lie = attacked(strewn, InnerProduct(0.5), 3)
    assert np.array_equal(Krum(3)(lie), lie[-1])
    assert Krum(3)(lie) @ strewn.mean(axis=0) < 0


def test_bucketing_brings_krum_nearer_to_the_mean_where_clients_differ():
    strewn = honest(40, spread=3.0)
    mean = strewn.mean(axis=0)
    plain = np.linalg.norm(Krum(3)(strewn) - mean)
    assert np.linalg.norm(Bucketing(Krum(3), s=4)(strewn) - mean) < 0.7 * plain
    assert Bucketing(Krum(3), s=2).least(3) == 17  # 17 clients in pairs are 9 buckets
    with pytest.raises(ValueError, match=r"Bucketing needs n >= s \(2f . 3 - 1\) . 1 clients: 17 for f = 3"):
        Bucketing(Krum(3), s=2)(honest(16))
    rule = Bucketing(Mean(), s=5)
    assert not np.array_equal(Bucketing(Krum(3)).at(1)(strewn), Bucketing(Krum(3)).at(2)(strewn))
    assert np.allclose(rule(strewn), mean, atol=1e-4)  # groups of equal size: the mean of means


def test_multi_krum_says_which_inequality_is_broken():
    with pytest.raises(ValueError, match=r"needs n >= m . f clients: 12 for f = 2"):
        MultiKrum(2, m=10)(honest(11))
    with pytest.raises(ValueError, match=r"needs n >= 2f . 3 clients: 7 for f = 2"):
        MultiKrum(2, m=3)(honest(6))


def test_alie_stays_within_the_spread_and_mimic_says_what_is_said():
    good = honest()
    lie = Alie()(good, 3)
    assert (np.abs(lie - good.mean(axis=0)) <= 2 * good.std(axis=0)).all()
    assert (lie < good.mean(axis=0)).all()
    assert np.array_equal(Mimic(2)(good, 3), good[2])
    assert flipped(np.array([0, 1, 9]), 10).tolist() == [9, 8, 0]
    assert attacked(good, Alie(), 0) is good


@pytest.mark.parametrize(
    ("n", "f", "further", "share", "z"),
    [
        (50, 24, 2, 24 / 26, 1.4261),
        (51, 12, 14, 25 / 39, 0.3612),
        (19, 3, 7, 9 / 16, 0.1573),
        (20, 9, 2, 9 / 11, 0.9085),
        (10, 2, 4, 4 / 8, 0.0),
        (10, 1, 5, 4 / 9, 0.0),  # too few to hide: no further out than the mean
        (9, 6, 1, 2 / 3, 0.4307),  # a majority already
        (3, 2, 1, 0 / 1, 0.0),
    ],
)
def test_alie_goes_as_far_out_as_the_papers_formula_says(n, f, further, share, z):
    """z by a table of the normal distribution. Of n - f honest clients, `further` lie further out on average."""
    assert max(1, int(n / 2 + 1) - f) == further
    assert hidden(n, f) == pytest.approx(z, abs=1e-4)
    if z:
        inside = (1 + math.erf(hidden(n, f) / math.sqrt(2))) / 2
        assert inside == pytest.approx(share)
        assert (n - f) * (1 - inside) == pytest.approx(further)
    good = np.random.default_rng(0).normal(size=(n - f, 5))
    assert np.allclose(Alie()(good, f), good.mean(axis=0) - z * good.std(axis=0), atol=1e-3)
    assert np.allclose(Alie(1.5)(good, f), good.mean(axis=0) - 1.5 * good.std(axis=0))


def test_nan_and_lists_are_refused_by_a_sentence():
    with pytest.raises(ValueError, match="NaN or infinity"):
        Median()(np.array([[np.nan], [1.0]]))
    with pytest.raises((TypeError, ValueError), match="updates"):
        Median()(np.zeros(3))
    for nothing in (np.nan, np.inf):
        with pytest.raises(ValueError, match="NaN or infinity"):
            PrivateMean()(np.array([[nothing, 0.0], [1.0, 2.0]]))
    with pytest.raises(TypeError, match="give it to a Federation"):
        LabelFlip()(honest(), 2)


def test_a_federation_may_use_any_rule(task):
    terms = {"clients": 8, "share": 1.0, "epochs": 1, "batch": 20, "rate": 0.1, "rounds": 8}
    for rule in (Krum(1), Median(), PrivateMean(clip=5.0, noise=0.01)):
        assert federate(task, Federation(FedAvg(rule), **terms), Simulated(3)).accuracies[-1] > 0.8


# ---- secure sums ----


def secrets(n):
    drawn = np.random.default_rng(1).integers(2**31, size=(n, n))
    return {i: {j: int(drawn[min(i, j), max(i, j)]) for j in range(n) if j != i} for i in range(n)}


@pytest.mark.parametrize("n", [1, 2, 5])
def test_masks_cancel_and_the_sum_is_exact(n):
    x, shared = honest(n, 30), secrets(n)
    sent = {i: masked(i, x[i], shared[i], n) for i in range(n)}
    wanted = sum(np.round(row.astype(np.float64) * 2**16) for row in x) / 2**16
    assert np.array_equal(unmasked_sum(sent, {}), wanted)


def test_who_drops_out_is_taken_out_of_the_sum():
    x, shared = honest(5, 30), secrets(5)
    sent = {i: masked(i, x[i], shared[i], 5) for i in (0, 1, 4)}
    found = unmasked_sum(sent, {gone: shared[gone] for gone in (2, 3)} | {})
    # masks between the two who are gone were never sent
    wanted = sum(np.round(x[i].astype(np.float64) * 2**16) for i in sent) / 2**16
    assert np.array_equal(found, wanted)


def test_the_secrets_of_somebody_who_has_sent_are_not_used():
    sent = {0: np.zeros(3, np.uint32), 1: np.zeros(3, np.uint32)}
    with pytest.raises(ValueError, match="client 1 has sent"):
        unmasked_sum(sent, {1: {0: 7}, 2: {0: 8, 1: 9}})


def test_what_is_sent_looks_like_noise():
    """The same update under another secret is another message, evenly spread over all numbers."""
    zero = np.zeros(20_000, np.float32)
    sent = masked(0, zero, {1: 7}, 2)
    assert abs(sent.mean() / 2**32 - 0.5) < 0.01
    assert not np.array_equal(sent, masked(0, zero, {1: 8}, 2))
    assert not quantised(zero, 2).any()
    for large in (40_000.0, 16384.0 - 1e-6, np.nan, -np.inf):  # the second is rounded up, and two would not fit
        with pytest.raises(ValueError, match="clip it first"):
            quantised(np.array([large]), 2)
    with pytest.raises(ValueError, match="nobody has sent"):
        unmasked_sum({}, {})


# ---- differential privacy ----


def test_no_client_moves_the_private_mean_further_than_its_clip():
    x = honest(10)
    lied = x.copy()
    lied[0] = 1e6
    rule = PrivateMean(clip=1.0, noise=0.0)
    assert np.linalg.norm(rule(lied) - rule(x)) <= 2 * 1.0 / 10 + 1e-6


def test_the_noise_has_its_size_and_is_new_in_every_round():
    x = np.zeros((4, 20_000))
    rule = PrivateMean(clip=3.0, noise=2.0, seed=1)
    assert rule(x).std() == pytest.approx(2.0 * 3.0 / 4, rel=0.03)
    assert np.array_equal(rule(x), rule(x))
    assert abs(np.corrcoef(rule.at(1)(x), rule.at(2)(x))[0, 1]) < 0.05


def test_the_accountant_knows_the_plain_gaussian():
    """All clients take part: a round costs a / (2 z^2) at order a; least near a = 1 + z sqrt(2 log(1/delta))."""
    assert renyi(8, 1.0, 2.0) == 1.0
    assert renyi(8, 1 - 1e-12, 2.0) == pytest.approx(1.0)
    z, delta = 4.0, 1e-5
    exact = 1 / (2 * z * z) + np.sqrt(2 * np.log(1 / delta)) / z
    assert exact <= epsilon(1.0, z, 1, delta) < 1.01 * exact


def test_the_accountant_agrees_with_the_integral():
    """E[(p/q)^a] under q, by quadrature: p a mixture of two Gaussians, q the one at 0."""
    share, z, a = 0.1, 1.2, 5
    x = np.linspace(-30, 40, 2_000_001)
    q = np.exp(-x * x / (2 * z * z)) / (z * np.sqrt(2 * np.pi))
    ratio = 1 - share + share * np.exp((2 * x - 1) / (2 * z * z))
    assert renyi(a, share, z) == pytest.approx(np.log(np.trapezoid(q * ratio**a, x)) / (a - 1), rel=1e-6)


def test_the_accountant_comes_to_the_published_figure():
    """Abadi et al., Deep learning with differential privacy, CCS 2016, section 3.2: 1.26 by their accountant."""
    assert epsilon(0.01, 4.0, 10_000, 1e-5) == pytest.approx(1.26, abs=0.005)


def test_more_noise_fewer_rounds_and_fewer_clients_cost_less():
    base = epsilon(0.1, 1.0, 100)
    assert epsilon(0.1, 2.0, 100) < base < epsilon(0.1, 1.0, 200)
    assert epsilon(0.05, 1.0, 100) < base
    assert epsilon(0.1, 0.0, 1) == np.inf
    assert epsilon(0.1, 1.0, 0) == 0


@pytest.mark.parametrize("share", [1e-300, 1e-9, 0.01, 0.5, 1 - 1e-16, 1.0])
def test_the_accountant_has_a_number_for_every_noise_and_any_rounds(share):
    """Never less for less noise or more rounds; infinite only where noise is as good as none."""
    spent = [
        epsilon(share, noise, 100) for noise in (0, 5e-324, 1e-300, 1e-160, 1e-100, 1e-3, 1, 10, 1e10, 1e155, 1e308)
    ]
    assert spent == sorted(spent, reverse=True)
    assert spent[:3] == [np.inf] * 3
    assert all(np.isfinite(spent[4:]))
    more = [epsilon(share, 1.0, rounds) for rounds in (0, 1, 10, 10**6, 10**18)]
    assert more == sorted(more)
    assert np.isfinite(epsilon(share, 1.0, 1, 5e-324))


@pytest.mark.parametrize("noise", [np.nan, np.inf, -1.0, "much", None])
def test_noise_that_is_no_number_is_refused(noise):
    with pytest.raises((ValueError, TypeError), match=r"noise is .*; it must be a finite number of at least 0"):
        epsilon(0.1, noise, 10)


def test_the_table_shows_where_rules_hold_and_where_they_fail():
    alike, strewn = table(honest(), 3), table(honest(spread=6.0), 3)
    cells = {line.split(" | ")[0].strip("| "): line.split(" | ")[1:] for line in alike.splitlines()[2:]}
    assert cells["Mean"][0].endswith("!")
    assert not any("!" in cell for name, row in cells.items() if name != "Mean" for cell in row)
    assert "!" in next(line for line in strewn.splitlines() if line.startswith("| Krum "))
    assert "n < 4f + 3" in table(honest(8), 3)
