"""Gradients share memory when their times do not overlap, and never when they do."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dlmini import Dense, Model, ReLU
from dlmini.nn.arena import Arena
from dlmini.nn.passes import Pass

slots = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 12), st.integers(1, 5)), min_size=1, max_size=25)


def zeros(*shape):
    return np.zeros(shape, np.float32)


@given(slots)
def test_what_is_needed_at_the_same_time_lies_apart(wanted):
    arena = Arena(zeros)
    found = [arena.passing(size, start=start, stop=start + length) for size, start, length in wanted]
    arena.settle()
    for now in range(20):
        alive = [slot.array for slot in found if slot.start <= now < slot.stop]
        for i, array in enumerate(alive):
            array[...] = i
        assert all((array == i).all() for i, array in enumerate(alive))


@given(slots)
def test_memory_is_no_more_than_all_slots_together_and_no_less_than_those_of_one_moment(wanted):
    arena = Arena(zeros)
    found = [arena.passing(size, start=start, stop=start + length) for size, start, length in wanted]
    arena.settle()
    busiest = max(sum(slot.size for slot in found if slot.start <= now < slot.stop) for now in range(20))
    assert busiest <= arena.memory.size <= sum(slot.size for slot in found)


def test_a_deep_network_needs_room_for_two_gradients_at_a_time():
    model = Model([layer for _ in range(20) for layer in (Dense(64), ReLU())], (64,), kernels="numpy")
    one = Pass(model)
    one.lay_out(10)
    assert one.arena.memory.size < 3 * 10 * 64 + 100
