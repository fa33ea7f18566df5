"""Layers that hold layers: what they compute, how they are named, and what they refuse."""

import threading

import numpy as np
import pytest

from dlmini import (
    AvgPool,
    BatchNorm,
    Conv2d,
    Dense,
    Dropout,
    Flatten,
    MaxPool,
    Model,
    ReLU,
    Residual,
    Skip,
    Tanh,
    Up,
    resnet8,
    unet,
)

HEAD = [Flatten(), Dense(4)]
NESTS = {
    "skip": [Conv2d(8, 3, padding="same"), ReLU(), Skip([Conv2d(8, 3, padding="same"), ReLU()]), ReLU()],
    "skip behind a relu": [Conv2d(8, 3, padding="same"), ReLU(), Skip([MaxPool(2), Conv2d(8, 1), ReLU(), Up(5)])],
    "relu last": [Residual([Conv2d(2, 3, padding="same"), ReLU()]), ReLU(), Conv2d(8, 3)],
    "relu last on both ways": [Residual([Conv2d(8, 3, 1, 1), ReLU()], [Conv2d(8, 1), ReLU()]), ReLU(), Conv2d(3, 2)],
    "relu before and behind": [ReLU(), Conv2d(2, 1), ReLU(), Residual([Conv2d(2, 1)]), ReLU(), Residual([Tanh()])],
    "borders": [Residual([Conv2d(8, 5, padding="same")], [Conv2d(8, 3, padding=(1, 1)), BatchNorm()])],
    "flatten inside": [Flatten(), Residual([Flatten(), Dense(336), Flatten()]), Skip([Flatten(), Dense(3)])],
    "pooled": [Skip([MaxPool(2), Conv2d(8, 3, 1, 1), BatchNorm(), ReLU(), Up(3, 2), Up(1, 1)]), BatchNorm()],
    "dropout": [
        Residual([Dropout(0.2), Skip([Dropout(0.4), Conv2d(3, 1)]), Conv2d(2, 1)], [Dropout(0.1)]),
        Dropout(0.3),
    ],
    "three deep": [
        Conv2d(8, 3, padding="same"),
        BatchNorm(),
        ReLU(),
        Residual([Skip([Residual([Conv2d(8, 3, padding="same"), BatchNorm()]), ReLU()]), Conv2d(8, 1), BatchNorm()]),
        ReLU(),
        AvgPool("image"),
    ],
}


def batch(model, images=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((images, *model.input)).astype(np.float32), rng.integers(0, 4, images)


@pytest.mark.parametrize("images", [1, 3])
@pytest.mark.parametrize("layers", NESTS.values(), ids=NESTS.keys())
def test_what_is_held_is_fused_without_changing_it(layers, images):
    fast, plain = (Model([*layers, *HEAD], (12, 14, 2), kernels=k) for k in ("numba", "numpy"))
    w, (x, y), g, truth = fast.initial(2), batch(fast, images), fast.zeros(), fast.zeros()
    for _ in range(2):
        loss = fast.loss_and_grad(w, x, y, g, key=(1, 2))
    assert loss == pytest.approx(plain.loss_and_grad(w, x, y, truth, key=(1, 2)), rel=1e-5)
    np.testing.assert_allclose(g, truth, rtol=0, atol=3e-5 * np.abs(truth).max())


def test_skip_puts_the_input_beside_what_comes_out():
    inner = [Conv2d(3, 3, padding="same"), ReLU()]
    model, alone = Model([Skip(inner)], (5, 6, 2)), Model(inner, (5, 6, 2))
    w, (x, _) = model.initial(), batch(model)
    np.testing.assert_array_equal(model.predict(w, x), np.concatenate([x, alone.predict(w, x)], axis=3))


def test_residual_adds_both_ways():
    inner, short = [Conv2d(3, 3, padding="same"), ReLU()], [Conv2d(3, 1)]
    model, *ways = (Model(layers, (5, 6, 2)) for layers in ([Residual(inner, short)], inner, short))
    w, (x, _) = model.initial(), batch(model)
    first, second = (way.predict(part, x) for way, part in zip(ways, np.split(w, [ways[0].size]), strict=True))
    np.testing.assert_allclose(model.predict(w, x), first + second, rtol=1e-6)
    same = Model([Residual([Tanh()])], (5, 6, 2))
    np.testing.assert_array_equal(same.predict(same.initial(), x), np.tanh(x) + x)


def test_parameters_and_flops_are_those_of_what_is_held():
    flat = [Conv2d(4, 3, padding="same"), BatchNorm(), Conv2d(2, 1)]
    model, nested = (Model(layers, (8, 8, 2)) for layers in (flat, [Residual(flat)]))
    assert nested.size == model.size
    assert nested.flops == model.flops + 8 * 8 * 2
    assert "  BatchNorm" in nested.summary()
    assert "shortcut: " in resnet8().summary()


def test_layers_inside_are_named_by_where_they_are():
    model = unet(2, 2, (8, 8, 1), 2)
    names = {name: layer for name, layer, _ in model.walk()}
    assert names["6.0"] == MaxPool(2)
    assert isinstance(names["6.7"], Skip)
    assert names["6.7.7"] == Up(4)
    arrays = [array for _, _, parts in model.leaves(model.zeros()) for array in parts]
    assert [a.shape for a in arrays] == [s for part in model.parts for s in part]


def test_first_weights_inside_depend_on_seed_and_place():
    model = Model([Skip([Conv2d(2, 1), Conv2d(2, 1), Conv2d(4, 1)])], (4, 4, 2))
    first, second, third = (parts[0] for _, _, parts in model.leaves(model.initial(3)))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(model.initial(3), model.initial(3))
    assert not np.array_equal(model.initial(3), model.initial(4))
    assert third.std() > 0


def test_dropout_inside_is_found_and_keyed():
    model = Model([Residual([Dropout(0.5)]), Flatten(), Dense(4)], (6, 6, 2))
    w, (x, y), grads = model.initial(), batch(model), []
    with pytest.raises(ValueError, match=r"key=\(seed, rank, step\)"):
        model.loss_and_grad(w, x, y, model.zeros())
    for key in ((1, 0, 0), (1, 0, 0), (1, 0, 1)):
        grads.append(model.zeros())
        model.loss_and_grad(w, x, y, grads[-1], key)
    np.testing.assert_array_equal(grads[0], grads[1])
    assert not np.array_equal(grads[0], grads[2])


def test_two_layers_with_dropout_do_not_draw_the_same_coins():
    model = Model([Skip([Dropout(0.5)])], (40, 1, 1))
    one = Model([Dropout(0.5), Skip([Dropout(0.5)])], (40, 1, 1))
    from dlmini.nn.modes import Training
    from dlmini.nn.passes import Pass

    x = np.ones((1, 40, 1, 1), np.float32)
    alone = Pass(model).forward(model.zeros(), x, Training((1,)))[..., 1]
    both = Pass(one).forward(one.zeros(), x, Training((1,)))
    assert not np.array_equal(both[..., 0] != 0, (both[..., 1] != 0) | (both[..., 0] == 0))
    assert set(np.unique(alone)) == {0, 2}


@pytest.mark.parametrize(
    ("make", "advice"),
    [
        (lambda: Model([Skip([MaxPool(2), Up(3)])], (7, 8, 1)), "images of 7 x 8 go in and images of 6 x 8 come out"),
        (lambda: Model([Skip([MaxPool(2)])], (8, 8, 1)), "as many Up as MaxPool"),
        (lambda: Model([Residual([Conv2d(3, 1)])], (8, 8, 1)), "give a shortcut that makes the same shape"),
        (lambda: Model([Residual([Conv2d(3, 1)], [Conv2d(3, 1, 2)])], (8, 8, 1)), "cannot be added"),
        (
            lambda: Model([Skip([Skip([Conv2d(2, 1), Dense(2)])])], (8, 8, 1)),
            "layer 0: in Skip of 2 layers, layer 1: Dense",
        ),
        (lambda: Model([Residual([Flatten()], [Up(2)])], (8,)), "shortcut 0: Up"),
        (lambda: Skip([]), "at least one layer"),
        (lambda: Up(0), "at least 1"),
        (lambda: BatchNorm(0), "above 0"),
        (lambda: AvgPool("image", 2), "there is no stride"),
        (lambda: AvgPool("row"), "'image', or a number"),
        (lambda: Model([Flatten(), AvgPool("image")], (4, 4, 1)), r"put it before Flatten\(\)"),
        (lambda: unet(input=(100, 66, 3)), r"multiples of 32, as in \(96, 64, 3\)"),
        (lambda: unet(input=(96,)), "multiples of 32"),
    ],
)
def test_what_cannot_be_joined_is_refused_with_advice(make, advice):
    with pytest.raises(ValueError, match=advice):
        make()


def test_two_threads_may_use_one_branching_model_at_once():
    model, found = unet(4, 2, (16, 16, 3), 3), {}
    gate = threading.Barrier(2)

    def steps(seed, wait=True):
        w, g, rng = model.initial(seed), model.zeros(), np.random.default_rng(seed)
        if wait:
            gate.wait()
        for images in (2, 5, 1):
            x, y = rng.standard_normal((images, 16, 16, 3)).astype(np.float32), rng.integers(0, 3, (images, 16, 16))
            model.loss_and_grad(w, x, y, g)
            w -= 0.1 * g
        found[seed, wait] = w

    threads = [threading.Thread(target=steps, args=(seed,)) for seed in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in range(2):
        steps(seed, wait=False)
        np.testing.assert_array_equal(found[seed, True], found[seed, False])
