"""ZeRO 3: the bits of plain data parallelism, half as many bytes again, an N-th of what is remembered."""

from contextlib import suppress
from itertools import islice

import numpy as np
import pytest
from examples import LONG
from small_tasks import small_task

from dlmini import (
    SGD,
    Adam,
    AllReduce,
    Classify,
    Cluster,
    Conv2d,
    Dense,
    Dropout,
    Flatten,
    Gossip,
    Grid,
    LocalSGD,
    Model,
    Momentum,
    ParameterServer,
    Recipe,
    ReLU,
    Simulated,
    Split,
    launch,
    train,
)
from dlmini.comm import Hierarchical, Link, Switch, halving_doubling, native, ring, tree
from dlmini.comm.control import Control
from dlmini.comm.errors import RankFailed
from dlmini.comm.mpi import Mpi
from dlmini.comm.mpi.mpiexec import missing
from dlmini.comm.processes import Processes
from dlmini.events import Checkpoint, Round
from dlmini.loop import program
from dlmini.topology import Zero

STEPS = 20
RANKS = (2, 3, 4, 6, 8)
SIZES = [("mlp", n) for n in RANKS]
SIZES += [("lenet", n) for n in (RANKS if LONG else (3, 4))]
SIZES += [("cifar_net", n) for n in (RANKS if LONG else (2,))]


def recipe_of(topology=None, optimizer=None, **more):
    more = {"rounds": STEPS, **more}
    return Recipe(topology=topology or AllReduce(), optimizer=optimizer or Adam(0.001), **more)


def plain(task, topology, ranks, optimizer=None, **more):
    return launch(program, Simulated(ranks), (task, recipe_of(topology, optimizer, **more)))[0]


def sharded(task, ranks, optimizer=None, how=native, bucket=None, on=None, **more):
    """The whole vector, put together of what the owners hold."""
    split = Split(task, Grid(shard=ranks), how=how, bucket=bucket)
    return whole(split, launch(program, on or Simulated(ranks), (split, recipe_of(None, optimizer, **more))))


def whole(split, results):
    found = np.full(split.size, np.nan, split.model.dtype)
    for rank in range(split.grid.size):
        split.paste(rank, results[rank], found)
    return found


@pytest.mark.parametrize(("name", "ranks"), SIZES)
def test_by_halving_and_doubling_owners_train_to_the_bits_of_an_all_reduce(name, ranks):
    task = small_task(name, batch=2 if name == "cifar_net" else 4)
    right = plain(task, AllReduce(halving_doubling), ranks)
    assert not np.array_equal(right, task.initial(0))
    np.testing.assert_array_equal(sharded(task, ranks, how=halving_doubling, bucket=4000), right)


@pytest.mark.parametrize("optimizer", [SGD(0.05), Momentum(0.02, weight_decay=0.01), Adam(0.001)], ids=repr)
@pytest.mark.parametrize("how", [native, ring, Hierarchical(2)], ids=repr)
def test_by_any_schedule_and_optimiser_with_the_bits_of_plain_training_with_the_same_owners(how, optimizer):
    task = small_task("mlp")
    for bucket in (1, 3000, 10**9):
        right = plain(task, Zero(0, how, bucket), 4, optimizer)
        np.testing.assert_array_equal(sharded(task, 4, optimizer, how, bucket), right)


def test_what_lies_between_layers_with_weights_draws_the_same_coins():
    """Layers without weights first, last and in between, one of them random."""
    layers = [Flatten(), Dropout(0.1), Dense(9), Dropout(0.3), ReLU(), Dense(8), Dropout(0.2), Dense(10), ReLU()]
    task = small_task("mlp")
    task = Classify(Model(layers, task.train.shape), task.train, task.test, batch=4)
    np.testing.assert_array_equal(sharded(task, 3, how=ring), plain(task, Zero(0, ring, 1), 3))


def test_more_owners_than_numbers_in_a_layer():
    task = small_task("mlp")
    layers = [Conv2d(1, 2), ReLU(), Flatten(), Dense(10)]
    task = Classify(Model(layers, task.train.shape), task.train, task.test, batch=4)
    split = Split(task, Grid(shard=8))
    assert sorted(split.parts(rank)[0].size for rank in range(8)) == [0, 0, 0, 1, 1, 1, 1, 1]
    np.testing.assert_array_equal(sharded(task, 8, how=halving_doubling), plain(task, AllReduce(halving_doubling), 8))


@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
def test_three_vectors_are_sent_but_for_one_s_own_part(ranks):
    """Two gathers and a scatter, each (N-1)/N of the vector on every rank."""
    task = small_task("mlp")
    for bucket in (None, 3000):
        split = Split(task, Grid(shard=ranks), bucket=bucket)
        books = launch(program, Simulated(ranks), (split, recipe_of(rounds=3))).books
        assert books.total().nbytes == 3 * 3 * (ranks - 1) * 4 * task.size


def test_owners_remember_their_part_of_everything():
    task = small_task("mlp")
    split, sizes = Split(task, Grid(shard=4)), []
    events = launch(program, Simulated(4), (split, recipe_of(checkpoint_every=STEPS))).events
    for event in (e for e in events if isinstance(e, Checkpoint)):
        vectors = {event.memory[name].size for name in ("w", "outer.mean", "outer.square")}
        assert vectors == {split.own_size(event.rank)}
        sizes.append(*vectors)
    assert sum(sizes) == task.size
    assert max(sizes) - min(sizes) <= 3


def learn(comm, split):
    """Plain descent in float64: what decides is the NumPy kernels' own precision."""
    _, task, _ = split.place(comm, Recipe())
    w, grad = task.initial(0), np.zeros(task.size)
    for batch in islice(task.batches(0, 1, 0), STEPS):
        task.loss_and_grad(w, batch, grad)
        w -= 0.05 * grad
    return w


def test_owners_of_float64_descend_as_one_rank_with_all_their_batches():
    task, ranks = small_task("mlp", dtype=np.float64, kernels="numpy"), 3
    split = Split(task, Grid(shard=ranks), bucket=2000)
    found = whole(split, launch(learn, Simulated(ranks), (split,)))
    w, grad, total = task.initial(0), np.zeros(task.size), np.zeros(task.size)
    streams = [task.batches(rank, ranks, 0) for rank in range(ranks)]
    for _ in range(STEPS):
        total[:] = 0
        for stream in streams:
            task.loss_and_grad(w, next(stream), grad)
            total += grad
        w -= 0.05 * (total / ranks)
    assert np.abs(w - task.initial(0)).max() > 1e-3
    assert np.abs(found - w).max() < 1e-12


def test_all_transports_give_the_same_bits():
    task = small_task("lenet")
    split = Split(task, Grid(shard=3), how=ring, bucket=3000)
    right = launch(program, Simulated(3, Cluster(jitter=0.5, speed={1: 0.3})), (split, recipe_of()))
    for place in [Simulated(3, Cluster(priced=False)), Processes(3), *([] if missing() else [Mpi(3)])]:
        found = launch(program, place, (split, recipe_of()))
        for rank in range(3):
            np.testing.assert_array_equal(found[rank], right[rank], err_msg=f"rank {rank} on {place}")


RECIPES = {
    "all-reduce": {"topology": AllReduce(halving_doubling)},
    "sums in buckets": {"topology": AllReduce(halving_doubling, bucket=500)},
    "gradients dropped": {"topology": Zero(2, halving_doubling)},
    "local steps": {"sync": LocalSGD(2)},
    "gossip": {"topology": Gossip("ring", "weights"), "sync": LocalSGD(2)},
    "a server": {"topology": ParameterServer(1)},
}


@pytest.mark.parametrize("name", RECIPES)
def test_replicas_that_are_shared_out_learn_by_any_recipe(name):
    task, data = small_task("mlp"), 2 + (name == "a server")
    split = Split(task, Grid(data=data, shard=2))
    recipe = recipe_of(**{"rounds": 60, "optimizer": Momentum(0.02), **RECIPES[name]})
    found = train(split, recipe, Simulated(2 * data)).result()
    assert found.accuracy > 0.9
    if "all-reduce" in name or "buckets" in name or "dropped" in name:  # 2 x 2 by halves: the order of 4 by halves
        right = plain(task, AllReduce(halving_doubling), 4, Momentum(0.02), rounds=60)
        way = np.linalg.norm(right - task.initial(0))
        assert np.linalg.norm(found.weights - right) < 1e-4 * way


def test_a_run_goes_on_from_a_checkpoint_to_the_bit(tmp_path):
    split = Split(small_task("mlp"), Grid(shard=3))
    recipe = recipe_of(rounds=8, checkpoint_every=3)
    right = train(split, recipe, Simulated(3), folder=tmp_path).result()
    again = train(split, recipe, Simulated(3), resume=tmp_path).result()
    np.testing.assert_array_equal(again.weights, right.weights)
    with pytest.raises(ValueError, match="split"):  # other rows for everybody: not the same run
        train(Split(split.task, Grid(shard=2)), recipe, Simulated(2), resume=tmp_path)


def test_looks_see_the_whole_network_and_every_owner_tells_its_own_loss():
    task, more = small_task("mlp"), {"rounds": 8, "evaluate_every": 4}
    right = train(task, recipe_of(AllReduce(halving_doubling), **more), Simulated(3)).result()
    split = Split(task, Grid(shard=3), how=halving_doubling)
    found = train(split, recipe_of(**more), Simulated(3)).result()
    assert [(m.loss, m.accuracy) for m in found.measured] == [(m.loss, m.accuracy) for m in right.measured]
    for rank in range(3):
        told = [[e.loss for e in run.events if isinstance(e, Round) and e.rank == rank] for run in (found, right)]
        assert told[0] == told[1]


def test_the_next_weights_come_while_some_are_in_use():
    """Messages take as long as work: beside it most of them cost nothing."""
    task = small_task("mlp")
    layers = [Flatten(), *[layer for _ in range(6) for layer in (Dense(784), ReLU())], Dense(10)]
    task = Classify(Model(layers, task.train.shape), task.train, task.test, batch=4)
    split = Split(task, Grid(shard=2))
    flops, nbytes = 3 * task.model.flops * task.batch, 3 * 4 * task.size / 2
    slow = Cluster(Switch(Link(0.0, nbytes)), flops=flops)  # a second of work, and one of messages
    seconds = launch(program, Simulated(2, slow), (split, recipe_of(rounds=1))).seconds
    assert 1.0 < seconds < 1.5


def test_an_owner_that_is_killed_is_named():
    control = Control(3)
    run = train(Split(small_task("mlp"), Grid(shard=3)), recipe_of(rounds=100_000), Processes(3), control=control)
    with suppress(StopIteration):
        next(event for event in run.history if isinstance(event, Round) and event.t == 5)
    control.kill(1)
    with pytest.raises(RankFailed, match="rank 1 was killed by SIGKILL") as killed:
        run.result(240)
    said = "rank 1 was owner 1 of 3 in replica 0 of 1, with 13,6"
    assert any(said in note and "cannot go on" in note for note in killed.value.__notes__), killed.value.__notes__


def test_what_has_no_meaning_is_refused_with_a_reason():
    task = small_task("mlp")
    with pytest.raises(ValueError, match=r"whole networks only; leave shard out"):
        Grid(pipe=2, shard=2)
    with pytest.raises(ValueError, match=r"leave micro_batches out"):
        Split(task, Grid(shard=2), micro_batches=2)
    with pytest.raises(ValueError, match=r"use Grid\(shard=...\)"):
        Split(task, Grid(data=2), bucket=100)
    with pytest.raises(ValueError, match="a schedule with halves"):
        Split(task, Grid(shard=2), how=tree)
    with pytest.raises(ValueError, match="needs 4 ranks, but there are 3"):
        train(Split(task, Grid(shard=4)), recipe_of(), Simulated(3))
    with pytest.raises(ValueError, match=r"owners, but .* numbers to own: use at most"):  # at once, not after a minute
        Split(task, Grid(shard=10**9))
    with pytest.raises(ValueError, match="split already; give the task itself"):
        Split(Split(task, Grid(shard=2)), Grid(pipe=2))
