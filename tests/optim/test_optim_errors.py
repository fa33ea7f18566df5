"""Bad input gets a sentence that names what was found and what to do, and changes nothing."""

import numpy as np
import pytest

from dlmini.optim import SGD, Adagrad, Adam, Momentum, Nesterov

GOOD = np.ones(4, np.float32)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: SGD(-0.1), ValueError, "rate is -0.1; it must be a finite number of at least 0"),
        (lambda: SGD(float("nan")), ValueError, "rate is nan"),
        (lambda: Adam(float("inf")), ValueError, "rate is inf"),
        (lambda: SGD("fast"), TypeError, "rate is 'fast'; it must be a finite number"),
        (lambda: SGD(0.1, weight_decay=-1), ValueError, "weight_decay is -1"),
        (lambda: Momentum(0.1, momentum=1), ValueError, "momentum is 1; .* below 1"),
        (lambda: Momentum(0.1, momentum=1 - 1e-12), ValueError, "in float32"),
        (lambda: Nesterov(0.1, momentum=-0.1), ValueError, "momentum is -0.1"),
        (lambda: Nesterov(0.1, momentum=None), TypeError, "momentum is None"),
        (lambda: Adam(beta1=1.0), ValueError, "beta1 is 1.0"),
        (lambda: Adam(beta2=-0.5), ValueError, "beta2 is -0.5"),
        (lambda: Adam(eps=0), ValueError, "eps is 0; it must be a finite number above 0"),
        (lambda: Adagrad(0.1, eps=1e-60), ValueError, "eps is 1e-60"),
        (lambda: SGD(0.1).start(-1), ValueError, "size is -1"),
        (lambda: SGD(0.1).start(2.0), TypeError, "size is 2.0"),
        (lambda: SGD(0.1).start(4, np.int32), ValueError, "dtype is .*int32"),
    ],
)
def test_a_senseless_description_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def read_only():
    vector = GOOD.copy()
    vector.flags.writeable = False
    return vector


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda s: s([1, 2, 3, 4]), TypeError, "grad is list, not a vector of float32"),
        (lambda s: s(np.ones(4)), TypeError, "grad is float64, not a vector of float32"),
        (lambda s: s(GOOD[:3]), ValueError, r"grad has shape \(3,\), but this stepper was started for 4"),
        (lambda s: s(GOOD.reshape(2, 2)), ValueError, r"grad has shape \(2, 2\)"),
        (
            lambda s: s(np.ones(8, np.float32)[::2]),
            ValueError,
            r"grad is not contiguous .* np.ascontiguousarray\(grad\)",
        ),
        (lambda s: s(GOOD, out=np.ones(5, np.float32)), ValueError, r"out has shape \(5,\)"),
        (lambda s: s(GOOD, out=read_only()), ValueError, "out is read-only"),
        (lambda s: s.apply(read_only(), GOOD), ValueError, "w is read-only"),
        (lambda s: s.apply(np.ones(4), GOOD), TypeError, "w is float64"),
        (lambda s: s.apply(GOOD.copy(), GOOD[:2]), ValueError, r"grad has shape \(2,\)"),
        (
            lambda s: s.restore({"t": 1}),
            ValueError,
            r"holds \['t'\], but Momentum\(0.1\) remembers \['t', 'velocity'\]",
        ),
        (lambda s: s.restore({"t": 1, "velocity": GOOD[:2]}), ValueError, r"velocity of the memory has shape \(2,\)"),
    ],
)
def test_a_vector_that_does_not_fit_is_refused_and_nothing_is_remembered(call, error, message):
    stepper = Momentum(0.1).start(4)
    with pytest.raises(error, match=message):
        call(stepper)
    assert stepper.t == 0
    assert not stepper.state["velocity"].any()


def test_weight_decay_asks_for_the_weights():
    with pytest.raises(ValueError, match=r"weight_decay=0.1 pulls on the weights.*stepper\(grad, w\)"):
        SGD(0.1, weight_decay=0.1).start(4)(GOOD)


@pytest.mark.parametrize(("value", "error"), [(-1.0, ValueError), (float("nan"), ValueError), (None, TypeError)])
def test_a_schedule_that_goes_astray_is_caught_at_its_step(value, error):
    stepper = SGD(lambda t: 0.1 if t < 2 else value).start(4)
    stepper(GOOD), stepper(GOOD)
    with pytest.raises(error, match="the scheduled rate at t=2 is"):
        stepper(GOOD)
