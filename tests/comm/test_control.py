"""Somebody gives orders while a run goes on: every transport that takes a control obeys, and always ends."""

import threading
import time
from math import inf

import numpy as np
import pytest

from dlmini import Cluster, Processes, Simulated, launch, wifi
from dlmini.comm.control import Control
from dlmini.comm.errors import CommError, DeadRank, RankFailed
from dlmini.events import Fault, Round

PATIENCE = 240.0  # seconds; what has not come by then never will
VIRTUAL = Simulated(3, Cluster(seconds={"gradient": 0.01}))


@pytest.fixture(params=["simulated", "processes"])
def on(request):
    return VIRTUAL if request.param == "simulated" else Processes(3)


def rounds(comm, count, verb="allreduce"):
    """A little training: work, exchange, tell."""
    x = np.ones(8, np.float32)
    for t in range(count):
        comm.compute("gradient", np.linalg.norm, x)
        if verb == "allreduce":
            total = comm.allreduce(x)
        else:
            comm.send((comm.rank + 1) % comm.size, x)
            total = comm.recv((comm.rank - 1) % comm.size)
        comm.emit(Round(t, float(total[0])))
    return t


class Watched:
    """A run in a thread; `after(n)` waits until n events have come, `end()` until it is over."""

    def __init__(self, program, on, control, args=()):
        self.events, self.news, self.error, self.results = [], threading.Condition(), None, None
        self.thread = threading.Thread(target=self._go, args=(program, on, control, args), daemon=True)
        self.thread.start()

    def _go(self, program, on, control, args):
        try:
            self.results = launch(program, on, args, self._hear, control)
        except BaseException as error:
            self.error = error
        with self.news:
            self.news.notify_all()

    def _hear(self, event):
        with self.news:
            self.events.append(event)
            self.news.notify_all()

    def after(self, count):
        self.until(lambda: len(self.events) >= count)

    def until(self, what):
        with self.news:
            assert self.news.wait_for(lambda: what() or not self.thread.is_alive(), PATIENCE)
            assert what(), self.error

    def end(self):
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
        if self.error is not None:
            raise self.error
        return self.results


def polled(what):
    """Wait for a state that nobody announces."""
    done = threading.Event()
    for _ in range(int(PATIENCE / 0.005)):
        if what():
            return
        done.wait(0.005)
    raise AssertionError("it never came")


def test_a_run_under_control_gives_the_same_results(on):
    assert launch(rounds, on, (5,), control=Control(3)) == launch(rounds, on, (5,))


def test_a_paused_run_stands_still_and_steps_round_by_round(on):
    control = Control(3)
    control.pause()
    run = Watched(rounds, on, control, (6,))
    for step in range(1, 4):
        polled(lambda step=step: control.done.max() == step)
        assert {e.t for e in run.events} <= set(range(step))
        assert control.paused
        control.step()
    control.resume()
    assert run.end() == [5, 5, 5]
    assert sorted(e.t for e in run.events if isinstance(e, Round)) == sorted(3 * list(range(6)))


def test_stop_ends_a_paused_run(on):
    control = Control(3)
    control.pause()
    run = Watched(endless, on, control)
    polled(lambda: control.done.max() == 1)
    control.stop()
    with pytest.raises(CommError, match="cancelled"):
        run.end()


def endless(comm):
    return rounds(comm, 10**9)


def test_slowed_work_takes_so_many_times_as_long_in_virtual_time():
    control = Control(3)
    control.slow(1, 5)
    results = launch(rounds, VIRTUAL, (10,), control=control)
    assert [p.compute for p in results.phases] == pytest.approx([0.1, 0.5, 0.1])
    assert results.phases[0].waiting == pytest.approx(0.4, rel=0.05)


def test_slowed_work_is_booked_as_work_on_processes():
    def program(comm):
        took = comm.compute("gradient", timed_sort)
        return comm.phases.compute / took

    control = Control(2)
    control.slow(1, 20)
    assert launch(program, Processes(2), control=control)[1] >= 20


def timed_sort():
    start = time.perf_counter()
    np.sort(np.arange(100_000.0)[::-1] % 1013)
    return time.perf_counter() - start


@pytest.mark.parametrize("verb", ["allreduce", "ring"])
def test_a_cut_link_holds_the_run_until_it_is_healed(on, verb):
    control = Control(3)
    control.cut(0, 1)
    run = Watched(rounds, on, control, (4, verb))
    polled(control.waiting)
    assert set(control.waiting()) <= {(1, 0), (0, 1)}
    assert run.thread.is_alive()
    assert control.cut_links() == [(0, 1)]
    control.heal(0, 1)
    assert run.end() == [3, 3, 3]
    assert not control.cut_links()


@pytest.mark.parametrize("verb", ["allreduce", "ring"])
def test_stop_ends_a_run_whose_ranks_wait_at_a_cut_link(on, verb):
    control = Control(3)
    control.cut(0, 1)
    run = Watched(rounds, on, control, (4, verb))
    polled(control.waiting)
    control.stop()
    with pytest.raises(CommError, match="cancelled"):
        run.end()
    assert launch(rounds, on, (2,)) == [1, 1, 1]


def test_messages_behind_a_cut_link_keep_their_order_on_a_slow_network():
    from dlmini import gigabit

    def program(comm):
        if comm.rank == 0:
            for i in range(20):
                comm.send(1, i)
            return None
        return [comm.recv(0) for _ in range(20)]

    for on in (Processes(2, network=gigabit), Simulated(2, gigabit)):
        control = Control(2)
        control.cut(0, 1)
        run = Watched(program, on, control)
        polled(control.waiting)
        control.heal(0, 1)
        assert run.end()[1] == list(range(20))


def test_a_killed_process_is_named_with_its_signal():
    control = Control(3)
    run = Watched(endless, Processes(3), control)
    run.after(6)
    control.kill(2)
    with pytest.raises(RankFailed, match="rank 2 was killed by SIGKILL"):
        run.end()


def test_a_killed_simulated_rank_crashes_and_those_who_wait_for_it_say_so():
    control = Control(3)
    control.pause()
    run = Watched(endless, VIRTUAL, control)
    polled(lambda: control.done.max() == 1)
    control.kill(2)
    control.resume()
    with pytest.raises(DeadRank, match="rank 2, which died"):
        run.end()
    assert any(isinstance(e, Fault) and e.rank == 2 and e.kind == "crashed" for e in run.events)


def test_rounds_carry_the_books_of_their_rank(on):
    results = launch(rounds, on, (3, "ring"))
    last = {e.rank: e for e in results.events if isinstance(e, Round)}
    sent = results.books.per_sender()
    assert {r: (e.messages, e.sent) for r, e in last.items()} == {r: tuple(t) for r, t in sent.items()}
    assert all(0 < e.phases.compute <= results.phases[r].compute for r, e in last.items())


def test_orders_that_make_no_sense_are_refused_with_a_reason():
    control = Control(2)
    with pytest.raises(ValueError, match="5: five times slower"):
        control.slow(0, 0.5)
    with pytest.raises(ValueError, match="no rank 2; the ranks are 0"):
        control.cut(0, 2)
    with pytest.raises(ValueError, match="not rank 1 with itself"):
        control.cut(1, 1)
    with pytest.raises(RuntimeError, match="no run goes on"):
        control.kill(0)
    with pytest.raises(ValueError, match=r"use Control\(3\)"):
        launch(rounds, Simulated(3), (1,), control=control)
    assert control.limit.tolist() == [inf, inf]


def test_a_controlled_run_prices_collectives_on_a_crowded_network_too():
    """Where a collective cannot be reckoned it is played alone, by an engine that obeys nobody."""

    def program(comm):
        return comm.allreduce(np.ones(1000, np.float32))[0]

    assert launch(program, Simulated(4, wifi), control=Control(4)) == [4.0] * 4
