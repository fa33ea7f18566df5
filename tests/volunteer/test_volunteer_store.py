"""The project's file: answering a host never reads a table from end to end, however many units are over."""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ordinary_user import AS_NOBODY, python_for_all, surroundings
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


def held(folder) -> str:
    """What is said to who serves it; empty if he may."""
    engine = Engine(folder, SMALL, ONCE)
    try:
        engine.hold()
    except OSError as error:
        return str(error)
    finally:
        engine.store.close()
    return ""


@pytest.mark.parametrize(
    "spoil", [lambda lock: lock.mkdir(), lambda lock: lock.write_bytes(b"a letter to nobody" * 99)]
)
def test_a_lock_that_cannot_be_taken_is_no_other_server(tmp_path, spoil):
    spoil(tmp_path / "server.lock")
    assert re.search(r"server\.lock cannot be used as a project's file \(.*\); mend it", held(tmp_path))


READ_ONLY = """
import os, sys; from pathlib import Path
from test_volunteer_store import held
here = Path(sys.argv[1]); print(held(here))
(here / 'project.db').chmod(0o444); print(held(here)); (here / 'project.db').chmod(0o644)
here.chmod(0o555); print(held(here)); (here.chmod(0o755)); (here / 'server.lock').unlink()
here.chmod(0o555); print(held(here))
"""


@pytest.mark.skipif(os.name != "posix", reason="folders of Windows are not read-only")
def test_a_project_that_may_not_be_written_is_refused_before_anybody_works_for_it(tmp_path):
    python, whose, home = sys.executable, {}, os.environ
    if not os.getuid():  # root may write everywhere
        python, whose, home = python_for_all(), AS_NOBODY, surroundings()
    with tempfile.TemporaryDirectory(prefix="volunteers_") as above:
        os.chmod(above, 0o777)
        paths = [str(Path(__file__).parent), str(Path(__file__).parent.parent), home.get("PYTHONPATH", "")]
        done = subprocess.run(
            [python, "-c", READ_ONLY, f"{above}/p"],
            env={**home, "PYTHONPATH": os.pathsep.join(paths), "DLMINI_KERNELS": "numpy"},
            capture_output=True,
            text=True,
            check=True,
            **whose,
        )
        subprocess.run(["chmod", "-R", "u+w", above], check=True)
    said = done.stdout.splitlines()
    assert said[0] == ""
    assert "project.db cannot be used as a project's file (attempt to write a readonly database)" in said[1]
    for line in said[2:]:
        assert "cannot be used as a project's file" in line
    assert len(said) == 4
