"""Bad input is refused with a sentence; descriptions are immutable, can be pickled, and read as they are typed."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from compression_zoo import ALL, coin, heavy

from dlmini.compression import (
    DGC,
    QSGD,
    BFloat16,
    Deflate,
    EFSign,
    Feedback,
    Half,
    Int8,
    None_,
    NotFinite,
    OneBit,
    PerLayer,
    RandomK,
    Sign,
    Strom,
    TernGrad,
    Threshold,
    TopK,
)

CARRIES_ANYTHING = (None_, Half, BFloat16)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("compressor", ALL, ids=repr)
def test_nan_and_infinity_are_carried_through_or_refused_by_place(compressor, bad):
    x = heavy(1000)
    x[123] = bad
    if isinstance(compressor, CARRIES_ANYTHING):
        np.testing.assert_array_equal(compressor.encode(x).dense()[123], np.float32(bad))
        return
    with pytest.raises(NotFinite, match=f"number 123 of the update is {bad}") as caught:
        compressor.start(1000).encode(x, coin())
    assert caught.value.index == 123
    assert pickle.loads(pickle.dumps(caught.value)).index == 123


def test_layers_name_the_place_in_the_whole_vector():
    x = heavy(100)
    x[77] = np.nan
    with pytest.raises(NotFinite, match="number 77 of the update") as caught:
        PerLayer(Deflate(Int8()), ((10, 5), (50,))).encode(x)
    assert caught.value.index == 77


def test_a_norm_beyond_float32_is_named_as_such():
    x = np.full(100, 3e38, np.float32)
    with pytest.raises(ValueError, match="norm is too large"):
        QSGD(norm="l2").encode(x, coin())
    assert np.isfinite(QSGD(norm="max").encode(x, coin()).dense()).all()


@pytest.mark.parametrize("compressor", ALL, ids=repr)
def test_updates_that_are_no_vector_of_float32_are_refused(compressor):
    codec = compressor.start(10)
    for wrong in (np.zeros(10), [0.0] * 10, np.zeros(10, np.int32)):
        with pytest.raises(TypeError, match="not a vector of float32"):
            codec.encode(wrong, coin())
    for wrong in (np.zeros((2, 5), np.float32), np.zeros(20, np.float32)[::2]):
        with pytest.raises(ValueError, match="one contiguous vector"):
            codec.encode(wrong, coin())


@pytest.mark.parametrize("compressor", [QSGD(), TernGrad(), RandomK(), Int8(stochastic=True), Threshold(keep=0.1)])
def test_chance_needs_a_coin(compressor):
    with pytest.raises(TypeError, match="default_rng"):
        compressor.encode(heavy(10), None)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TopK(0), "above 0 and at most 1: the share of the numbers that are sent"),
        (lambda: TopK(1.5), "fraction is 1.5"),
        (lambda: RandomK(float("nan")), "fraction is nan"),
        (lambda: Threshold(keep=0), "keep is 0"),
        (lambda: Threshold(keep=-0.1), "keep is -0.1"),
        (lambda: Threshold(-1.0), "it must be a finite number of at least 0"),
        (lambda: Threshold(float("inf")), "it must be a finite number of at least 0"),
        (lambda: Threshold(), "give either a threshold"),
        (lambda: Threshold(1.0, 0.1), "give either a threshold"),
        (lambda: Int8(0), "levels is 0; it must be a whole number from 1 to 127"),
        (lambda: Int8(128), "levels is 128"),
        (lambda: Int8(bucket=-1), "bucket is -1"),
        (lambda: QSGD(1), "bits is 1; it must be a whole number from 2 to 8"),
        (lambda: QSGD(norm="l1"), "norm is 'l1'; it must be 'max' or 'l2'"),
        (lambda: TernGrad(0), "clip is 0"),
        (lambda: OneBit(0), "columns is 0"),
        (lambda: Strom(0), "tau is 0"),
        (lambda: Strom(1e-60), "tau is 1e-60"),
        (lambda: DGC(2), "share of the numbers"),
        (lambda: DGC(momentum=1), "momentum is 1"),
        (lambda: DGC(clip=-1), "clip is -1"),
        (lambda: DGC(rounds=0), "rounds is 0"),
        (lambda: DGC().start(10, 0), "workers is 0"),
        (lambda: Deflate(Int8(), 10), "level is 10"),
        (lambda: Deflate(DGC()), "remembers, and Deflate does not"),
        (lambda: PerLayer(DGC()), "remembers, and PerLayer does not"),
        (lambda: Feedback(DGC(), 10), "use its own start"),
    ],
)
def test_meaningless_settings_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("combinator", [Deflate, PerLayer])
def test_combinators_take_compressors(combinator):
    with pytest.raises(TypeError, match=r"it must be a compressor, for example \w+\(Int8\(\)\)"):
        combinator("int8")


def test_wrong_shapes_are_named():
    with pytest.raises(ValueError, match=r"hold 12 numbers, the update 10"):
        PerLayer(Int8(), ((3, 4),)).encode(heavy(10))
    with pytest.raises(ValueError, match="no whole number of rows of columns=3"):
        OneBit(3).encode(heavy(10))
    with pytest.raises(ValueError, match="started for 10"):
        DGC().start(10).encode(heavy(11))


@pytest.mark.parametrize("compressor", ALL, ids=repr)
def test_descriptions_are_immutable_equal_and_picklable_and_read_as_typed(compressor):
    assert pickle.loads(pickle.dumps(compressor)) == compressor
    assert eval(repr(compressor)) == compressor
    assert hash(compressor) == hash(eval(repr(compressor)))
    with pytest.raises((FrozenInstanceError, TypeError, AttributeError)):
        compressor.fraction = 1


def test_what_each_says_about_itself():
    assert [c for c in ALL if c.summable] == [None_(), Half(), *(c for c in ALL if isinstance(c, RandomK))]
    assert not RandomK(shared=False).summable
    assert [type(c) for c in ALL if c.remembers] == [DGC]
    assert all(c.shared_coin == isinstance(c, RandomK) for c in ALL)
    assert not any(c.wants_feedback for c in (None_(), QSGD(), TernGrad(), RandomK(), Sign(), Int8(stochastic=True)))
    assert all(
        c.wants_feedback for c in (Half(), Int8(), EFSign(), OneBit(), TopK(), Strom(), Threshold(1.0), Deflate(TopK()))
    )
