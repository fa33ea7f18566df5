"""A grid of ranks: everybody has one place, and belongs to three groups."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlmini import Grid

axis = st.integers(1, 4)


@given(axis, axis, axis)
def test_every_rank_has_a_place_of_its_own(data, pipe, tensor):
    grid = Grid(data, pipe, tensor)
    places = [grid.place(rank) for rank in range(grid.size)]
    assert len(set(places)) == grid.size == data * pipe * tensor
    assert [grid.rank(*place) for place in places] == list(range(grid.size))


@given(axis, axis, axis)
def test_groups_share_two_coordinates_and_run_through_the_third(data, pipe, tensor):
    grid = Grid(data, pipe, tensor)
    for rank in range(grid.size):
        for i, group in enumerate((grid.data_group(rank), grid.pipe_group(rank), grid.tensor_group(rank))):
            assert rank in group
            assert [grid.place(one)[i] for one in group] == list(range((data, pipe, tensor)[i]))
            for j in {0, 1, 2} - {i}:
                assert {grid.place(one)[j] for one in group} == {grid.place(rank)[j]}


def test_the_last_replicas_are_the_last_ranks_so_that_servers_come_last():
    grid = Grid(3, 2)
    assert [grid.place(rank).data for rank in range(6)] == [0, 0, 1, 1, 2, 2]
    assert grid.say(3) == "stage 1 of 2 in replica 1 of 3"
    with pytest.raises(ValueError, match="rank is 6; it must be a whole number from 0 to 5"):
        grid.place(6)
