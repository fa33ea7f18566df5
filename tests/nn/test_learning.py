"""Networks learn: the accuracies that a first lesson promises, with a fixed seed."""

import numpy as np
import pytest

from dlmini import Adam, Momentum, cosine, lenet, load, softmax_regression, train_alone
from dlmini.alone import Epoch


def last(news):
    *_, epoch = (n for n in news if isinstance(n, Epoch))
    return epoch


@pytest.mark.parametrize(("data", "epochs", "least"), [("fashion-mnist", 4, 0.85), ("mnist", 6, 0.97)])
def test_lenet_learns_the_bundled_sets(data, epochs, least):
    train, test = load(data)
    optimizer = Momentum(cosine(0.05, rounds=epochs * len(train) // 50))
    assert last(train_alone(lenet(), train, test, optimizer, epochs=epochs, batch=50)).accuracy >= least


def test_training_twice_gives_the_same_bits():
    train, test = load("mnist")
    train, test = train.subset(np.arange(1000)), test.subset(np.arange(200))
    runs = [last(train_alone(lenet(), train, test, Adam(0.001), batch=64, seed=4)).weights for _ in range(2)]
    np.testing.assert_array_equal(*runs)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_a_run_that_diverges_says_so():
    train, test = load("mnist")
    with pytest.raises(FloatingPointError, match="smaller learning rate"):
        for _ in train_alone(softmax_regression(), train, test, Momentum(1e38), batch=50):
            pass
