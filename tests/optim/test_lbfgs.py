"""L-BFGS against SciPy's, against Newton's own answers, and its two forms against each other."""

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from dlmini import lbfgs
from dlmini.optim.lbfgs import by_dots, dot, is_curved, mixture, two_loop
from dlmini.optim.line_search import ENOUGH, FLAT, strong_wolfe


def rosenbrock(w, grad):
    """Banana valleys, side by side."""
    a, b = w[::2], w[1::2]
    grad[::2], grad[1::2] = 400 * a * (a * a - b) + 2 * (a - 1), 200 * (b - a * a)
    return float(np.sum(100 * (b - a * a) ** 2 + (1 - a) ** 2))


def squares(rows=60, columns=12, seed=0):
    coin = np.random.default_rng(seed)
    x, y = coin.standard_normal((rows, columns)) * np.logspace(0, 2, columns), coin.standard_normal(rows)

    def loss_and_grad(w, grad):
        off = x @ w - y
        grad[:] = x.T @ off / rows
        return float(off @ off / 2 / rows)

    return loss_and_grad, np.linalg.lstsq(x, y, rcond=None)[0]


def logistic(rows=200, columns=9, seed=0, decay=1e-3):
    coin = np.random.default_rng(seed)
    x = coin.standard_normal((rows, columns))
    y = np.sign(x @ coin.standard_normal(columns) + coin.standard_normal(rows))

    def loss_and_grad(w, grad):
        margins = y * (x @ w)
        grad[:] = x.T @ (-y / (1 + np.exp(margins))) / rows + decay * w
        return float(np.mean(np.logaddexp(0, -margins)) + decay / 2 * w @ w)

    return loss_and_grad


PROBLEMS = {
    "rosenbrock": (rosenbrock, np.tile([-1.2, 1.0], 10)),
    "least squares": (squares()[0], np.zeros(12)),
    "logistic regression": (logistic(), np.zeros(9)),
}


def scipys(loss_and_grad, w, **options):
    def both(w):
        grad = np.empty_like(w)
        return loss_and_grad(w, grad), grad

    return optimize.minimize(both, w, jac=True, method="L-BFGS-B", options={"maxiter": 2000, **options})


@pytest.mark.parametrize("form", ["two_loop", "dots"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_it_reaches_the_minimum_that_scipy_finds(name, form):
    loss_and_grad, w = PROBLEMS[name]
    theirs = scipys(loss_and_grad, w, ftol=1e-15, gtol=1e-10)
    ours = lbfgs(loss_and_grad, w, iterations=2000, form=form)
    assert ours.loss <= theirs.fun + 1e-12 * max(1, abs(theirs.fun))
    np.testing.assert_allclose(ours.w, theirs.x, rtol=1e-5, atol=1e-7)
    assert ours.evaluations <= 2 * theirs.nfev  # no slower than twice what they need


def test_it_finds_the_solution_of_least_squares():
    loss_and_grad, solution = squares()
    np.testing.assert_allclose(lbfgs(loss_and_grad, np.zeros(12), iterations=500).w, solution, rtol=1e-6, atol=1e-9)


def inverse_curvature(pairs, size):
    """H as a matrix, by the formula of BFGS, from the same beginning: the truth that the recursion is a short cut of.

    H = (1 - rho s y') H (1 - rho y s') + rho s s'
    """
    s, y = pairs[-1]
    H = np.eye(size) * (s @ y) / (y @ y)
    for s, y in pairs:
        rho, one = 1 / (s @ y), np.eye(size)
        H = (one - rho * np.outer(s, y)) @ H @ (one - rho * np.outer(y, s)) + rho * np.outer(s, s)
    return H


def some_pairs(coin, size, history):
    """Steps on a bowl, and what they change of its gradient."""
    root = coin.standard_normal((size, size))
    bowl = root @ root.T + np.eye(size)
    return [(s, bowl @ s) for s in coin.standard_normal((history, size))]


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(0, 6))
@examples(60)
def test_both_forms_are_the_matrix_of_bfgs(seed, size, history):
    coin = np.random.default_rng(seed)
    pairs, grad = some_pairs(coin, size, history), coin.standard_normal(size)
    truth = -(inverse_curvature(pairs, size) @ grad) if pairs else -grad
    scale = max(1e-12, np.abs(truth).max())
    for form in (two_loop, by_dots):
        np.testing.assert_allclose(form(grad, pairs) / scale, truth / scale, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", PROBLEMS)
def test_two_loops_and_dots_agree_to_1e_10_on_the_way(name):
    """Each direction of a whole run, from the same pairs and gradient."""
    loss_and_grad, w = PROBLEMS[name]
    x, grad, pairs, worst = w.copy(), np.empty_like(w), [], 0.0
    loss_and_grad(x, grad)
    for _ in range(30):
        one, other = two_loop(grad, pairs), by_dots(grad, pairs)
        worst = max(worst, np.abs(one - other).max() / np.abs(one).max())
        ended = lbfgs(loss_and_grad, x, iterations=1)
        if not ended.iterations:
            break
        s, y = ended.w - x, ended.grad - grad
        if is_curved(s @ y, s @ s, y @ y):
            pairs = [*pairs, (s, y)][-10:]
        x, grad = ended.w, ended.grad
    assert len(pairs) > 2
    assert worst < 1e-10


@pytest.mark.parametrize("name", ["least squares", "logistic regression"])
def test_runs_of_both_forms_agree_to_1e_10_after_twenty_iterations(name):
    loss_and_grad, w = PROBLEMS[name]
    one, other = (lbfgs(loss_and_grad, w, iterations=20, form=form) for form in ("two_loop", "dots"))
    np.testing.assert_allclose(one.w, other.w, rtol=1e-10, atol=1e-10)


def test_a_direction_goes_down_as_long_as_pairs_are_curved():
    coin = np.random.default_rng(3)
    for _ in range(50):
        pairs, grad = some_pairs(coin, 7, 4), coin.standard_normal(7)
        assert two_loop(grad, pairs) @ grad < 0


def test_the_mixture_without_a_past_is_steepest_descent():
    assert mixture(np.array([[4.0]])).tolist() == [-1.0]


def test_arguments_stay_as_they_are():
    loss_and_grad, w = PROBLEMS["rosenbrock"]
    before = w.copy()
    lbfgs(loss_and_grad, w, iterations=5)
    assert (w == before).all()
    coin = np.random.default_rng(0)
    pairs, grad = some_pairs(coin, 5, 3), coin.standard_normal(5)
    kept = grad.copy(), np.array(pairs)
    two_loop(grad, pairs)
    assert (grad == kept[0]).all()
    assert (np.array(pairs) == kept[1]).all()


def test_it_begins_at_the_minimum_and_says_so():
    found = lbfgs(rosenbrock, np.ones(4))
    assert (found.iterations, found.evaluations) == (0, 1)
    assert found.why.startswith("the gradient is 0 long")


@pytest.mark.parametrize("loss", [np.nan, np.inf, -np.inf])
def test_where_the_first_loss_is_no_number_it_says_so_and_tries_nothing(loss):
    found = lbfgs(lambda w, grad: grad.fill(1.0) or loss, np.ones(3))
    assert (found.iterations, found.evaluations) == (0, 1)
    assert found.why == f"the loss of the first weights is {loss}"


def test_a_tilted_plane_has_no_minimum_and_the_search_still_ends():
    def tilted(w, grad):
        grad[:] = 1.0
        return float(w.sum())

    found = lbfgs(tilted, np.zeros(3), iterations=4)
    assert found.iterations == 4
    assert found.losses == sorted(found.losses, reverse=True)


def test_where_rounding_hides_the_slope_it_ends_with_a_sentence():
    """In float32 this valley is flat long before the gradient is 1e-8 long."""
    loss_and_grad, solution = squares()

    def rounded(w, grad):
        exact = np.empty(w.size)
        loss = loss_and_grad(w.astype(np.float64), exact)
        grad[:] = exact
        return np.float32(loss)

    found = lbfgs(rounded, np.zeros(12, np.float32), iterations=5000)
    best = loss_and_grad(solution, np.empty(12))
    assert found.iterations < 5000
    assert "lowers the loss" in found.why
    assert found.loss <= best * (1 + 1e-4)


def test_a_loss_that_is_no_number_far_away_shortens_the_step():
    def walled(w, grad):
        grad[:] = 2 * (w - 0.5)
        return float("nan") if w[0] > 0.9 else float((w - 0.5) @ (w - 0.5))

    found = lbfgs(walled, np.array([-40.0]))
    assert abs(found.w[0] - 0.5) < 1e-6


# ---- the line search ----


def searched(f, slope, first=1.0, trials=20):
    """(where it settled, the steps it asked for)."""
    asked, said, search = [], None, strong_wolfe(f(0.0), slope(0.0), first, trials)
    try:
        while True:
            asked.append(search.send(said))
            said = f(asked[-1]), slope(asked[-1])
    except StopIteration as end:
        return end.value, asked


LINES = {
    "a parabola": (lambda a: (a - 3) ** 2, lambda a: 2 * (a - 3)),
    "a far one": (lambda a: (a - 3e4) ** 2, lambda a: 2 * (a - 3e4)),
    "a near one": (lambda a: (a - 1e-5) ** 2, lambda a: 2 * (a - 1e-5)),
    "a wave on a slope": (lambda a: np.sin(3 * a) - a, lambda a: 3 * np.cos(3 * a) - 1 if a else -1.0),
    "a steep wall": (lambda a: -a if a < 2 else (a - 2) * 1e3 - 2, lambda a: -1.0 if a < 2 else 1e3),
    "the sixth power": (lambda a: (a - 1) ** 6, lambda a: 6 * (a - 1) ** 5),
}


@pytest.mark.parametrize("first", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("name", ["a parabola", "a far one", "a near one", "the sixth power"])
def test_both_conditions_hold_where_the_search_settles(name, first):
    f, slope = LINES[name]
    here, asked = searched(f, slope, first, trials=60)
    assert here.loss <= f(0.0) + ENOUGH * here.step * slope(0.0)
    assert abs(here.slope) <= FLAT * abs(slope(0.0))
    assert asked[-1] == here.step
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("trials", [1, 2, 3, 7])
def test_with_few_trials_the_best_that_gains_is_asked_for_last(name, trials):
    f, slope = LINES[name]
    here, asked = searched(f, slope, 1.0, trials)
    if here is None:
        assert all(f(a) > f(0.0) + ENOUGH * a * slope(0.0) for a in asked)
    else:
        assert asked[-1] == here.step
        assert here.loss == f(here.step) < f(0.0)
        assert len(asked) <= trials + 1


def test_uphill_there_is_nothing_to_find():
    here, _ = searched(lambda a: a, lambda a: 1.0 if a else -1.0)
    assert here is None


# ---- numbers and words ----


def test_dots_of_float32_are_added_in_float64():
    a = np.full(100_003, 0.1, np.float32)
    truth = float(a.astype(np.float64) @ a.astype(np.float64))
    assert dot(a, a) == pytest.approx(truth, rel=1e-12)
    assert abs(float(a @ a) - truth) > 1e-9 * truth  # which float32 alone would not give


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"history": 0}, "history is 0; it must be a whole number of at least 1"),
        ({"form": "three_loop"}, "form is 'three_loop'; it must be 'two_loop' or 'dots'"),
        ({"w": np.zeros(3, int)}, "w is an array of int64 of shape .3,.; it must be a vector of float32 or float64"),
        ({"tolerance": -1}, "tolerance is -1"),
    ],
)
def test_what_has_no_meaning_is_refused(given, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        lbfgs(**{"loss_and_grad": rosenbrock, "w": np.zeros(4), **given})
