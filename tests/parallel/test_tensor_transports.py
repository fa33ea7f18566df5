"""Shared layers on every transport, with equal bits; and grids of data x pipe x tensor against the serial network."""

from itertools import islice

import numpy as np
import pytest
from examples import LONG
from test_equality import PRECISE, learned, serial, task_of

from dlmini import SGD, AllReduce, Grid, Mpi, Processes, Recipe, Simulated, Split, launch, naive, one_f_one_b, ring
from dlmini.comm.mpi.mpiexec import missing
from dlmini.loop import program

RECIPE = Recipe(rounds=20, optimizer=SGD(0.01), topology=AllReduce(naive))
# network, grid, micro-batches, cuts
GRIDS = [
    ("mlp", Grid(1, 1, 4), 1, None),
    ("mlp", Grid(2, 1, 3), 1, None),
    ("mlp", Grid(2, 2, 2), 2, (5,)),
    ("lenet", Grid(1, 1, 4), 1, None),
    ("lenet", Grid(3, 1, 2), 1, None),
    ("lenet", Grid(2, 2, 2), 2, (6,)),
    ("cifar_net", Grid(1, 1, 4), 1, None),
    *([("cifar_net", Grid(1, 1, 6), 1, None), ("cifar_net", Grid(2, 2, 2), 2, (10,))] if LONG else []),
]


def split_of(name, grid, micros, cuts, share="pairs", **options):
    return Split(task_of(name, **options), grid, one_f_one_b, micros, cuts, share, ring)


@pytest.mark.parametrize(("name", "grid", "micros", "cuts"), GRIDS, ids=str)
def test_a_grid_of_four_to_eight_ranks_gives_the_serial_network_in_float64(name, grid, micros, cuts):
    found = learned(split_of(name, grid, micros, cuts, **PRECISE))
    right = serial(name, grid.data, micros, **PRECISE)
    assert np.abs(right - task_of(name, **PRECISE).initial(0)).max() > 1e-3
    assert np.abs(found - right).max() < 1e-12


def test_compiled_kernels_stay_close_to_the_serial_network():
    """Sums over ranks round otherwise, and a ReLU may open: within 1e-3 of the way after 20 steps."""
    for name in ("lenet", "mlp"):
        found, right = learned(split_of(name, Grid(1, 1, 2), 1, None)), serial(name)
        assert np.linalg.norm(found - right) < 1e-3 * np.linalg.norm(right - task_of(name).initial(0))


SPLITS = {
    2: [("lenet", Grid(1, 1, 2), 1, None), ("cifar_net", Grid(1, 1, 2), 1, None)],
    4: [("lenet", Grid(2, 1, 2), 1, None), ("lenet", Grid(1, 2, 2), 2, (6,)), ("cifar_net", Grid(1, 1, 4), 1, None)],
}


def all_of(comm, splits):
    """Many splits in one start."""
    return [program(comm, split, RECIPE) for split in splits]


def on_each_rank(on):
    splits = [split_of(*one) for one in SPLITS[on.size]]
    splits += [split_of(*one, share="every output") for one in islice(SPLITS[on.size], 1)]
    return launch(all_of, on, (splits,))


def assert_equal(found, truth):
    for rank in range(len(truth)):
        for number, (ours, right) in enumerate(zip(found[rank], truth[rank], strict=True)):
            np.testing.assert_array_equal(ours, right, err_msg=f"rank {rank}, split {number}")


@pytest.mark.parametrize("size", SPLITS)
def test_worker_processes_give_the_bits_of_virtual_time(size):
    assert_equal(on_each_rank(Processes(size)), on_each_rank(Simulated(size)))


@pytest.mark.parametrize("size", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_mpi_ranks_give_the_bits_of_virtual_time(size):
    if missing():
        pytest.skip(missing())
    assert_equal(on_each_rank(Mpi(size)), on_each_rank(Simulated(size)))


def test_more_ranks_than_a_layer_has_outputs_leave_it_whole_or_are_refused():
    assert split_of("mlp", Grid(1, 1, 8), 1, None).own_size(0) < task_of("mlp").size
    with pytest.raises(ValueError, match="no two layers"):
        split_of("mlp", Grid(1, 1, 50), 1, None)
