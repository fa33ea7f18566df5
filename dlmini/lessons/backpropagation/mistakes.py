"""Mistakes that lesson 01 speaks of: what they give, and how `check` calls them."""

from __future__ import annotations

import numpy as np

from dlmini.grade.lesson import Wrong


def known_of_a_layer(name: str, x, w, dy, truth) -> dict:
    """Mistakes that the lesson speaks of, and what they give."""
    mean = {"this is the mean over the batch, expected the sum: dy has the 1/B of the loss in it": truth / len(x)}
    if name == "dx":
        return {"w was not transposed: dx = dy w^T": dy @ w} if w.shape[0] == w.shape[1] else {}
    if name == "dw":
        return {**mean, "it is transposed: dw is shaped like w, so it is x^T dy": truth.T}
    return {
        **mean,
        "this is the slope of one example; b touches every row of y, so the sum over the batch is its slope": dy[0],
        "the biases' slope is forgotten: it is not 0 but the sum of dy over the batch": 0 * truth,
        "this is a sum over the outputs; the sum over the batch was asked for": dy.sum(axis=1),
    }


def known_gates(x, dy) -> dict:
    """What mistakes make of the gate of a ReLU."""
    return {
        "the gate is open at x = 0; there the slope is 0": np.where(x >= 0, dy, 0),
        "the gate is forgotten: all slopes have passed": dy,
        "the gate is turned round: slopes have passed where x < 0": np.where(x < 0, dy, 0),
        "the gate is turned round: slopes have passed where x <= 0": np.where(x <= 0, dy, 0),
        "the gate looks at the sign of dy; it is x that must be positive": np.where(dy > 0, dy, 0),
        "this is the slope of max(x, 0) alone; the chain rule multiplies it by dy": x > 0,
        "this is max(x, 0), the way forward; the slope was asked for": np.maximum(x, 0),
    }


def not_finite(s, labels, loss, slope) -> None:
    """Where numbers have been lost: the exponential, its sum, or the logarithm."""
    numbers = isinstance(loss, int | float | np.floating) and isinstance(slope, np.ndarray)
    if not numbers or (np.isfinite(loss) and np.isfinite(slope).all()):
        return
    top, mine = s.max(axis=1), s[np.arange(len(s)), labels]
    if np.ptp(top) > 300:
        raise Wrong("a row of small scores is lost beside one of large scores: subtract each row's own largest score.")
    if (top - mine).max() > 300:
        raise Wrong("the right class's probability is rounded to 0, and log 0 is infinite: take logarithms without it.")
    raise Wrong("exp of a large score overflows, and nan follows: first subtract the largest score of each row.")


def softmax_slope(s, labels, along_rows: bool = True):
    """(p - y) / B by the definition, in double precision; of scores that stand in columns if not along rows."""
    wide = s.astype("f8")
    p = np.exp(wide - np.logaddexp.reduce(wide, axis=1)[:, None])
    p = p if along_rows else p.T
    p[np.arange(len(p)), labels] -= 1
    return p / len(p)


def known_slopes(s, labels, truth) -> dict:
    """Mistakes that the lesson speaks of, and what they give."""
    y = np.zeros(truth.shape)
    y[np.arange(len(y)), labels] = 1 / len(y)
    return {
        "this is p - y, B times too large: the loss is the mean over the batch, so divide by B": truth * len(y),
        "this is y - p: the sign is wrong, a step along it makes the loss larger": -truth,
        "y was added: probability given *minus* probability deserved": truth + 2 * y,
        "this is p: 1 is still to be subtracted at the right class": truth + y,
    }


def chain(x, labels, w1, b1, w2, b2, relu=True, gate=True, biases=True, last_relu=False, seen="h"):
    """(dw1, db1, dw2, db2) of Dense, ReLU, Dense, softmax; each option is a mistake that it makes."""
    z = x @ w1 + biases * b1
    h = np.maximum(z, 0) if relu else z
    s = h @ w2 + biases * b2
    ds = softmax_slope(np.maximum(s, 0) if last_relu else s, labels) * ((s > 0) if last_relu else 1)
    dz = (ds @ w2.T) * ((z > 0) if gate else 1)
    before = {"h": h, "z": z}[seen]
    return x.T @ dz, dz.sum(axis=0), before.T @ ds, ds.sum(axis=0)


def known_of_a_network(given, truth) -> dict:
    """Mistakes that the lesson speaks of, and the four slopes that they give."""
    return {
        "the gate of the ReLU is forgotten on the way back: dz is dh where z > 0, else 0": chain(*given, gate=False),
        "dw2 was made with z; what the second layer was given is h = max(z, 0)": chain(*given, seen="z"),
        "the ReLU is forgotten on the way forward": chain(*given, relu=False),
        "the ReLU is forgotten, forward and back": chain(*given, relu=False, gate=False),
        "there is a ReLU behind the second layer; the scores go to the softmax as they are": chain(
            *given, last_relu=True
        ),
        "the biases are forgotten on the way forward": chain(*given, biases=False),
        "divided by B twice: the slope of the scores has the 1/B of the mean in it": [t / len(given[0]) for t in truth],
        "these are slopes of the sum over the batch, expected the mean": [t * len(given[0]) for t in truth],
        "the layers have changed places: expected (dw1, db1, dw2, db2)": (*truth[2:], *truth[:2]),
    }
