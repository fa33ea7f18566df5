"""A replica may be a group of ranks that hold one network together: the same weights, and it is lost as a whole."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from classrooms import classroom
from examples import LONG
from sandblaster_tasks import serial, smooth

from dlmini import Cluster, Grid, Mpi, Processes, Sandblaster, Simulated, Split, train
from dlmini.comm import RankFailed
from dlmini.comm.control import Control
from dlmini.comm.mpi.mpiexec import missing
from dlmini.comm.network import Switch, gigabit
from dlmini.events import Fault, Portion, Round
from dlmini.parallel import interleaved, pipedream, zero_bubble
from dlmini.sandblaster.costs import evaluation_messages, iteration_messages
from dlmini.sandblaster.program import program

KINDS = {
    "pipe": ({"pipe": 2}, {}),
    "pipe of three": ({"pipe": 3}, {"micro_batches": 5}),
    "interleaved": ({"pipe": 2}, {"schedule": interleaved(2), "micro_batches": 4}),
    "zero bubble": ({"pipe": 2}, {"schedule": zero_bubble}),
    "tensor": ({"tensor": 2}, {}),
    "every output": ({"tensor": 2}, {"share": "every output"}),
    "pipe and tensor": ({"pipe": 2, "tensor": 2}, {}),
}
TERMS = {"portions": 7, "shards": 2, "tolerance": 0}


def split(kind, replicas, task=None):
    grid, options = KINDS[kind]
    return Split(task or deep(), Grid(data=replicas, **grid), **options)


def deep(dtype=np.float64):
    """Enough layers for four stages, and for two in which layers are shared."""
    return smooth(dtype=dtype, layers=3)


def ranks(task, recipe):
    return task.grid.size + recipe.beside


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_groups_take_the_steps_of_serial_lbfgs(kind, shards):
    task, recipe = split(kind, 2), Sandblaster(**{**TERMS, "shards": shards}, rounds=12)
    found = train(task, recipe, Simulated(ranks(task, recipe))).result(900)
    np.testing.assert_allclose(found.weights, serial(deep(), 7, 12).w, rtol=0, atol=1e-10)
    assert found.measured[-1].accuracy > 0.5


@pytest.mark.parametrize("kind", ["pipe", "tensor"])
def test_groups_give_the_same_bits_on_all_transports_and_in_any_number(kind):
    recipe = Sandblaster(**TERMS, rounds=5)
    truth = train(split(kind, 1), recipe, Simulated(2 + 3)).result(900).weights
    task = split(kind, 2)
    mpi = [] if missing() or kind != "pipe" else [Mpi(7)]
    for on in (Simulated(7, Cluster(speed={0: 0.1}, jitter=0.5)), Processes(7), *mpi):
        assert (train(task, recipe, on).result(900).weights == truth).all(), on


def test_a_checkpoint_of_groups_is_resumed_by_other_groups_and_by_none(tmp_path):
    kept, longer = Sandblaster(**TERMS, rounds=4, checkpoint_every=4), Sandblaster(**TERMS, rounds=9)
    task = split("pipe", 2)
    train(task, kept, Simulated(7), folder=tmp_path).result(900)
    truth = train(task, longer, Simulated(7)).result(900).weights
    assert (train(split("pipe", 3), longer, Simulated(9), resume=tmp_path).result(900).weights == truth).all()
    for other in (deep(), split("tensor", 1)):
        found = train(other, longer, Simulated(5), resume=tmp_path).result(900).weights
        np.testing.assert_allclose(found, truth, rtol=0, atol=1e-12)


def test_a_rank_talks_only_to_the_shards_that_hold_something_of_its_own():
    """Two stages, four shards: the first stage's ranks never hear of the last shard."""
    task, recipe = split("pipe", 2), Sandblaster(portions=7, shards=4, rounds=2, tolerance=0)
    first, last, found = 4, 7, launched(task, recipe)
    places = task.places()
    border = recipe.shards * len(places[0]) / task.size
    assert 0 < border < 3  # the last shard is the second stage's alone
    pairs = {(entry.source, entry.dest) for entry in found.entries}
    assert not pairs & {(0, last), (last, 0), (2, last), (last, 2)}
    assert {(0, first), (1, last), (last, 1)} <= pairs


def launched(task, recipe, **cluster):
    mortal = range(task.grid.size)
    return Simulated(ranks(task, recipe), Cluster(**cluster), log=True).run(program, (task, recipe), may_die=mortal)


@pytest.mark.parametrize("kind", ["pipe", "tensor", "pipe and tensor"])
def test_messages_of_groups_equal_the_formula(kind):
    """But for those inside a group."""
    task = split(kind, 2)
    recipe = Sandblaster(**TERMS, rounds=3, backup=False)
    found, members = launched(task, recipe), task.grid.replica
    outer = [
        e for e in found.entries if max(e.source, e.dest) >= 2 * members or e.source // members != e.dest // members
    ]
    numbers = {e.number: e.t for e in found.events if isinstance(e, Portion)}
    shape = {"members": members, "pieces": sum(len(shards_of(place, task.size, 2)) for place in task.places())}
    expected = evaluation_messages(7, 2, 2, **shape) + 2 * 2  # the first gradient, and its square
    for t in range(3):
        many = sum(1 for number, of in numbers.items() if of == t and number > 1)
        expected += iteration_messages(7, 2, 2, many, t, **shape)
    ends = 2 + 2 * members + 2 + (2 * shape["pieces"] + 2 * members) + 2  # hello; end; bye of ranks and of shards
    assert sum(e.messages for e in outer) == expected + 2 + ends  # 2: the last weights are shown


def shards_of(places, size, shards):
    edges = [shard * size // shards for shard in range(1, shards)]
    return set(np.searchsorted(edges, np.asarray(places), side="right").tolist())


# ---- deaths ----


def weights(found, task, recipe):
    return np.concatenate([found[task.grid.size + shard] for shard in range(recipe.shards)])


@pytest.mark.parametrize("kind", ["pipe", "pipe of three", "tensor", "pipe and tensor"])
def test_a_rank_of_a_group_dies_at_any_message_and_nothing_changes(kind):
    """Whoever it is: the others of its group go with it, or are found idle; nobody hangs, nothing lies unread."""
    task, recipe = split(kind, 2, deep(np.float32)), Sandblaster(portions=3, shards=2, rounds=1, tolerance=0)
    costs = {"overhead": 1e-5, "seconds": {"forward": 1e-4, "backward": 2e-4}}
    whole = launched(task, recipe, **costs)
    truth, deaths = weights(whole, task, recipe), 0
    for dead in range(task.grid.replica):
        times = sorted({m.sent for m in whole.log if m.source == dead} | {m.here for m in whole.log if m.dest == dead})
        moments = [0.0, *((a + b) / 2 for a, b in pairwise(times)), *(t + 1e-9 for t in times)]
        for moment in sorted(moments)[:: 1 if LONG else len(moments) // 6]:
            found = launched(task, recipe, **costs, crash={dead: moment})
            assert (weights(found, task, recipe) == truth).all(), f"rank {dead} at {moment!r}"
            lost = {event.rank for event in found.events if isinstance(event, Fault) and event.deadly}
            assert lost <= set(range(task.grid.replica))
            deaths += len(lost) > 1
    assert deaths > 2


@pytest.mark.parametrize("kind", ["pipe", "tensor"])
@pytest.mark.parametrize("late", [0, 1])
@pytest.mark.parametrize("begins", [0.02, 1.0])
def test_a_rank_of_a_group_that_begins_late_holds_up_nobody(kind, late, begins):
    """It finds the weights of its first job gone, while the others of its group are at work with them."""
    task, recipe = split(kind, 2, deep(np.float32)), Sandblaster(portions=5, shards=2, rounds=3, tolerance=0)
    costs = {"overhead": 1e-5, "seconds": {"forward": 1e-4, "backward": 1e-4}}
    truth = weights(launched(task, recipe, **costs), task, recipe)
    found = launched(task, recipe, **costs, start={late: begins})
    assert (weights(found, task, recipe) == truth).all()
    assert not [event for event in found.events if isinstance(event, Fault)]


@dataclass(frozen=True)
class OneFar(Switch):
    """A switch to which one rank has a long cable."""

    far: int = 0

    def ports(self, size):
        near = super().ports(size)
        return [port._replace(latency=0.01) if place % size == self.far else port for place, port in enumerate(near)]


@pytest.mark.parametrize("kind", ["pipe", "tensor"])
@pytest.mark.parametrize("far", [0, 1])
def test_a_rank_of_a_group_with_a_long_cable_holds_up_nobody(kind, far):
    """Evaluations are over before it has their weights; the ranks beside it have them."""
    task, recipe = split(kind, 2, deep(np.float32)), Sandblaster(portions=5, shards=2, rounds=6, tolerance=0)
    costs = {"overhead": 1e-5, "seconds": {"forward": 1e-4, "backward": 1e-4}}
    truth = weights(launched(task, recipe, **costs), task, recipe)
    found = launched(task, recipe, **costs, network=OneFar(gigabit.link, far))
    assert (weights(found, task, recipe) == truth).all()
    assert any(event.what == "copied" for event in found.events if isinstance(event, Portion))


@pytest.mark.parametrize("dead", [0, 1])
@pytest.mark.filterwarnings("ignore:portions")
def test_a_rank_of_a_group_does_not_come_back_alone(dead):
    task, recipe = split("pipe", 2, deep(np.float32)), Sandblaster(portions=3, shards=2, rounds=2, tolerance=0)
    costs = {"overhead": 1e-5, "seconds": {"forward": 1e-4, "backward": 2e-4}}
    truth = train(task, recipe, Simulated(7, Cluster(**costs))).result(900).weights
    for moment in (0.0, 0.005, 0.02):
        on = Simulated(7, Cluster(**costs, crash={dead: moment}, back={dead: moment + 0.002}))
        outcome = train(task, recipe, on).result(900)
        assert dead in outcome.gone
        assert (outcome.weights == truth).all()


def test_when_no_group_is_whole_the_run_ends_with_a_sentence():
    task, recipe = split("pipe", 2), Sandblaster(**TERMS, rounds=5)
    on = Simulated(7, Cluster(seconds={"forward": 1e-3, "backward": 1e-3}, crash={0: 0.01, 3: 0.02}))
    with pytest.raises(RankFailed, match="no replica is left that has all its ranks"):
        train(task, recipe, on).result(900)


@pytest.mark.parametrize("kind", ["pipe", "tensor"])
def test_a_process_of_a_group_is_killed_and_the_weights_are_the_same(kind):
    task, recipe = split(kind, 2, deep(np.float32)), Sandblaster(**TERMS, rounds=15)
    truth = train(task, recipe, Simulated(7)).result(900).weights
    control = Control(7)
    going = train(task, recipe, Processes(7), control=control)
    for event in going.history:
        if isinstance(event, Round) and event.rank == 6 and event.t == 2:
            control.kill(1)
            break
    outcome = going.result(900)
    assert outcome.gone in ([1], [0, 1])
    assert (outcome.weights == truth).all()


def test_a_pc_of_a_group_is_killed_and_the_weights_are_the_same(tmp_path):
    task, recipe = split("pipe", 2, deep(np.float32)), Sandblaster(portions=7, rounds=15, tolerance=0)
    truth, control = train(task, recipe, Simulated(6)).result(900).weights, Control(6)
    with classroom(6, tmp_path) as (room, _):
        going = train(task, recipe, room, control=control)
        for event in going.history:
            if isinstance(event, Round) and event.rank == 5 and event.t == 2:
                control.kill(1)
                break
        outcome = going.result(300)
    assert outcome.gone in ([1], [0, 1])
    assert (outcome.weights == truth).all()


# ---- what is refused ----


@pytest.mark.parametrize(
    ("task", "size", "sentence"),
    [
        (lambda: split("pipe", 2), 8, "needs 4 ranks and the recipe 3 more, but there are 8"),
        (lambda: Split(deep(), Grid(data=2, shard=2)), 7, "a portion is given to a replica as a whole; use pipe"),
        (lambda: Split(deep(), Grid(data=2, pipe=2), pipedream), 7, "pipedream steps in between; use one_f_one_b"),
    ],
)
def test_grids_that_cannot_share_a_portion_are_refused(task, size, sentence):
    with pytest.raises(ValueError, match=sentence):
        train(task(), Sandblaster(**TERMS), Simulated(size))
