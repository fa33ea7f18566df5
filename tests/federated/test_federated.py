"""What federated methods equal, where they must, and what they gain where data differ."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from dlmini import (
    SGD,
    AllReduce,
    Classify,
    Cluster,
    Dense,
    LocalSGD,
    Model,
    Processes,
    Recipe,
    Simulated,
    Tanh,
    blobs,
    launch,
    split_by_label,
    train,
)
from dlmini.comm.schedules import naive
from dlmini.comm.schedules import ring as ring_schedule
from dlmini.federated import (
    FedAdagrad,
    FedAdam,
    FedAsync,
    FedAvg,
    FedBuff,
    Federation,
    FedProx,
    FedYogi,
    Scaffold,
    federate,
)
from dlmini.federated.attacks import LabelFlip, SignFlip
from dlmini.federated.local import Answer, Order, local_round
from dlmini.federated.mixed import Mixed
from dlmini.federated.outcomes import markdown, trained
from dlmini.federated.robust import Bulyan, Mean, Median
from dlmini.federated.transfer import HeadOnly
from dlmini.federated.vertical import aligned, first, vertical

EVERY = [FedAvg(), FedProx(mu=0.1), Scaffold(0.05, 6), FedAdam(), FedYogi(), FedAdagrad(), FedAsync(), FedBuff(3)]


def federation(strategy=None, **more):
    terms = {"clients": 6, "share": 1.0, "epochs": 1, "batch": 0, "rate": 0.5, "rounds": 3, "seed": 2}
    return Federation(strategy or FedAvg(), **terms | more)


def test_fedavg_of_all_clients_one_epoch_and_one_batch_is_full_batch_descent(task):
    """Clients of unequal size, weighted by their rows: the mean of their gradients is the gradient of all rows."""
    unequal = replace(task, split=partial(uneven))
    found = federate(unequal, federation(rounds=5), Simulated(3)).weights
    w, grad = task.initial(2), np.zeros(task.size, np.float32)
    for _ in range(5):
        task.model.loss_and_grad(w, task.train.x, task.train.y, grad)
        w = w - np.float32(0.5) * grad
    assert np.abs(found - w).max() < 1e-6


def uneven(rows, parts, seed=0):
    order = np.random.default_rng([seed, 5]).permutation(len(rows))
    cuts = np.cumsum(np.arange(1, parts) * 20)
    return np.split(order, cuts)


def test_fedprox_without_a_pull_is_fedavg_to_the_bit(task):
    one, two = (
        federate(task, federation(s, batch=8, epochs=2), Simulated(3)).weights for s in (FedAvg(), FedProx(mu=0))
    )
    assert np.array_equal(one, two)
    assert not np.array_equal(one, federate(task, federation(FedProx(mu=1.0), batch=8, epochs=2), Simulated(3)).weights)


@pytest.mark.parametrize("clients", [1, 2, 3, 4, 5])
def test_fedavg_of_equal_shards_is_local_sgd_to_the_bit(task, clients):
    """480 rows, batches of 8: 60 local steps shared out. The same batches, steps and sums, if all-reduce adds by rank.
    By a ring sums are taken in another order, and the last bits differ from three clients on."""
    steps = 480 // clients // 8
    found = federate(task, federation(clients=clients, batch=8, rate=0.05, rounds=4), Simulated(3)).weights
    recipe = Recipe(LocalSGD(steps), AllReduce(naive), optimizer=SGD(0.05), rounds=4, seed=2)
    other = train(task, recipe, Simulated(clients)).result().weights
    assert np.array_equal(found, other)
    ring = train(task, replace(recipe, topology=AllReduce(ring_schedule)), Simulated(clients)).result().weights
    assert np.abs(found - ring).max() < 1e-6


@pytest.mark.parametrize("strategy", [s for s in EVERY if s.synchronous], ids=lambda s: type(s).__name__)
def test_weights_do_not_depend_on_the_number_of_ranks(task, strategy):
    wanted = federation(strategy, share=0.5, batch=16, rate=0.05)
    found = [federate(task, wanted, Simulated(size)).weights for size in (2, 3, 8)]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_processes_give_the_bits_of_virtual_time(task):
    wanted = federation(Scaffold(0.05, 6), share=0.5, batch=16, rate=0.05)
    assert np.array_equal(federate(task, wanted, Simulated(3)).weights, federate(task, wanted, Processes(3)).weights)


def test_asynchronous_strategies_train_on_processes_too(task):
    found = federate(task, federation(FedBuff(4), batch=16, rate=0.05, rounds=10), Processes(3))
    assert found.answers == 60
    assert found.accuracies[-1] > 0.8


@pytest.mark.parametrize("strategy", EVERY, ids=lambda s: type(s).__name__)
def test_every_strategy_learns(task, strategy):
    found = federate(task, federation(strategy, batch=16, rate=0.05, epochs=2, rounds=15), Simulated(4))
    assert found.accuracies[-1] > 0.85
    assert len(found.accuracies) == 15
    assert found.answers == 90


def test_the_slower_a_client_the_staler_its_answer_and_the_less_it_counts(task):
    seen = []

    class Watching(FedAsync):
        def step(self, w, answers, memory):
            seen.append(answers[0].staleness)
            return super().step(w, answers, memory)

    cluster = Cluster(seconds={"gradient": 1.0}, speed={3: 0.2})
    federate(task, federation(Watching(), batch=16), Simulated(4, cluster))
    assert max(seen) > 5
    fresh, stale = (Answer(0, np.ones(2, np.float32), 1, 1, s, np.zeros(2, np.float32)) for s in (0, 3))
    assert FedAsync(0.6).step(np.zeros(2, np.float32), [fresh], {})[0] == pytest.approx(0.6)
    assert FedAsync(0.6).step(np.zeros(2, np.float32), [stale], {})[0] == pytest.approx(0.3)
    assert FedBuff(2).step(np.zeros(2), [fresh, stale], {})[0] == pytest.approx((1 + 0.5) / 2)


def test_an_asynchronous_answer_is_mixed_with_the_weights_it_began_with(task):
    """Two clients on four ranks: each is out twice at a time, with different weights."""
    seen, versions = [], [task.initial(2)]

    class Watching(FedAsync):
        def step(self, w, answers, memory):
            seen.append(answers[0])
            versions.append(super().step(w, answers, memory))
            return versions[-1]

    wanted = federation(Watching(), clients=2, batch=16, rate=0.05, rounds=6)
    federate(task, wanted, Simulated(5, Cluster(seconds={"gradient": 1.0}, speed={2: 0.3, 4: 0.5})))
    assert len(seen) == 12
    assert all(np.array_equal(a.base, versions[k - a.staleness]) for k, a in enumerate(seen))
    assert len({a.staleness for a in seen}) > 2


def test_a_federation_that_does_not_fit_its_strategy_is_refused():
    with pytest.raises(ValueError, match=r"Scaffold\(rate=0.1\) does not fit a federation with rate=0.05"):
        federation(Scaffold(0.1, 6), rate=0.05)
    with pytest.raises(ValueError, match="say clients alike in both"):
        federation(Scaffold(0.05, 7), rate=0.05)
    with pytest.raises(ValueError, match="would never step"):
        federation(FedBuff(19))
    with pytest.raises(ValueError, match="liars is 7"):
        federation(liars=7, attack=SignFlip())
    with pytest.raises(TypeError, match="what the liars do: one of SignFlip"):
        federation(liars=1)


def test_answers_that_fill_no_buffer_are_not_counted_as_used(task):
    assert federate(task, federation(FedBuff(4), batch=16, rate=0.05), Simulated(3)).answers == 16


def test_a_longer_local_round_takes_more_virtual_time(task):
    """Twice the epochs are twice the operations."""
    place = Simulated(3, Cluster(flops=1.0))  # so slow that messages take no time
    once, twice = (federate(task, federation(epochs=n, batch=16, rate=0.01), place).seconds for n in (1, 2))
    assert twice == pytest.approx(2 * once, rel=1e-3)


@pytest.mark.parametrize("place", [Simulated, Processes], ids=["virtual time", "processes"])
def test_liars_turn_the_mean_and_not_the_median(task, place):
    """Two of eight clients send ten times the opposite."""
    terms = {"clients": 8, "batch": 20, "rate": 0.1, "rounds": 8, "liars": 2, "attack": SignFlip(10.0)}
    last = [federate(task, federation(FedAvg(rule), **terms), place(3)).accuracies[-1] for rule in (None, Median(2))]
    assert last[0] < 0.6
    assert last[1] > 0.85


def test_who_flips_labels_learns_something_else(task):
    """All clients flip: the federation learns the wrong labels, thoroughly."""
    terms = {"batch": 16, "rate": 0.05, "epochs": 2, "rounds": 15}
    assert federate(task, federation(liars=6, attack=LabelFlip(), **terms), Simulated(3)).accuracies[-1] < 0.5
    assert len(federation(liars=2, attack=LabelFlip()).who_lie()) == 2


def test_thousands_of_clients_need_few_ranks(task):
    rows = blobs(3000, seed=3)
    many = replace(task, train=rows)
    found = federate(many, federation(clients=3000, share=0.01, rate=0.1, rounds=20), Simulated(5))
    assert found.answers == 600
    assert found.accuracies[-1] > 0.8


def test_scaffold_beats_fedavg_where_every_client_knows_few_labels():
    """Five classes, ten clients of one shard of sorted labels each, many local steps: FedAvg drifts. Three seeds."""
    rows, test = blobs(1000, classes=5, spread=1.5, seed=4), blobs(500, classes=5, spread=1.5, seed=5)
    model = Model([Dense(16), Tanh(), Dense(5)], rows.shape)
    task = Classify(model, rows, test, split=partial(split_by_label, shards_per_part=1))
    terms = {"clients": 10, "share": 0.5, "epochs": 5, "batch": 10, "rate": 0.05, "rounds": 12}
    loss = {}
    for seed in range(3):
        for strategy in (FedAvg(), Scaffold(0.05, 10)):
            w = federate(task, Federation(strategy, seed=seed, **terms), Simulated(2)).weights
            loss[seed, type(strategy).__name__] = task.evaluate(w)["loss"]
    assert all(loss[seed, "Scaffold"] < loss[seed, "FedAvg"] for seed in range(3)), loss


def test_scaffolds_variates_are_the_clients_gradients():
    """With one local step c_i is the gradient at w, and c their mean once all have taken part."""
    strategy, memory, w = Scaffold(0.1, 2), {}, np.zeros(3, np.float32)
    gradients = np.array([[1, 2, 3], [3, 0, -1]], np.float32)
    strategy.step(w, [Answer(k, -np.float32(0.1) * g, 5, 1) for k, g in enumerate(gradients)], memory)
    assert np.allclose(memory[0], gradients[0])
    assert np.allclose(memory["c"], gradients.mean(axis=0))
    assert np.allclose(strategy.order(1, 0, memory).drift, gradients.mean(axis=0) - gradients[0])


@pytest.mark.parametrize(
    ("strategy", "v"), [(FedAdam, 0.99e-6 + 0.04), (FedYogi, 1e-6 + 0.04), (FedAdagrad, 1e-6 + 4.0)]
)
def test_a_first_step_of_the_servers_optimiser_by_hand(strategy, v):
    """Change 2: m = 0.1 x 2; v as each has it, from tau^2 = 1e-6."""
    answer = Answer(0, np.array([2.0], np.float32), 1, 1)
    found = strategy(rate=0.5).step(np.zeros(1, np.float32), [answer], {})
    assert found[0] == pytest.approx(0.5 * 0.2 / (np.sqrt(v) + 1e-3), rel=1e-6)


def test_a_pull_holds_a_client_back(task):
    w, rows = task.initial(0), np.arange(100)
    far, near = (local_round(task, w, Order(0, 0, pull), rows, 3, 10, 0.05, 0).change for pull in (0.0, 5.0))
    assert np.linalg.norm(near) < 0.8 * np.linalg.norm(far)


def test_a_client_with_fewer_rows_than_a_batch_works_with_what_it_has(task):
    found = local_round(task, task.initial(0), Order(0, 0), np.arange(3), 2, 10, 0.05, 0)
    assert (found.rows, found.steps) == (3, 2)


def test_one_rank_is_too_few(task):
    with pytest.raises(ValueError, match="a server and somebody"):
        federate(task, federation(), Simulated(1))


@pytest.mark.parametrize("place", [Simulated, Processes], ids=["virtual time", "processes"])
def test_vertical_parties_come_to_the_joint_model(place):
    """The joint model is a network of the library whose first layer's blocks off the diagonal stay zero."""
    coin = np.random.default_rng(6)
    x, y = coin.normal(size=(60, 7)), coin.integers(3, size=60)
    columns, width, rate = [x[:, :3], x[:, 3:]], 4, 0.3
    batches = [coin.permutation(60)[:20] for _ in range(12)]
    B, *As = launch(vertical, place(3), (columns, y, 3, width, rate, batches, 9))

    joint = Model([Dense(2 * width), Tanh(), Dense(3)], (7,), dtype=np.float64)
    w, grad, mask = joint.zeros(), joint.zeros(), joint.zeros()
    (A, a), _, (C, c) = joint.views(w)
    (mA, _), _, (mC, _) = joint.views(mask)
    A[:3, :width], A[3:, width:], C[:] = first((3, width), 9, 1), first((4, width), 9, 2), first((8, 3), 9, 0)
    mA[:3, :width], mA[3:, width:], mC[:] = 1, 1, 1  # no biases
    for rows in batches:
        joint.loss_and_grad(w, x[rows], y[rows], grad)
        w -= rate * mask * grad
    assert np.abs(A[:3, :width] - As[0]).max() < 1e-6
    assert np.abs(A[3:, width:] - As[1]).max() < 1e-6
    assert np.abs(C - B).max() < 1e-6
    assert not a.any()
    assert not c.any()


def test_parties_that_do_not_fit_are_refused_before_anybody_waits():
    x, y = np.zeros((6, 2)), np.zeros(6, int)
    with pytest.raises(ValueError, match="1 parties have columns, and 3 ranks"):
        launch(vertical, Simulated(3), ([x], y, 2, 1, 0.1, []))
    with pytest.raises(ValueError, match="party 2 knows 5 rows"):
        launch(vertical, Simulated(3), ([x, x[:5]], y, 2, 1, 0.1, []))
    with pytest.raises(ValueError, match="party 1 has 1 names more than once"):
        aligned([["a", "b"], ["c", "c", "a"]])
    with pytest.raises(ValueError, match="no parties"):
        aligned([])


def test_alignment_finds_whom_all_parties_know():
    one, two = aligned([["eve", "ann", "bob"], ["bob", "zoe", "eve"]])
    assert one.tolist() == [2, 0]
    assert two.tolist() == [0, 2]


def test_transfer_changes_the_head_alone(task):
    trained = train(task, Recipe(optimizer=SGD(0.1), rounds=100), Simulated(2)).result().weights
    head = HeadOnly(task, 1, trained)
    found = federate(head, federation(batch=16, rate=0.1, rounds=5), Simulated(3))
    assert np.array_equal(found.weights[: head.frozen], trained[: head.frozen])
    assert head.travels == task.size - head.frozen == 16 * 3 + 3
    assert found.accuracies[-1] > 0.9


def test_mixed_data_are_everybodys_rows_and_ones_own(task):
    parts = Mixed(partial(split_by_label, shards_per_part=1), 0.25)(task.train, 4, seed=3)
    everybodys = set.intersection(*map(set, parts))
    assert len(everybodys) == 120
    assert sorted(row for part in parts for row in {*part} - everybodys) == sorted({*range(480)} - everybodys)
    assert [len(part) for part in parts] == [120 + 90] * 4
    assert len(Mixed(share=0.0)(task.train, 4)[0]) == 120
    with pytest.raises(ValueError, match="share"):
        Mixed(share=1.0)


def test_a_table_of_trainings_shows_who_is_turned_by_whom(task):
    """Two of nine lie. Bulyan would need eleven, and has no line; the mean is turned by a large lie alone."""
    wanted = federation(clients=9, batch=20, rate=0.1, rounds=6, liars=2, attack=SignFlip())
    attacks = {"x10": SignFlip(10.0), "flip": LabelFlip()}
    found = trained(task, wanted, Simulated(3), [Mean(), Median(2), Bulyan(2)], attacks)
    assert [*found] == ["Mean", "Median"]
    assert found["Mean"]["x10"] < 0.6 < found["Mean"]["flip"]
    assert min(found["Median"].values()) > 0.85
    assert markdown(found).splitlines()[0] == "| rule | nobody lies | x10 | flip |"
