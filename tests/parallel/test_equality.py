"""Every pipeline equals the serial network after 20 steps: on the networks of the course, on every transport.

To the bit with the serial twin, one rank that takes the same micro-batches one after another; with whole batches to the
bit for one micro-batch, else to 1e-12 in float64 on the NumPy kernels. In float32 the distance is measured against the
way that the weights have gone.
"""

from functools import cache
from itertools import islice

import numpy as np
import pytest

from dlmini import (
    SGD,
    AllReduce,
    Classify,
    Dataset,
    Grid,
    Mpi,
    Processes,
    Recipe,
    Simulated,
    Split,
    cifar_net,
    gpipe,
    interleaved,
    launch,
    lenet,
    mlp,
    naive,
    one_f_one_b,
    pipedream,
    resnet8,
    train,
    zero_bubble,
)
from dlmini.comm.mpi.mpiexec import missing
from dlmini.loop import program

STEPS, RATE = 20, 0.01
NETS = {
    "lenet": lambda **kw: lenet((20, 20, 1), **kw),
    "cifar_net": lambda **kw: cifar_net((12, 12, 3), **kw),
    "resnet8": lambda **kw: resnet8(8, (12, 12, 3), **kw),
    "mlp": lambda **kw: mlp((40, 30, 20, 20, 12), (12, 12, 1), **kw),
}
GRIDS = [Grid(1, 2), Grid(1, 3), Grid(2, 2), Grid(1, 4), Grid(2, 3), Grid(1, 6), Grid(2, 4), Grid(1, 8)]


@cache
def task_of(name, **options):
    model = NETS[name](**options)
    rng, rows = np.random.default_rng(1), 48
    data = Dataset(
        "noise", rng.random((rows, *model.input), np.float32), rng.integers(0, 10, rows), tuple("abcdefghij")
    )
    return Classify(model, data, data, batch=6)


def learn(comm, split):
    """20 steps of plain descent in the network's own precision; gradients of replicas are added in their order."""
    group, task, _ = split.place(comm, Recipe())
    w, grad = task.initial(0), np.zeros(task.size, split.model.dtype)
    for batch in islice(task.batches(group.rank, group.size, 0), STEPS):
        task.loss_and_grad(w, batch, grad)
        w -= RATE * group.allreduce(grad, naive) / group.size
    return w


def learned(split, on=None):
    """The whole vector, put together."""
    results = launch(learn, on or Simulated(split.grid.size), (split,))
    whole = np.empty(split.size, split.model.dtype)
    for rank in reversed(range(split.grid.size)):
        split.paste(rank, results[rank], whole)
    return whole


@cache
def serial(name, data=1, micros=1, **options):
    """The twin: whole networks on `data` ranks. With one micro-batch it is the plain task."""
    return learned(Split(task_of(name, **options), Grid(data), gpipe, micros))


PRECISE = {"dtype": np.float64}


@pytest.mark.parametrize("name", ["lenet", "mlp"])
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_on_2_to_8_ranks_pipelines_give_the_serial_network_in_float64(name, grid):
    task = task_of(name, **PRECISE)
    whole = learned(Split(task, grid, one_f_one_b, 1))
    np.testing.assert_array_equal(whole, serial(name, grid.data, **PRECISE))
    cut = learned(Split(task, grid, one_f_one_b, 4))
    np.testing.assert_array_equal(cut, serial(name, grid.data, 4, **PRECISE))
    assert np.abs(cut - serial(name, grid.data, **PRECISE)).max() < 1e-12


@pytest.mark.parametrize("name", ["cifar_net", "resnet8"])
@pytest.mark.parametrize("schedule", [zero_bubble, interleaved(2)], ids=repr)
def test_convolutions_in_pipelines_give_the_serial_network_in_float64(name, schedule):
    """BatchNorm (resnet8) sees micro-batches, in the twin too; so whole batches are another network to it."""
    found = learned(Split(task_of(name, **PRECISE), Grid(1, 2), schedule, 2))
    np.testing.assert_array_equal(found, serial(name, 1, 2, **PRECISE))
    if name == "cifar_net":
        assert np.abs(found - serial(name, **PRECISE)).max() < 1e-12
    else:
        assert np.abs(found - serial(name, **PRECISE)).max() > 1e-6


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("schedule", [gpipe, one_f_one_b, interleaved(2), zero_bubble], ids=repr)
def test_compiled_kernels_give_the_twins_bits_and_stay_close_to_whole_batches(name, schedule):
    """Another cut of the batch rounds otherwise, and a ReLU may open: within 1e-3 of the way after 20 steps."""
    task = task_of(name)
    found = learned(Split(task, Grid(1, 2), schedule, 2))
    np.testing.assert_array_equal(found, serial(name, 1, 2))
    whole, start = serial(name), task.initial(0)
    if name != "resnet8":
        assert np.linalg.norm(found - whole) < 1e-3 * np.linalg.norm(whole - start)


@pytest.mark.parametrize("cuts", [(1,), (5,), (9,), (12,)])
def test_uneven_cuts_within_and_between_fused_layers(cuts):
    found = learned(Split(task_of("cifar_net"), Grid(1, 2), one_f_one_b, 1, cuts))
    np.testing.assert_array_equal(found, serial("cifar_net"))


SPLITS = {
    2: [(Grid(1, 2), one_f_one_b, 3), (Grid(1, 2), interleaved(2), 4), (Grid(1, 2), pipedream, 1)],
    4: [
        (Grid(2, 2), zero_bubble, 2),
        (Grid(2, 2), interleaved(2), 4),
        (Grid(1, 4), gpipe, 4),
        (Grid(1, 4), pipedream, 1),
    ],
}
RECIPE = Recipe(rounds=STEPS, optimizer=SGD(RATE), topology=AllReduce(naive))


def all_of(comm, splits):
    """Many splits in one start."""
    return [program(comm, split, RECIPE) for split in splits]


def on_each_rank(on):
    return launch(all_of, on, ([Split(task_of("lenet"), *one) for one in SPLITS[on.size]],))


def assert_equal(found, truth):
    for rank in range(len(truth)):
        for which, ours, right in zip(SPLITS[len(truth)], found[rank], truth[rank], strict=True):
            np.testing.assert_array_equal(ours, right, err_msg=f"rank {rank}, {which}")


@pytest.mark.parametrize("size", SPLITS)
def test_worker_processes_give_the_bits_of_virtual_time(size):
    assert_equal(on_each_rank(Processes(size)), on_each_rank(Simulated(size)))


@pytest.mark.parametrize("size", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_mpi_ranks_give_the_bits_of_virtual_time(size):
    if missing():
        pytest.skip(missing())
    assert_equal(on_each_rank(Mpi(size)), on_each_rank(Simulated(size)))


def test_a_trained_pipeline_is_the_trained_network():
    """Through `train`, with looks: the same weights, and what they reach."""
    recipe = Recipe(rounds=STEPS, optimizer=SGD(RATE), evaluate_every=10)
    task = task_of("lenet")
    alone = train(task, recipe, Simulated(1)).result()
    for on in (Simulated(3), Processes(3)):
        found = train(Split(task, Grid(pipe=3), one_f_one_b, 1), recipe, on).result()
        np.testing.assert_array_equal(found.weights, alone.weights)
        assert [m.loss for m in found.measured] == [m.loss for m in alone.measured]
