"""The meter against the arrays that ranks really allocate: to the byte, and within a tenth for activations."""

import os
import tracemalloc

import numpy as np
import pytest
from examples import LONG
from small_tasks import pictures, small_task

from dlmini import (
    SGD,
    Adam,
    AllReduce,
    Classify,
    Dataset,
    Dense,
    Flatten,
    Grid,
    LocalSGD,
    Model,
    Momentum,
    ParameterServer,
    Recipe,
    ReLU,
    Simulated,
    Split,
    gpipe,
    interleaved,
    launch,
    meter,
    one_f_one_b,
    pipedream,
    resnet8,
    zero_bubble,
)
from dlmini.comm.processes import Processes
from dlmini.events import Checkpoint
from dlmini.loop import program, work
from dlmini.topology import Zero

STEPS = 6


def blocks(thing, seen) -> dict[int, int]:
    """The memory behind all arrays that can be reached from a thing: {address of a block: its bytes}."""
    found = {}
    if id(thing) in seen:
        return found
    seen[id(thing)] = thing
    if isinstance(thing, np.ndarray):
        while isinstance(thing.base, np.ndarray):
            thing = thing.base
        return {id(thing): thing.nbytes}
    inside = [*thing.values()] if isinstance(thing, dict) else thing if isinstance(thing, list | tuple | set) else []
    if type(thing).__module__.startswith("dlmini.") and not isinstance(thing, type):
        inside = [*getattr(thing, "__dict__", {}).values()]
    for one in inside:
        found |= blocks(one, seen)
    return found


def nbytes(*things) -> int:
    return sum(blocks(things, {}).values())


class Spied:
    """A rank's task that notes what it is given."""

    def __init__(self, task):
        self.task = task

    def __getattr__(self, name):
        return getattr(self.task, name)

    def loss_and_grad(self, w, batch, grad, ready=None):
        found = self.task.loss_and_grad(w, batch, grad, ready)
        self.w, self.grad = w, grad
        return found


def looked_over(comm, task, recipe):
    """(weights, gradients, activations): bytes of what a rank holds at the end of a run."""
    spied = Spied(task)
    if hasattr(task, "place"):
        comm, mine, _ = task.place(comm, recipe)
        spied = Spied(mine)
    work(comm, spied, recipe)
    mine, grad = spied.task, spied.grad
    if not hasattr(mine, "parts"):
        return spied.w.nbytes, grad.nbytes, 0
    if hasattr(mine, "passes"):  # owners
        rooms = nbytes(mine.weights), nbytes(mine.slopes)
        return spied.w.nbytes + rooms[0], grad.nbytes + rooms[1], kept(mine.passes)
    stages = [one for stage in mine.stages for one in stages_of(stage)]
    versions = sum(stage.w.nbytes for stage in stages if stage.w.base is not spied.w and stage.w is not spied.w)
    spare = nbytes([stage.spare for stage in stages if stage.spare is not None])
    whole = nbytes([mine.whole] if mine.whole is not None else [])
    copies = sum(stage.batch.x.nbytes for stage in stages if versions and stage.part.first)
    passes = [one for stage in stages for one in [*stage.idle, *stage.flying.values()]]
    return spied.w.nbytes + versions, grad.nbytes + spare + whole, kept(passes) + copies


def stages_of(stage):
    """PipeDream's stash holds a stage for each batch under way."""
    return [*stage.idle, *stage.flying.values()] if hasattr(stage, "begin") and not hasattr(stage, "part") else [stage]


def kept(passes) -> int:
    """What the arenas of passes hold: all arrays on their tapes; not the batch, which is somebody else's."""
    held = [(one.tape, one.places, one.arena) for one in passes]
    return sum(blocks(held, {id(one.tape.steps): None for one in passes}).values())


def picture_task(model, batch=8):
    return Classify(model, pictures(model.input), pictures(model.input, 16, seed=1), batch=batch)


WAYS = {
    "plain": (None, {}),
    "momentum in one place": (None, {"optimizer": Momentum(0.01), "topology": ParameterServer(1)}),
    "in buckets": (None, {"topology": AllReduce(bucket=2000)}),
    "local steps": (None, {"sync": LocalSGD(2), "optimizer": Momentum(0.01)}),
    "zero 1": (None, {"topology": Zero(1)}),
    "zero 2": (None, {"topology": Zero(2, bucket=1000)}),
    "zero 3": ((Grid(shard=4),), {}),
    "zero 3, two replicas": ((Grid(data=2, shard=2),), {"topology": Zero(1)}),
    "gpipe": ((Grid(pipe=4), gpipe, 4), {}),
    "one forward, one backward": ((Grid(data=2, pipe=2), one_f_one_b, 4), {}),
    "stages that drop gradients": ((Grid(data=2, pipe=2), one_f_one_b, 4), {"topology": Zero(2)}),
    "interleaved": ((Grid(data=2, pipe=2), interleaved(2), 4), {}),
    "zero bubble": ((Grid(pipe=4), zero_bubble, 8), {"optimizer": SGD(0.01)}),
    "pipedream": ((Grid(pipe=4), pipedream), {}),
    "shared layers": ((Grid(data=2, tensor=2),), {}),
    "both": ((Grid(pipe=2, tensor=2), one_f_one_b, 2, (4,)), {}),
}
LAYERS = [Flatten(), Dense(50), ReLU(), Dense(40), ReLU(), Dense(30), ReLU(), Dense(20), ReLU(), Dense(10)]


@pytest.mark.parametrize("name", WAYS)
def test_weights_gradients_and_optimiser_to_the_byte_and_activations_within_a_tenth(name):
    split, pieces = WAYS[name]
    task = picture_task(Model(LAYERS, (12, 12, 1)))
    task = task if split is None else Split(task, *split)
    recipe = Recipe(**{"rounds": STEPS, "optimizer": Adam(0.001), **pieces})
    counted = meter(task, recipe, 4)
    servers = recipe.topology.servers
    on = Simulated(4)
    found = launch(serving if servers else looked_over, on, (task, recipe))
    for rank in range(4 - servers):
        weights, gradients, activations = found[rank]
        assert (counted[rank].weights, counted[rank].gradients) == (weights, gradients), f"rank {rank}"
        if activations:
            assert counted[rank].activations == pytest.approx(activations, rel=0.1), f"rank {rank}"
    assert split is None or all(one[2] for one in found)


def serving(comm, task, recipe):
    if comm.rank < recipe.workers(comm.size):
        return looked_over(comm, task, recipe)
    return program(comm, task, recipe)


@pytest.mark.parametrize("name", [name for name in WAYS if name not in ("pipedream", "stages that drop gradients")])
def test_what_optimisers_remember_is_what_checkpoints_keep(name):
    split, pieces = WAYS[name]
    task = picture_task(Model(LAYERS, (12, 12, 1)))
    task = task if split is None else Split(task, *split)
    recipe = Recipe(**{"rounds": 2, "optimizer": Adam(0.001), "checkpoint_every": 2, **pieces})
    events = launch(program, Simulated(4), (task, recipe)).events
    vectors = {"inner.mean", "inner.square", "inner.velocity", "outer.mean", "outer.square", "outer.velocity"}
    kept = {e.rank: e.memory for e in events if isinstance(e, Checkpoint)}
    counted = meter(task, Recipe(**{"rounds": 2, "optimizer": Adam(0.001), **pieces}), 4)
    for rank, memory in kept.items():
        assert counted[rank].optimiser == sum(memory[one].nbytes for one in vectors & {*memory})


@pytest.mark.parametrize("name", ["lenet", "cifar_net", "resnet8"])
def test_activations_of_convolutions_in_stages_and_owned(name):
    task = picture_task(resnet8(4, (16, 16, 3))) if name == "resnet8" else small_task(name, batch=8)
    recipe = Recipe(rounds=1)
    for split in (Split(task, Grid(pipe=2), one_f_one_b, 4), Split(task, Grid(shard=2))):
        counted, found = meter(split, recipe, 2), launch(looked_over, Simulated(2), (split, recipe))
        for rank in range(2):
            assert counted[rank].activations == pytest.approx(found[rank][2], rel=0.1)


def test_in_float64_numbers_are_twice_as_long():
    single, double = (
        meter(small_task("mlp", dtype=t, kernels="numpy"), Recipe(), 2)[0] for t in (np.float32, np.float64)
    )
    assert (double.weights, double.gradients) == (2 * single.weights, 2 * single.gradients)
    assert double.activations == pytest.approx(2 * single.activations, rel=0.01)


def test_model_parallel_ranks_read_all_rows_and_data_parallel_ones_a_part():
    task = small_task("mlp")
    whole = task.train.x.nbytes
    ways = {Grid(data=4): whole // 4, Grid(tensor=4): whole, Grid(data=2, pipe=2): whole // 2}
    for grid, nbytes in {**ways, Grid(shard=4): whole // 4}.items():
        assert {one.data for one in meter(Split(task, grid, micro_batches=1), Recipe(), 4)} == {nbytes}


def test_the_meter_reads_well_and_refuses_what_does_not_fit():
    one = meter(small_task("mlp"), Recipe(), 2)[0]
    assert str(one).startswith(f"{one.total / 1e6:.3g} MB: weights 0.164, gradients 0.164")
    with pytest.raises(ValueError, match="needs 4 ranks, but there are 2"):
        meter(Split(small_task("mlp"), Grid(shard=4)), Recipe(), 2)


# ---- one large network ----


def wide_task(width, layers):
    coin = np.random.default_rng(0)
    data = Dataset("noise", coin.random((64, width), np.float32), coin.integers(10, size=64), tuple("0123456789"))
    net = [layer for _ in range(layers) for layer in (Dense(width), ReLU())]
    return Classify(Model([*net, Dense(10)], (width,)), data, data, batch=4)


def peak(comm, task, recipe):
    """The most bytes that this process had allocated at one time, and the loss."""
    tracemalloc.start()
    losses = []

    class Told(Spied):
        def loss_and_grad(self, w, batch, grad, ready=None):
            losses.append(self.task.loss_and_grad(w, batch, grad, ready))
            return losses[-1]

    group, mine = comm, task
    if hasattr(task, "place"):
        group, mine, _ = task.place(comm, recipe)
    work(group, Told(mine), recipe)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most, losses


@pytest.mark.parametrize(
    ("width", "layers"),
    [(200, 8), pytest.param(2236, 10, marks=[pytest.mark.slow, pytest.mark.skipif(not LONG, reason="DLMINI_LONG")])],
)
def test_owners_need_less_than_half_of_the_memory_of_plain_data_parallelism(width, layers, capsys):
    """50 million weights in the long form, on 4 processes: all that Python and NumPy allocate, messages included."""
    task, recipe = wide_task(width, layers), Recipe(rounds=3, optimizer=Adam(1e-5))
    plain = launch(peak, Processes(4), (task, recipe))
    owned = launch(peak, Processes(4), (Split(task, Grid(shard=4)), recipe))
    counted = [meter(one, recipe, 4) for one in (task, Split(task, Grid(shard=4)))]
    with capsys.disabled():
        if os.environ.get("DLMINI_LONG"):
            print(f"\n{task.size:,} weights on 4 processes, MB at most:")
            for name, found, said in zip(("plain", "owned"), (plain, owned), counted, strict=True):
                print(name, [round(most / 1e6) for most, _ in found], "counted", [round(s.total / 1e6) for s in said])
    for rank in range(4):
        assert owned[rank][0] < plain[rank][0] / 2
        assert owned[rank][1] == pytest.approx(plain[rank][1], rel=1e-4)
        assert counted[0][rank].total < plain[rank][0]
