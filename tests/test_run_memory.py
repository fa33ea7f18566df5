"""What a run keeps, and for how long; and what its ranks wait for: nothing."""

import gc
import threading
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np
import pytest

from dlmini import SGD, Classify, Dense, Flatten, Model, blobs
from dlmini.background import Background, Job
from dlmini.comm.launch import launch
from dlmini.comm.processes import Processes
from dlmini.events import Checkpoint, Done, Fault, Measured, Phases, Round, Served, Snapshot, Span, Spread
from dlmini.history import History
from dlmini.loop import program
from dlmini.recipe import Recipe
from dlmini.run import train
from dlmini.sim.simulated import Simulated
from dlmini.sync import LocalSGD
from dlmini.topology import Gossip, ParameterServer

# ---- history ----


def told(rounds, ranks=3):
    for t in range(rounds):
        for rank in range(ranks):
            yield Round(t, 1.0, 8, Phases(t + 1.0), 8 * (t + 1), t + 1, rank=rank, at=float(t))
            yield Span("compute", "work", t, t + 1, rank=rank, at=float(t))
        yield Served(rank=ranks, worker=0, t=t, staleness=t % 3, at=float(t))
        if t % 10 == 9:
            yield Measured(t, 0.5, 0.9, rank=0, at=float(t))


@pytest.mark.parametrize("room", [2, 3, 10, 101, 1000])
@pytest.mark.parametrize("rounds", [1, 7, 500])
def test_a_history_is_whole_while_there_is_room_and_then_a_part_with_exact_totals(room, rounds):
    events, history = list(told(rounds)), History(room)
    for event in events:
        history.add(event)
    kept = history.since(0)[0]
    if sum(isinstance(event, Round | Served | Span) for event in events) <= room:
        assert kept == events
    assert sum(isinstance(event, Round | Served | Span) for event in kept) <= room
    assert [event for event in events if event in kept] == kept  # as told, in order, no event twice
    assert kept[-(room // 2) :] == events[len(events) - len(kept[-(room // 2) :]) :]
    assert [e for e in kept if isinstance(e, Measured)] == [e for e in events if isinstance(e, Measured)]
    if room >= 100:
        last = {e.rank: (e.sent, e.messages, e.phases) for e in kept if isinstance(e, Round)}
        assert last == {rank: (8 * rounds, rounds, Phases(float(rounds))) for rank in range(3)}
        assert any(isinstance(e, Round) and e.t == 0 for e in kept)


def test_of_old_rounds_all_ranks_keep_the_same_ones_evenly():
    history = History(400)
    for event in told(5000):
        history.add(event)
    kept = history.since(0)[0]
    rounds = {rank: [e.t for e in kept if isinstance(e, Round) and e.rank == rank] for rank in range(3)}
    assert rounds[1] == rounds[2]
    old = [t for t, after in zip(rounds[1], rounds[1][1:], strict=False) if after > t + 1]
    assert len(old) > 5
    assert old == list(range(0, old[-1] + 1, history.every))
    assert rounds[1][len(old) :] == list(range(rounds[1][len(old)], 5000))


def test_nobody_reads_beyond_a_look_that_is_not_known_yet():
    history = History(10)
    before, after, look = Round(0, 1.0), Round(1, 1.0), Measured(0, 0.1, 0.9)
    history.add(before)
    place = history.reserve()
    other = history.reserve()
    history.add(after)
    assert history.since(0)[0] == [before]
    history.fill(other, [Spread(1, 0.0)])
    assert history.since(0)[0] == [before]
    history.fill(place, [look])
    events, end = history.since(0)
    assert events == [before, look, Spread(1, 0.0), after]
    assert history.since(end) == ([], end)


def test_a_look_that_ends_the_run_is_its_last_event_for_everybody():
    history, found = History(10), []
    reader = threading.Thread(target=lambda: found.extend(history))
    reader.start()
    place = history.reserve()
    history.add(Round(1, 1.0))
    skipped = history.reserve()
    history.fill(place, [Measured(0, 0.1, 0.9)], last=True)
    history.add(Round(2, 1.0))
    history.fill(skipped)
    reader.join(10)
    assert found == history.since(0)[0] == list(history) == [Measured(0, 0.1, 0.9)]


def test_a_reader_that_keeps_up_sees_every_event_of_a_long_run_once():
    history, events, place, seen = History(20), list(told(300)), 0, []
    for event in events:
        history.add(event)
        news, place = history.since(place)
        seen += news
    assert seen == events
    late = list(zip(range(5), history, strict=False))
    assert len(late) == 5


# ---- work aside ----


def test_jobs_are_done_in_order_and_what_they_raise_is_raised_at_the_end():
    aside, done = Background(at_once=False), []
    for i in range(50):
        aside.give(Job(lambda i=i: done.append(i), 1))
    aside.finish()
    assert done == list(range(50))
    aside = Background(at_once=False)
    aside.give(Job(lambda: 1 / 0, 1))
    with pytest.raises(ZeroDivisionError):
        aside.finish()


def test_when_too_much_waits_looks_are_passed_over_evenly_and_the_newest_stays():
    aside, go, done, skipped = Background(at_once=False, room=50), threading.Event(), [], []
    aside.give(Job(lambda: go.wait(60), 0))
    for i in range(100):  # nobody waits here: the first job lasts until all are given
        aside.give(Job(lambda i=i: done.append(i), 10, lambda i=i: skipped.append(i)))
    go.set()
    aside.finish()
    assert len(done) <= 6
    assert done[-1] == 99
    assert sorted(done + skipped) == list(range(100))


def test_at_a_sudden_end_looks_are_dropped_and_checkpoints_written():
    aside, go, done = Background(at_once=False), threading.Event(), []
    aside.give(Job(lambda: go.wait(60), 0))
    for i in range(10):
        aside.give(Job(lambda i=i: done.append(i), 1, (lambda: None) if i % 2 else None))
    threading.Timer(0.05, go.set).start()
    aside.finish(drop=True)
    assert done == [0, 2, 4, 6, 8]


def test_what_must_be_done_makes_its_giver_wait_and_is_done():
    aside, done = Background(at_once=False, room=5), []
    for i in range(30):
        aside.give(Job(lambda i=i: done.append(i), 4))
        assert i - len(done) <= 3
    aside.finish()
    assert done == list(range(30))


# ---- runs ----


def memory_after(task, rounds, options):
    """Bytes that a finished run and its outcome hold; the run; the outcome."""
    recipe = Recipe(optimizer=SGD(0.01), rounds=rounds, evaluate_every=rounds // 10, **options)
    gc.collect()
    tracemalloc.start()
    run = train(task, recipe, Simulated(2), remember=200)
    outcome = run.result()
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return held, run, outcome


def long_and_short(task, options):
    """Bytes that a long run holds beyond those of a short one, and the long run's events, by itself and its outcome."""
    memory_after(task, 20, options)  # what is made once
    short, *_ = memory_after(task, 600, options)  # long enough for the 512 mixing matrices that are remembered
    long, run, outcome = memory_after(task, 1500, options)
    return long - short, run.events, outcome.events, outcome.measured


@pytest.mark.parametrize(
    "options", [{}, {"all_workers": True, "topology": Gossip("one_peer", "weights"), "sync": LocalSGD(2)}]
)
def test_a_long_run_keeps_no_more_than_a_short_one(task, options):
    """In a process of its own: of another's memory, what other tests have left behind takes and gives back some."""
    with ProcessPoolExecutor(1, get_context("spawn")) as alone:
        more, told, events, measured = alone.submit(long_and_short, task, options).result()
    assert more < 10_000, f"{more / 900:.0f} bytes a round"
    assert events == told
    assert {e.t for e in events if isinstance(e, Round)} >= {0, 1499}
    assert len(measured) == 10


BOTH = Snapshot, Checkpoint


def held(kind):
    """The ids of all that is there of a kind, also of what other tests have left behind."""
    gc.collect()
    return {id(thing) for thing in gc.get_objects() if isinstance(thing, kind)}


@pytest.mark.parametrize("place", [Simulated, Processes])
def test_weights_and_memories_are_forgotten_when_they_were_used(task, place, tmp_path):
    recipe, before = Recipe(rounds=30, evaluate_every=1, checkpoint_every=1, all_workers=True), held(BOTH)
    run = train(task, recipe, place(2), folder=tmp_path)
    run.result(120)
    assert len(list(tmp_path.glob("*.npz"))) == 30
    assert held(BOTH) <= before


@pytest.mark.parametrize("place", [Simulated, Processes])
def test_who_listens_keeps_what_he_wants_and_nobody_else_keeps_anything(task, place):
    on, recipe, heard, before = place(2), Recipe(rounds=5, evaluate_every=1), [], held(Snapshot)
    results = launch(program, on, (task, recipe), listen=lambda event: heard.append(type(event)))
    assert results.events == []
    assert heard.count(Snapshot) == 5
    assert held(Snapshot) <= before
    kept = launch(program, on, (task, recipe)).events
    assert sorted(type(event).__name__ for event in kept) == sorted(kind.__name__ for kind in heard)


@dataclass(frozen=True)
class Slow(Classify):
    """Looking at the test set lasts until the workers have come to their end, which they write down."""

    note: object = None
    wait: object = None

    def evaluate(self, w):
        while self.wait is not None and not self.wait():
            pass
        return super().evaluate(w)


@dataclass(frozen=True)
class Ending(LocalSGD):
    """Says when a worker is at its last round."""

    file: str = ""
    last: int = 0

    def period(self, t):
        if t == self.last:
            open(self.file, "w").close()
        return super().period(t)


def wide():
    """Weights of 400 KB: more than a pipe holds."""
    data = blobs(64, seed=1)
    return Model([Flatten(), Dense(20_000), Dense(3)], data.shape), data, data


def test_ranks_do_not_wait_while_somebody_looks_at_the_test_set(tmp_path):
    """The first look ends when the workers are at their last round: if `emit` waited for it, nobody would go on."""
    file = tmp_path / "at the last round"
    task = Slow(*wide(), batch=8, wait=Seen(file))
    recipe = Recipe(sync=Ending(1, file=str(file), last=11), optimizer=SGD(0.01), rounds=12, evaluate_every=1)
    outcome = train(task, recipe, Processes(2)).result(120)
    assert [m.t for m in outcome.measured] == list(range(12))
    alone = train(Classify(*wide(), batch=8), recipe, Simulated(2)).result(120)
    assert [(m.t, m.loss) for m in outcome.measured] == [(m.t, m.loss) for m in alone.measured]
    np.testing.assert_array_equal(outcome.weights, alone.weights)


@dataclass(frozen=True)
class Seen:
    """Is the file there?"""

    file: object

    def __call__(self):
        return self.file.exists()


def test_events_of_a_real_run_come_in_the_order_in_which_they_were_told(tmp_path):
    """A look stands behind the round it looks at and before the next, however long it took."""
    recipe = Recipe(rounds=20, evaluate_every=2)
    task = Classify(*wide(), batch=8)
    for on in (Simulated(1), Processes(1)):
        kinds = [(type(e), e.t) for e in train(task, recipe, on) if not isinstance(e, Done)]
        expected = [[(Round, t), (Measured, t)] if t % 2 else [(Round, t)] for t in range(20)]
        assert kinds == [pair for some in expected for pair in some]


@pytest.mark.parametrize("place", [Simulated, Processes])
def test_a_look_that_is_good_enough_ends_the_run_at_its_own_round_on_every_place(task, place):
    recipe = Recipe(optimizer=SGD(0.2), rounds=400, evaluate_every=5)
    truth = train(task, recipe, Simulated(2), until=0.6).result(120)
    run = train(task, recipe, place(2), until=0.6)
    events, outcome = list(run), run.result(120)
    assert [(m.t, m.loss) for m in outcome.measured] == [(m.t, m.loss) for m in truth.measured]
    assert outcome.stopped == truth.stopped
    np.testing.assert_array_equal(outcome.weights, truth.weights)
    assert events == outcome.events
    assert events[-1] == outcome.measured[-1]


@pytest.mark.parametrize("place", [Simulated, Processes])
def test_an_error_at_a_look_ends_the_run_and_is_raised(task, place):
    broken = Slow(task.model, task.train, task.test, batch=8, wait=Broken())
    run = train(broken, Recipe(rounds=10**5, evaluate_every=2), place(2))
    with pytest.raises(ArithmeticError, match="no look"):
        run.result(120)
    with pytest.raises(ArithmeticError, match="no look"):
        list(run)


def test_a_run_that_is_stopped_while_somebody_looks_keeps_what_was_told(tmp_path):
    """The first look ends after the run was stopped, and many rounds after it was begun."""
    file = tmp_path / "stopped"
    run = train(Slow(*wide(), batch=8, wait=Seen(file)), Recipe(rounds=10**6, evaluate_every=1), Processes(2))
    while run.history._count < 40:
        pass
    run.stop()
    file.touch()
    outcome = run.result(120)
    assert outcome.stopped == "somebody stopped it"
    assert sum(isinstance(e, Round) for e in outcome.events) >= 10


class Broken:
    def __call__(self):
        raise ArithmeticError("no look")


@pytest.mark.parametrize("place", [Simulated, Processes])
def test_a_run_may_be_watched_late_twice_and_by_many(task, place):
    run = train(task, Recipe(topology=ParameterServer(1), rounds=10, evaluate_every=2), place(3))
    found, threads = [], []
    for _ in range(3):
        threads.append(threading.Thread(target=lambda: found.append(list(run))))
        threads[-1].start()
    events = run.result(120).events
    for thread in threads:
        thread.join(60)
    assert found == [events] * 3
    assert list(run) == list(run) == run.events == events


def test_a_worker_that_never_shows_its_weights_costs_no_memory(task):
    from dlmini.sim import Cluster

    on = Simulated(3, Cluster(crash={2: 1e-9}))
    run = train(task, Recipe(topology=Gossip(), rounds=50, evaluate_every=1, all_workers=True), on)
    assert run.result(240).accuracy > 0.5  # the others go on
    assert any(isinstance(e, Fault) for e in run.events)
    assert not run.looks.shown
