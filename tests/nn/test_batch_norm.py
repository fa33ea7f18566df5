"""Batch normalisation: the batch's own mean while training, and a function of weights and a sample when predicting."""

import numpy as np
import pytest

from dlmini import (
    BatchNorm,
    Classify,
    Conv2d,
    Dense,
    Flatten,
    Model,
    Momentum,
    ReLU,
    Skip,
    lenet,
    load,
    resnet8,
    train_alone,
)
from dlmini.nn.modes import Measuring, Training
from dlmini.nn.passes import Pass


@pytest.fixture(scope="module")
def net():
    layers = [Conv2d(8, 3, padding="same"), BatchNorm(), ReLU(), Skip([Conv2d(3, 1), BatchNorm()]), Flatten(), Dense(4)]
    return Model(layers, (6, 5, 2))


def images(net, count, seed=0):
    return np.random.default_rng(seed).standard_normal((count, *net.input)).astype(np.float32) + 3


@pytest.mark.parametrize("kernels", ["numba", "numpy"])
def test_every_channel_leaves_with_its_own_mean_and_deviation(kernels):
    model = Model([BatchNorm()], (7, 9, 8), kernels=kernels)
    w = np.concatenate([np.arange(1, 9), np.arange(8)]).astype(np.float32)
    y = Pass(model).forward(w, images(model, 5) * np.arange(1, 9, dtype=np.float32), Training())
    np.testing.assert_allclose(y.mean((0, 1, 2)), np.arange(8), atol=1e-4)
    np.testing.assert_allclose(y.std((0, 1, 2)), np.arange(1, 9), rtol=1e-4)


def test_gains_begin_as_one_and_shifts_as_zero(net):
    for _, layer, arrays in net.leaves(net.initial(5)):
        if isinstance(layer, BatchNorm):
            assert (arrays[0] == 1).all()
            assert not arrays[1].any()


def test_one_batch_of_statistics_predicts_what_training_saw(net):
    w, x = net.initial(1), images(net, 20)
    np.testing.assert_allclose(net.predict(w, x, net.statistics(w, x)), Pass(net).forward(w, x, Measuring()), atol=1e-4)


def test_statistics_of_a_first_layer_are_those_of_the_whole_sample_in_whatever_batches():
    model = Model([BatchNorm(), Flatten(), Dense(2)], (3, 4, 2))
    x = images(model, 23) * np.linspace(1, 9, 23, dtype=np.float32)[:, None, None, None]
    expected = np.concatenate([x.mean((0, 1, 2)), x.var((0, 1, 2))])
    for batch in (None, 23, 10, 1):
        np.testing.assert_allclose(model.statistics(model.initial(), x, batch), expected, rtol=1e-4)


def test_predicting_an_image_does_not_depend_on_the_others(net):
    w, x = net.initial(2), images(net, 12)
    stats = net.statistics(w, x)
    np.testing.assert_allclose(net.predict(w, x, stats)[3:4], net.predict(w, x[3:4], stats), atol=1e-5)


def test_a_mean_of_weights_is_tried_with_statistics_of_its_own():
    """With those of either worker it would be judged wrongly: its first layer gives other numbers."""
    train = load("mnist")[0].subset(range(200))
    model = Model([Conv2d(8, 3), BatchNorm(), ReLU(), Flatten(), Dense(len(train.classes))], train.shape)
    task = Classify(model, train, train, batch=50)
    a, b = task.initial(1), task.initial(2)
    middle = (a + b) / 2
    np.testing.assert_array_equal(task.statistics(middle), task.statistics(middle))
    right = model.evaluate(middle, train.scaled().x, train.y, model.statistics(middle, train.scaled().x, 50))
    theirs = model.evaluate(middle, train.scaled().x, train.y, task.statistics(a))
    assert task.evaluate(middle)["loss"] == pytest.approx(right["loss"], rel=1e-5)
    assert abs(theirs["loss"] - right["loss"]) > 0.01


def test_models_without_batch_norm_pay_nothing():
    train = load("mnist")[0].subset(range(20))
    task = Classify(lenet(), train, train)
    assert task.statistics(task.initial()) is None
    assert task.model.statistics(task.initial(), train.scaled().x).size == 0


def test_predicting_without_statistics_or_with_others_is_refused(net):
    w, x = net.initial(), images(net, 2)
    with pytest.raises(ValueError, match=r"stats=model\.statistics\(w, sample\)"):
        net.predict(w, x)
    with pytest.raises(ValueError, match=r"needs float32\[22\]"):
        net.evaluate(w, x, np.zeros(2, int), np.zeros(4, np.float32))
    with pytest.raises(TypeError, match="stats is"):
        net.predict(w, x, [0.0] * 22)


def test_threads_that_would_each_see_a_part_of_the_batch_are_refused():
    with pytest.raises(ValueError, match="threads=2 with BatchNorm"):
        resnet8(threads=2)


def test_statistics_are_kept_beside_the_weights(net, tmp_path):
    w, x = net.initial(4), images(net, 9)
    stats = net.statistics(w, x)
    net.save(tmp_path / "both.npz", w, stats)
    net.save(tmp_path / "one.npz", w)
    np.testing.assert_array_equal(net.load(tmp_path / "both.npz"), w)
    np.testing.assert_array_equal(net.load_statistics(tmp_path / "both.npz"), stats)
    with pytest.raises(ValueError, match="holds no statistics"):
        net.load_statistics(tmp_path / "one.npz")
    with pytest.raises(ValueError, match=r"stats is float32\[21\]"):
        net.save(tmp_path / "bad.npz", w, stats[1:])


def test_a_channel_with_one_number_answers_its_shift():
    model = Model([Dense(3), BatchNorm(), Dense(2)], (4,))
    w, g = model.initial(), model.zeros()
    assert np.isfinite(model.loss_and_grad(w, np.ones((1, 4), np.float32), np.zeros(1, int), g))
    assert np.isfinite(g).all()


def test_not_a_number_is_seen(net):
    w, x = net.initial(), images(net, 3)
    w[0] = np.nan
    assert np.isnan(net.loss_and_grad(w, x, np.zeros(3, int), net.zeros()))


def test_a_bias_before_a_normalisation_has_no_say(net):
    """It moves the mean, which is taken away again: its gradient is nothing but rounding."""
    g = net.zeros()
    net.loss_and_grad(net.initial(), images(net, 6), np.zeros(6, int), g)
    bias = next(parts[1] for _, layer, parts in net.leaves(g) if isinstance(layer, Conv2d))
    assert np.abs(bias).max() < 1e-5 * np.abs(g).max()


def test_a_small_residual_network_learns_digits():
    """Half of the way from chance to certainty, in two epochs of 1,000 images."""
    train, test = load("mnist")
    train, test = train.subset(range(1000)), test.subset(range(500))
    chance = np.bincount(test.y).max() / len(test)
    model = resnet8(8, train.shape, len(train.classes))
    *_, last = train_alone(model, train, test, Momentum(0.05), epochs=2, batch=25)
    assert last.accuracy > (1 + chance) / 2
