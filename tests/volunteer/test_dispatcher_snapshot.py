"""A dispatcher that was written down and read again goes on exactly as one that was not."""

import json

import pytest

from dlmini.volunteer.crowd import Crowd
from dlmini.volunteer.dispatcher_snapshot import OFTEN, due, restored, taken
from dlmini.volunteer.unit import Terms

TERMS = [
    Terms(max_error=6, max_total=14, max_success=7, delay=24 * 3600.0),
    Terms(max_error=2, max_total=4, max_success=3, delay=3600.0, adaptive=True, alike=True),
]


class Forgetful(Crowd):
    """Every so many events its dispatcher is written down as JSON, and read again."""

    every = 7

    def apply(self, event):
        if self.events % self.every == 0:
            it = self.dispatcher
            found = restored(json.loads(json.dumps(taken(it))), seed=0, at_once=2)
            assert found.state() == it.state()
            assert sorted(found.deadlines) == sorted(d for d in it.deadlines if it.under_way(*d[1:]))
            it.__dict__.update(found.__dict__)
        return super().apply(event)


@pytest.mark.parametrize("terms", TERMS, ids=["plain", "adaptive and alike"])
def test_a_crowd_does_not_notice_that_its_dispatcher_was_read_again(terms):
    plain, other = Crowd(20, 60, 0, terms), Forgetful(20, 60, 0, terms)
    plain.run()
    other.run()
    assert other.dispatcher.state() == plain.dispatcher.state()
    assert (other.events, other.wrong) == (plain.events, plain.wrong)


def test_a_snapshot_is_due_when_it_costs_less_than_what_it_saves():
    crowd = Crowd(5, 4 * OFTEN)
    assert due(crowd.dispatcher, OFTEN + 1)
    assert not due(crowd.dispatcher, OFTEN)
    crowd.dispatcher.units = range(OFTEN)
    assert not due(crowd.dispatcher, 4 * OFTEN)
    assert due(crowd.dispatcher, 4 * OFTEN + 1)
