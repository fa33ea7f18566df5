"""The memory of an optimiser: kernels and their twins, shards, buffers, checkpoints."""

import copy
import pickle
import subprocess
import sys
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from dlmini.jit import mode
from dlmini.optim import SGD, Adagrad, Adam, Momentum, Nesterov, cosine, kernels, plain, warm_up
from dlmini.optim.stepper import BLOCK

EVERY = [
    SGD(0.05),
    SGD(0.05, weight_decay=0.01),
    Momentum(0.05),
    Momentum(0.05, weight_decay=0.01),
    Nesterov(0.7),
    Nesterov(0.7, weight_decay=0.01),
    Adagrad(0.1),
    Adagrad(0.1, weight_decay=0.01),
    Adam(0.01),
    Adam(0.01, weight_decay=0.01),
    Adam(0.01, weight_decay=0.01, decoupled=True),
    Adam(warm_up(cosine(0.01, 100), 5), decoupled=True),
]
every_optimizer = pytest.mark.parametrize("optimizer", EVERY, ids=repr)
compiled_only = pytest.mark.skipif(mode() == "debug", reason="a million weights are too many for kernels run as Python")


def vectors(count, size, seed=0):
    return np.random.default_rng([seed, count, size]).standard_normal((count, size)).astype(np.float32)


def run(stepper, grads, w):
    return [stepper(g, w).copy() for g in grads]


def twin_arguments(optimizer, size, seed):
    """Arguments of a formula some way into training: what is remembered is positive, as sums of squares are."""
    grad, w, out = vectors(3, size, seed)
    state = [np.abs(v) for v in vectors(len(optimizer.remembers), size, seed + 1)]
    return [grad, w, *state, *map(np.float32, optimizer.numbers(t=2)), out]


@every_optimizer
@pytest.mark.parametrize("move", [False, True], ids=["step", "move"])
@examples(15)
@given(size=st.sampled_from([0, 1]) | st.integers(2, 70), seed=st.integers(0, 999))
def test_kernels_compiled_or_not_equal_their_numpy_twins_to_the_bit(optimizer, move, size, seed):
    arguments = twin_arguments(optimizer, size, seed)
    compiled = getattr(kernels, optimizer.formula)
    for formula in (compiled, getattr(compiled, "py_func", compiled)):
        ours, twins = copy.deepcopy(arguments), copy.deepcopy(arguments)
        formula(*ours, move)
        getattr(plain, optimizer.formula)(*twins, move)
        for a, b in zip(ours, twins, strict=True):
            np.testing.assert_array_equal(a, b)


@every_optimizer
def test_a_diverged_gradient_is_seen_and_not_repaired(optimizer):
    grad, w = vectors(2, 40)
    grad[3], grad[17] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        step = optimizer.start(40)(grad, w)
    assert np.isnan(step[3])
    assert not np.isfinite(step[17])
    assert np.isfinite(np.delete(step, [3, 17])).all()


@every_optimizer
@pytest.mark.parametrize("kernel_mode", ["numba", "numpy"])
def test_steps_of_shards_equal_the_step_of_the_whole_to_the_bit(optimizer, kernel_mode, monkeypatch):
    monkeypatch.setenv("DLMINI_KERNELS", kernel_mode)
    size = BLOCK + 1003
    *grads, w = vectors(4, size)
    cuts = [0, 1, 4, 4, 21, 500, 7777, BLOCK + 2, size]
    shards = [(slice(lo, hi), optimizer.start(hi - lo)) for lo, hi in pairwise(cuts)]
    parts = [np.concatenate([stepper(g[here], w[here]) for here, stepper in shards]) for g in grads]
    np.testing.assert_array_equal(parts, run(optimizer.start(size), grads, w))


@every_optimizer
@pytest.mark.parametrize("kernel_mode", ["numba", "numpy"])
def test_apply_equals_step_then_subtract_to_the_bit(optimizer, kernel_mode, monkeypatch):
    monkeypatch.setenv("DLMINI_KERNELS", kernel_mode)
    *grads, w = vectors(6, 20_000)
    before = [g.copy() for g in grads]
    twice, once = w.copy(), w.copy()
    stepper, applier = optimizer.start(w.size), optimizer.start(w.size)
    for g in grads:
        twice -= stepper(g, twice)
        applier.apply(once, g)
    np.testing.assert_array_equal(once, twice)
    np.testing.assert_array_equal(grads, before)
    assert stepper.t == applier.t == 5


@every_optimizer
def test_the_step_may_be_written_over_the_gradient_or_to_a_buffer(optimizer):
    grad, w, buffer = vectors(3, 1000)
    expected = optimizer.start(1000)(grad, w).copy()
    assert optimizer.start(1000)(grad, w, out=buffer) is buffer
    np.testing.assert_array_equal(buffer, expected)
    assert optimizer.start(1000)(grad, w, out=grad) is grad
    np.testing.assert_array_equal(grad, expected)


def test_without_a_buffer_of_yours_the_stepper_reuses_its_own():
    stepper = Momentum(0.1).start(3)
    assert stepper(np.ones(3, np.float32)) is stepper(np.ones(3, np.float32))


def test_an_overlapping_buffer_gets_the_right_step():
    memory = vectors(1, 101)[0]
    expected = SGD(2).start(100)(memory[:-1]).copy()
    np.testing.assert_array_equal(SGD(2).start(100)(memory[:-1], out=memory[1:]), expected)


def test_a_received_gradient_may_be_read_only_and_unaligned():
    grad = vectors(1, 10)[0]
    received = np.frombuffer(b"x" + grad.tobytes(), np.float32, offset=1)
    assert not received.flags.writeable
    np.testing.assert_array_equal(Adagrad(0.1).start(10)(received), Adagrad(0.1).start(10)(grad))


@compiled_only
@every_optimizer
@pytest.mark.parametrize(("kernel_mode", "limit"), [("numba", 1000), ("numpy", 20 * BLOCK)])
def test_a_warm_stepper_allocates_nothing_that_grows_with_the_vector(optimizer, kernel_mode, limit, monkeypatch):
    monkeypatch.setenv("DLMINI_KERNELS", kernel_mode)
    grad, w = vectors(2, 1_000_000)
    stepper = optimizer.start(grad.size)
    kinds = [lambda: stepper(grad, w), lambda: stepper(grad, w, out=grad), lambda: stepper.apply(w, grad)]
    for warm in kinds:
        warm()
    tracemalloc.start()
    try:
        for kind in kinds:
            kind()
        assert tracemalloc.get_traced_memory()[1] < limit
    finally:
        tracemalloc.stop()


@every_optimizer
def test_a_restored_stepper_goes_on_to_the_bit(optimizer, tmp_path):
    *grads, w = vectors(7, 50)
    stepper, other = optimizer.start(50), optimizer.start(50)
    run(stepper, grads[:3], w)
    run(other, grads[4:], w)  # its own past must be forgotten
    np.savez(tmp_path / "memory.npz", **stepper.memory())
    with np.load(tmp_path / "memory.npz") as saved:
        other.restore(saved)
    np.testing.assert_array_equal(run(other, grads[3:], w), run(stepper, grads[3:], w))


@every_optimizer
@pytest.mark.parametrize("clone", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))], ids=["copy", "pickle"])
def test_a_copied_or_pickled_stepper_goes_on_to_the_bit_and_alone(optimizer, clone):
    *grads, w = vectors(6, 50)
    stepper = optimizer.start(50)
    run(stepper, grads[:3], w)
    twin = clone(stepper)
    assert twin.optimizer == optimizer
    np.testing.assert_array_equal(run(twin, grads[3:], w), run(stepper, grads[3:], w))


def test_a_memory_is_a_snapshot():
    stepper = Momentum(0.1).start(2)
    stepper(np.ones(2, np.float32))
    memory = stepper.memory()
    stepper(np.ones(2, np.float32))
    assert memory["t"] == 1
    assert memory["velocity"].tolist() == [1, 1]


def test_steppers_of_one_description_do_not_know_each_other():
    shared = Momentum(0.1)
    first, second = shared.start(2), shared.start(2)
    expected = first(np.ones(2, np.float32)).copy()
    first(np.ones(2, np.float32))
    np.testing.assert_array_equal(second(np.ones(2, np.float32)), expected)


def test_the_schedule_is_asked_once_per_call_and_goes_on_after_a_restore():
    asked = []
    stepper = SGD(lambda t: asked.append(t) or 0.5**t).start(1)
    one = np.ones(1, np.float32)
    assert [float(stepper(one)[0]) for _ in range(3)] == [1, 0.5, 0.25]
    later = SGD(stepper.optimizer.rate).start(1)
    later.restore(stepper.memory())
    w = np.zeros(1, np.float32)
    later.apply(w, one)
    assert (asked, float(w[0])) == ([0, 1, 2, 3], -0.125)


def test_numpy_mode_works_without_loading_numba():
    program = (
        "import os, sys; os.environ['DLMINI_KERNELS'] = 'numpy'\n"
        "import numpy as np; from dlmini.optim import Adam\n"
        "Adam().start(3)(np.ones(3, np.float32)); print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "False"
