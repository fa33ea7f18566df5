"""A project without its network: equal bits, restarts, units given up, a disk that fails."""

import random
import sqlite3
from dataclasses import replace

import numpy as np
import pytest
from volunteer_servers import ONCE, SMALL

from dlmini.volunteer.described import fingerprint, work_of
from dlmini.volunteer.dispatch_events import event_of
from dlmini.volunteer.dispatcher import replay
from dlmini.volunteer.engine import Engine, Refused
from dlmini.volunteer.federated_work import FederatedWork
from dlmini.volunteer.limits import Limits, within
from dlmini.volunteer.unit import Terms
from dlmini.volunteer.validator import Bitwise, Close
from dlmini.volunteer.work import Work


@pytest.fixture
def open_engine(tmp_path):
    made = []

    def make(work=SMALL, terms=ONCE, **more):
        made.append(Engine(tmp_path / "project", work, terms, **more))
        return made[-1]

    yield make
    for engine in made:
        engine.store.close()


def hosts(engine, count):
    return [engine.join(0.0, f"host {k}", "kind")[0] for k in range(count)]


def answer(engine, unit):
    start = np.frombuffer(engine.store.weights(unit // engine.work.units), "<f4").copy()
    return engine.work.train(start, unit).tobytes()


def work_off(engine, crew, turn=None, at=1.0):
    """Hosts take turns until all is over. turn(host, send) -> bytes, or None: an error."""
    while not engine.finished:
        for host in crew:
            if send := engine.ask(at, host):
                data = turn(host, send) if turn else answer(engine, send.unit)
                if data is None:
                    engine.report_error(at, host, send.unit, send.copy, "on purpose")
                else:
                    engine.report(at, host, send.unit, send.copy, data, fingerprint(data))
        at += 1.0


def final(engine):
    return np.frombuffer(engine.store.weights(engine.iteration), "<f4")


def test_volunteers_come_to_the_same_bits_as_one_machine(open_engine):
    engine = open_engine()
    work_off(engine, hosts(engine, 4))
    assert engine.iteration == SMALL.iterations
    assert np.array_equal(final(engine), SMALL.alone())


def test_quorum_of_two_with_a_liar_comes_to_the_same_bits_and_names_the_liar(open_engine):
    engine = open_engine(terms=Terms(max_total=20, max_error=9, max_success=9))
    crew = hosts(engine, 5)

    def turn(host, send):
        data = answer(engine, send.unit)
        return (np.frombuffer(data, "<f4") + np.float32(1)).tobytes() if host == 2 else data

    work_off(engine, crew, turn)
    assert np.array_equal(final(engine), SMALL.alone())
    assert engine.it.hosts[2].good == 0
    assert engine.it.hosts[2].bad == engine.it.counts["invalid"] > 0


def test_a_tolerance_takes_answers_that_differ_in_the_last_bits(open_engine):
    engine = open_engine(terms=Terms(), same=Close(1e-3))

    def turn(host, send):
        return (np.frombuffer(answer(engine, send.unit), "<f4") * np.float32(1 + 1e-6 * host)).tobytes()

    work_off(engine, hosts(engine, 3), turn)
    assert engine.it.counts["invalid"] == 0
    assert np.allclose(final(engine), SMALL.alone(), rtol=1e-3, atol=1e-4)


def test_units_that_are_given_up_are_named_and_the_rest_goes_on(open_engine):
    engine = open_engine(terms=replace(ONCE, max_error=1, max_total=3))
    work_off(engine, hosts(engine, 4), lambda host, send: None if send.unit == 7 else answer(engine, send.unit))
    assert engine.it.failed == {7: "2 errors, more than 1"}
    assert engine.iteration == SMALL.iterations
    assert engine.status(0.0)["given_up"] == {"7": "2 errors, more than 1"}
    assert not np.array_equal(final(engine), SMALL.alone())


def test_an_iteration_of_which_nothing_is_left_keeps_its_weights(open_engine):
    engine = open_engine(replace(SMALL, iterations=1), replace(ONCE, max_error=0))
    work_off(engine, hosts(engine, 2), lambda host, send: None)
    assert np.array_equal(final(engine), SMALL.initial())
    assert len(engine.it.failed) == SMALL.units


def test_two_units_that_end_at_one_moment_end_an_iteration_once(open_engine):
    engine = open_engine(replace(SMALL, iterations=1, units=2), replace(ONCE, max_total=1, max_error=1))
    for host in hosts(engine, 2):
        engine.ask(0.0, host)
    engine.tick(1e6)
    assert engine.finished
    assert engine.iteration == 1


@pytest.mark.parametrize("often", [3, 10_000], ids=["snapshots", "journal alone"])
def test_at_any_moment_a_new_process_goes_on_where_the_old_one_was(open_engine, monkeypatch, often):
    """Everything that was committed is read back: state by snapshot and journal, names, tokens, weights."""
    monkeypatch.setattr("dlmini.volunteer.engine.due", lambda it, lines: lines > often)
    engine = open_engine()
    token = engine.join(0.0, "first", "kind")[1]
    at, seen = 1.0, 0
    while not engine.finished:
        host = engine.host(at, token)
        send = engine.ask(at, host)
        if seen % 3:
            data = answer(engine, send.unit)
            engine.report(at, host, send.unit, send.copy, data, fingerprint(data))
        else:
            at += 31.0  # never reported: its deadline passes
        again = open_engine()
        assert again.it.state() == engine.it.state()
        assert again.it.state() == replay(map(event_of, again.store.journal()), seed=SMALL.seed).state()
        assert again.store.db.execute("pragma integrity_check").fetchone() == ("ok",)
        engine, seen = again, seen + 1
    assert np.array_equal(final(engine), SMALL.alone())
    assert (engine.store.snapshot()[0] > 0) is (often == 3)


def test_what_the_disk_did_not_take_has_not_happened(open_engine, monkeypatch):
    engine = open_engine()
    (host,) = hosts(engine, 1)
    send = engine.ask(1.0, host)
    data, before = answer(engine, send.unit), engine.it.state()

    def full(*args):
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(engine.store, "accept", full)
        with pytest.raises(sqlite3.OperationalError):
            engine.report(1.0, host, send.unit, send.copy, data, fingerprint(data))
    assert engine.it.state() == before
    engine.report(2.0, host, send.unit, send.copy, data, fingerprint(data))
    assert engine.it.done == 1


def test_what_could_not_be_read_anew_is_read_before_the_next_event(open_engine, monkeypatch):
    """The disk fails, and then the journal cannot be read to its end either."""
    engine = open_engine()
    (host,) = hosts(engine, 1)
    send = engine.ask(1.0, host)
    data, before, true = answer(engine, send.unit), engine.it.state(), engine.store.journal

    def full(*args):
        raise sqlite3.OperationalError("disk I/O error")

    def cut(after=0):
        yield next(true(after))
        full()

    with monkeypatch.context() as patch:
        patch.setattr(engine.store, "accept", full)
        patch.setattr(engine.store, "journal", cut)
        for at in (1.0, 2.0):
            with pytest.raises(sqlite3.OperationalError):
                engine.report(at, host, send.unit, send.copy, data, fingerprint(data))
    engine.tick(3.0)
    assert engine.it.state() == before
    engine.report(4.0, host, send.unit, send.copy, data, fingerprint(data))
    assert engine.it.done == 1


def test_an_answer_is_taken_once(open_engine):
    engine = open_engine(terms=Terms())
    one, two = hosts(engine, 2)
    send = engine.ask(1.0, one)
    data = answer(engine, send.unit)
    engine.report(1.0, one, send.unit, send.copy, data, fingerprint(data))
    for host, why in ((one, "reported before"), (two, "not given to you")):
        with pytest.raises(Refused, match=why):
            engine.report(1.0, host, send.unit, send.copy, data, fingerprint(data))


def test_another_project_in_the_same_folder_is_refused(open_engine):
    open_engine()
    with pytest.raises(ValueError, match="holds another project"):
        open_engine(replace(SMALL, seed=5))
    assert open_engine(None, None).work == SMALL


@pytest.mark.parametrize(
    "work", [SMALL, FederatedWork("softmax_regression", "blobs", clients=4)], ids=["work", "federated"]
)
def test_work_that_cannot_be_done_leaves_the_folder_free(open_engine, work):
    name = "units" if work is SMALL else "clients"
    with pytest.raises(ValueError, match="480 rows cannot fill 481"):
        open_engine(replace(work, **{name: 481}))
    assert open_engine(work).work == work


@pytest.mark.parametrize("damage", ["{", "null", "{}", '{"now": 1}', "[1, 2]", "7"])
def test_without_a_snapshot_that_can_be_read_the_journal_tells_all(open_engine, damage):
    engine = open_engine()
    crew = hosts(engine, 2)
    engine.store.keep_snapshot(engine.store.db.execute("select max(number) from journal").fetchone()[0], {})
    engine.store.db.execute("update snapshot set state = ?", (damage,))
    send = engine.ask(1.0, crew[0])
    again = open_engine()
    assert again.it.state() == engine.it.state()
    data = answer(again, send.unit)
    again.report(2.0, crew[0], send.unit, send.copy, data, fingerprint(data))
    assert again.it.done == 1


def test_a_file_that_is_no_projects_is_refused_by_a_sentence(tmp_path):
    (tmp_path / "project.db").write_bytes(b"a letter to nobody" * 500)
    with pytest.raises(OSError, match=r"cannot be used as a project's file \(file is not a database\)"):
        Engine(tmp_path, SMALL, ONCE)


def test_how_answers_are_compared_stays_with_the_project(open_engine):
    open_engine(same=Close(1e-3))
    assert open_engine(None, None).same == Close(1e-3)
    assert open_engine(None, None, same=Bitwise()).same == Close(1e-3)


def test_two_servers_that_begin_a_project_at_one_moment_begin_it_once(open_engine, monkeypatch):
    load, others = Engine.load, []

    def slow(self):
        load(self)
        if not others:
            others.append(self)
            others.append(open_engine())

    monkeypatch.setattr(Engine, "load", slow)
    first, second = open_engine(), others[1]
    assert first.it.born == SMALL.units
    assert first.it.state() == second.it.state()
    assert first.admin == second.admin


def test_who_takes_a_project_over_knows_what_happened_until_then(open_engine):
    old, new = open_engine(), open_engine()
    hosts(old, 2)
    old.store.close()
    new.hold()
    assert new.names == old.names
    assert new.it.state() == old.it.state()


def test_a_unit_goes_on_from_its_progress_to_the_bit():
    kept = {}
    start = SMALL.initial()
    whole = SMALL.train(start, 8, keep=lambda step, memory: kept.setdefault(step, {"step": step, **copies(memory())}))
    assert sorted(kept) == [1, 2, 3, 4]
    for progress in kept.values():
        assert np.array_equal(SMALL.train(start, 8, before=progress), whole)


def copies(memory):
    return {name: np.copy(value) for name, value in memory.items()}


def test_work_is_data_and_is_checked():
    assert work_of(SMALL.plain()) == SMALL
    for change, why in (({"model": "os.system"}, "model"), ({"units": -1}, "units"), ({"data": "/etc/passwd"}, "data")):
        with pytest.raises(ValueError, match=why):
            work_of(SMALL.plain() | change)
    with pytest.raises(ValueError, match="nothing else"):
        work_of(SMALL.plain() | {"code": "print()"})
    with pytest.raises(ValueError, match="480 rows cannot fill 481"):
        Work("mlp", "blobs", units=481).check()


def test_a_volunteer_says_why_it_rests(tmp_path):
    assert Limits(ram=0, disk=0).why_not(3, tmp_path) == ""
    assert "20 to 8" in Limits(ram=0, disk=0, hours="20-8").why_not(12, tmp_path)
    assert "memory" in Limits(ram=1e6).why_not(12, tmp_path)
    assert "disk" in Limits(ram=0, disk=1e9).why_not(12, tmp_path)
    assert [hour for hour in range(24) if within(hour, 22, 3)] == [0, 1, 2, 22, 23]
    with pytest.raises(ValueError, match="hours"):
        Limits(hours="evening")


def worked_off(engine, kinds):
    """By hosts that round as their kind does; in a drawn order, so many times that all could have been done."""
    coin, crew = random.Random(3), [engine.join(0.0, f"host {k}", kind)[0] for k, kind in enumerate(kinds)]
    for at in range(1, 600):
        host = coin.choice(crew)
        if (send := engine.ask(float(at), host)) is not None:
            w = np.full(engine.size, 1 + 1e-6 * len(kinds[host]), "<f4")
            engine.report(at + 0.5, host, send.unit, send.copy, w.tobytes(), fingerprint(w.tobytes()))
    return [(host.good, host.bad) for host in engine.it.hosts.values()]


@pytest.mark.parametrize(
    "kinds", [["arm", "arm", "intel", "intel"], ["intel", "intel", "arm"], ["intel"] * 3 + ["arm"]]
)
def test_of_hosts_that_round_differently_none_is_taken_for_a_liar(open_engine, kinds):
    """A kind with too few hosts for a quorum begins nothing: a unit that is bound to it would never end."""
    engine = open_engine(terms=Terms(quorum=2, target=2, max_success=4, alike=True, delay=1e6))
    found = worked_off(engine, kinds)
    assert engine.finished
    assert not engine.it.failed
    assert all(bad == 0 for _, bad in found)
    assert [good > 0 for good, _ in found] == [kinds.count(kind) > 1 for kind in kinds]


def test_hosts_that_round_differently_are_told_apart_only_where_that_was_asked_for(open_engine):
    engine = open_engine(terms=Terms(quorum=2, target=2, max_success=4, delay=1e6))
    assert worked_off(engine, ["intel", "intel", "arm"])[2][1] > 0
    assert engine.finished
