"""Parity is a law: a deterministic recipe gives the same weights, to the bit, on every transport."""

import numpy as np
import pytest
from classrooms import another, classroom

from dlmini import SGD, Momentum, launch
from dlmini.comm.mpi import Mpi
from dlmini.comm.mpi.mpiexec import missing
from dlmini.comm.processes import Processes
from dlmini.comm.schedules import halving_doubling, ring, tree
from dlmini.compression import DGC, QSGD, Int8, RandomK, Threshold, TopK
from dlmini.loop import program
from dlmini.recipe import Recipe
from dlmini.sim import Cluster, Simulated
from dlmini.sync import BulkSynchronous, LocalSGD, StaleSynchronous
from dlmini.topology import AllReduce, Gossip, ParameterServer

SIZE = 4
RECIPES = [
    Recipe(topology=AllReduce(ring)),
    Recipe(topology=AllReduce(tree), sync=LocalSGD(3), optimizer=Momentum(0.05)),
    Recipe(topology=AllReduce(halving_doubling), compression=RandomK(0.2)),
    Recipe(topology=AllReduce(), compression=TopK(0.1)),
    Recipe(topology=AllReduce(back=TopK(0.2)), compression=Int8(), sync=LocalSGD(2)),
    Recipe(topology=Gossip(), sync=LocalSGD(2, "seed"), compression=Threshold(keep=0.1)),
    Recipe(topology=Gossip("exponential", "weights")),
    Recipe(topology=Gossip("random"), compression=QSGD(bits=4)),
    Recipe(topology=ParameterServer(1), compression=Int8()),
    Recipe(topology=ParameterServer(2), sync=LocalSGD(2), compression=DGC(keep=0.1)),
    Recipe(topology=ParameterServer(1), sync=StaleSynchronous(0), optimizer=SGD(0.1)),
]


def all_of(comm, task, recipes):
    """Many recipes in one start."""
    found = []
    for recipe in recipes:
        found.append(program(comm, task, recipe))
        comm.barrier()  # a server of this recipe may be a worker of the next, and must not push too early
    return found


@pytest.fixture(scope="module")
def truth(task):
    """In virtual time, on machines of very different speed."""
    return launch(all_of, on=Simulated(SIZE, Cluster(speed={1: 0.2}, jitter=0.5)), args=(task, RECIPES))


def assert_equal(found, truth):
    for rank in range(SIZE):
        for recipe, ours, right in zip(RECIPES, found[rank], truth[rank], strict=True):
            np.testing.assert_array_equal(ours, right, err_msg=f"rank {rank}, {recipe!r}")


def test_another_order_of_events_gives_the_same_bits(task, truth):
    for seed in (1, 2, 3):
        again = launch(all_of, on=Simulated(SIZE, Cluster(jitter=1.0), seed=seed), args=(task, RECIPES))
        assert_equal(again, truth)


def test_worker_processes_give_the_same_bits(task, truth):
    assert_equal(launch(all_of, on=Processes(SIZE), args=(task, RECIPES)), truth)


def test_mpi_ranks_give_the_same_bits(task, truth):
    if missing():
        pytest.skip(missing())
    assert_equal(launch(all_of, on=Mpi(SIZE), args=(task, RECIPES)), truth)


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    with classroom(SIZE, tmp_path_factory.mktemp("room")) as (found, _):
        yield found


@pytest.mark.parametrize("encrypt", [True, False])
def test_pcs_of_a_room_give_the_same_bits(task, truth, room, encrypt):
    assert_equal(launch(all_of, on=another(room, encrypt=encrypt), args=(task, RECIPES)), truth)


def test_native_sums_of_processes_room_and_simulator_are_equal_to_the_bit(task, room):
    recipe = Recipe(sync=BulkSynchronous(), topology=AllReduce())
    places = Simulated(SIZE), Processes(SIZE), room
    first, *others = (launch(program, on=place, args=(task, recipe)) for place in places)
    for other in others:
        np.testing.assert_array_equal(first[0], other[0])
