"""ZeRO 1 and 2: the bits and the bytes of plain data parallelism, a share of its memory."""

import numpy as np
import pytest
from examples import LONG
from small_tasks import small_task

from dlmini import Adam, Cluster, Grid, Momentum, Recipe, Simulated, Split, launch, train
from dlmini.comm import Hierarchical, halving_doubling, native, ring, tree
from dlmini.comm.mpi import Mpi
from dlmini.comm.mpi.mpiexec import missing
from dlmini.comm.processes import Processes
from dlmini.compression import Half, TopK
from dlmini.events import Checkpoint
from dlmini.loop import program
from dlmini.sync import LocalSGD
from dlmini.topology import AllReduce, Zero
from dlmini.topology.zero import Owners

STEPS = 20
RANKS = (1, 2, 3, 4, 6, 8)
SIZES = [("lenet", n) for n in RANKS] + [("mlp", n) for n in RANKS]
SIZES += [("cifar_net", n) for n in (RANKS if LONG else (3,))]


def trained(task, topology, ranks, optimizer=None, on=None, **more):
    recipe = Recipe(topology=topology, optimizer=optimizer or Adam(0.001), **{"rounds": STEPS, **more})
    results = launch(program, on or Simulated(ranks), (task, recipe))
    for w in results:
        np.testing.assert_array_equal(w, results[0])
    return results


@pytest.mark.parametrize(("name", "ranks"), SIZES)
def test_by_halving_and_doubling_all_stages_train_to_the_bits_of_an_all_reduce(name, ranks):
    task = small_task(name, batch=2 if name == "cifar_net" else 4)
    plain = trained(task, AllReduce(halving_doubling), ranks)[0]
    assert not np.array_equal(plain, task.initial(0))
    for way in (Zero(1, halving_doubling), Zero(2, halving_doubling, 4000)):
        np.testing.assert_array_equal(trained(task, way, ranks)[0], plain)


@pytest.mark.parametrize("bucket", [None, 1, 3000])
@pytest.mark.parametrize("how", [native, ring, Hierarchical(2)], ids=repr)
def test_by_any_schedule_a_stage_trains_to_the_bits_of_plain_training_with_the_same_owners(how, bucket):
    task, optimizer = small_task("mlp"), Momentum(0.02, weight_decay=0.01)
    plain = trained(task, Zero(0, how, bucket), 4, optimizer)[0]
    np.testing.assert_array_equal(trained(task, Zero(1, how, bucket), 4, optimizer)[0], plain)
    if bucket is not None:
        np.testing.assert_array_equal(trained(task, Zero(2, how, bucket), 4, optimizer)[0], plain)


@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
def test_all_stages_send_two_vectors_but_for_one_s_own_part(ranks):
    """Each half moves (N-1)/N of the vector on every worker."""
    task = small_task("mlp")
    for way in (AllReduce(ring), Zero(0, ring), Zero(1), Zero(1, ring, 3000), Zero(2)):
        nbytes = trained(task, way, ranks, rounds=3).books.total().nbytes
        assert nbytes == 3 * 2 * (ranks - 1) * 4 * task.size


@pytest.mark.parametrize("ranks", [1, 3, 8, 50])
def test_every_number_has_one_owner_also_where_workers_outnumber_a_bucket(ranks):
    owners = Owners([(40, 100), (9, 40), (0, 9)], ranks)
    parts = [part for rank in range(ranks) for part in owners.parts(rank)]
    assert sorted(i for part in parts for i in range(part.start, part.stop)) == list(range(100))
    assert sum(owners.size(rank) for rank in range(ranks)) == 100
    assert max(owners.size(r) for r in range(ranks)) - min(owners.size(r) for r in range(ranks)) <= 3


@pytest.mark.parametrize("way", [Zero(1), Zero(2, bucket=2000), Zero(0)], ids=repr)
def test_a_worker_remembers_its_part_of_the_optimiser(way):
    task = small_task("mlp")
    events = trained(task, way, 4, checkpoint_every=STEPS).events
    held = [e.memory["outer.mean"].size for e in events if isinstance(e, Checkpoint)]
    assert sum(held) == task.size * (1 if way.stage else 4)
    assert max(held) - min(held) <= 3


@pytest.mark.parametrize("compression", [Half(), TopK(0.1)], ids=repr)
@pytest.mark.parametrize("bucket", [None, 2000])
def test_packets_go_to_their_owners_after_local_steps_and_compressed(compression, bucket):
    task, more = small_task("mlp"), {"sync": LocalSGD(2), "compression": compression, "rounds": 4}
    found = trained(task, Zero(1, halving_doubling, bucket), 3, Momentum(0.02), **more)[0]
    plain = trained(task, AllReduce(halving_doubling), 3, Momentum(0.02), **more)[0]
    np.testing.assert_array_equal(found, plain)


def several(comm, task, recipes):
    return [program(comm, task, recipe) for recipe in recipes]


def test_all_transports_give_the_same_bits():
    task = small_task("lenet")
    ways = [Zero(1, ring), Zero(2, halving_doubling, 3000)]
    recipes = [Recipe(topology=way, optimizer=Adam(0.001), rounds=STEPS) for way in ways]
    right = launch(several, Simulated(3, Cluster(jitter=0.5, speed={1: 0.3})), (task, recipes))
    for place in [Simulated(3, Cluster(priced=False)), Processes(3), *([] if missing() else [Mpi(3)])]:
        found = launch(several, place, (task, recipes))
        for rank in range(3):
            for a, b in zip(found[rank], right[rank], strict=True):
                np.testing.assert_array_equal(a, b, err_msg=f"rank {rank} on {place}")


@pytest.mark.parametrize("way", [Zero(1), Zero(2, bucket=30)], ids=repr)
def test_a_run_goes_on_from_a_checkpoint_to_the_bit(task, way, tmp_path):
    recipe = Recipe(topology=way, optimizer=Adam(0.01), rounds=8, checkpoint_every=3)
    whole = train(task, recipe, Simulated(3), folder=tmp_path).result()
    again = train(task, recipe, Simulated(3), resume=tmp_path).result()
    np.testing.assert_array_equal(again.weights, whole.weights)


@pytest.mark.parametrize("way", [Zero(1, halving_doubling), Zero(2, halving_doubling, 500)], ids=repr)
def test_replicas_that_are_pipelines_share_out_what_their_stages_remember(way):
    split, plain = Split(small_task("mlp"), Grid(data=3, pipe=2)), AllReduce(halving_doubling)
    found, right = (
        train(split, Recipe(topology=w, optimizer=Adam(0.001), rounds=STEPS), Simulated(6)).result()
        for w in (way, plain)
    )
    np.testing.assert_array_equal(found.weights, right.weights)
    with pytest.raises(ValueError, match="leave checkpoint_every out"):
        train(split, Recipe(topology=way, checkpoint_every=2), Simulated(6), folder="nowhere")


def test_what_has_no_meaning_is_refused_with_a_reason():
    with pytest.raises(ValueError, match="a schedule with halves"):
        Zero(1, tree)
    with pytest.raises(ValueError, match="3 is a split of the network"):
        Zero(3)
    for pieces in ({"sync": LocalSGD(2)}, {"compression": TopK(0.1)}):
        with pytest.raises(ValueError, match=r"sums the gradient away .* use Zero\(stage=1\)"):
            Recipe(topology=Zero(2), **pieces).check(3)
