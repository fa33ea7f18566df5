"""Layers shared among ranks: the serial network's weights, with the messages that the formulas count."""

import numpy as np
import pytest

from dlmini import (
    Asynchronous,
    BatchNorm,
    Classify,
    Conv2d,
    Dataset,
    Dense,
    Flatten,
    Grid,
    MaxPool,
    Model,
    ParameterServer,
    Recipe,
    ReLU,
    Residual,
    Simulated,
    Split,
    TopK,
    launch,
    ring,
)

STEPS = 20
BLOCK = [Conv2d(4, 3, padding="same"), BatchNorm(), ReLU(), Conv2d(5, 3, padding="same"), BatchNorm()]
NETS = {
    "dense": [Flatten(), Dense(7), ReLU(), Dense(6), ReLU(), Dense(3)],
    "convolutions": [Conv2d(5), ReLU(), MaxPool(2), Conv2d(4, 2), ReLU(), Flatten(), Dense(7), ReLU(), Dense(3)],
    "channels into rows": [Conv2d(5), ReLU(), Flatten(), Dense(6), ReLU(), Dense(3)],
    "a residual block": [Conv2d(5), BatchNorm(), ReLU(), Residual(BLOCK), ReLU(), Flatten(), Dense(3)],
}
# all-reduces of one step: forward, back (none where the input is the network's own)
SUMS = {"dense": (1, 0), "convolutions": (2, 1), "channels into rows": (1, 0), "a residual block": (1, 1)}


def task_of(name, dtype=np.float64):
    coin = np.random.default_rng(0)
    x, y = coin.standard_normal((24, 6, 6, 2)).astype(np.float32), coin.integers(3, size=24)
    data = Dataset("noise", x, y, ("a", "b", "c"))
    return Classify(Model(NETS[name], data.shape, dtype=dtype, kernels="numpy"), data, data, batch=6)


def descend(comm, split, steps):
    """Plain descent in the model's own precision: the loop's optimisers work in float32."""
    _, task, _ = split.place(comm, Recipe(rounds=steps))
    w, batches = task.initial(0), task.batches(0, 1, 0)
    grad = np.zeros_like(w)
    for _ in range(steps):
        task.loss_and_grad(w, next(batches), grad)
        w -= 0.1 * grad
    return w


def whole(split, results):
    found = np.full(split.size, np.nan)
    for rank, own in enumerate(results):
        split.paste(rank, own, found)
    return found


@pytest.mark.parametrize("share", ["pairs", "every output"])
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name", NETS)
def test_shared_layers_descend_as_the_serial_network(name, ranks, share):
    task = task_of(name)
    alone = launch(descend, Simulated(1), (Split(task, Grid(), micro_batches=1), STEPS))[0]
    split = Split(task, Grid(tensor=ranks), micro_batches=1, share=share)
    found = whole(split, launch(descend, Simulated(ranks), (split, STEPS)))
    assert np.abs(alone - task.initial(0)).max() > 1e-3
    np.testing.assert_allclose(found, alone, rtol=0, atol=1e-12)


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name", NETS)
def test_a_pair_costs_one_sum_forward_and_one_back(name, ranks):
    split = Split(task_of(name), Grid(tensor=ranks), micro_batches=1, how=ring)
    messages = launch(descend, Simulated(ranks), (split, 1)).books.total().messages
    assert messages == sum(SUMS[name]) * ranks * 2 * (ranks - 1)


@pytest.mark.parametrize("ranks", [2, 3])
def test_every_output_to_everyone_costs_a_gather_and_a_sum_for_each_layer(ranks):
    split = Split(task_of("dense"), Grid(tensor=ranks), micro_batches=1, share="every output", how=ring)
    messages = launch(descend, Simulated(ranks), (split, 1)).books.total().messages
    assert messages == ranks * (ranks - 1) * (3 * 1 + 2 * 2)  # three gathers forward, two sums back


def test_a_grid_of_stages_and_shared_layers_descends_as_the_serial_network():
    task = task_of("convolutions")
    split = Split(task, Grid(pipe=2, tensor=2), micro_batches=1, cuts=(6,))
    found = whole(split, launch(descend, Simulated(4), (split, STEPS)))
    alone = launch(descend, Simulated(1), (Split(task, Grid(), micro_batches=1), STEPS))[0]
    np.testing.assert_allclose(found, alone, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", NETS)
def test_what_is_cut_and_pasted_is_the_whole_again(name):
    split = Split(task_of(name), Grid(tensor=3), micro_batches=1)
    vectors = np.arange(2.0 * split.size).reshape(2, -1)
    again = np.full_like(vectors, np.nan)
    for rank in range(3):
        own = split.cut(rank, vectors)
        assert own.shape == (2, split.own_size(rank))
        split.paste(rank, own, again)
    np.testing.assert_array_equal(again, vectors)


def test_what_cannot_be_shared_is_refused_with_a_reason():
    with pytest.raises(ValueError, match=r"no two layers .* use tensor=1 there, or fewer ranks"):
        Split(task_of("dense"), Grid(tensor=8), micro_batches=1)
    split = Split(task_of("dense", np.float32), Grid(data=2, tensor=2), micro_batches=1)
    for pieces in ({"compression": TopK(0.1)}, {"sync": Asynchronous(), "topology": ParameterServer(1)}):
        with pytest.raises(ValueError, match="must stay equal there"):
            split.check(Recipe(**pieces))
