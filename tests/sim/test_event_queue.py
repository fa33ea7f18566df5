"""The queue gives events in the order of time, then of tie, then of planning, whenever they were planned."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlmini.sim.event_queue import FIRST, LAST, POST, EventQueue

TIMES, TIES = st.sampled_from([0.0, 1.0, 2.5, 7.0]), st.sampled_from([FIRST, -0.5, 0.5, POST, LAST])


@given(st.lists(st.tuples(TIMES, TIES)))
def test_events_come_in_order(planned):
    queue = EventQueue()
    for serial, (time, tie) in enumerate(planned):
        queue.push(time, (tie, serial, None))
    found = []
    while (event := queue.pop()) is not None:
        found.append((queue.time, *event[:2]))
    assert found == sorted((time, tie, serial) for serial, (time, tie) in enumerate(planned))


@given(st.lists(st.tuples(st.integers(0, 3), TIMES, TIES)))
def test_events_planned_meanwhile_find_their_place(planned):
    """Against a plain sorted list, with pops between the pushes; the past is refused."""
    queue, model = EventQueue(), []
    for serial, (pops, time, tie) in enumerate(planned):
        for _ in range(min(pops, len(model))):
            now, *rest = model.pop(0)
            assert queue.pop() == (*rest, None)
            assert queue.time == now
        if time < queue.time:
            with pytest.raises(RuntimeError, match="the past cannot be changed"):
                queue.push(time, (tie, serial, None))
        else:
            queue.push(time, (tie, serial, None))
            model = sorted([*model, (time, tie, serial)])
    assert sorted(event[:2] for event in queue.events()) == sorted((tie, serial) for _, tie, serial in model)
