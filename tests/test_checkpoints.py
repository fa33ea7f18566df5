"""A run that was interrupted and resumed ends with the same bits as one that was not."""

import numpy as np
import pytest

from dlmini import SGD, Adam, Momentum, Nesterov, Processes, Recipe, Simulated, train
from dlmini.checkpoints import newest
from dlmini.compression import DGC, QSGD, Int8, TopK
from dlmini.outcome import Outcome
from dlmini.sync import Asynchronous, Downpour, LocalSGD, PartlySynchronous, StaleSynchronous
from dlmini.topology import AllReduce, Gossip, ParameterServer, Star

CASES = {
    "momentum": {"optimizer": Momentum(0.05)},
    "adam over top-k": {"optimizer": Adam(0.01), "compression": TopK(0.1)},
    "dgc": {"compression": DGC(keep=0.1, rounds=2)},
    "chance": {"compression": QSGD(bits=4), "topology": Gossip()},
    "gossip of weights": {"topology": Gossip("one_peer", "weights"), "sync": LocalSGD(3)},
    "diloco": {"sync": LocalSGD(3), "optimizer": Adam(0.01), "outer": Nesterov(0.7)},
    "the seed's local sgd": {"sync": LocalSGD(3, "seed")},
    "post-local": {"sync": LocalSGD(3, post=5)},
    "servers": {"topology": ParameterServer(2), "optimizer": Momentum(0.05)},
    "a quorum that leaves some": {"topology": ParameterServer(2, quorum=2), "sync": StaleSynchronous(2)},
    "a compressed way back": {"topology": ParameterServer(2, back=TopK(0.3))},
    "a compressed mean back": {"topology": Star(back=QSGD(bits=4)), "compression": Int8(), "optimizer": Adam(0.01)},
    "a mean back with memory": {"topology": Star(back=TopK(0.1)), "compression": TopK(0.1)},
}
WITHOUT_ORDER = {
    "asynchronous": {"topology": ParameterServer(2), "sync": Asynchronous(True), "optimizer": Momentum(0.02)},
    "partly synchronous": {"topology": ParameterServer(), "sync": PartlySynchronous(3)},
    "downpour": {"topology": ParameterServer(2), "sync": Downpour(2, 1, warm_start=2), "outer": SGD(0.5)},
}


def place(pieces, workers=3):
    return Simulated(workers + pieces.get("topology", AllReduce()).servers, seed=1)


@pytest.mark.parametrize("pieces", CASES.values(), ids=CASES)
def test_a_resumed_run_ends_with_the_same_bits(task, pieces, tmp_path):
    recipe = Recipe(**{"optimizer": SGD(0.1), "rounds": 12, "checkpoint_every": 4, **pieces})
    whole = train(task, recipe, place(pieces), folder=tmp_path).result()
    assert sorted(file.name for file in tmp_path.iterdir()) == [f"round-{t:06}.npz" for t in (4, 8, 12)]
    for name in ("round-000004.npz", "round-000008.npz"):
        resumed = train(task, recipe, place(pieces), resume=tmp_path / name).result()
        np.testing.assert_array_equal(resumed.weights, whole.weights)


@pytest.mark.parametrize("pieces", WITHOUT_ORDER.values(), ids=WITHOUT_ORDER)
def test_methods_without_an_order_meet_for_a_checkpoint_and_go_on_from_it(task, pieces, tmp_path):
    """What order pushes come in depends on the clock, which begins anew; all else is as it was."""
    recipe = Recipe(**{"optimizer": SGD(0.1), "rounds": 12, "checkpoint_every": 4, **pieces})
    whole = train(task, recipe, place(pieces), folder=tmp_path).result()
    resumed = train(task, recipe, place(pieces), resume=tmp_path / "round-000008.npz").result()
    before = task.evaluate(task.initial(0))["loss"]
    assert resumed.measured[-1].loss < before
    assert abs(resumed.measured[-1].loss - whole.measured[-1].loss) < 0.1 * before


def test_real_processes_resume_what_virtual_ones_began(task, tmp_path):
    recipe = Recipe(optimizer=Momentum(0.05), compression=TopK(0.1), rounds=8, checkpoint_every=4)
    whole = train(task, recipe, Simulated(2), folder=tmp_path).result()
    resumed = train(task, recipe, Processes(2), resume=tmp_path / "round-000004.npz").result()
    np.testing.assert_array_equal(resumed.weights, whole.weights)


def test_a_checkpoint_is_resumed_for_more_rounds(task, tmp_path):
    recipe = Recipe(optimizer=Momentum(0.05), rounds=8, checkpoint_every=2, evaluate_every=1)
    run = train(task, recipe, Simulated(2), folder=tmp_path)
    longer = Recipe(optimizer=Momentum(0.05), rounds=20)
    run.result()
    resumed = train(task, longer, Simulated(2), resume=newest(tmp_path).with_name("round-000006.npz")).result()
    np.testing.assert_array_equal(resumed.weights, train(task, longer, Simulated(2)).result().weights)


def test_a_checkpoint_of_something_else_is_refused(task, tmp_path):
    recipe = Recipe(rounds=4, checkpoint_every=2)
    train(task, recipe, Simulated(2), folder=tmp_path).result()
    with pytest.raises(ValueError, match=r"memories of 2 ranks, and here 3 .* resume with the same number"):
        train(task, Recipe(rounds=9), Simulated(3), resume=tmp_path)
    with pytest.raises(ValueError, match="resume with the same"):
        train(task, Recipe(rounds=9, sync=LocalSGD(2)), Simulated(2), resume=tmp_path)
    with pytest.raises(ValueError, match="ask for more rounds"):
        train(task, recipe, Simulated(2), resume=tmp_path)
    with pytest.raises(FileNotFoundError, match="train with checkpoint_every="):
        train(task, recipe, Simulated(2), resume=tmp_path / "nowhere")


def test_a_saved_outcome_is_loaded_whole(task, tmp_path):
    recipe = Recipe(
        sync=LocalSGD(2), topology=Gossip("ring"), compression=TopK(0.1), rounds=6, evaluate_every=2, all_workers=True
    )
    outcome = train(task, recipe, Simulated(3)).result()
    outcome.save(tmp_path / "run")
    again = Outcome.load(tmp_path / "run")
    np.testing.assert_array_equal(again.weights, outcome.weights)
    assert (again.recipe, again.measured, again.phases) == (recipe, outcome.measured, outcome.phases)
    assert (again.seconds, again.nbytes, again.messages) == (outcome.seconds, outcome.nbytes, outcome.messages)
    assert [type(e).__name__ for e in again.events] == [
        type(e).__name__ for e in outcome.events if type(e).__name__ != "Snapshot"
    ]
    with pytest.raises(FileNotFoundError, match="a folder that a run was saved to"):
        Outcome.load(tmp_path)


def test_workers_that_mix_only_with_neighbours_are_apart_and_those_of_an_all_reduce_are_not(task):
    from dlmini.events import Spread

    def distances(topology):
        recipe = Recipe(topology=topology, optimizer=SGD(0.1), rounds=6, evaluate_every=2, all_workers=True)
        events = train(task, recipe, Simulated(4)).result().events
        return [event.distance for event in events if isinstance(event, Spread)]

    assert distances(AllReduce()) == [0, 0, 0]
    assert min(distances(Gossip())) > 0


def test_training_lasts_as_many_epochs_as_asked(task):
    outcome = train(task, Recipe(sync=LocalSGD(2)), Simulated(3), epochs=2).result()
    assert outcome.recipe.rounds == 20  # 2 x 480 images by 3 workers in batches of 8: 40 steps, two a round
