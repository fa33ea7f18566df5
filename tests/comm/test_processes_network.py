"""Processes(network=...): messages are held back as long as the link model says, and never shorter."""

import sys

import cloudpickle
import numpy as np
import pytest

from dlmini.comm.errors import Deadlock, Unreceived
from dlmini.comm.launch import launch
from dlmini.comm.network import Link, Medium, Nodes, Switch, gigabit
from dlmini.comm.processes import Processes
from dlmini.comm.processes.messages.slow_network import Links

cloudpickle.register_pickle_by_value(sys.modules[__name__])
SLOW = Switch(Link(0.01, 1e6))  # 10 ms, 1 MB/s


def timed(comm, nbytes):
    """Everybody but rank 0 sends to rank 0: when each message was sent, and when it was here."""
    x = np.zeros(nbytes, np.uint8)
    if comm.rank:
        comm.send(0, [comm.now(), x])
        return []
    return [(comm.recv(source)[0], comm.now()) for source in range(1, comm.size)]


def test_a_message_takes_latency_plus_bytes_over_bandwidth():
    [(sent, here)] = launch(timed, Processes(2, network=SLOW), (50_000,))[0]
    assert here - sent >= 0.06


def test_two_messages_wait_for_one_another_at_the_receiver_s_port():
    times = launch(timed, Processes(3, network=SLOW), (50_000,))[0]
    assert max(here for _, here in times) - min(sent for sent, _ in times) >= 0.01 + 2 * 0.05


def test_two_messages_wait_for_one_another_on_a_shared_medium():
    def program(comm):
        comm.send((comm.rank + 2) % 4, np.zeros(30_000, np.uint8)) if comm.rank < 2 else comm.recv(comm.rank - 2)
        return comm.now()

    assert max(launch(program, Processes(4, network=Medium(Link(0.0, 1e6))))) >= 0.06


def test_links_inside_a_node_are_quicker():
    network = Nodes(2, inside=Link(1e-6, 1e9), between=Link(0.2, 1e9))

    def program(comm):
        if comm.rank == 0:
            comm.send(1, "near")
            comm.send(2, "far")
            return None
        began = comm.now()
        return (comm.recv(0), comm.now() - began) if comm.rank < 3 else None

    results = launch(program, Processes(4, network=network))
    assert results[2][1] >= 0.15
    assert results[1][1] < results[2][1]


def test_poll_does_not_see_what_is_under_way():
    def program(comm):
        if comm.rank == 0:
            return comm.send(1, "slow")
        seen = []
        while not comm.poll(0):
            seen.append(comm.now())
        return len(seen), comm.recv_any(), comm.now()

    looks, message, here = launch(program, Processes(2, network=Switch(Link(0.1, 1e9))))[1]
    assert looks > 1
    assert message == (0, "slow")
    assert here >= 0.1


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_results_and_books_do_not_depend_on_the_network(size):
    def program(comm):
        x = np.random.default_rng(comm.rank).standard_normal(1000).astype(np.float32)
        comm.barrier()
        total, part = comm.allreduce(x), comm.reduce_scatter(x)
        return total.tobytes(), part.tobytes(), [y.tobytes() for y in comm.allgather(x)], comm.bcast(comm.rank)

    slow, fast = (launch(program, Processes(size, network)) for network in (gigabit, None))
    assert slow.values == fast.values
    assert slow.books == fast.books


def test_messages_keep_their_order_over_a_network():
    def program(comm):
        if comm.rank == 0:
            return [comm.send(1, np.full(n, n, np.int16)) for n in (20_000, 1, 3000, 0, 7)]
        return [len(comm.recv(0)) for _ in range(5)]

    assert launch(program, Processes(2, network=SLOW))[1] == [20_000, 1, 3000, 0, 7]


def test_a_message_long_under_way_is_not_taken_for_a_deadlock():
    def program(comm):
        return comm.recv(0) if comm.rank else comm.send(1, "at last")

    assert launch(program, Processes(2, network=Switch(Link(1.0, 1e9))))[1] == "at last"


def test_over_a_network_deadlocks_and_unread_messages_are_found_too():
    with pytest.raises(Deadlock):
        launch(lambda comm: comm.recv(1 - comm.rank), Processes(2, network=gigabit))
    with pytest.raises(Unreceived, match="1 of tag 0 from rank 0 to rank 1"):
        launch(lambda comm: comm.send(1, 1) if comm.rank == 0 else None, Processes(2, network=gigabit))


def test_a_network_too_large_is_refused():
    class Endless:
        def ports(self, size):
            return [None] * 10**6

    with pytest.raises(ValueError, match="1000000 ports is too large to be imitated among 2 processes"):
        Links(Endless(), 0, 2, None, __import__("dlmini.comm.processes.plain.waiting_and_sums", fromlist=["plain"]))
