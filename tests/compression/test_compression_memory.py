"""What is left unsaid: the conservation law of error feedback, Strom's residual, Deep Gradient Compression."""

import numpy as np
import pytest
from compression_zoo import PURE, coin, heavy, layered
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from dlmini.compression import DGC, EFSign, Feedback, Int8, None_, OneBit, RandomK, Strom, Threshold, TopK

WANTING = [c for c in (*PURE, *layered(90)) if c.wants_feedback]


@pytest.mark.parametrize("compressor", WANTING, ids=repr)
def test_all_sent_plus_unsaid_is_all_produced(compressor):
    """Up to the two roundings of a round: 2^-24 of |p| and of |unsaid|, added over the rounds, for each number."""
    codec = Feedback(compressor, 90)
    sent, produced, allowed = np.zeros(90), np.zeros(90), np.zeros(90)
    for t in range(60):
        update = heavy(90, t)
        p = np.abs(codec.unsaid + update)
        sent += codec.encode(update, coin(t)).dense()
        produced += update
        allowed += (p + np.abs(codec.unsaid)) * 2.0**-24
        assert (np.abs(sent + codec.unsaid - produced) <= allowed).all()


@examples(30)
@given(seed=st.integers(0, 99))
def test_sparse_packets_lose_nothing_at_all(seed):
    """Of whole numbers nothing is rounded, so the two sides are equal to the bit."""
    rng = np.random.default_rng(seed)
    for compressor in (TopK(0.1), Threshold(20), Threshold(keep=0.2), Strom(8), RandomK(0.2, scaled=False)):
        codec, total = Feedback(compressor, 50), np.zeros(50, np.float32)
        produced = np.zeros(50, np.float32)
        for t in range(20):
            update = rng.integers(-30, 31, 50).astype(np.float32)
            codec.encode(update, coin(t)).add_to(total)
            produced += update
        np.testing.assert_array_equal(total + codec.unsaid, produced)


@pytest.mark.parametrize("compressor", [TopK(0.05), EFSign(), OneBit(), Int8(1), Threshold(keep=0.05)], ids=repr)
def test_with_feedback_a_repeated_update_gets_through_and_without_it_does_not(compressor):
    """What is unsaid stays below 2 sqrt(1 - delta) / delta times the update, so the mean of T messages nears it as 1/T.

    Karimireddy et al. 2019, lemma 3; delta is the worst contraction seen. Without memory every message is the same.
    """
    x, rounds, delta = heavy(400), 400, 1.0
    codec, total = Feedback(compressor, 400), np.zeros(400)
    for t in range(rounds):
        p = codec.unsaid + x
        total += codec.encode(x, coin(t)).dense()
        delta = min(delta, 1 - (np.linalg.norm(codec.unsaid) / np.linalg.norm(p)) ** 2)
        assert np.linalg.norm(codec.unsaid) <= 2 * np.sqrt(1 - delta) / delta * np.linalg.norm(x)
    off = np.linalg.norm(total / rounds - x)
    assert off == pytest.approx(np.linalg.norm(codec.unsaid) / rounds, rel=1e-2)
    assert off < np.linalg.norm(compressor.encode(x, coin()).dense() - x)


def test_strom_with_feedback_is_the_papers_algorithm():
    codec, residual, tau = Feedback(Strom(0.75), 300), np.zeros(300, np.float32), np.float32(0.75)
    for t in range(30):
        grad = heavy(300, t)
        residual += grad
        plus, minus = residual > tau, residual < -tau
        residual[plus] -= tau
        residual[minus] += tau
        packet = codec.encode(grad)
        np.testing.assert_array_equal(packet.dense(), np.where(plus, tau, np.where(minus, -tau, 0)))
        np.testing.assert_array_equal(codec.unsaid, residual)


def test_feedback_goes_on_from_what_was_saved():
    codecs = [Feedback(EFSign(), 50), Feedback(EFSign(), 50)]
    codecs[0].encode(heavy(50))
    codecs[1].restore(codecs[0].memory())
    assert bytes(codecs[0].encode(heavy(50, 1)).wire()) == bytes(codecs[1].encode(heavy(50, 1)).wire())


def test_nothing_is_kept_back_where_everything_is_said():
    codec = Feedback(None_(), 50)
    codec.encode(heavy(50))
    assert not codec.unsaid.any()


# ---- Deep Gradient Compression ----


def by_the_paper(grads, k, momentum, nesterov, masking):
    """Algorithms 3 and 4 of Lin et al., in the plainest words."""
    u, v, sent = np.zeros_like(grads[0]), np.zeros_like(grads[0]), []
    m = np.float32(momentum)
    for g in grads:
        u = (u + g) * m if nesterov else u * m + g
        v = v + (u + g if nesterov else u)
        mask = np.zeros(v.size, bool)
        mask[np.argsort(-np.abs(v), kind="stable")[:k]] = True
        sent.append(np.where(mask, v, 0))
        v = np.where(mask, 0, v)
        u = np.where(mask, 0, u) if masking else u
    return sent, u, v


@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("masking", [False, True])
def test_dgc_is_the_papers_algorithm(nesterov, masking):
    grads = [heavy(200, t) for t in range(20)]
    sent, u, v = by_the_paper(grads, 10, 0.9, nesterov, masking)
    codec = DGC(0.05, 0.9, nesterov, masking=masking, warm_up=()).start(200)
    for grad, truth in zip(grads, sent, strict=True):
        np.testing.assert_array_equal(codec.encode(grad).dense(), truth)
    np.testing.assert_array_equal(codec.velocity, u)
    np.testing.assert_array_equal(codec.unsaid, v)


def test_dgc_that_sends_everything_and_masks_nothing_is_momentum():
    codec, velocity = DGC(1.0, 0.9, masking=False, warm_up=()).start(100), np.zeros(100, np.float32)
    for t in range(10):
        velocity = velocity * np.float32(0.9) + heavy(100, t)
        np.testing.assert_array_equal(codec.encode(heavy(100, t)).dense(), velocity)


def test_dgc_without_momentum_is_top_k_with_feedback():
    a, b = DGC(0.05, momentum=0, warm_up=()).start(300), Feedback(TopK(0.05), 300)
    for t in range(20):
        assert bytes(a.encode(heavy(300, t)).wire()) == bytes(b.encode(heavy(300, t)).wire())
    np.testing.assert_array_equal(a.unsaid, b.unsaid)


def test_dgc_conserves_the_velocities_it_gathered():
    codec, gathered, sent = DGC(0.02, warm_up=()).start(300), np.zeros(300), np.zeros(300)
    for t in range(40):
        velocity = codec.velocity * np.float32(0.9) + heavy(300, t)
        gathered += velocity
        sent += codec.encode(heavy(300, t)).dense()
    np.testing.assert_allclose(sent + codec.unsaid, gathered, rtol=0, atol=40 * 2.0**-22 * np.abs(gathered).max())


def test_the_papers_warm_up_is_the_default():
    shares = [DGC(rounds=2).share_at(t) for t in range(10)]
    assert shares == [0.25] * 2 + [0.0625] * 2 + [0.015625] * 2 + [0.004] * 2 + [0.001] * 2


def test_dgc_goes_on_from_what_was_saved():
    method = DGC(0.1, warm_up=(0.5, 0.5))
    codecs = [method.start(50), method.start(50)]
    for t in range(3):
        codecs[0].encode(heavy(50, t))
    codecs[1].restore(codecs[0].memory())
    for t in range(3, 6):
        assert bytes(codecs[0].encode(heavy(50, t)).wire()) == bytes(codecs[1].encode(heavy(50, t)).wire())
