"""`Segment`: the class of every pixel, as a task that every recipe can learn."""

import numpy as np
import pytest

from dlmini import (
    SGD,
    AllReduce,
    Classify,
    Conv2d,
    Dataset,
    Gossip,
    Int8,
    LocalSGD,
    Model,
    Momentum,
    ParameterServer,
    Processes,
    Recipe,
    ReLU,
    Segment,
    Simulated,
    Star,
    TopK,
    aerial,
    blobs,
    launch,
    ring,
    shapes,
    train,
    unet,
)
from dlmini.comm.mpi import Mpi
from dlmini.comm.mpi.mpiexec import missing
from dlmini.loop import program
from dlmini.segment import by_class, table


def small(turns=True, unlabelled=0):
    sets = aerial(12, 16, unlabelled=unlabelled), aerial(4, 16, unlabelled=unlabelled, seed=1)
    return Segment(unet(2, 2, input=(16, 16, 3)), *sets, batch=2, turns=turns)


@pytest.fixture(scope="module")
def pixels():
    return small()


def plain_net(classes=6, side=16):
    return Model([Conv2d(4, 3, padding="same"), ReLU(), Conv2d(classes, 1)], (side, side, 3))


# ---- what is measured ----


@pytest.mark.parametrize("net", [plain_net(), unet(2, 2, input=(16, 16, 3))], ids=["plain", "unet"])
def test_loss_accuracy_and_iou_are_those_of_the_labelled_pixels(net):
    """Against one pass over all pixels at once, in float64."""
    data = aerial(5, 16, unlabelled=1)
    task, w = Segment(net, data, data, batch=2), net.initial(3)
    scores = net.predict(w, data.scaled().x, task.statistics(w)).astype(np.float64)
    known = data.y != 255
    told, truth = scores[known], data.y[known].astype(int)
    logs = told - np.log(np.exp(told - told.max(1, keepdims=True)).sum(1, keepdims=True)) - told.max(1, keepdims=True)
    guess, iou = told.argmax(1), []
    for k in range(6):
        either = ((guess == k) | (truth == k)).sum()
        iou += [((guess == k) & (truth == k)).sum() / either] if either else []
    found = task.evaluate(w)
    assert 0 < (~known).sum() < known.sum()
    assert found["loss"] == pytest.approx(-logs[np.arange(len(truth)), truth].mean(), rel=1e-5)
    assert found["accuracy"] == pytest.approx((guess == truth).mean())
    assert found["iou"] == pytest.approx(np.mean(iou))


def test_a_confusion_matrix_says_of_each_class_what_was_found():
    scores = by_class(np.array([[6, 2, 0], [1, 3, 0], [0, 0, 0]]), ("a", "b", "c"))
    assert scores[0] == ("a", pytest.approx(8 / 12), pytest.approx(6 / 9), pytest.approx(6 / 8), pytest.approx(6 / 7))
    assert scores[1] == ("b", pytest.approx(4 / 12), pytest.approx(3 / 6), pytest.approx(3 / 4), pytest.approx(3 / 5))
    assert scores[2].share == 0
    assert np.isnan(scores[2][2:]).all()
    assert "| a | 66.7% | 66.7% | 75.0% | 85.7% |" in table(scores)


def test_a_mean_of_weights_is_tried_with_statistics_of_its_own(pixels):
    """Averaged weights have other statistics than either: they follow from the weights, nothing is stored."""
    a, b = pixels.initial(0), pixels.initial(1)
    middle = (a + b) / 2
    assert pixels.evaluate(middle) == pixels.evaluate(middle.copy())
    assert not np.allclose(pixels.statistics(middle), (pixels.statistics(a) + pixels.statistics(b)) / 2)


# ---- what is learned from ----


def test_unlabelled_pixels_teach_nothing():
    """The gradient is the same whatever is seen there, where a pixel sees itself alone; and equal halves of a batch
    have the whole's in their middle."""
    task, grads = small(False, unlabelled=1), []
    x, y = task.train.scaled().x[:4], task.train.y[:4].astype(np.int64)
    alone, net = Model([Conv2d(4, 1), ReLU(), Conv2d(6, 1)], (16, 16, 3)), plain_net()
    for there in (y != 255, y == 255):
        for noise in (0.0, 0.5):
            grads.append(alone.zeros())
            alone.loss_and_grad(alone.initial(), x + np.float32(noise) * ~there[..., None], y, grads[-1])
    np.testing.assert_array_equal(grads[0], grads[1])
    assert not np.allclose(grads[2], grads[3])  # labelled pixels do teach
    grads = [net.zeros()]
    net.loss_and_grad(net.initial(), x, y, grads[0])
    halves = [net.zeros(), net.zeros()]
    for part, grad in zip((slice(0, 2), slice(2, 4)), halves, strict=True):
        net.loss_and_grad(net.initial(), x[part], y[part], grad)
    np.testing.assert_allclose((halves[0] + halves[1]) / 2, grads[0], atol=1e-6)
    threads = Model(net.layers, net.input, threads=2)
    threads.loss_and_grad(net.initial(), x, y, halves[0])
    np.testing.assert_allclose(halves[0], grads[0], atol=1e-6)
    blank = net.zeros() + 7
    assert net.loss_and_grad(net.initial(), x, np.full_like(y, 255), blank) == 0
    assert not blank.any()


def test_batches_are_turned_by_seed_rank_and_step_and_go_on_where_they_stopped(pixels):
    def some(seed=5, shard=1, skip=0, task=pixels):
        found = task.batches(shard, 2, seed, skip)
        return [(next(found).x.copy(), found)[0] for _ in range(5)]

    for a, b in zip(some(), some(), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(some(skip=3)[0], some()[3])
    assert not np.array_equal(some()[0], some(task=small(turns=False))[0])
    assert not np.array_equal(some()[0], some(seed=6)[0])


def test_a_checkpoint_is_not_resumed_with_other_turns(pixels, tmp_path):
    recipe = Recipe(optimizer=SGD(0.05), rounds=4, checkpoint_every=2)
    whole = train(pixels, recipe, Simulated(2), folder=tmp_path).result()
    resumed = train(pixels, recipe, Simulated(2), resume=tmp_path / "round-000002.npz").result()
    np.testing.assert_array_equal(resumed.weights, whole.weights)
    with pytest.raises(ValueError, match="turns"):
        train(small(False), recipe, Simulated(2), resume=tmp_path / "round-000002.npz").result()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Segment(Model([Conv2d(3, 1)], (2, 2, 3)), blobs(9), blobs(9)), "rows of"),
        (
            lambda: Segment(plain_net(3, 8), *[Dataset("p", shapes(4, 8).x, np.arange(4) % 3, tuple("abc"))] * 2),
            "one label for each row; Segment needs masks: use Classify",
        ),
        (lambda: Segment(plain_net(5, 8), shapes(2, 8), shapes(2, 8)), r"answers \(8, 8, 5\) .* needs \(8, 8, 4\)"),
        (lambda: Segment(plain_net(4, 8), shapes(2, 8), shapes(2, 8), sample=0), "sample is 0"),
    ],
)
def test_what_does_not_fit_is_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


# ---- recipes of earlier lessons, unchanged ----

SIZE = 3
RECIPES = [
    Recipe(topology=AllReduce(ring), optimizer=Momentum(0.05)),
    Recipe(topology=ParameterServer(1)),
    Recipe(topology=Gossip()),
    Recipe(topology=AllReduce(ring), sync=LocalSGD(2)),
    Recipe(topology=AllReduce(), compression=TopK(0.05)),
    Recipe(topology=Star(back=Int8()), compression=Int8()),
]


def all_of(comm, task, recipes):
    """Many recipes in one start."""
    found = []
    for recipe in recipes:
        found.append(program(comm, task, recipe))
        comm.barrier()  # a server of this recipe may be a worker of the next
    return found


@pytest.fixture(scope="module")
def weights(pixels):
    from dataclasses import replace

    recipes = [replace(recipe, rounds=4) for recipe in RECIPES]
    return recipes, launch(all_of, on=Simulated(SIZE), args=(pixels, recipes))


@pytest.mark.parametrize("place", [Processes, Mpi])
def test_recipes_of_earlier_lessons_give_equal_bits_on_all_transports(pixels, weights, place):
    if place is Mpi and missing():
        pytest.skip(missing())
    recipes, truth = weights
    found = launch(all_of, on=place(SIZE), args=(pixels, recipes))
    for rank in range(SIZE):
        for recipe, ours, right in zip(recipes, found[rank], truth[rank], strict=True):
            np.testing.assert_array_equal(ours, right, err_msg=f"rank {rank}, {recipe!r}")


def test_they_learn(pixels, weights):
    before = pixels.evaluate(pixels.initial(0))["loss"]
    for w in weights[1][0]:
        assert pixels.evaluate(w)["loss"] < before


def test_segment_is_a_task_like_classify(pixels):
    assert isinstance(pixels, Classify)
    assert pixels.flops == 3 * pixels.model.flops * 2
    assert pixels.steps(2, 3) == 4
