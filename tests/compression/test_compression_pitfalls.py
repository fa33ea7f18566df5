"""Mistakes that published implementations made, each as a test that ours does not."""

import numpy as np
import pytest
from compression_zoo import PURE, coin, heavy

from dlmini.compression import (
    DGC,
    QSGD,
    EFSign,
    Feedback,
    Int8,
    OneBit,
    RandomK,
    Sign,
    TernGrad,
    Threshold,
    TopK,
)


def test_int8_has_255_values_and_not_21():
    """The program of Krivosheev et al. multiplies by 10, not by 127."""
    x = np.linspace(-1, 1, 100_001, dtype=np.float32)
    assert np.unique(Int8().encode(x).dense()).size == 255
    assert np.unique(Int8(levels=10).encode(x).dense()).size == 21


def test_a_mean_counts_every_worker_alike():
    """The same program divides the running sum once per worker, so the last ones count most."""
    updates = [heavy(100, seed) for seed in range(6)]
    for compressor in PURE:
        packets = [compressor.encode(u, coin(i)) for i, u in enumerate(updates)]
        mean = np.zeros(100, np.float32)
        for packet in packets:
            packet.add_to(mean, 1 / 6)
        truth = np.mean([p.dense() for p in packets], axis=0, dtype=np.float64)
        np.testing.assert_allclose(mean, truth, rtol=0, atol=1e-6 * max(np.abs(truth).max(), 1))


def test_one_bit_decodes_to_its_two_values_and_nothing_else():
    """GRACE (dist) inverts a uint8 mask bit by bit: 255 and 254 instead of 0 and 1."""
    x = heavy(1001)
    packet = OneBit().encode(x)
    assert set(np.unique(packet.dense())) == {packet.low[0], packet.high[0]}
    np.testing.assert_array_equal(packet.dense() > 0, x >= 0)


def test_signs_travel_as_bits_and_not_as_bytes():
    """GRACE's one-bit, sign, EF-sign and Signum send one byte per sign: x4, not x32."""
    x = heavy(2**15)
    for compressor in (Sign(), EFSign(), OneBit()):
        assert x.nbytes / compressor.encode(x).nbytes > 31.8


@pytest.mark.parametrize("compressor", [QSGD(), QSGD(norm="l2"), QSGD(elias=True), Int8(bucket=512), TernGrad()])
def test_a_bucket_of_zeros_stays_zero_and_is_not_nan(compressor):
    """GRACE's QSGD divides by the norm of the bucket; the paper says Q(0) = 0."""
    x = np.zeros(1024, np.float32)
    assert not compressor.encode(x, coin()).dense().any()
    x[512:] = heavy(512)
    assert not compressor.encode(x, coin()).dense()[:512].any()


def test_a_threshold_looks_at_sizes_and_not_at_signed_values():
    """GRACE compares with max(x): an all-negative vector is sent whole."""
    x = -np.abs(heavy(1000)) - np.float32(1e-3)
    assert Threshold(1.0).encode(x).index.size == np.count_nonzero(x <= -1) < 500
    np.testing.assert_array_equal(Threshold(1.0).encode(x).index, Threshold(1.0).encode(-x).index)
    assert Threshold(keep=0.1).encode(x, coin()).index.size == 100
    assert TopK(0.1).encode(x).values.max() < np.median(x)


def test_random_k_draws_no_place_twice_and_scales():
    """GRACE draws with replacement and does not multiply by d/k: biased."""
    x = np.ones(1000, np.float32)
    for i in range(50):
        packet = RandomK(0.3).encode(x, coin(i))
        assert np.unique(packet.index).size == 300
        assert packet.dense().sum() == pytest.approx(1000)


def test_ranks_with_one_coin_draw_the_same_places_and_other_rounds_draw_others():
    a, b = (RandomK(0.1).encode(heavy(500, rank), coin(7)) for rank in range(2))
    np.testing.assert_array_equal(a.index, b.index)
    assert (a.index != RandomK(0.1).encode(heavy(500), coin(8)).index).any()


def test_feedback_contains_no_learning_rate():
    """GRACE's EF-sign memory multiplies all but the first step by a rate fixed inside the compressor."""
    codec = Feedback(EFSign(), 100)
    for t, rate in enumerate((1.0, 0.1, 0.01)):
        update = np.float32(rate) * heavy(100, t)
        whole = codec.unsaid + update
        assert bytes(codec.encode(update).wire()) == bytes(EFSign().encode(whole).wire())


def test_the_residual_contains_the_error_that_was_carried():
    """The 1-bit SGD paper prints G - decoded; it must be (G + old residual) - decoded."""
    codec = Feedback(OneBit(), 200)
    for t in range(3):
        before, update = codec.unsaid.copy(), heavy(200, t)
        packet = codec.encode(update)
        np.testing.assert_array_equal(codec.unsaid, (before + update) - packet.dense())
        assert codec.unsaid.any()


def test_top_k_sends_a_share_and_not_a_number():
    """epfml's reducer used the rank where the ratio belonged."""
    for size in (100, 1000, 10_000):
        assert TopK(0.05).encode(heavy(size)).index.size == size // 20


def test_a_share_too_small_for_one_number_still_sends_one():
    x = heavy(10)
    for compressor in (TopK(0.001), RandomK(0.001), Threshold(keep=0.001)):
        assert compressor.encode(x, coin()).index.size == 1


def test_negative_numbers_survive_int8():
    """EXO Gym's README clamps to unsigned with zero point 0, which removes them."""
    x = -np.abs(heavy(1000))
    np.testing.assert_allclose(Int8().encode(x).dense(), x, rtol=0, atol=np.abs(x).max() / 253)


def test_dgc_clips_the_local_gradient_and_warms_up():
    """GRACE clips by the return value of an in-place all-reduce, and has no warm-up."""
    grad, workers = heavy(1000), 16
    codec = DGC(0.001, clip=2.0, warm_up=(0.5, 0.1), rounds=3).start(1000, workers)
    sent = [codec.encode(grad).index.size for _ in range(8)]
    assert sent == [500, 500, 500, 100, 100, 100, 1, 1]
    first = DGC(1.0, clip=2.0, warm_up=()).start(1000, workers).encode(grad).dense().astype(np.float64)
    assert np.linalg.norm(first) == pytest.approx(2.0 / 4, rel=1e-6)
    np.testing.assert_allclose(first / np.linalg.norm(first), grad / np.linalg.norm(grad.astype(float)), atol=1e-6)
    small = grad / np.float32(1e6)
    np.testing.assert_array_equal(DGC(1.0, clip=2.0, warm_up=()).start(1000, workers).encode(small).dense(), small)
