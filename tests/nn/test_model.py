"""The promises of Model: one flat vector, in place, nothing allocated, repeatable, kept on disk."""

import pickle
import tracemalloc

import numpy as np
import pytest

from dlmini import (
    SGD,
    ZOO,
    Conv2d,
    Dense,
    Dropout,
    Flatten,
    MaxPool,
    Model,
    ReLU,
    cifar_net,
    lenet,
    unet,
    volunteer_net,
)
from dlmini.nn.modes import Training
from dlmini.nn.passes import Pass


def batch(model, images=5, seed=0):
    rng = np.random.default_rng(seed)
    *pixels, classes = model.shapes[-1]
    x = rng.standard_normal((images, *model.input)).astype(np.float32)
    return x, rng.integers(0, classes, (images, *pixels))


def assert_close(ours, truth):
    """Equal but for the rounding of float32 sums taken in another order."""
    np.testing.assert_allclose(ours, truth, rtol=0, atol=2e-5 * np.abs(truth).max())


@pytest.fixture(scope="module")
def net():
    return lenet()


def test_volunteer_net_has_exactly_258794_parameters():
    assert volunteer_net().size == 258_794


def test_unet_has_exactly_2183990_parameters():
    assert unet().size == 2_183_990
    assert unet().zeros().nbytes == 8_735_960


def test_views_cover_the_vector_once_and_share_its_memory(net):
    w = net.initial()
    views = [v for part in net.views(w) for v in part]
    assert sum(v.size for v in views) == w.size
    for i, view in enumerate(views):
        view[...] = i
    assert np.unique(w).tolist() == list(range(len(views)))


def small_unet(**options):
    return unet(8, 3, (32, 32, 3), **options)


SHALLOW = {name: build for name, build in ZOO.items() if build is not unet}


@pytest.mark.parametrize("build", SHALLOW.values(), ids=SHALLOW.keys())
def test_compiled_network_equals_plain_network(build):
    """In float32 a ReLU or a maximum within rounding of the other choice may decide otherwise: in one batch of four."""
    fast, plain, far = build(), build(kernels="numpy"), []
    for seed in range(4):
        w, (x, y) = fast.initial(seed), batch(fast, seed=seed)
        g, truth = fast.zeros(), plain.zeros()
        assert fast.loss_and_grad(w, x, y, g) == pytest.approx(plain.loss_and_grad(w, x, y, truth), rel=1e-5)
        far.append(np.abs(g - truth).max() / np.abs(truth).max())
    assert sorted(far)[2] < 2e-5
    assert max(far) < 0.1


def test_compiled_unet_equals_plain_unet():
    """So many ReLUs that some decide otherwise in nearly every batch: the loss is equal, the gradient within 2 %."""
    fast, plain = small_unet(), small_unet(kernels="numpy")
    for seed in range(3):
        w, (x, y) = fast.initial(seed), batch(fast, seed=seed)
        g, truth = fast.zeros(), plain.zeros()
        assert fast.loss_and_grad(w, x, y, g) == pytest.approx(plain.loss_and_grad(w, x, y, truth), rel=1e-5)
        assert np.linalg.norm(g - truth) < 0.02 * np.linalg.norm(truth)


@pytest.mark.parametrize(
    "layers",
    [
        [Conv2d(5, 3), ReLU(), Conv2d(6, 3, stride=2), ReLU(), Flatten(), Dense(10)],
        [Conv2d(8, 3, padding="same"), ReLU(), Flatten(), Dense(12), ReLU(), Dense(10)],
        [Flatten(), Dense(12), ReLU(), Dropout(0.3), Dense(10)],
        [Conv2d(8, 3), ReLU(), MaxPool(2), ReLU(), MaxPool(3), Flatten(), Dense(10)],
        [MaxPool(2), Conv2d(8, 5, padding="same"), ReLU(), MaxPool(2, 2), Dropout(0.2), Flatten(), Dense(10)],
        [Conv2d(16, 7, padding="same"), ReLU(), MaxPool(2), Conv2d(4, 1), Flatten(), Dense(10), ReLU()],
    ],
)
def test_unusual_networks_are_fused_without_changing_them(layers):
    fast, plain = (Model(layers, (12, 13, 3), kernels=k) for k in ("numba", "numpy"))
    w, (x, y) = fast.initial(2), batch(fast)
    g, truth = fast.zeros(), plain.zeros()
    for _ in range(2):
        loss = fast.loss_and_grad(w, x, y, g, key=(1, 2))
    assert loss == pytest.approx(plain.loss_and_grad(w, x, y, truth, key=(1, 2)), rel=1e-5)
    assert_close(g, truth)


def test_batches_of_changing_size_give_what_a_fresh_model_gives(net):
    w = net.initial()
    for images in (7, 3, 9, 1, 7):
        x, y = batch(net, images, seed=images)
        g, fresh = net.zeros(), net.zeros()
        assert net.loss_and_grad(w, x, y, g) == lenet().loss_and_grad(w, x, y, fresh)
        np.testing.assert_array_equal(g, fresh)


@pytest.mark.parametrize("build", [lenet, cifar_net, volunteer_net])
def test_a_warm_step_allocates_nothing(build):
    model = build()
    w, g, (x, y), stepper = model.initial(), model.zeros(), batch(model, 20), SGD(0.01).start(model.size)
    for _ in range(2):
        model.loss_and_grad(w, x, y, g)
        stepper.apply(w, g)
    tracemalloc.start()
    model.loss_and_grad(w, x, y, g)
    stepper.apply(w, g)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000, f"{peak} bytes: only small Python objects, no arrays, may come and go"


def test_the_same_seed_gives_the_same_bits(net):
    runs = []
    for _ in range(2):
        model = lenet()
        w, g, stepper = model.initial(5), model.zeros(), SGD(0.1).start(model.size)
        for step in range(6):
            model.loss_and_grad(w, *batch(model, 20, seed=step), g)
            stepper.apply(w, g)
        runs.append(w)
    np.testing.assert_array_equal(*runs)
    assert not np.array_equal(net.initial(5), net.initial(6))


def test_the_gradient_of_a_batch_is_the_mean_of_its_images(net):
    w, (x, y) = net.initial(), batch(net, 6)
    whole, one, total = net.zeros(), net.zeros(), net.zeros()
    net.loss_and_grad(w, x, y, whole)
    for i in range(6):
        net.loss_and_grad(w, x[i : i + 1], y[i : i + 1], one)
        total += one / 6
    assert_close(whole, total)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_share_a_batch_and_keep_its_gradient(net, threads):
    w, (x, y) = net.initial(), batch(net, 11)
    alone, together, again = net.zeros(), net.zeros(), net.zeros()
    team = lenet(threads=threads)
    loss = net.loss_and_grad(w, x, y, alone)
    assert team.loss_and_grad(w, x, y, together) == pytest.approx(loss, rel=1e-6)
    assert_close(together, alone)
    team.loss_and_grad(w, x, y, again)
    np.testing.assert_array_equal(together, again)
    assert team.loss_and_grad(w, x[:1], y[:1], together) == net.loss_and_grad(w, x[:1], y[:1], alone)


def test_predict_does_not_depend_on_how_images_are_grouped(net):
    w, (x, _) = net.initial(), batch(net, 403)
    assert_close(net.predict(w, x)[201:203], net.predict(w, x[201:203]))


def test_evaluate_counts_right_answers(net):
    w, (x, _) = net.initial(), batch(net, 20)
    y = net.predict(w, x).argmax(axis=1)
    y[:5] = (y[:5] + 1) % 10
    assert net.evaluate(w, x, y)["accuracy"] == 0.75


def test_dropout_is_drawn_from_its_key_and_silent_when_predicting():
    model = Model([Flatten(), Dense(300), Dropout(0.5), Dense(10)], (4, 4, 1))
    w, (x, y), grads = model.initial(), batch(model), []
    for key in ((1, 0, 0), (1, 0, 0), (1, 0, 1)):
        g = model.zeros()
        model.loss_and_grad(w, x, y, g, key)
        grads.append(g)
    np.testing.assert_array_equal(grads[0], grads[1])
    assert not np.array_equal(grads[0], grads[2])
    np.testing.assert_array_equal(model.predict(w, x), model.predict(w, x))


def test_dropout_keeps_the_mean():
    model = Model([Dropout(0.25), Flatten()], (50, 50, 1), kernels="numpy")
    y = Pass(model).forward(model.zeros(), np.ones((4, 50, 50, 1), np.float32), mode=Training((3,)))
    assert set(np.unique(y)) == {0, np.float32(1 / 0.75)}
    assert y.mean() == pytest.approx(1, abs=0.02)


def test_summary_counts_parameters_and_flops(net):
    text = net.summary()
    assert "80,202" in text
    assert "24 x 24 x 16" in text
    assert net.flops == sum(int(line.split()[-1].replace(",", "")) for line in text.splitlines()[2:-2])
    assert Conv2d(16, 5).flops((28, 28, 1)) == 2 * 24 * 24 * 25 * 16


def test_saved_weights_come_back_to_the_bit(net, tmp_path):
    w = net.initial(9)
    net.save(tmp_path / "w.npz", w)
    np.testing.assert_array_equal(net.load(tmp_path / "w.npz"), w)


def test_weights_of_another_network_or_a_damaged_file_are_refused(net, tmp_path):
    path = tmp_path / "w.npz"
    with pytest.raises(FileNotFoundError, match=r"model\.save"):
        net.load(path)
    volunteer_net().save(path, volunteer_net().initial())
    with pytest.raises(ValueError, match="another network"):
        net.load(path)
    small, large = unet(4, 3, (8, 8, 3)), unet(8, 3, (8, 8, 3))
    small.save(path, small.initial())
    with pytest.raises(
        ValueError, match=r"where it has `\(Conv2d\(channels=4, .*`, this one has `.*channels=8"
    ) as told:
        large.load(path)
    assert len(str(told.value)) - len(str(path)) < 350  # a U-Net's layers would fill pages
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ValueError, match="damaged"):
        net.load(path)


def test_a_model_travels_to_another_process(net):
    w, (x, y) = net.initial(), batch(net)
    g, there = net.zeros(), net.zeros()
    net.loss_and_grad(w, x, y, g)
    copy = pickle.loads(pickle.dumps(net))
    copy.loss_and_grad(w, x, y, there)
    np.testing.assert_array_equal(g, there)
