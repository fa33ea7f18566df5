"""Clocks are aligned to within half the fastest round trip, however slow the others are."""

import numpy as np
import pytest

from dlmini.comm.mpi import clock


class Correspondence:
    """Rank 1's view of rank 0, by letters that take their time; its own clock is `ahead` of rank 0's."""

    rank = 1

    def __init__(self, ahead, ways):
        self.time, self.ahead, self.ways = 5.0, ahead, iter(ways)  # time: rank 0's

    def clock(self):
        return self.time + self.ahead

    def Send(self, _, dest):
        self.time += next(self.ways)

    def Recv(self, said, source):
        said[0] = self.time
        self.time += next(self.ways)


@pytest.mark.parametrize("ahead", [0.0, -3600.0, 0.25])
@pytest.mark.parametrize("seed", range(5))
def test_the_fastest_answer_is_believed(ahead, seed):
    ways = np.random.default_rng(seed).exponential(1e-2, (clock.ROUNDS, 2))
    mpi = Correspondence(ahead, ways.ravel().tolist())
    found = clock.offset_to_rank_0(mpi, mpi.clock)
    assert abs(found + ahead) <= ways.sum(axis=1).min() / 2 + 1e-9
