"""Many legal orders: a planted race is found, its seed printed, and replayed bit for bit; a run can be stepped."""

import numpy as np
import pytest

from dlmini.comm import Deadlock, launch
from dlmini.events import Span
from dlmini.sim import Cluster, Simulated, explore, replay


def lost_update(comm):
    """Two clients read a counter, add one, and write it back: a race, if they interleave."""
    if comm.rank:
        comm.send(0, "read")
        value = comm.recv(0)
        comm.compute("think", None, flops=1e5 * comm.rank)
        comm.send(0, value + 1)
        return None
    counter, requests = 0, 0
    while requests < 4:
        source, message = comm.recv_any()
        requests += 1
        if message == "read":
            comm.send(source, counter)
        else:
            counter = message
    return counter


def never_together(comm):
    """Fails only in one of the six orders of three simultaneous messages."""
    if comm.rank:
        comm.send(0, comm.rank)
    else:
        order = [comm.recv_any()[0] for _ in range(3)]
        assert order != [3, 1, 2], f"the order {order}"


def test_a_planted_race_is_found_and_its_seed_printed():
    found = explore(never_together, Simulated(4), seeds=200)
    assert not found
    assert isinstance(found.error, AssertionError)
    assert f"seed {found.seed} fails" in str(found)
    assert "the order [3, 1, 2]" in str(found)
    assert "3 --> 0  tag 0" in str(found)
    assert f"replay(program, Simulated(size=4, cluster=Cluster(), seed={found.seed}" in str(found)


def test_a_wrong_result_is_found_by_a_check():
    found = explore(lost_update, Simulated(3), check=lambda results: results[0] == 2)
    assert isinstance(found.error, AssertionError)
    assert found.recording.results[0] == 1


def test_results_that_depend_on_the_order_are_found():
    def program(comm):
        comm.send(0, comm.rank) if comm.rank else None
        return [comm.recv_any()[0] for _ in range(2)] if comm.rank == 0 else None

    found = explore(program, Simulated(3), same=True)
    assert "results depend on the order" in str(found)
    assert explore(lambda comm: comm.allreduce(np.arange(3.0)), Simulated(3), seeds=20, same=True)


def test_a_deadlock_that_needs_a_certain_order_is_found():
    def program(comm):
        if comm.rank:
            comm.send(0, comm.rank)
            if comm.rank == 2:
                comm.recv(1)
            return
        first, _ = comm.recv_any()
        comm.recv_any() if first == 1 else comm.recv(2)

    assert isinstance(explore(program, Simulated(3)).error, Deadlock | RuntimeError)


def test_a_right_program_passes_every_seed():
    def program(comm):
        return comm.allreduce(np.full(5, comm.rank)).tolist()

    found = explore(program, Simulated(4), seeds=40, same=True)
    assert found
    assert str(found) == "40 seeds tried, none failed"


def test_jitter_reaches_orders_that_ties_alone_do_not():
    def program(comm):
        if comm.rank:
            comm.compute("work", None, flops=2e4 * comm.rank)
            comm.send(0, comm.rank)
            return
        assert [comm.recv_any()[0] for _ in range(2)] == [1, 2]

    assert explore(program, Simulated(3), seeds=100, shake=0)
    assert not explore(program, Simulated(3), seeds=100)


def test_a_replay_is_bit_equal_and_keeps_everything():
    found = explore(never_together, Simulated(4))
    again = replay(never_together, found.recording.on)
    assert str(again.error) == str(found.error)
    assert again.log == found.recording.log
    assert again.events == found.recording.events
    fine = replay(lost_update, Simulated(3, Cluster(jitter=0.5)), seed=11)
    assert fine.error is None
    assert fine.results == launch(lost_update, Simulated(3, Cluster(jitter=0.5), seed=11))
    assert any(isinstance(event, Span) for event in fine.events)


def test_a_run_can_be_stepped_through():
    def program(comm):
        comm.send(1 - comm.rank, comm.rank)
        return comm.recv(1 - comm.rank)

    run, times, states = Simulated(2, log=True).open(program), [], []
    while run.step():
        times.append(run.time)
        states.append((len(run.log), [rank.state for rank in run.engine.ranks]))
    assert times == sorted(times)
    assert [logged for logged, _ in states] == sorted(logged for logged, _ in states)
    assert states[0] == (0, ["alive", "alive"])
    assert states[-1] == (2, ["finished", "finished"])
    assert run.results() == launch(program, Simulated(2))
    assert not run.step()


@pytest.mark.parametrize("priced", [True, False])
def test_stepping_a_while_and_then_running_gives_the_same_run(priced):
    def program(comm):
        x = comm.allreduce(np.full(3, comm.rank), how=_how)
        comm.send((comm.rank + 1) % comm.size, x)
        return comm.recv((comm.rank - 1) % comm.size).tolist(), comm.now()

    from dlmini.comm import halving_doubling as _how

    on = Simulated(5, Cluster(priced=priced, jitter=0.1), seed=3)
    whole = launch(program, on)
    for steps in (0, 1, 5, 20):
        run = on.open(program)
        for _ in range(steps):
            run.step()
        assert run.run() == whole


def test_a_run_that_is_given_up_ends_its_ranks():
    ended = []

    def program(comm):
        try:
            comm.recv_any()
        finally:
            ended.append(comm.rank)

    run = Simulated(3).open(program)
    for _ in range(3):
        run.step()
    run.close()
    assert sorted(ended) == [0, 1, 2]
