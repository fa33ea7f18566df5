"""Many hosts and many results: what is kept does not grow with what is over. Speed is in `benchmarks/volunteer.py`."""

import pytest
from examples import LONG

from dlmini.volunteer.crowd import Crowd

HOSTS, UNITS = (100_000, 500_000) if LONG else (2_000, 10_000)


@pytest.mark.slow
def test_a_crowd_works_off_its_units_and_what_is_over_is_forgotten():
    crowd = Crowd(HOSTS, UNITS, seed=1)
    crowd.run()
    it = crowd.dispatcher
    assert it.done + len(it.failed) == UNITS
    assert len(it.failed) < UNITS / 1000
    assert sum(it.counts.values()) >= 2 * UNITS  # results
    assert crowd.wrong == 0  # accepted answers that a liar gave
    assert crowd.longest_watch <= 1000 + 5 * crowd.most_under_way
    assert len(it.units) <= crowd.most_under_way
