"""Parts of a network: the same bits as within the whole, several batches under way."""

import numpy as np
import pytest

from dlmini import AvgPool, Conv2d, Dense, Dropout, Flatten, MaxPool, Model, ReLU, Tanh, cifar_net, lenet, mlp, resnet8
from dlmini.nn.modes import Training
from dlmini.nn.passes import Pass

NETS = {
    "lenet": lambda **kw: lenet(**kw),
    "cifar_net": lambda **kw: cifar_net(**kw),
    "mlp": lambda **kw: mlp((24, 16, 8), **kw),
    "dropout": lambda **kw: Model(
        [Conv2d(8, 3), Tanh(), Dropout(0.3), AvgPool(2), Flatten(), Dropout(0.5), Dense(9), ReLU(), Dense(4)],
        (9, 9, 2),
        **kw,
    ),
    "strided": lambda **kw: Model(
        [Conv2d(8, 3, padding="same"), ReLU(), MaxPool(2), Conv2d(5, 3, 2, 1), Flatten(), Dense(3)], (8, 8, 3), **kw
    ),
    "resnet8": lambda **kw: resnet8(8, **kw),
}
KEY = (3, 1, 4)


def batch_for(model, images=6):
    rng = np.random.default_rng(0)
    classes = model.shapes[-1][0]
    return rng.random((images, *model.input)).astype(model.dtype), rng.integers(0, classes, images)


def by_parts(model, cuts, w, x, y, grad):
    """One batch through all parts and back."""
    parts = [model.part(a, b) for a, b in zip((0, *cuts), (*cuts, len(model.layers)), strict=True)]
    passes = [part.enter() for part in parts]
    for part, one in zip(parts, passes, strict=True):
        x = one.forward(w[part.low : part.high].copy(), x, part.mode(KEY)).copy()
    loss, slope = model.loss(one.ops, x, y, one.slope, len(x)), None
    for part, one in zip(reversed(parts), reversed(passes), strict=True):
        slope = one.backward(w[part.low : part.high].copy(), grad[part.low : part.high], slope)
        slope = slope if slope is None else slope.copy()
    return loss


@pytest.mark.parametrize("kernels", ["numpy", "numba"])
@pytest.mark.parametrize("name", NETS)
def test_parts_one_behind_the_other_are_the_whole_network_to_the_bit_wherever_it_is_cut(name, kernels):
    model = NETS[name](kernels=kernels)
    (x, y), w, whole, grad = batch_for(model), model.initial(5), model.zeros(), model.zeros()
    loss = model.loss_and_grad(w, x, y, whole, KEY)
    for cut in range(1, len(model.layers)):
        assert by_parts(model, (cut,), w, x, y, grad) == loss
        np.testing.assert_array_equal(grad, whole, err_msg=f"cut before {model.layers[cut]}")
    assert by_parts(model, range(1, len(model.layers)), w, x, y, grad) == loss
    np.testing.assert_array_equal(grad, whole)


@pytest.mark.parametrize("name", NETS)
def test_parts_begin_with_the_weights_of_the_whole_and_cover_its_vector(name):
    model = NETS[name]()
    parts = [model.part(i, i + 1) for i in range(len(model.layers))]
    np.testing.assert_array_equal(np.concatenate([part.initial(7) for part in parts]), model.initial(7))
    assert [part.low for part in parts] == [0, *(part.high for part in parts[:-1])]
    assert parts[-1].high == model.size
    assert sum(part.flops for part in parts) == model.flops
    np.testing.assert_array_equal(model.part(1, 4).part(1, 2).initial(7), parts[2].initial(7))


def test_two_batches_may_be_under_way_at_once():
    model = lenet(dtype=np.float64)
    part, rng = model.part(3, 8), np.random.default_rng(1)
    w, grads = part.initial(), [part.zeros(), part.zeros()]
    xs, dys = rng.random((2, 4, *part.input)), rng.random((2, 4, 128))
    first, second = part.enter(), part.enter()
    first.forward(w, xs[0], part.mode(KEY)), second.forward(w, xs[1], part.mode(KEY))
    found = [first.backward(w, grads[0], dys[0]).copy(), second.backward(w, grads[1], dys[1]).copy()]
    for x, dy, grad, dx in zip(xs, dys, grads, found, strict=True):
        alone, truth = Pass(part, inputs=True), part.zeros()
        alone.forward(w, x, Training(KEY))
        np.testing.assert_array_equal(dx, alone.backward(w, truth, dy))
        np.testing.assert_array_equal(grad, truth)


@pytest.mark.parametrize("kernels", ["numpy", "numba"])
@pytest.mark.parametrize("name", NETS)
def test_gradients_of_weights_may_come_later_than_those_of_inputs_with_the_same_bits(name, kernels):
    model = NETS[name](kernels=kernels)
    for cut in (0, 1):
        part, rng = model.part(cut, len(model.layers)), np.random.default_rng(2)
        x, dy = (rng.random((5, *shape)).astype(model.dtype) for shape in (part.input, part.shapes[-1]))
        w, whole, late = part.initial(), part.zeros(), part.zeros()
        one, two = part.enter(), part.enter(defer=True)
        one.forward(w, x, part.mode(KEY)), two.forward(w, x, part.mode(KEY))
        dx = one.backward(w, whole, dy)
        np.testing.assert_array_equal(two.backward_inputs(w, late, dy), dx)
        arrays = zip(two.stages, two.views("grad", late), strict=True)
        assert not any(array.any() for layer, held in arrays for array in held if layer.defers)
        two.backward_weights(w, late)
        np.testing.assert_array_equal(late, whole)


@pytest.mark.parametrize(("a", "b"), [(-1, 2), (2, 2), (3, 2), (0, 11), (10, 11), ("0", 2), (0, 2.0)])
def test_a_part_without_layers_or_beyond_them_is_refused(a, b):
    with pytest.raises((ValueError, TypeError), match="it must be a whole number from"):
        lenet().part(a, b)
