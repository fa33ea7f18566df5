"""A split task is a task: any recipe, events, looks, stops, checkpoints; the same weights as on one rank."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from dlmini import (
    DGC,
    SGD,
    Adam,
    AllReduce,
    Asynchronous,
    BulkSynchronous,
    Classify,
    Dataset,
    Dense,
    Downpour,
    Dropout,
    Gossip,
    Grid,
    LocalSGD,
    LowRank,
    Model,
    Momentum,
    ParameterServer,
    PushSum,
    Recipe,
    ReLU,
    Simulated,
    Split,
    Star,
    TopK,
    blobs,
    gpipe,
    interleaved,
    launch,
    naive,
    one_f_one_b,
    pipedream,
    train,
    zero_bubble,
)
from dlmini.events import Measured, Round

FLUSHED = (gpipe, one_f_one_b, interleaved(2), zero_bubble)
STEPS = 20


@pytest.fixture(scope="module")
def task():
    """Five dense layers, one of them random; 21 batches of 8 rows and one of 5 make an epoch."""
    train, test = blobs(173, seed=1), blobs(60, seed=2)
    layers = [Dense(16), ReLU(), Dense(12), ReLU(), Dense(9), ReLU(), Dense(len(train.classes))]
    return Classify(Model(layers, train.shape), train, test, batch=8)


def trained(task, size, **pieces):
    return train(task, Recipe(**{"rounds": STEPS, "optimizer": Momentum(0.05), **pieces}), Simulated(size)).result()


@pytest.mark.parametrize("pipe", [1, 2, 3, 4])
@pytest.mark.parametrize("schedule", FLUSHED, ids=repr)
def test_a_pipeline_gives_the_bits_of_one_rank_with_the_same_micro_batches(schedule, pipe, task):
    """Whatever the schedule; with one micro-batch they are those of the plain task."""
    micros = 2 * pipe if schedule.chunks > 1 else 3
    if pipe * schedule.chunks > 7:
        schedule = gpipe  # there are no more layers
    twin = trained(Split(task, Grid(), gpipe, micros), 1)
    found = trained(Split(task, Grid(pipe=pipe), schedule, micros), pipe)
    np.testing.assert_array_equal(found.weights, twin.weights)
    assert [m.loss for m in found.measured] == [m.loss for m in twin.measured]
    if pipe > 1 and schedule.chunks == 1:
        whole = trained(Split(task, Grid(pipe=pipe), schedule, 1), pipe)
        np.testing.assert_array_equal(whole.weights, trained(task, 1).weights)


def test_more_micro_batches_than_rows_in_the_last_batch_of_an_epoch(task):
    """The last batch of an epoch has 5 rows: it goes through in 5 pieces."""
    twin = trained(Split(task, Grid(), gpipe, 8), 1, rounds=45)
    for schedule in (one_f_one_b, interleaved(2), zero_bubble):
        found = trained(Split(task, Grid(pipe=2), schedule, 8), 2, rounds=45)
        np.testing.assert_array_equal(found.weights, twin.weights)


def test_dropout_draws_the_same_coins_in_a_pipeline(task):
    layers = [Dense(16), Dropout(0.2), ReLU(), Dense(12), Dropout(0.4), Dense(3)]
    task = replace(task, model=Model(layers, task.train.shape))
    whole = trained(Split(task, Grid(pipe=3), gpipe, 1), 3)
    np.testing.assert_array_equal(whole.weights, trained(task, 1).weights)
    cut = trained(Split(task, Grid(pipe=3), one_f_one_b, 4), 3)
    np.testing.assert_array_equal(cut.weights, trained(Split(task, Grid(), gpipe, 4), 1).weights)
    assert not np.array_equal(cut.weights, whole.weights)


RECIPES = {
    "all-reduce": {"topology": AllReduce(naive)},
    "momentum after local steps": {"sync": LocalSGD(2), "topology": AllReduce(naive)},
    "the seed's local steps": {"sync": LocalSGD(2, "seed"), "topology": AllReduce(naive)},
    "gossip": {"topology": Gossip()},
    "gossip of weights": {"topology": Gossip("ring", "weights"), "sync": LocalSGD(2)},
    "push-sum": {"topology": PushSum()},
    "star": {"topology": Star(), "optimizer": Adam(0.01)},
}


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("data", [2, 3])
def test_replicas_of_several_ranks_learn_what_replicas_of_one_rank_do(name, data, task):
    """To the bit where the order of addition does not depend on the place in the vector."""
    alone = trained(task, data, rounds=10, **RECIPES[name])
    found = trained(Split(task, Grid(data=data, pipe=3), gpipe, 1), 3 * data, rounds=10, **RECIPES[name])
    np.testing.assert_array_equal(found.weights, alone.weights)


def test_servers_serve_the_part_of_the_weights_that_stands_at_their_place(task):
    for servers in (1, 2):
        pieces = {"topology": ParameterServer(servers), "rounds": 10}
        alone = trained(task, 2 + servers, **pieces)
        found = trained(Split(task, Grid(data=2 + servers, pipe=2), gpipe, 1), 2 * (2 + servers), **pieces)
        np.testing.assert_array_equal(found.weights, alone.weights)


OTHERS = {
    "asynchronous": {"sync": Asynchronous(), "topology": ParameterServer(1)},
    "downpour": {"sync": Downpour(fetch=2, push=2), "topology": ParameterServer(1), "optimizer": SGD(0.05)},
    "top-k": {"compression": TopK(0.1)},
    "dgc": {"compression": DGC(keep=0.2)},
    "low rank": {"topology": LowRank(1)},
}


@pytest.mark.parametrize("name", OTHERS)
def test_methods_whose_result_depends_on_the_slices_learn_too(name, task):
    """Compressors choose within a slice, and replicas of an asynchronous run come in any order."""
    data = 2 + OTHERS[name].get("topology", AllReduce()).servers
    found = trained(Split(task, Grid(data=data, pipe=2)), 2 * data, rounds=60, **OTHERS[name])
    assert found.accuracy > 0.9


def test_pipedream_is_serial_training_with_the_delays_of_its_stages(task):
    """Stage s of n steps on gradients that are n - s - 1 steps late, taken at the weights that the batch has met."""
    stages, rate, steps = 3, np.float32(0.05), 15
    split = Split(task, Grid(pipe=stages), pipedream)
    found = train(split, Recipe(rounds=steps, optimizer=SGD(0.05)), Simulated(stages)).result()
    edges = [(split.parts(s)[0].low, split.parts(s)[0].high) for s in range(stages)]
    batches = [b._replace(x=b.x.copy(), y=b.y.copy()) for b in islice(task.batches(0, 1, 0), steps)]
    w, grad, met, slopes = task.initial(0), np.zeros(task.size, np.float32), [], []
    for t in range(steps):
        met.append(w.copy())
        for s, (low, high) in enumerate(edges):
            late = t - (stages - s - 1)
            if late < 0:
                continue
            if late == len(slopes):  # the first stage that comes back with this batch is the last one
                # every stage has met it with weights of its own: as they were when it passed there, in step `late`
                task.loss_and_grad(met[late], batches[late], grad)
                slopes.append(grad.copy())
            w[low:high] -= rate * slopes[late][low:high]
    np.testing.assert_array_equal(found.weights, w)
    assert [np.isnan(e.loss) for e in found.events if isinstance(e, Round) and e.rank == 0][:3] == [True, True, False]


def test_replicas_may_be_pipedreams(task):
    found = trained(Split(task, Grid(data=2, pipe=2), pipedream), 4, rounds=60)
    assert found.accuracy > 0.9


# ---- what is told and kept ----


def test_looks_and_losses_are_those_of_one_rank(task):
    recipe = Recipe(rounds=12, evaluate_every=4, optimizer=SGD(0.1))
    alone, found = (
        train(it, recipe, Simulated(size)).result()
        for it, size in ((task, 1), (Split(task, Grid(pipe=2), gpipe, 1), 2))
    )
    assert [(m.t, m.loss, m.accuracy) for m in found.measured] == [(m.t, m.loss, m.accuracy) for m in alone.measured]
    for rank in range(2):
        told = [e.loss for e in found.events if isinstance(e, Round) and e.rank == rank]
        assert told == [e.loss for e in alone.events if isinstance(e, Round)]


def test_all_replicas_may_show_their_weights(task):
    recipe = Recipe(rounds=6, evaluate_every=3, all_workers=True, topology=Gossip())
    alone, found = (
        train(it, recipe, Simulated(size)).result()
        for it, size in ((task, 3), (Split(task, Grid(data=3, pipe=2), gpipe, 1), 6))
    )
    assert [m.loss for m in found.measured] == [m.loss for m in alone.measured]


def test_a_run_that_is_good_enough_ends(task):
    found = train(Split(task, Grid(pipe=2)), Recipe(rounds=5000, evaluate_every=5), Simulated(2), until=0.9).result()
    assert "accuracy 90.0% reached" in found.stopped
    assert isinstance(found.events[-1], Measured)


KEPT = {
    "momentum": {"optimizer": Momentum(0.05)},
    "adam": {"optimizer": Adam(0.01), "sync": LocalSGD(2, "seed")},
    "dgc": {"compression": DGC(keep=0.2)},
    "push-sum": {"topology": PushSum()},
    "servers": {"topology": ParameterServer(2), "optimizer": Momentum(0.05)},
}


@pytest.mark.parametrize("name", KEPT)
def test_a_checkpoint_of_slices_is_one_of_whole_vectors_and_the_other_way_round(name, task, tmp_path):
    """Resumed on the same grid, on another, and on ranks that hold the whole network."""
    workers = {"push-sum": 2, "servers": 4}.get(name, 1)
    half = Recipe(rounds=6, checkpoint_every=6, **{"topology": AllReduce(naive), **KEPT[name]})
    full, places = replace(half, rounds=12), {1: (task, workers)}
    for pipe in (2, 3):
        places[pipe] = Split(task, Grid(data=workers, pipe=pipe), gpipe, 1), workers * pipe
    truth = {
        n: train(it, replace(full, checkpoint_every=0), Simulated(size)).result() for n, (it, size) in places.items()
    }
    for first, (it, size) in places.items():
        train(it, half, Simulated(size), folder=tmp_path / str(first)).result()
        for second, (then, many) in places.items():
            resume = tmp_path / str(first)
            found = train(then, full, Simulated(many), folder=tmp_path / "on", resume=resume).result()
            if first == second:
                np.testing.assert_array_equal(found.weights, truth[first].weights)
            elif name == "dgc":  # what it chooses depends on the slices
                assert found.accuracy > 0.5
            else:
                np.testing.assert_array_equal(found.weights, truth[1].weights)


def test_what_cannot_be_kept_is_refused_before_it_runs(task, tmp_path):
    keeping = {"rounds": 4, "checkpoint_every": 2}
    for split, pieces, match in (
        (Split(task, Grid(pipe=2), pipedream), {}, "always something under way"),
        (
            Split(task, Grid(data=2, pipe=2)),
            {"sync": Asynchronous(), "topology": ParameterServer(1)},
            "at different rounds",
        ),
        (Split(task, Grid(data=2, pipe=2)), {"topology": LowRank(1)}, "remembers something for each layer"),
    ):
        with pytest.raises(ValueError, match=match):
            train(split, Recipe(**keeping, **pieces), Simulated(split.grid.size), folder=tmp_path)


# ---- what does not fit ----


def test_a_grid_of_other_size_than_the_transport_is_refused(task):
    with pytest.raises(ValueError, match=r"Grid\(data=1, pipe=2, tensor=1\) needs 2 ranks, but there are 3"):
        train(Split(task, Grid(pipe=2)), Recipe(rounds=2), Simulated(3))
    with pytest.raises(ValueError, match="2 ranks with 2 servers leave no worker"):
        train(Split(task, Grid(data=2, pipe=2)), Recipe(topology=ParameterServer(2)), Simulated(4))


def test_more_stages_than_fit_are_refused_with_a_reason(task):
    with pytest.raises(ValueError, match="8 stages, but the network has 7 layers"):
        Split(task, Grid(pipe=8))
    with pytest.raises(ValueError, match="8 stages, but the network has 7 layers"):
        Split(task, Grid(pipe=4), interleaved(2))
    with pytest.raises(ValueError, match="use a multiple of 3"):
        Split(task, Grid(pipe=3), interleaved(2), 4)
    with pytest.raises(ValueError, match="leave micro_batches out"):
        Split(task, Grid(pipe=3), pipedream, 4)
    with pytest.raises(ValueError, match="use threads=1"):
        Split(replace(task, model=Model([Dense(3)], (2,), threads=2)), Grid())


def test_as_many_stages_as_layers_fit_even_those_without_weights(task):
    found = trained(Split(task, Grid(pipe=7), one_f_one_b, 1), 7)
    np.testing.assert_array_equal(found.weights, trained(task, 1).weights)


def test_uneven_cuts_of_ones_own(task):
    for cuts in ((1, 2), (5, 6), (1, 6)):
        found = trained(Split(task, Grid(pipe=3), one_f_one_b, 1, cuts), 3)
        np.testing.assert_array_equal(found.weights, trained(task, 1).weights)
    assert len(Split(task, Grid(pipe=3), cuts="measured").cuts) == 2


def test_a_loss_that_is_not_finite_ends_the_run_with_a_sentence():
    rng = np.random.default_rng(0)
    data = Dataset("large", (1e30 * rng.random((40, 2))).astype(np.float32), rng.integers(0, 2, 40), ("a", "b"))
    task = Classify(Model([Dense(8), Dense(8), Dense(2)], (2,)), data, data, batch=8)
    with pytest.raises(FloatingPointError, match=r"worker 0: the loss became (nan|inf)"):
        train(Split(task, Grid(pipe=2)), Recipe(rounds=30, optimizer=SGD(10.0)), Simulated(2)).result()


# ---- messages ----


@pytest.mark.parametrize("schedule", [gpipe, one_f_one_b, interleaved(2), zero_bubble], ids=repr)
def test_messages_and_bytes_of_a_step_are_those_of_the_borders(schedule, task):
    """2 m messages over each border, of the activations there; and one loss from the last stage to each other."""
    ranks, micros, steps = 2, 4, 3
    split = Split(task, Grid(pipe=ranks), schedule, micros)
    found = trained(split, ranks, rounds=steps)
    stages = ranks * schedule.chunks
    numbers = sum(int(np.prod(task.model.shapes[cut])) for cut in split.cuts) * task.batch
    assert found.messages == steps * (2 * micros * (stages - 1) + ranks - 1)
    assert found.nbytes == steps * (2 * 4 * numbers + 8 * (ranks - 1))


def test_in_flight_are_as_many_passes_as_the_schedule_says(task):
    def program(comm, split):
        _, mine, _ = split.place(comm, Recipe())
        w, grad = mine.initial(0), np.zeros(mine.size, np.float32)
        for batch in islice(mine.batches(0, 1, 0), 3):
            mine.loss_and_grad(w, batch, grad)
        return [len(stage.idle) for stage in mine.stages]

    def alone(timetable, chunk):
        """The timetable of one chunk: its passes belong to it."""
        rows = tuple(tuple(job for job in row if job.chunk == chunk) for row in timetable.rows)
        return replace(timetable, rows=rows)

    for schedule in FLUSHED:
        split, timetable = Split(task, Grid(pipe=2), schedule, 8), schedule.plan(2, 8)
        chunks = [alone(timetable, chunk) for chunk in range(schedule.chunks)]
        most = [[one.in_flight(rank) for one in chunks] for rank in range(2)]
        assert list(launch(program, Simulated(2), (split,))) == most


def test_a_step_of_virtual_time_is_what_price_tells(task):
    """Stages of unequal cost, a network that costs nothing: seconds of work by FLOPs, idle time by the timetable."""
    from dlmini import Cluster
    from dlmini.comm import Link, Switch
    from dlmini.parallel import price

    free = Cluster(Switch(Link(0.0, float("inf"))), flops=1e6)
    for schedule in (gpipe, one_f_one_b, zero_bubble):
        split = Split(task, Grid(pipe=3), schedule, 4)
        found = train(split, Recipe(rounds=1, sync=BulkSynchronous()), Simulated(3, free)).result()
        costs = [part.flops * task.batch / 4 / 1e6 for stage in range(3) for part in split.parts(stage)]
        assert found.seconds == pytest.approx(price(schedule.plan(3, 4), costs, costs, costs).seconds)


def test_replicas_may_sum_in_buckets(task):
    """A pipeline has nothing to say before its last micro-batch has come back; then its buckets leave."""
    pieces = {"rounds": 8, "optimizer": SGD(0.05)}
    split = Split(task, Grid(data=2, pipe=2), gpipe, 2)
    plain = trained(split, 4, topology=AllReduce(naive), **pieces)
    found = trained(split, 4, topology=AllReduce(naive, bucket=100), **pieces)
    np.testing.assert_array_equal(found.weights, plain.weights)
