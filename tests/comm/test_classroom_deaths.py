"""PCs and ranks that die in the middle of a run: named, survived where the method can, never half a message."""

import os
import signal

import numpy as np
import pytest
from classrooms import another, classroom, join
from examples import LONG

from dlmini import Asynchronous, Gossip, ParameterServer, Recipe, train
from dlmini.comm import DeadRank, RankFailed, launch
from dlmini.comm.control import Control
from dlmini.events import Fault

KILLS = 30 if LONG else 3


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    with classroom(4, tmp_path_factory.mktemp("room")) as (found, _):
        yield found


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def deaths(events):
    return [(event.rank, event.deadly) for event in events if isinstance(event, Fault)]


def test_what_had_come_is_taken_then_the_dead_is_named(room):
    def program(comm):
        if comm.rank == 1:
            for number in range(3):
                comm.send(0, np.full(500_000, number, np.float32))
            comm.recv(0)  # they have come, and rank 0 has not read them
            die()
        if comm.rank == 0:
            while not comm.poll(1):
                pass
            first = comm.recv(1)
            while len(comm._inbox.boxes.get((1, 0), ())) < 2:
                comm.poll(1)
            comm.send(1, "die")
            heard = [float(first[-1])]
            while 1 not in comm.gone():
                pass
            heard += [float(comm.recv(1)[-1]) for _ in range(2)]
            with pytest.raises(DeadRank, match=r"rank 0 waits for .*rank 1, which .*died"):
                comm.recv(1)
            comm.send(1, "nobody hears this")
            return heard, comm.gone()
        return comm.rank

    results = launch(program, another(room, 3), may_die=range(3))
    assert results.values == [([0, 1, 2], {1}), None, 2]
    assert deaths(results.events) == [(1, True)]


def test_a_receive_from_anybody_tells_of_each_death_once(room):
    def program(comm):
        if comm.rank == 1:
            die()
        if comm.rank:
            comm.recv(0)
            comm.send(0, comm.rank, tag=5)
            return comm.rank
        with pytest.raises(DeadRank, match="anybody, and rank 1 has died"):
            comm.recv_any(5)
        for rank in (2, 3):
            comm.send(rank, "go on")
        return sorted(comm.recv_any(5)[0] for _ in range(2))

    assert launch(program, another(room, 4), may_die=range(4)).values == [[2, 3], None, 2, 3]


def test_a_sum_that_needs_the_dead_says_so_and_who_may_not_die_ends_the_run(room):
    def program(comm):
        if comm.rank == 1:
            die()
        with pytest.raises(DeadRank, match=r"rank . .*died"):
            comm.allreduce(np.ones(4, np.float32))
        return "alone"

    assert launch(program, another(room, 2), may_die=range(2)).values == ["alone", None]
    with pytest.raises(RankFailed, match=r"rank 1 \(pc-.\) was killed") as caught:
        launch(program, another(room, 3), may_die=[0, 2])
    assert (caught.value.rank, caught.value.died) == (1, True)


def test_who_gives_up_is_dead_to_the_others_and_its_pc_is_there_for_the_next_run(room):
    def program(comm):
        if comm.rank == 1:
            comm.recv(0)
            comm.give_up()
        comm.send(1, "go")
        with pytest.raises(DeadRank, match=r"rank 1, which has died"):
            comm.recv(1)
        return sorted(comm.gone())

    results = launch(program, another(room, 3), may_die=range(3))
    assert results.values == [[1], None, [1]]
    assert deaths(results.events) == [(1, True)]
    assert launch(lambda comm: comm.rank, another(room, 4)) == [0, 1, 2, 3]


def test_what_is_sent_to_the_dead_costs_no_memory(room):
    def program(comm):
        import resource

        if comm.rank == 1:
            die()
        with pytest.raises(DeadRank):
            comm.recv(1)
        before, big = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, np.zeros(2**22, np.float32)
        for _ in range(40):
            comm.send(1, big)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    grown = launch(program, another(room, 2), may_die=range(2))[0]
    assert grown < 10 * big_kb(), f"{grown} KB for 40 messages of 16 MB"


def big_kb():
    return 2**24 // 1024


def chatter(comm, seed, rounds):
    """Everybody sends everybody long vectors of one number each, and takes what comes: whole, in order, or nothing."""
    coin, heard = np.random.default_rng([seed, comm.rank]), dict.fromkeys(range(comm.size), 0)
    for t in range(rounds):
        for other in set(range(comm.size)) - {comm.rank}:
            comm.send(other, np.full(coin.integers(1, 200_000), comm.size * t + comm.rank, np.float32), tag=1)
        if t == 0:
            comm.emit(Fault("begun", "", rank=comm.rank))
        for other in set(range(comm.size)) - {comm.rank}:
            try:
                vector = comm.recv(other, tag=1)
            except DeadRank:
                continue
            assert (vector == comm.size * heard[other] + other).all(), "a torn or misplaced message"
            heard[other] += 1
    return heard


@pytest.mark.parametrize("seed", range(KILLS))
def test_killed_in_the_middle_of_a_send_it_breaks_no_other(room, seed):
    coin, control, rounds = np.random.default_rng(seed), Control(4), 30
    victim, witness = coin.choice(4, 2, replace=False).tolist()

    def listen(event):
        if event.rank == witness and isinstance(event, Fault) and event.kind == "begun":
            control.kill(victim)
        found.append(event)

    found, on = [], another(room, 4, encrypt=bool(seed % 2))
    values = launch(chatter, on, (seed, rounds), listen, control, may_die=range(4)).values
    assert [rank for rank, deadly in deaths(found) if deadly] == [victim]
    for rank in {0, 1, 2, 3} - {victim}:
        others = {other: count for other, count in values[rank].items() if other not in (rank, victim)}
        assert set(others.values()) == {rounds}
        assert values[rank][victim] <= rounds


SURVIVING = {
    "asynchronous": Recipe(Asynchronous(), ParameterServer(), rounds=60),
    "gossip": Recipe(topology=Gossip(), rounds=60),
}


@pytest.mark.parametrize("name", SURVIVING)
def test_methods_that_wait_for_nobody_in_particular_go_on_without_a_dead_worker(room, task, name):
    control = Control(4)
    run = train(task, SURVIVING[name], room, control=control)
    for event in run:
        if getattr(event, "t", 0) >= 5 and not run.gone:
            control.kill(1)
            break
    outcome = run.result(120)
    assert outcome.gone == [1]
    assert outcome.accuracy > 0.5


def test_methods_that_wait_for_everybody_say_why_they_end(room, task):
    control = Control(4)
    run = train(task, Recipe(rounds=2000), room, control=control)
    next(event for event in run if getattr(event, "t", 0) >= 3)
    control.kill(2)
    with pytest.raises(RankFailed, match=r"rank 2 \(pc-.\) was killed") as caught:
        run.result(60)
    assert any("this recipe waits for everybody" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("sign", ["SIGKILL", "SIGSTOP", "SIGINT"])
def test_a_pc_that_is_killed_silent_or_leaves_is_named_and_its_place_can_be_taken(tmp_path, sign):
    words = {"SIGKILL": "was lost", "SIGSTOP": "was lost", "SIGINT": "left the room"}[sign]
    with classroom(2, tmp_path, pcs=1) as (room, _):
        pc = join(room, "mortal")

        def listen(event):
            if isinstance(event, Fault):
                os.kill(pc.pid, getattr(signal, sign))

        def program(comm):
            if comm.rank == 1:
                comm.emit(Fault("begun", "", rank=1))
            return comm.recv(1 - comm.rank)

        try:
            with pytest.raises(RankFailed, match=rf"rank 1 \(mortal\) {words}") as caught:
                launch(program, room, (), listen)
            assert caught.value.died
            assert [row.name for row in room.who()] == ["pc-0"]
            if sign == "SIGSTOP":  # only its cable was out: it finds back by itself
                os.kill(pc.pid, signal.SIGCONT)
                assert launch(lambda comm: comm.rank, room) == [0, 1]
                os.kill(pc.pid, signal.SIGINT)
            said = pc.communicate(timeout=30)[0]
        finally:
            pc.kill()
            pc.wait()
        assert pc.returncode == (-signal.SIGKILL if sign == "SIGKILL" else 0), said
        assert sign == "SIGKILL" or "Left the room" in said
