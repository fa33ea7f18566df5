"""Events are plain records; phases add up."""

import json
from dataclasses import dataclass, fields
from math import nan

import numpy as np
import pytest

from dlmini.events import (
    Done,
    Fault,
    Phases,
    Round,
    Served,
    Snapshot,
    Span,
    as_dict,
    as_row,
    from_row,
    stamped,
    totals,
)


def test_an_event_is_stamped_with_rank_and_time():
    event = stamped(Round(3, 0.5, 1000), rank=2, at=1.5)
    assert (event.t, event.loss, event.nbytes, event.rank, event.at) == (3, 0.5, 1000, 2, 1.5)


def test_a_round_carries_where_the_time_went_until_then():
    phases = Phases(1.0, 2.0, 3.0)
    event = stamped(Round(0, 0.5), 0, 6.0, phases)
    phases.compute += 1
    assert event.phases == Phases(1.0, 2.0, 3.0)
    assert json.loads(json.dumps(as_dict(event)))["phases"]["waiting"] == 2.0


def test_a_snapshot_cannot_change_after_it_was_said():
    weights = np.zeros(3, np.float32)
    event = stamped(Snapshot(0, weights), 0, 0.0)
    weights += 1
    assert event.weights.tolist() == [0, 0, 0]


def test_totals_sum_the_spans_of_each_rank_by_phase():
    spans = [
        Span("compute", "gradient", 0.0, 2.0, rank=0),
        Span("compute", "encode", 2.0, 3.0, rank=0),
        Span("waiting", "", 1.0, 4.0, rank=1),
        Round(0, 0.1),
    ]
    assert totals(spans) == {0: Phases(compute=3.0), 1: Phases(waiting=3.0)}


def test_synchronisation_is_waiting_and_communication():
    phases = Phases(1.0, 2.0, 4.0) + Phases(1.0, 0.0, 0.5)
    assert phases == Phases(2.0, 2.0, 4.5)
    assert phases.synchronisation == 6.5


def test_every_event_is_a_row_of_json():
    events = [Round(1, 0.5), Snapshot(1, np.ones(2)), Fault("killed", "rank 1 got signal 9"), Done()]
    rows = [json.loads(json.dumps(as_dict(e))) for e in events]
    assert [row["event"] for row in rows] == ["Round", "Snapshot", "Fault", "Done"]
    assert rows[1]["weights"] == [1.0, 1.0]


@pytest.mark.parametrize("event", [Round(3, 0.5, 1000), Round(0, np.float32(0.1)), Served(2, 5, 1)])
def test_what_every_round_brings_is_a_row_of_numbers_and_back(event):
    event = stamped(event, 4, 1.5, Phases(1.0, 2.0, 3.0), (7, 800))
    found = from_row(as_row(event))
    assert found == event
    assert [type(getattr(found, f.name)) for f in fields(found)] == [
        type(getattr(event, f.name)) for f in fields(event)
    ]


def test_a_loss_that_is_no_number_is_a_row_too():
    assert as_row(stamped(Round(0, nan), 0, 0.0, Phases()))[2] is nan


@dataclass(frozen=True, slots=True)
class Praised(Round):
    praise: str = ""


@pytest.mark.parametrize("event", [Done(), Praised(0, 0.5, praise="!"), Round(0, [0.5]), Round(0, None), Round(0, 0.5)])
def test_other_events_are_no_rows(event):
    """Among them one that could be changed after it was said, and one whose phases nobody has filled in."""
    assert as_row(event if event == Round(0, 0.5) else stamped(event, 0, 0.0, Phases())) is None


def test_a_round_of_ones_own_is_stamped_like_any_other():
    event = stamped(Praised(3, 0.5, praise="!"), 1, 2.0, Phases(1.0, 2.0, 3.0), (7, 800))
    assert event == Praised(3, 0.5, 0, Phases(1.0, 2.0, 3.0), 800, 7, "!", rank=1, at=2.0)
