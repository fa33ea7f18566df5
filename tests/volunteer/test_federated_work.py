"""Federations by the volunteers' server: the bits of `federate`, restarts, liars, strategies that do not wait."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from test_volunteer_engine import final, hosts
from volunteer_servers import ONCE, project, until

from dlmini import Classify, Simulated, blobs, mlp, split_by_label, split_dirichlet
from dlmini.commands.volunteer import described
from dlmini.federated import (
    FedAdagrad,
    FedAdam,
    FedAsync,
    FedAvg,
    FedBuff,
    FedProx,
    FedYogi,
    Scaffold,
    federate,
)
from dlmini.federated.robust import Bucketing, Krum, Median
from dlmini.volunteer.client import Client
from dlmini.volunteer.described import fingerprint, work_for, work_of
from dlmini.volunteer.engine import Engine, Refused
from dlmini.volunteer.federated_work import FederatedWork, split_of, word_of
from dlmini.volunteer.limits import Limits
from dlmini.volunteer.unit import Terms
from dlmini.volunteer.work import Work

TERMS = {"clients": 6, "share": 0.5, "epochs": 2, "batch": 16, "rate": 0.05, "iterations": 3, "seed": 2}
SMALL = FederatedWork("softmax_regression", "blobs", "labels:1", **TERMS)
WAITING = [FedAvg(), FedProx(mu=0.5), FedAvg(Median(1)), FedProx(Bucketing(Median(0)), mu=0.1), FedAdam(), FedYogi()]
WAITING += [FedAdagrad(), Scaffold(0.05, 6)]


def asked(engine, unit):
    """What a host does with a unit: the numbers it was told, and its change of them."""
    start = np.frombuffer(engine.store.weights(engine.rounds.base(unit)), "<f4").copy()
    drift = engine.drift(unit)
    return engine.work.train(start, unit, drift=None if drift is None else np.frombuffer(drift, "<f4")).tobytes()


def act(engine, crew, lie=None, again=None):
    """Hosts take turns until all is over; again(): a new engine in the place of the one that was killed."""
    at = 1.0
    while not engine.finished:
        for host in crew:
            if send := engine.ask(at, host):
                data = asked(engine, send.unit)
                data = lie(host, data) if lie else data
                engine.report(at, host, send.unit, send.copy, data, fingerprint(data))
                engine = again(engine) if again else engine
        at += 1.0
    return engine


@pytest.fixture
def opened(tmp_path):
    made = []

    def make(work, terms=ONCE):
        made.append(Engine(tmp_path / "project", work, terms))
        return made[-1]

    yield make
    for engine in made:
        engine.store.close()


def in_virtual_time(work, ranks=3):
    return federate(work.task, work.federation, Simulated(ranks)).weights


@pytest.mark.parametrize("strategy", WAITING, ids=lambda s: repr(s).replace("(", " ").replace(")", ""))
def test_volunteers_come_to_the_bits_of_virtual_time(opened, strategy):
    work = replace(SMALL, strategy=strategy)
    engine = opened(work)
    act(engine, hosts(engine, 4))
    wanted = in_virtual_time(work)
    assert np.array_equal(final(engine), wanted)
    assert np.array_equal(work.alone(), wanted)
    assert not np.array_equal(wanted, work.initial())


@pytest.mark.parametrize("strategy", [FedAsync(), FedBuff(2), FedBuff(4)], ids=repr)
def test_one_unit_at_a_time_is_one_client_rank_in_virtual_time(opened, strategy):
    work = replace(SMALL, strategy=strategy, at_once=1)
    engine = opened(work)
    act(engine, hosts(engine, 1))
    assert np.array_equal(final(engine), in_virtual_time(work, 2))
    assert np.array_equal(final(engine), work.alone())
    assert engine.iteration == work.versions == {1: 9, 2: 4, 4: 2}[strategy.wants]


def test_where_nobody_waits_answers_are_stale_and_their_weights_are_kept(opened, monkeypatch):
    """Three units open. The first host answers last: its base is older than everybody's."""
    seen, step = [], FedAsync.step
    monkeypatch.setattr(FedAsync, "step", lambda s, w, a, m: (seen.extend(x.staleness for x in a), step(s, w, a, m))[1])
    work = replace(SMALL, strategy=FedAsync(), at_once=3)
    engine = opened(work)
    slow, fast = hosts(engine, 2)
    held = engine.ask(1.0, slow)
    data = asked(engine, held.unit)
    for _ in range(5):
        send = engine.ask(1.0, fast)
        answer = asked(engine, send.unit)
        engine.report(1.0, fast, send.unit, send.copy, answer, fingerprint(answer))
    kept = [t for t in range(engine.iteration + 1) if engine.store.weights(t) is not None]
    assert 0 in kept
    engine.report(1.0, slow, held.unit, held.copy, data, fingerprint(data))
    assert seen[-1] == 5
    assert engine.store.weights(0) is None
    act(engine, [slow, fast])
    assert engine.it.done == 9
    assert engine.store.bases() == {}


def test_a_unit_that_is_given_up_where_nobody_waits_makes_room_for_another(opened):
    work = replace(SMALL, strategy=FedBuff(2), at_once=2)
    engine = opened(work, replace(ONCE, max_error=0))
    (host,) = hosts(engine, 1)
    send = engine.ask(1.0, host)
    engine.report_error(1.0, host, send.unit, send.copy, "on purpose")
    act(engine, [host])
    assert (engine.it.done, [*engine.it.failed], engine.iteration) == (8, [send.unit], 4)


@pytest.mark.parametrize("strategy", [Scaffold(0.05, 6), FedAdam(), FedBuff(2)], ids=repr)
def test_killed_after_every_answer_the_server_goes_on_with_the_same_bits(opened, strategy):
    work = replace(SMALL, strategy=strategy, at_once=1)

    def again(engine):
        engine.store.close()
        return opened(None, None)

    first = opened(work)
    engine = act(first, hosts(first, 1), again=again)
    assert np.array_equal(final(engine), work.alone())


def test_liars_move_the_mean_and_not_krum(opened, tmp_path):
    """One of six hosts sends ten times the opposite of whatever client it acts; units wait for their turn in order."""

    def lie(host, data):
        return (np.frombuffer(data, "<f4") * np.float32(-10)).tobytes() if host == 0 else data

    last = {}
    for rule in (None, Krum(1)):
        work = replace(SMALL, split="iid", share=1.0, iterations=8, strategy=FedAvg(rule))
        engine = Engine(tmp_path / str(rule), work, ONCE)
        act(engine, hosts(engine, 6), lie)
        last[rule] = work.accuracy(final(engine).copy())
        engine.store.close()
    assert last[None] < 0.6
    assert last[Krum(1)] > 0.85


def test_a_quorum_compares_changes_too(opened):
    work = replace(SMALL, strategy=Scaffold(0.05, 6))
    engine = opened(work, Terms(max_total=20, max_error=9, max_success=9))
    act(engine, hosts(engine, 4), lambda host, data: b"\0" * len(data) if host == 0 else data)
    assert np.array_equal(final(engine), work.alone())
    assert engine.it.hosts[0].good == 0


def test_too_few_answers_for_a_rule_leave_the_weights_and_say_so(opened):
    """Three of six answers are given up; Krum(1) needs five."""
    work = replace(SMALL, share=1.0, iterations=1, strategy=FedAvg(Krum(1)))
    engine = opened(work, replace(ONCE, max_error=0))
    crew = hosts(engine, 6)
    for host in crew:
        send = engine.ask(1.0, host)
        if send.unit % 2:
            engine.report_error(1.0, host, send.unit, send.copy, "on purpose")
        else:
            data = asked(engine, send.unit)
            engine.report(1.0, host, send.unit, send.copy, data, fingerprint(data))
    assert engine.finished
    assert np.array_equal(final(engine), work.initial())
    assert any("Krum needs n >= 2f + 3" in line for line in engine.news.lines())


def test_a_step_to_where_no_number_is_is_not_made(opened):
    work = replace(SMALL, iterations=2, strategy=FedAdam())
    engine = opened(work)
    huge = np.full(work.size, 3e38, "<f4").tobytes()
    act(engine, hosts(engine, 3), lambda host, data: huge if engine.iteration == 0 else data)
    assert np.isfinite(final(engine)).all()
    assert any("no finite numbers" in line for line in engine.news.lines())


def test_a_step_that_python_cannot_compute_is_not_made(opened):
    """tau squared is beyond its numbers."""
    work = replace(SMALL, iterations=2, strategy=FedAdam(tau=1e200))
    engine = opened(work)
    act(engine, hosts(engine, 3))
    assert np.array_equal(final(engine), work.initial())
    assert any(line.startswith("step 2 is not made") for line in engine.news.lines())


def test_a_drift_is_asked_for_open_units_only(opened):
    engine = opened(replace(SMALL, strategy=Scaffold(0.05, 6)))
    assert engine.drift(0) is None  # nobody drifts in the first round
    act(engine, hosts(engine, 2))
    for unit in (0, 99, -1):
        with pytest.raises(Refused, match="over"):
            engine.drift(unit)


def test_real_clients_over_http_come_to_the_same_bits(tmp_path):
    work = replace(SMALL, strategy=Scaffold(0.05, 6))
    with project(tmp_path / "server", work) as (url, engine):
        clients = [
            Client(url, f"client {k}", tmp_path / f"c{k}", Limits(ram=0, disk=0), say=lambda text: None) for k in (0, 1)
        ]
        while not engine.finished:
            for client in clients:
                client.attempt(client.turn)
        assert np.array_equal(final(engine), in_virtual_time(work))
        until(lambda: engine.store.accuracies())
        assert engine.status(0.0)["told"] == "Scaffold among 6 clients"


def test_work_travels_as_data_and_is_checked():
    work = replace(SMALL, strategy=FedProx(Median(1), mu=0.5), split="dirichlet:0.25")
    assert work_of(work.plain()) == work
    for change, why in (
        ({"split": "by magic"}, "split"),
        ({"split": "labels:x"}, "split"),
        ({"split": "mixed:0.1:" * 999 + "iid"}, "split"),
        ({"split": "mixed:2:iid"}, "split"),
        ({"strategy": ["os.system", {}]}, "one of FedAvg"),
        ({"share": 2.0}, "share"),
        ({"clients": 0}, "clients"),
        ({"strategy": ["Krum", {"f": 1}]}, "one of FedAvg"),
    ):
        with pytest.raises(ValueError, match=why):
            work_of(work.plain() | change)
    with pytest.raises(ValueError, match=r"Krum needs n >= 2f \+ 3 answers: 5"):
        replace(SMALL, strategy=FedAvg(Krum(1)))
    with pytest.raises(ValueError, match="does not fit a federation"):
        replace(SMALL, strategy=Scaffold(0.5, 6))


def test_a_task_is_told_in_words():
    rows, test = blobs(480, seed=1), blobs(120, seed=2)
    task = Classify(mlp(input=rows.shape, classes=3), rows, test, batch=8, split=partial(split_dirichlet, alpha=0.3))
    assert work_for(task, units=4, rate=0.05) == Work("mlp", "blobs", units=4, batch=8, rate=0.05)
    found = work_for(task, strategy=FedProx(mu=0.1), clients=5)
    assert found == FederatedWork("mlp", "blobs", "dirichlet:0.3", clients=5, batch=8, strategy=FedProx(mu=0.1))
    assert np.array_equal(np.concatenate(found.parts), np.concatenate(task.split(rows, 5, seed=0)))
    assert work_for(found) is found
    with pytest.raises(TypeError, match="in the FederatedWork itself"):
        work_for(found, clients=3)
    with pytest.raises(ValueError, match="the network must be one of"):
        work_for(replace(task, model=mlp(hidden=(3,), input=rows.shape, classes=3)))
    with pytest.raises(ValueError, match="with all their rows"):
        work_for(replace(task, train=rows.subset(np.arange(100))))
    with pytest.raises(ValueError, match="no word"):
        work_for(replace(task, split=lambda rows, parts, seed=0: []), clients=2)
    with pytest.raises(TypeError, match="a task, or a Work"):
        work_for("lenet")


@pytest.mark.parametrize("word", ["iid", "labels:2", "labels:1", "dirichlet:0.1", "quantity:1.5", "mixed:0.1:labels:2"])
def test_words_of_splits_are_splits(word):
    assert word_of(split_of(word)) == word
    assert word_of(split_by_label) == "labels:2"


def test_a_federation_is_asked_for_by_options_of_serve():
    assert described({}) is None
    assert described({"units": 4}) == Work(units=4)
    found = described({"clients": 5, "split": "labels:2", "rate": 0.05, "strategy": "FedProx(mu=0.5)"})
    assert found == FederatedWork(clients=5, split="labels:2", rate=0.05, strategy=FedProx(mu=0.5))
    assert described({"epochs": 2}).strategy == FedAvg()
    assert described({"strategy": "FedAsync", "at_once": 30, "batch": 0}) == FederatedWork(
        strategy=FedAsync(), at_once=30, batch=0
    )
    with pytest.raises(ValueError, match="--at-once is for FedAsync and FedBuff"):
        described({"at_once": 30})
    with pytest.raises(ValueError, match="batch is 0"):
        described({"batch": 0})
    with pytest.raises(ValueError, match="--steps is not for a federation"):
        described({"strategy": "FedAvg", "steps": 4})
