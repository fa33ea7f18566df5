"""Each optimiser against closed forms and against the textbook, written out in float64."""

import math

import numpy as np
import pytest

from dlmini.optim import SGD, Adagrad, Adam, Momentum, Nesterov

GRAD = np.array([3.0, -0.5, 1e-3, -700.0], np.float32)


def steps(optimizer, grads, w=None):
    """The steps for a sequence of gradients, each copied."""
    stepper = optimizer.start(grads[0].size, grads[0].dtype)
    return [stepper(g, w).copy() for g in grads]


def descend(optimizer, slope, w, rounds):
    """The path of the weights down a hill with the given slope."""
    w, path = w.copy(), [w.copy()]
    stepper = optimizer.start(w.size, w.dtype)
    for _ in range(rounds):
        w -= stepper(slope(w), w)
        path.append(w.copy())
    return np.array(path)


def random_gradients(rounds, size, dtype=np.float64):
    return list(np.random.default_rng([7, rounds, size]).standard_normal((rounds, size)).astype(dtype))


def test_sgd_of_rate_one_hands_the_gradient_through():
    np.testing.assert_array_equal(steps(SGD(1), [GRAD])[0], GRAD)


def test_sgd_on_a_parabola_shrinks_the_weights_by_the_same_factor_every_round():
    curvature, w = np.array([1.0, 4.0, 10.0]), np.array([1.0, -2.0, 0.5])
    path = descend(SGD(0.15), lambda w: curvature * w, w, 20)
    np.testing.assert_allclose(path[-1], (1 - 0.15 * curvature) ** 20 * w, rtol=1e-12)


def test_momentum_on_a_constant_slope_is_a_geometric_series():
    for t, step in enumerate(steps(Momentum(0.05, momentum=0.9), [GRAD] * 60)):
        np.testing.assert_allclose(step, 0.05 * GRAD * (1 - 0.9 ** (t + 1)) / (1 - 0.9), rtol=1e-5)


def test_momentum_zero_is_plain_sgd():
    grads = random_gradients(5, 8, np.float32)
    np.testing.assert_array_equal(steps(Momentum(0.3, momentum=0), grads), steps(SGD(0.3), grads))
    np.testing.assert_array_equal(steps(Nesterov(0.3, momentum=0), grads), steps(SGD(0.3), grads))


@pytest.mark.parametrize("curvature", [0.1, 1.0, 30.0])
def test_momentum_on_a_parabola_is_a_power_of_its_two_by_two_matrix(curvature):
    rate, mu = 0.05, 0.8
    # v' = mu v + a w,   w' = w - rate v'
    matrix = np.array([[1 - rate * curvature, -rate * mu], [curvature, mu]])
    expected = [(np.linalg.matrix_power(matrix, t) @ [1.0, 0.0])[0] for t in range(41)]
    path = descend(Momentum(rate, momentum=mu), lambda w: curvature * w, np.ones(1), 40)
    np.testing.assert_allclose(path[:, 0], expected, atol=1e-13)


def test_the_energy_of_the_heavy_ball_decays_by_its_momentum_in_every_direction():
    rate, mu, curvature = 0.03, 0.81, np.geomspace(1, 50, 6)
    path = descend(Momentum(rate, momentum=mu), lambda w: curvature * w, np.ones(6), 100)
    # w'' = c w' - mu w  makes  w'^2 - c w w' + mu w^2  shrink by mu each round, however different the curvatures.
    now, then, c = path[:-1], path[1:], 1 + mu - rate * curvature
    energy = then**2 - c * now * then + mu * now**2
    np.testing.assert_allclose(energy[-1] / energy[0], mu**99, rtol=1e-10)


def test_nesterov_equals_the_two_sequences_of_the_textbook():
    rate, mu = 0.02, 0.9
    hill = np.array([[9.0, 2.0], [2.0, 1.0]])
    x, ahead = np.array([1.0, -3.0]), np.array([1.0, -3.0])
    expected = [ahead]
    for _ in range(50):
        x_next = ahead - rate * hill @ ahead
        x, ahead = x_next, x_next + mu * (x_next - x)
        expected.append(ahead)
    path = descend(Nesterov(rate, momentum=mu), lambda w: hill @ w, np.array([1.0, -3.0]), 50)
    np.testing.assert_allclose(path, expected, atol=1e-12)


def test_adagrad_on_a_constant_slope_slows_down_with_the_root_of_time():
    for t, step in enumerate(steps(Adagrad(0.5), [GRAD] * 30)):
        np.testing.assert_allclose(step, 0.5 * np.sign(GRAD) / math.sqrt(t + 1), rtol=1e-5)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 1e-5), (np.float64, 1e-13)])
def test_adagrad_equals_a_scalar_loop(dtype, rtol):
    grads = random_gradients(40, 5, dtype)
    found = steps(Adagrad(0.1, eps=1e-6), grads)
    for i in range(5):
        total = 0.0
        for g, step in zip(grads, found, strict=True):
            total += float(g[i]) ** 2
            assert step[i] == pytest.approx(0.1 * float(g[i]) / (math.sqrt(total) + 1e-6), rel=rtol)


@pytest.mark.parametrize("optimizer", [Adagrad(0.1), Adam()], ids=repr)
def test_a_weight_that_never_had_a_slope_stays(optimizer):
    assert steps(optimizer, [np.zeros(3, np.float32)] * 3)[-1].tolist() == [0, 0, 0]


def test_adam_steps_by_its_rate_whatever_the_size_of_a_constant_slope():
    for step in steps(Adam(0.01), [GRAD] * 20):
        np.testing.assert_allclose(step, 0.01 * np.sign(GRAD), rtol=2e-5)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 2e-5), (np.float64, 1e-12)])
def test_adam_equals_algorithm_1_of_its_paper(dtype, rtol):
    rate, beta1, beta2, eps = 0.02, 0.8, 0.95, 1e-3
    grads = [np.abs(g) + dtype(0.1) for g in random_gradients(30, 4, dtype)]  # one sign: no cancellation in the mean
    m, v = np.zeros(4), np.zeros(4)
    for t, (g, step) in enumerate(zip(grads, steps(Adam(rate, beta1, beta2, eps), grads), strict=True), start=1):
        g = g.astype(np.float64)
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)
        np.testing.assert_allclose(step, rate * m_hat / (np.sqrt(v_hat) + eps), rtol=rtol)


@pytest.mark.parametrize("make", [SGD, Momentum, Nesterov, Adagrad, Adam])
def test_l2_weight_decay_is_the_slope_of_half_its_square_norm(make):
    w, decay = GRAD / 7, np.float32(0.03)
    grads = random_gradients(4, 4, np.float32)
    found = steps(make(0.1, weight_decay=0.03), grads, w)
    np.testing.assert_array_equal(found, steps(make(0.1), [g + decay * w for g in grads]))


def test_decoupled_decay_shrinks_every_weight_at_the_same_pace():
    w = np.array([5.0, -0.01, 300.0])
    path = descend(Adam(0.1, weight_decay=0.2, decoupled=True), np.zeros_like, w, 10)
    np.testing.assert_allclose(path[-1], (1 - 0.1 * 0.2) ** 10 * w, rtol=1e-13)


def test_l2_decay_in_adam_pulls_every_weight_by_the_rate_instead():
    w = np.array([5.0, -2.0, 300.0])
    path = descend(Adam(0.1, weight_decay=0.2), np.zeros_like, w, 1)
    np.testing.assert_allclose(path[-1], w - 0.1 * np.sign(w), rtol=1e-8)


def test_decoupled_decay_is_added_to_the_step_of_plain_adam():
    w, grads = GRAD.astype(np.float64), random_gradients(6, 4)
    found = steps(Adam(0.1, weight_decay=0.2, decoupled=True), grads, w)
    np.testing.assert_allclose(found, np.array(steps(Adam(0.1), grads)) + 0.1 * 0.2 * w, rtol=1e-14)


@pytest.mark.parametrize(
    ("optimizer", "text"),
    [
        (SGD(0.05), "SGD(0.05)"),
        (Momentum(0.05, momentum=0.8), "Momentum(0.05, momentum=0.8)"),
        (Nesterov(0.7, weight_decay=1e-4), "Nesterov(0.7, weight_decay=0.0001)"),
        (Adagrad(0.1), "Adagrad(0.1)"),
        (Adam(weight_decay=0.1, decoupled=True), "Adam(0.001, weight_decay=0.1, decoupled=True)"),
    ],
)
def test_the_repr_is_what_one_would_type(optimizer, text):
    assert repr(optimizer) == text
    assert eval(text) == optimizer
