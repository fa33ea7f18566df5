"""The project's file: answering a host never reads a table from end to end, however many units are over."""

import re
from dataclasses import replace

import numpy as np
import pytest
from volunteer_servers import ONCE, SMALL

from dlmini.federated import FedBuff, Scaffold
from dlmini.volunteer import dispatcher_snapshot
from dlmini.volunteer.described import fingerprint
from dlmini.volunteer.engine import Engine
from dlmini.volunteer.federated_work import FederatedWork
from dlmini.volunteer.store import Store

FEDERATED = FederatedWork("softmax_regression", "blobs", clients=4, iterations=3, rate=0.05)
WORKS = [SMALL, replace(FEDERATED, strategy=Scaffold(0.05, 4)), replace(FEDERATED, strategy=FedBuff(2))]


def statements_of(engine, host) -> set[str]:
    """Every SQL statement that a project's life executes, from the first question to the last mean."""
    seen = set()
    engine.store.db.set_trace_callback(lambda text: seen.add(re.sub(r"X'[0-9A-Fa-f]*'", "x''", text)))
    zero = np.zeros(engine.size, "<f4").tobytes()
    while not engine.finished:
        send = engine.ask(1.0, host)
        engine.store.weights(engine.rounds.base(send.unit))
        engine.drift(send.unit)
        engine.report(1.0, host, send.unit, send.copy, zero, fingerprint(zero))
        engine.store.unlooked()
    engine.store.db.set_trace_callback(None)
    return {one for one in seen if one.split()[0] in ("select", "insert", "update", "delete")}


@pytest.mark.parametrize("work", WORKS, ids=lambda work: work.told())
def test_every_statement_finds_its_rows_by_an_index(tmp_path, work, monkeypatch):
    monkeypatch.setattr(dispatcher_snapshot, "OFTEN", 5)
    engine = Engine(tmp_path, work, ONCE)
    try:
        found = statements_of(engine, engine.join(0.0, "one", "")[0])
        assert len({one.split("(")[0][:24] for one in found}) > 6
        assert any("into snapshot" in one for one in found)
        for statement in found:
            plan = [row[3] for row in engine.store.db.execute("explain query plan " + statement)]
            assert not [step for step in plan if step.startswith("SCAN") and "CONSTANT" not in step], (statement, plan)
    finally:
        engine.store.close()


def test_accuracies_of_very_many_iterations_are_thinned_and_the_newest_stays(tmp_path):
    store = Store(tmp_path)
    with store.together():
        for t in range(2000):
            store.db.execute("insert into weights values (?, ?, null)", (t, t / 2000))
    looks = store.accuracies()
    assert len(looks) <= 501
    assert looks[-1] == (1999, 1999 / 2000)
    assert looks == sorted(looks)
    assert store.accuracies(10**6) == [(t, t / 2000) for t in range(2000)]
    store.close()


def test_only_the_weights_of_the_last_two_iterations_are_kept(tmp_path):
    store, w = Store(tmp_path), np.ones(3, np.float32)
    with store.together():
        for t in range(5):
            store.keep_weights(t, w)
            store.drop_weights(t - 1)
    assert [store.weights(t) is not None for t in range(5)] == [False, False, False, True, True]
    store.close()


def test_a_project_has_one_server_and_another_one_when_that_has_ended(tmp_path):
    first, late = Store(tmp_path), Store(tmp_path)
    first.hold()
    with pytest.raises(OSError, match="another server has the project"):
        late.hold()
    late.db.close()
    first.close()
    second = Store(tmp_path)
    second.hold()
    second.close()
