"""Prices of grids against virtual time; pictures in strips against whole ones."""

import numpy as np
import pytest

from dlmini import (
    AllReduce,
    Classify,
    Cluster,
    Conv2d,
    Dataset,
    Dense,
    Grid,
    Model,
    Recipe,
    ReLU,
    Simulated,
    Split,
    launch,
    mlp,
    ring,
    train,
    volunteer_net,
)
from dlmini.comm import Link, Switch
from dlmini.loop import program
from dlmini.nn.conv import conv_backward, conv_forward
from dlmini.parallel import costs
from dlmini.parallel.strips import StripConvolution, strip

WIRE = costs.Wire(1e-4, 1e7)


def task_of(widths, batch):
    coin = np.random.default_rng(0)
    data = Dataset("noise", coin.random((48, 16), np.float32), coin.integers(8, size=48), tuple("abcdefgh"))
    layers = [layer for width in widths for layer in (Dense(width), ReLU())]
    return Classify(Model([*layers, Dense(8)], (16,)), data, data, batch=batch)


def run_seconds(task, rows, columns):
    """A step in virtual time, on machines that compute in no time."""
    on = Simulated(rows * columns, Cluster(Switch(Link(*WIRE)), flops=float("inf"), seconds={}))
    split = Split(task, Grid(data=columns, tensor=rows), micro_batches=1, share="every output", how=ring)
    return train(split, Recipe(rounds=1, topology=AllReduce(ring)), on).result().seconds


@pytest.mark.parametrize("shape", costs.shapes_of(4))
def test_a_step_of_a_grid_takes_what_the_formula_says(shape):
    task, (rows, columns) = task_of((32, 64, 16), 24 // shape[1]), shape
    found = costs.grid_costs(task.model, 24, rows, columns, WIRE)
    assert run_seconds(task, rows, columns) == pytest.approx(costs.total(found), rel=1e-6)


@pytest.mark.parametrize(("widths", "batch"), [((64, 64), 4), ((16, 16), 48), ((256,), 8)])
def test_the_best_shape_by_formula_is_the_best_by_run(widths, batch):
    runs = {
        shape: run_seconds(task_of(widths, batch // shape[1]), *shape)
        for shape in costs.shapes_of(4)
        if batch % shape[1] == 0
    }
    assert min(runs, key=runs.get) == costs.best_shape(task_of(widths, batch).model, batch, 4, WIRE)


def test_few_rows_ask_for_model_parallelism_and_many_for_data_parallelism():
    model = mlp((512, 512), (28, 28, 1))
    assert costs.best_shape(model, 16, 16, WIRE) == (16, 1)
    assert costs.best_shape(model, 100_000, 16, costs.Wire(0.0, 1e7)) == (1, 16)


def test_communication_exceeds_computing_even_at_the_best_shape():
    """S3's claim: on Gigabit Ethernet, a machine of 20 GFLOP/s each, batch 256, 16 ranks."""
    model, wire = mlp((1024, 1024), (28, 28, 1)), costs.Wire(5e-5, 1.25e8)
    r, c = costs.best_shape(model, 256, 16, wire)
    found = costs.total(costs.grid_costs(model, 256, r, c, wire))
    assert found > costs.computing(model, 256, 16, 2e10)
    coin = np.random.default_rng(0)
    data = Dataset("noise", coin.random((256, 28, 28, 1), np.float32), coin.integers(10, size=256), tuple("0123456789"))
    split = Split(Classify(model, data, data, 256 // c), Grid(data=c, tensor=r), micro_batches=1, share="every output")
    on = Simulated(16, Cluster(Switch(Link(*wire)), flops=2e10))
    for phases in launch(program, on, (split, Recipe(rounds=1))).phases:  # and by run, in virtual time
        assert phases.communication + phases.waiting > phases.compute > 0


def test_one_weird_trick_sends_less_than_either_way_alone():
    model, wire = volunteer_net(), costs.Wire(0.0, 1e8)
    trick = costs.total(costs.one_weird_trick(model, 64, 8, wire))
    assert trick < costs.total(costs.grid_costs(model, 64, 1, 8, wire))
    assert trick < costs.total(costs.grid_costs(model, 64, 8, 1, wire))
    halos = [cost.forward for cost in costs.strip_costs(model, 64, 8, wire) if isinstance(cost.layer, Conv2d)]
    whole = [cost.forward for cost in costs.grid_costs(model, 64, 8, 1, wire) if isinstance(cost.layer, Conv2d)]
    assert all(a < b for a, b in zip(halos, whole, strict=True))


def test_one_rank_sends_nothing():
    model = volunteer_net()
    for price in (costs.one_weird_trick, costs.strip_costs):
        assert costs.total(price(model, 8, 1, WIRE)) == 0
    assert costs.total(costs.grid_costs(model, 8, 1, 1, WIRE)) == 0


# ---- strips ----


def two_layers(comm, x, dy, weights):
    """Two convolutions on strips: (y, dx, gradients) of mine."""
    layers = [StripConvolution(comm, x.shape[1], w.shape[0]) for w, _ in weights]
    mine = strip(x, comm.rank, comm.size).copy()
    for layer, (w, b) in zip(layers, weights, strict=True):
        mine = layer.forward(mine, w, b)
    slope, found = strip(dy, comm.rank, comm.size).copy(), []
    for layer, (w, _) in zip(reversed(layers), reversed(weights), strict=True):
        slope, dw, db = layer.backward(w, slope)
        found += [dw, db]
    return mine, slope, found


def whole(x, dy, weights):
    """The same with pictures in one piece, bordered with zeros."""
    kept = []
    for w, b in weights:
        h = w.shape[0] // 2
        padded = np.pad(x, ((0, 0), (h, h), (h, h), (0, 0)))
        y = np.empty((*x.shape[:3], w.shape[-1]))
        conv_forward(padded, w, b, y)
        kept.append((padded, h))
        x = y
    found = []
    for (w, b), (padded, h) in zip(reversed(weights), reversed(kept), strict=True):
        dx, dw, db = np.zeros_like(padded), np.zeros_like(w), np.zeros_like(b)
        conv_backward(padded, w, dy, dx, dw, db)
        dy = dx[:, h : dx.shape[1] - h, h : dx.shape[2] - h]
        found += [dw, db]
    return x, dy, found


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("kernels", [(3, 5), (1, 3), (5, 1)])
def test_convolutions_on_strips_are_those_of_whole_pictures(ranks, kernels):
    coin = np.random.default_rng(3)
    x, dy = coin.standard_normal((3, 11, 6, 2)), coin.standard_normal((3, 11, 6, 3))
    weights = [
        (coin.standard_normal((kernels[0],) * 2 + (2, 4)), coin.standard_normal(4)),
        (coin.standard_normal((kernels[1],) * 2 + (4, 3)), coin.standard_normal(3)),
    ]
    results = launch(two_layers, Simulated(ranks), (x, dy, weights))
    y, dx, gradients = whole(x, dy, weights)
    np.testing.assert_allclose(np.concatenate([one[0] for one in results], axis=1), y, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.concatenate([one[1] for one in results], axis=1), dx, rtol=0, atol=1e-12)
    for one in results:
        for ours, right in zip(one[2], gradients, strict=True):
            np.testing.assert_allclose(ours, right, rtol=0, atol=1e-11)


def test_strips_thinner_than_a_halo_are_refused():
    weights = [(np.zeros((5, 5, 1, 1)), np.zeros(1))]
    x = np.zeros((1, 5, 5, 1))
    with pytest.raises(ValueError, match=r"the thinnest has 1, but a neighbour asks for 2"):
        launch(two_layers, Simulated(4), (x, x, weights))
