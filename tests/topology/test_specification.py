"""One specification for every topology: what reaches worker i is row i of its matrix times what everybody said."""

import numpy as np
import pytest

from dlmini import Recipe, launch
from dlmini.compression import QSGD, EFSign, Int8, None_, RandomK, TopK
from dlmini.sim import Simulated
from dlmini.topology import AllReduce, Gossip, ParameterServer, Zero
from dlmini.topology.graphs import GRAPHS
from dlmini.topology.turn import Turn

LENGTH = 37
TOPOLOGIES = [
    AllReduce(),
    *(Gossip(graph, what) for graph in GRAPHS for what in ("updates", "weights")),
    ParameterServer(1),
    ParameterServer(3),
    *(Zero(stage, bucket=bucket) for stage in (0, 1, 2) for bucket in (None, 10)),
    AllReduce(bucket=10),
]
COMPRESSORS = [None_(), TopK(0.2), Int8(), QSGD(bits=4), RandomK(0.3), EFSign()]


class Negated:
    """An outer optimiser that adds what it is given, so that weights of zero become the mixture itself."""

    def apply(self, w, mixed):
        w += mixed


def said(compression, rank, length=LENGTH):
    """The packet of a worker: some update, encoded."""
    update = np.random.default_rng([rank, 5]).standard_normal(length).astype(np.float32)
    return compression.encode(update, np.random.default_rng([0 if compression.shared_coin else rank, 9]))


def one_exchange(comm, topology, compression, t, length):
    workers = comm.size - topology.servers
    if comm.rank >= workers:
        low, high = topology.shards(length)[comm.rank - workers]
        return topology.serve(comm, np.zeros(high - low, np.float32), Negated(), Recipe(topology=topology, rounds=1))
    zeros = [np.zeros(length, np.float32) for _ in range(3)]
    turn = Turn(t, zeros[0], zeros[1], said(compression, comm.rank, length), zeros[2], compression.summable)
    recipe = Recipe(topology=topology, compression=compression, rounds=1)
    shapes = ((length // 3,), (length - length // 3,))
    mixed = topology.start(comm, zeros[1], recipe, shapes).exchange(comm, turn, Negated())
    assert mixed is turn.w
    return mixed


@pytest.mark.parametrize("workers", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("topology", TOPOLOGIES, ids=repr)
def test_an_exchange_is_the_matrix_times_what_was_said(topology, workers):
    for compression in COMPRESSORS:
        decoded = np.array([said(compression, rank).dense() for rank in range(workers)], np.float64)
        for t in (0, 1, 4):
            on = Simulated(workers + topology.servers, seed=t)
            found = launch(one_exchange, on=on, args=(topology, compression, t, LENGTH))
            expected = topology.matrix(workers, t) @ decoded
            np.testing.assert_allclose(np.array(found[:workers]), expected, atol=1e-5 * np.abs(decoded).max())


@pytest.mark.parametrize("length", [0, 1, 2])
@pytest.mark.parametrize(
    "topology", [AllReduce(), AllReduce(bucket=1), Gossip(), ParameterServer(3), Zero(), Zero(2)], ids=repr
)
def test_vectors_shorter_than_the_number_of_ranks_are_exchanged(topology, length):
    found = launch(one_exchange, on=Simulated(5 + topology.servers), args=(topology, None_(), 0, length))
    decoded = np.array([said(None_(), rank, length).dense() for rank in range(5)])
    np.testing.assert_allclose(np.array(found[:5]), topology.matrix(5, 0) @ decoded, atol=1e-6)
