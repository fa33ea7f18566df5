"""Virtual time: ranks share nothing, messages keep their order, the same seed gives the same run."""

import hashlib
import itertools
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from dlmini.comm import Link, Switch, gigabit, launch
from dlmini.events import PHASES, Done, Round, totals
from dlmini.sim import Cluster, Simulated

ALPHA, BETA = 100e-6, 1 / 117e6


def chatter(comm, rounds=6):
    """A program whose every move depends on the order of things: everybody answers whoever comes first."""
    coin, heard = np.random.default_rng([comm.rank]), []
    for t in range(rounds):
        comm.compute("think", None, flops=float(coin.integers(0, 4)) * 1e5)
        for other in range(comm.size):
            if other != comm.rank:
                comm.send(other, np.full(int(coin.integers(0, 50)), comm.rank, np.float32), tag=t)
        for _ in range(comm.size - 1):
            source, message = comm.recv_any(tag=t)
            heard.append((source, len(message), comm.now()))
    return heard


def test_the_same_seed_gives_the_same_bits_times_and_messages():
    cluster = Cluster(jitter=0.3, link_jitter=0.5)
    first, again = (launch(chatter, Simulated(5, cluster, seed=3, log=True, spans=True)) for _ in range(2))
    assert first == again
    assert (first.log, first.events, first.seconds, first.phases) == (
        again.log,
        again.events,
        again.seconds,
        again.phases,
    )
    assert launch(chatter, Simulated(5, cluster, seed=4)) != first


def test_another_process_gives_the_same_run():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from test_engine import *; "
        "print(hashlib.sha256(repr(launch(chatter, Simulated(5, seed=3)).values).encode()).hexdigest())"
    )
    here = os.path.dirname(__file__)
    mine = hashlib.sha256(repr(launch(chatter, Simulated(5, seed=3)).values).encode()).hexdigest()
    env = {**os.environ, "PYTHONHASHSEED": "12345"}
    theirs = subprocess.run([sys.executable, "-c", code, here], env=env, capture_output=True, text=True, check=True)
    assert theirs.stdout.strip() == mine


def test_seeds_explore_every_order_of_simultaneous_messages():
    def program(comm):
        if comm.rank:
            comm.send(0, comm.rank)
            return None
        return tuple(comm.recv_any()[0] for _ in range(3))

    orders = {launch(program, Simulated(4, seed=seed))[0] for seed in range(100)}
    assert orders == set(itertools.permutations([1, 2, 3]))


def test_a_message_is_copied_when_it_is_sent():
    def program(comm):
        x = np.zeros(3)
        if comm.rank == 0:
            comm.send(1, x)
            comm.send(1, [x])
            x += 1
            return x
        first, (second,) = comm.recv(0), comm.recv(0)
        first += 5
        return first, second

    sender, (first, second) = launch(program, Simulated(2))
    assert sender.tolist() == [1, 1, 1]
    assert first.tolist() == [5, 5, 5]
    assert second.tolist() == [0, 0, 0]


def test_time_is_the_alpha_beta_model_s():
    def program(comm):
        if comm.rank == 0:
            comm.compute("work", None, flops=1e9)
            comm.send(1, np.zeros(117_000, np.uint8))
        else:
            comm.recv(0)
        return comm.now(), comm.phases

    (sent, busy), (received, idle) = launch(program, Simulated(2, gigabit))
    assert (sent, busy.compute, busy.communication) == (1.0, 1.0, 0.0)
    assert received == pytest.approx(1 + ALPHA + 1e-3)
    assert idle.waiting == 1.0
    assert idle.communication == pytest.approx(ALPHA + 1e-3)


def test_a_message_that_is_already_here_costs_no_time():
    def program(comm):
        if comm.rank == 0:
            comm.send(1, "early")
            return None
        comm.compute("work", None, flops=1e9)
        comm.recv(0)
        return comm.now(), comm.phases.synchronisation

    assert launch(program, Simulated(2))[1] == (1.0, 0.0)


def test_the_first_message_is_the_one_that_is_here_first_not_the_one_sent_first():
    def program(comm):
        if comm.rank == 1:
            comm.send(0, np.zeros(10**6, np.uint8))
        if comm.rank == 2:
            comm.compute("work", None, flops=1e6)
            comm.send(0, np.zeros(1, np.uint8))
        if comm.rank == 3:
            comm.compute("work", None, flops=1e7)
            comm.send(0, np.zeros(0, np.uint8))
        return [comm.recv_any()[0] for _ in range(3)] if comm.rank == 0 else None

    slow_uploads = Switch(Link(1e-4, 1e9, upload=1e6))
    assert launch(program, Simulated(4, slow_uploads))[0] == [2, 3, 1]
    assert launch(program, Simulated(4, gigabit))[0] == [1, 2, 3]


def test_receiving_by_name_and_from_anybody_can_be_mixed():
    def program(comm):
        if comm.rank:
            for i in range(3):
                comm.send(0, (comm.rank, i))
            return None
        first = comm.recv_any()
        by_name = [comm.recv(2), comm.recv(1)]
        return [first[1], *by_name, *(comm.recv_any()[1] for _ in range(3))]

    heard = launch(program, Simulated(3))[0]
    assert sorted(heard) == [(r, i) for r in (1, 2) for i in range(3)]
    for rank in (1, 2):
        assert [i for r, i in heard if r == rank] == [0, 1, 2]


def test_messages_of_a_pair_keep_their_order_however_links_jitter():
    def program(comm):
        if comm.rank == 0:
            for i in range(50):
                comm.send(1, i)
            return None
        return [comm.recv(0) for _ in range(50)]

    for seed in range(5):
        assert launch(program, Simulated(2, Cluster(link_jitter=5.0), seed=seed))[1] == list(range(50))


def test_polling_takes_time_and_sees_what_has_come():
    def program(comm):
        if comm.rank == 0:
            comm.compute("work", None, flops=1e6)
            comm.send(1, "x")
            return None
        polls = 0
        while not comm.poll(0):
            polls += 1
        return polls, comm.now(), comm.poll(), comm.poll(tag=1), comm.recv(0)

    polls, now, again, other, message = launch(program, Simulated(2, Cluster(poll=1e-6)))[1]
    assert polls == int((1e-3 + ALPHA + BETA) * 1e6)
    assert now == pytest.approx((polls + 1) * 1e-6)
    assert (again, other, message) == (True, False, "x")


def test_speeds_labels_and_flops_decide_what_work_costs():
    def program(comm):
        result = comm.compute("gradient", lambda a, b: a + b, 2, 3, flops=8e9)
        comm.compute("encode", None, flops=4e9)
        comm.compute("unknown", None)
        return result, comm.now()

    cluster = Cluster(flops=2e9, seconds={"gradient": 0.5}, speed={1: 0.25}, start={2: 7.0})
    assert list(launch(program, Simulated(3, cluster))) == [(5, 2.5), (5, 10.0), (5, 9.5)]


def test_jitter_spreads_compute_times_around_their_mean():
    def program(comm):
        for _ in range(400):
            comm.compute("work", None, flops=1e9)
        return comm.now() / 400

    means = list(launch(program, Simulated(8, Cluster(jitter=0.3))))
    assert len(set(means)) == 8
    assert np.mean(means) == pytest.approx(1, abs=4 * 0.3 / np.sqrt(3200))


def test_posting_a_message_takes_the_processor_s_overhead():
    def program(comm):
        for other in range(1, comm.size):
            comm.send(other, None) if comm.rank == 0 else None
        if comm.rank:
            comm.recv(0)
        return comm.now(), comm.phases.communication

    results = launch(program, Simulated(4, Cluster(overhead=0.25)))
    assert results[0] == (0.75, 0.75)
    assert [now for now, _ in results[1:]] == pytest.approx([ALPHA, 0.25 + ALPHA, 0.5 + ALPHA])


@pytest.mark.parametrize("priced", [True, False])
def test_phases_and_spans_cover_all_time(priced):
    def program(comm):
        x = np.ones(1000)
        comm.compute("outer", lambda: comm.compute("inner", comm.allreduce, x, flops=1e6), flops=1e5)
        pending = comm.allreduce(x, wait=False)
        comm.compute("overlapped", None, flops=1e5)
        pending.wait()
        chatter(comm, rounds=1)
        return comm.now()

    results = launch(program, Simulated(4, Cluster(priced=priced, gamma=1e-9, speed={2: 0.3}), spans=True))
    told = totals(results.events)
    for rank, (now, phases) in enumerate(zip(results, results.phases, strict=True)):
        assert sum(getattr(phases, p) for p in PHASES) == pytest.approx(now)
        for phase in PHASES:
            assert getattr(told[rank], phase) == pytest.approx(getattr(phases, phase), abs=1e-12)


def test_events_reach_the_listener_as_they_happen_stamped_with_virtual_time():
    heard = []

    def program(comm):
        comm.compute("work", None, flops=1e9)
        comm.emit(Round(0, 0.5, 10))

    results = launch(program, Simulated(2), listen=heard.append)
    assert results.events == []  # who listens keeps what he wants
    assert launch(program, Simulated(2)).events == heard
    assert [(e.rank, e.at) for e in heard if isinstance(e, Round)] == [(0, 1.0), (1, 1.0)]
    assert sum(isinstance(e, Done) for e in heard) == 2


def test_the_log_tells_every_message_with_its_line():
    def program(comm):
        if comm.rank == 0:
            comm.send(1, np.zeros(5, np.float32), tag=9)  # here
        else:
            comm.recv(0, tag=9)

    (record,) = launch(program, Simulated(2, log=True)).log
    assert (record.source, record.dest, record.channel, record.nbytes, record.sent) == (0, 1, 9, 20, 0.0)
    assert record.here == pytest.approx(ALPHA + 20 * BETA)
    assert "test_engine.py" in record.where
    assert "# here" in record.where


def test_an_error_names_rank_time_and_seed():
    def program(comm):
        comm.compute("work", None, flops=2e9)
        return 1 / comm.rank

    with pytest.raises(ZeroDivisionError) as caught:
        launch(program, Simulated(3, seed=8))
    assert caught.value.__notes__ == ["on rank 0 of 3, at 2 s, seed 8"]


def test_a_communicator_belongs_to_its_rank_and_thread():
    stolen = {}

    def program(comm):
        stolen[comm.rank] = comm
        comm.barrier()
        if comm.rank == 1:
            stolen[0].send(1, "forged")

    with pytest.raises(RuntimeError, match="communicator of rank 0 was used by another rank or thread"):
        launch(program, Simulated(2))

    def threaded(comm):
        errors = []

        def work():
            try:
                comm.send(0, 1)
            except RuntimeError as error:
                errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return len(errors)

    assert launch(threaded, Simulated(1)).values == [1]


def test_every_rank_has_a_context_of_its_own():
    def program(comm):
        if comm.rank == 0:
            with np.errstate(divide="raise"):
                comm.barrier()
                comm.barrier()
        else:
            comm.barrier()
            assert np.isinf(np.ones(1) / np.zeros(1))
            comm.barrier()

    with np.errstate(divide="ignore"):
        launch(program, Simulated(2))


def test_a_rank_may_run_a_simulation_itself():
    def inner(comm):
        return comm.allreduce(np.ones(2))

    def program(comm):
        mine = launch(inner, Simulated(comm.rank + 1))
        return comm.allreduce(mine[0])

    assert [r.tolist() for r in launch(program, Simulated(3))] == [[6, 6]] * 3


def test_ranks_may_be_deep_in_their_own_stacks():
    def dive(comm, depth):
        if depth:
            return dive(comm, depth - 1)
        comm.send((comm.rank + 1) % comm.size, depth)
        return comm.recv((comm.rank - 1) % comm.size)

    assert set(launch(lambda comm: dive(comm, 300), Simulated(200))) == {0}


def test_a_thousand_ranks_talk_in_a_ring():
    def program(comm):
        total = 0
        for t in range(5):
            comm.send((comm.rank + t) % comm.size, comm.rank)
            total += comm.recv((comm.rank - t) % comm.size)
        return total

    results = launch(program, Simulated(1000))
    assert sum(results) == 5 * sum(range(1000))
    assert results.books.total() == (5000, 40_000)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Simulated(0), "size is 0; it must be a whole number of at least 1: ranks"),
        (lambda: Cluster(flops=0), "above 0"),
        (lambda: Cluster(jitter=-1), "jitter is -1; it must be a finite number of at least 0"),
        (lambda: Cluster(speed={3: 0}), "speed of rank 3 is 0; it must be a finite number above 0"),
        (lambda: Cluster(back={1: 2.0}), "does not crash before that"),
    ],
)
def test_impossible_clusters_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_cluster_says_only_what_is_not_ordinary():
    assert repr(Cluster()) == "Cluster()"
    assert repr(Cluster(jitter=0.2, speed={1: 0.5})) == "Cluster(speed={1: 0.5}, jitter=0.2)"


def test_more_ranks_than_can_be_programs_are_refused_before_any_is_made():
    with pytest.raises(ValueError, match=r"1,000,000,000 ranks: .* at most 1,000,000 can be simulated"):
        launch(lambda comm: None, Simulated(10**9))
