"""What each method promises: unbiasedness, variance, contraction, error bounds. Bounds are derived, seeds fixed."""

import math

import numpy as np
import pytest
from compression_zoo import PURE, coin, heavy, updates
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from dlmini.compression import (
    QSGD,
    BFloat16,
    Deflate,
    EFSign,
    Half,
    Int8,
    OneBit,
    PerLayer,
    RandomK,
    Sign,
    Strom,
    TernGrad,
    Threshold,
    TopK,
)
from dlmini.compression.compressor import NO_KEY
from dlmini.compression.ops import ops
from dlmini.compression.plain.chance import draws
from dlmini.compression.threshold import SAMPLE

COPIES, WIDTH = 4096, 64
ROUNDING = 1e-6


def energy(x) -> float:
    return float(np.sum(np.asarray(x, np.float64) ** 2))


def error(compressor, update, *key) -> np.ndarray:
    return compressor.encode(update, coin(*key)).dense().astype(np.float64) - update


# ---- chance ----


def test_draws_by_place_are_uniform_and_unrelated_to_those_of_other_places_and_keys():
    """Counts of 256 bins have a chi-square of 255 +- 5 sqrt(510); correlations of n draws are below 5 / sqrt(n)."""
    n = 2**18
    first, other = np.empty(n, np.uint32), np.empty(n, np.uint32)
    draws(0, np.uint32(7), np.uint32(9), first)
    for shift in (0, 8, 16, 24):
        counts = np.bincount((first >> shift) & 255, minlength=256)
        assert abs(np.sum((counts - n / 256) ** 2) / (n / 256) - 255) < 5 * math.sqrt(510)
    for lag in (1, 2, 256):
        assert abs(np.corrcoef(first[lag:], first[:-lag])[0, 1]) < 5 / math.sqrt(n - lag)
    for bit in range(32):
        draws(0, np.uint32(7), np.uint32(9 ^ 1 << bit), other)
        assert abs(np.corrcoef(first, other)[0, 1]) < 5 / math.sqrt(n)


def test_strata_hit_every_place_of_a_stretch_equally():
    """1600 keys, 5 of 20 places: each is hit 400 times in the mean, with a standard deviation of sqrt(300)."""
    hits, place = np.zeros(20), np.empty(5, np.uint32)
    for key in range(1600):
        k0, k1 = np.random.default_rng(key).integers(2**32, size=2, dtype=np.uint32)
        ops().strata(0, 20, 5, k0, k1, place)
        assert (place // 4 == np.arange(5)).all()
        hits[place] += 1
    assert np.abs(hits - 400).max() < 5 * math.sqrt(300)


# ---- unbiased methods: many copies of one vector, encoded at once, are as many independent draws ----

UNBIASED = [
    QSGD(2, WIDTH),
    QSGD(4, WIDTH),
    QSGD(8, WIDTH),
    QSGD(3, WIDTH, "l2"),
    QSGD(3, WIDTH, "l2", elias=True),
    TernGrad(None),
    Int8(stochastic=True),
    Int8(5, WIDTH, stochastic=True),
]


@pytest.mark.parametrize("compressor", UNBIASED, ids=repr)
def test_the_mean_of_many_messages_is_the_update(compressor):
    """A level is a coin with a known variance: each mean lies within 5, and all together within sqrt(2 n) 5, of it."""
    v = heavy(WIDTH)
    decoded = compressor.encode(np.tile(v, COPIES), coin()).dense().reshape(COPIES, WIDTH)
    levels = getattr(compressor, "levels", 1)
    norm = np.linalg.norm(v) if getattr(compressor, "norm", "max") == "l2" else np.abs(v).max()
    t = np.abs(v) / norm * levels
    spread = norm / levels * np.sqrt(np.maximum((t % 1) * (1 - t % 1), 1e-12) / COPIES)
    z = (decoded.mean(axis=0, dtype=np.float64) - v) / spread
    free = (t % 1 > 1e-3) & (t % 1 < 1 - 1e-3)
    assert free.sum() > WIDTH / 2
    assert np.abs(z[free]).max() < 5
    assert abs(np.sum(z[free] ** 2) - free.sum()) < 5 * math.sqrt(2 * free.sum())


def test_random_k_is_unbiased_with_the_variance_it_states():
    v, rounds = heavy(60), 1500
    decoded = np.stack([RandomK(0.1).encode(v, coin(i)).dense() for i in range(rounds)]).astype(np.float64)
    factor = 60 / 6 - 1
    spread = np.abs(v) * math.sqrt(factor / rounds)
    assert np.abs((decoded.mean(axis=0) - v) / spread).max() < 5
    squared = np.sum((decoded - v) ** 2, axis=1)
    assert abs(squared.mean() - factor * energy(v)) < 5 * squared.std() / math.sqrt(rounds)


def test_random_k_is_unbiased_where_k_does_not_divide_d():
    v, rounds = np.ones(7, np.float32), 1500
    total = sum(RandomK(0.4).encode(v, coin(i)).dense().astype(np.float64) for i in range(rounds))
    assert np.abs(total / rounds - 1).max() < 5 * math.sqrt(2 / rounds)  # stretches of 2 or 3: variance 1 or 2


@pytest.mark.parametrize("norm", ["l2", "max"])
@pytest.mark.parametrize("bits", [2, 3, 4, 8])
def test_the_variance_of_qsgd_stays_below_its_bound(norm, bits):
    for seed in range(20):
        v = heavy(WIDTH, seed)
        compressor = QSGD(bits, WIDTH, norm)
        s = compressor.levels
        decoded = compressor.encode(np.tile(v, 256), coin(seed)).dense().reshape(256, WIDTH)
        squared = np.sum((decoded.astype(np.float64) - v) ** 2, axis=1)
        bound = min(WIDTH / s**2, math.sqrt(WIDTH) / s) * energy(v)
        assert squared.mean() - 5 * squared.std() / 16 <= bound


def test_qsgd_sends_no_more_non_zeros_than_its_bound():
    v = heavy(WIDTH)
    packet = QSGD(2, WIDTH, "l2").encode(np.tile(v, COPIES), coin())
    assert np.count_nonzero(packet.integers()) / COPIES <= 1 * (1 + math.sqrt(WIDTH))


def test_terngrad_without_clipping_is_qsgd_with_two_bits():
    v = heavy(1000)
    ternary, two_bits = TernGrad(None).encode(v, coin()), QSGD(2, bucket=0).encode(v, coin())
    assert bytes(ternary.wire()) == bytes(two_bits.wire())


def test_terngrad_clips_at_its_multiple_of_sigma_and_keeps_a_constant_vector_whole():
    v = heavy(10_000)
    sigma = math.sqrt(energy(v) / v.size)
    assert TernGrad(2.5).encode(v, coin()).scales[0] == pytest.approx(2.5 * sigma, rel=ROUNDING)
    np.testing.assert_array_equal(TernGrad().encode(np.full(9, -3, np.float32), coin()).dense(), -3)


# ---- rounding ----


@examples(60)
@given(update=updates, levels=st.sampled_from([1, 10, 127]), bucket=st.sampled_from([0, 5]))
def test_int8_is_off_by_half_a_step_at_most(update, levels, bucket):
    off = np.abs(error(Int8(levels, bucket), update))
    for lo in range(0, update.size, bucket or max(update.size, 1)):
        here = slice(lo, lo + bucket if bucket else None)
        m = np.abs(update[here]).max(initial=0)
        assert off[here].max(initial=0) <= m / (2 * levels) * (1 + ROUNDING)
        largest = np.abs(update[here]) == m
        assert (off[here][largest] == 0).all()


@examples(60)
@given(update=updates)
def test_stochastic_rounding_is_off_by_less_than_a_step(update):
    m = np.abs(update).max(initial=0)
    assert np.abs(error(Int8(stochastic=True), update)).max(initial=0) <= m / 127 * (1 + ROUNDING)


def test_half_rounds_as_ieee_and_saturates():
    bits = np.random.default_rng(0).integers(0, 0x7F80, 200_000, dtype=np.uint32) << np.uint32(16)
    x = (bits | np.random.default_rng(1).integers(0, 2**16, bits.size, dtype=np.uint32)).view(np.float32)
    x = np.concatenate([x, -x, np.float32([0, -0.0, 65504, 65519, 65520, 1e30, -1e30, 2**-24, 2**-25, 3 * 2**-25])])
    truth = np.clip(x, -65504, 65504).astype(np.float16).astype(np.float32)
    np.testing.assert_array_equal(Half().encode(x).dense(), truth)


def test_bfloat16_is_off_by_one_part_in_256_and_never_infinite():
    x = np.concatenate([heavy(100_000), np.float32([3.4e38, -3.4e38, 1e-38, 0])])
    off = np.abs(error(BFloat16(), x))
    assert (off <= np.abs(x) * 2.0**-8).all()
    assert np.abs(error(Half(), heavy(100_000))).max() <= np.abs(heavy(100_000)).max() * 2.0**-11


def test_sixteen_bits_carry_nan_and_infinity_through():
    x = np.float32([np.nan, np.inf, -np.inf, 1])
    for compressor in (Half(), BFloat16()):
        np.testing.assert_array_equal(compressor.encode(np.tile(x, 9)).dense(), np.tile(x, 9))


def test_every_half_decodes_as_ieee():
    from dlmini.compression.packets import Halves

    bits = np.arange(2**16, dtype=np.uint16)
    np.testing.assert_array_equal(Halves(bits).dense(), bits.view(np.float16).astype(np.float32))


# ---- contractions ----


@examples(60)
@given(update=updates, fraction=st.sampled_from([0.01, 0.1, 0.5, 1.0]))
def test_top_k_sends_the_k_largest_and_contracts(update, fraction):
    packet = TopK(fraction).encode(update)
    k = min(update.size, max(1, round(fraction * update.size)))
    order = sorted(range(update.size), key=lambda i: (-abs(update[i]), i))[:k]
    assert packet.index.tolist() == sorted(i for i in order if update[i] != 0)
    assert energy(error(TopK(fraction), update)) <= (1 - k / max(update.size, 1)) * energy(update) * (1 + ROUNDING)


def test_top_k_is_exact_on_long_vectors_too():
    """Long vectors take the way through a sample; ties, zeros and sorted vectors must not lead it astray."""
    n = 100_000
    rng = np.random.default_rng(3)
    ties = rng.integers(-3, 4, n).astype(np.float32)
    for x in (heavy(n), np.sort(heavy(n)), ties, np.where(rng.random(n) < 1e-3, ties, 0).astype(np.float32)):
        for k in (1, 100, 1000, 60_000):
            truth = np.sort(np.argsort(-np.abs(x), kind="stable")[:k])
            assert TopK(k / n).encode(x).index.tolist() == truth[x[truth] != 0].tolist()


def test_top_k_is_exact_even_where_its_sample_misleads():
    """All large numbers, and only these, lie where the sample looks: its threshold lets too few through."""
    n, seen = 100_000, np.empty(SAMPLE, np.uint32)
    ops().strata(0, n, SAMPLE, *NO_KEY, seen)
    x = np.linspace(1, 2, n, dtype=np.float32)
    x[seen] += 100
    truth = np.sort(np.argsort(-x, kind="stable")[: n // 2])
    assert TopK(0.5).encode(x).index.tolist() == truth.tolist()


@examples(60)
@given(update=updates)
def test_scaled_signs_contract_by_exactly_the_stated_delta(update):
    packet = EFSign().encode(update)
    size = np.abs(update.astype(np.float64)).sum()
    expected = energy(update) - size**2 / max(update.size, 1)
    assert energy(error(EFSign(), update)) == pytest.approx(expected, rel=1e-5, abs=1e-5 * energy(update))
    np.testing.assert_allclose(np.abs(packet.dense()), size / max(update.size, 1), rtol=ROUNDING)


@examples(60)
@given(update=updates, keep=st.sampled_from([0.01, 0.2, 1.0]))
def test_an_adaptive_threshold_sends_the_largest_and_contracts(update, keep):
    packet = Threshold(keep=keep).encode(update, coin())
    sent = packet.index.size
    assert sent >= (np.count_nonzero(update) > 0)
    if sent:
        left = np.delete(np.abs(update), packet.index)
        assert np.abs(packet.values).min() > left.max(initial=-1) or keep == 1
    assert energy(error(Threshold(keep=keep), update)) <= (1 - sent / max(update.size, 1)) * energy(update) + ROUNDING


@pytest.mark.parametrize("keep", [0.001, 0.01, 0.05, 0.5])
def test_an_adaptive_threshold_keeps_about_its_share_of_a_long_vector(keep):
    """The sample holds at least 64 of the largest: a relative deviation of an eighth at most; 5 are allowed."""
    x = heavy(300_000)
    kept = [Threshold(keep=keep).encode(x, coin(i)).index.size / x.size for i in range(10)]
    assert abs(np.mean(kept) / keep - 1) < 5 / 8 / math.sqrt(10)
    assert np.abs(np.array(kept) / keep - 1).max() < 5 / 8


def test_a_fixed_threshold_sends_what_reaches_it_as_it_is():
    x = np.float32([-2, -1, -0.5, 0, 0.5, 1, 2])
    packet = Threshold(1).encode(x)
    assert packet.index.tolist() == [0, 1, 5, 6]
    assert packet.values.tolist() == [-2, -1, 1, 2]
    assert Threshold(0).encode(x).index.tolist() == [0, 1, 2, 4, 5, 6]
    assert Threshold(3).encode(x).index.size == 0


def test_random_k_without_scaling_contracts_in_the_mean():
    v = heavy(60)
    kept = [energy(RandomK(0.1, scaled=False).encode(v, coin(i)).dense()) for i in range(1500)]
    assert abs(np.mean(kept) - energy(v) / 10) < 5 * np.std(kept) / math.sqrt(len(kept))


def test_strom_sends_one_step_of_what_exceeds_it():
    x = np.float32([-3, -1, -0.99, 0, 1, 1.01])
    assert Strom(1).encode(x).dense().tolist() == [-1, 0, 0, 0, 0, 1]


def test_one_bit_uses_the_best_two_values_of_each_column():
    x = heavy(300).reshape(60, 5)
    decoded = OneBit(5).encode(x.reshape(-1)).dense().reshape(60, 5)
    for column, found in zip(x.T, decoded.T, strict=True):
        up = column >= 0
        np.testing.assert_allclose(found, np.where(up, column[up].mean(), column[~up].mean()), rtol=1e-5)
        least = energy(found - column)
        for shift in (-0.01, 0.01):
            assert energy(found + shift * up - column) > least
            assert energy(found + shift * ~up - column) > least


def test_a_column_without_negative_numbers_is_all_mean():
    assert OneBit().encode(np.float32([1, 2, 3])).dense().tolist() == [2, 2, 2]
    assert OneBit().encode(np.float32([-1, -2, -3])).dense().tolist() == [-2, -2, -2]


def test_sign_says_plus_or_minus_one():
    assert Sign().encode(np.float32([-5, -1e-30, 0, 1e-30, 7])).dense().tolist() == [-1, -1, 1, 1, 1]


# ---- lossless bytes ----


def entropy(q) -> float:
    p = np.unique(q, return_counts=True)[1] / q.size
    return float(-(p * np.log2(p)).sum())


def test_the_ratio_of_deflate_is_that_of_the_zeros():
    """With 21 levels (Krivosheev et al.) 99 % are zero and deflate looks like magic; with 255 it does not."""
    x = (np.random.default_rng(5).standard_normal(2**18) ** 5).astype(np.float32)
    coarse, fine = (Deflate(Int8(levels)).encode(x) for levels in (10, 127))
    zeros = [np.mean(p.inner.integers() == 0) for p in (coarse, fine)]
    ratios = [x.size / p.nbytes for p in (coarse, fine)]
    assert zeros[0] > 0.99
    assert ratios[0] > 50
    assert zeros[1] < 0.95
    assert ratios[1] < ratios[0] / 5
    for packet in (coarse, fine):
        assert packet.nbytes * 8 > 0.99 * x.size * entropy(packet.inner.integers())


def test_looking_only_for_runs_is_no_worse_than_looking_for_strings():
    x = heavy(2**16)
    sizes = [Deflate(Int8(), level).encode(x).nbytes for level in (0, 1, 6, 9)]
    assert sizes[0] == min(sizes)


def test_elias_pays_where_most_levels_are_zero():
    x = heavy(2**16)
    sparse, packed = (QSGD(4, 512, "l2", elias=e).encode(x, coin()) for e in (True, False))
    np.testing.assert_array_equal(sparse.dense(), packed.dense())
    assert sparse.nbytes < packed.nbytes / 2


def test_elias_stays_below_the_papers_bound_on_bits():
    """For s levels: (3 + 1.5 log2(2 (s^2 + d) / (s (s + sqrt d)))) s (s + sqrt d) + 32 bits, without its o(1)."""
    d, s = 2**16, 1
    bits = 8 * QSGD(2, 0, "l2", elias=True).encode(heavy(d), coin()).nbytes
    sent = s * (s + math.sqrt(d))
    assert bits < (3 + 1.5 * math.log2(2 * (s**2 + d) / sent)) * sent + 32 + 8 * 20


# ---- what holds for all ----


def test_encoding_is_pure():
    """Same update, same coin, same bytes; the update stays as it is, and the packet keeps no view of it."""
    x = heavy(500)
    for compressor in PURE:
        given_ = x.copy()
        packets = [compressor.encode(given_, coin(3)) for _ in range(2)]
        np.testing.assert_array_equal(given_, x)
        wire = bytes(packets[0].wire())
        assert wire == bytes(packets[1].wire()), compressor
        given_[:] = 0
        assert bytes(packets[0].wire()) == wire, compressor


def test_a_zero_update_is_zero_and_costs_sparse_methods_nothing():
    zero = np.zeros(1000, np.float32)
    for compressor in PURE:
        if not isinstance(compressor, Sign):
            assert not compressor.encode(zero, coin()).dense().any(), compressor
    assert TopK().encode(zero).nbytes == Threshold(keep=0.5).encode(zero, coin()).nbytes == 4


def test_layers_have_scales_of_their_own():
    """A layer a thousand times smaller is silent under one scale for all, and heard under its own."""
    x = np.concatenate([heavy(300), heavy(100, 1) / 1e5])
    whole, layered = Int8().encode(x).dense(), PerLayer(Int8(), ((300,), (20, 5))).encode(x).dense()
    assert not whole[300:].any()
    assert np.abs(layered[300:] - x[300:]).max() <= np.abs(x[300:]).max() / 254 * (1 + ROUNDING)


def test_small_layers_can_be_left_alone():
    x = heavy(130)
    decoded = PerLayer(QSGD(2), ((10, 10), (30,)), small=50).encode(x, coin()).dense()
    np.testing.assert_array_equal(decoded[100:], x[100:])
    assert (decoded[:100] != x[:100]).any()


def test_one_bit_per_layer_takes_the_columns_of_each_matrix():
    x = heavy(3 * 4 + 5)
    packet = PerLayer(OneBit()).fit(((3, 4), (5,))).encode(x)
    np.testing.assert_array_equal(packet.dense()[:12], OneBit(4).encode(x[:12]).dense())
    np.testing.assert_array_equal(packet.dense()[12:], OneBit(1).encode(x[12:]).dense())


def test_tiny_and_huge_numbers_survive_quantisation():
    for scale in (1e-42, 1e-38, 1e37):
        x = (np.linspace(-1, 1, 255) * scale).astype(np.float32)
        for compressor in (Int8(), QSGD(8, 0), TernGrad(None), EFSign(), OneBit()):
            assert np.isfinite(compressor.encode(x, coin()).dense()).all(), (compressor, scale)
        np.testing.assert_allclose(Int8().encode(x).dense(), x, rtol=0, atol=scale / 254 * (1 + 1e-3) + 1e-45)
