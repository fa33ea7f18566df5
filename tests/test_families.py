"""How large families of cases are thinned out: nobody is left out of them, and the long form is whole."""

import examples
import pytest
from examples import crossed, some


@pytest.fixture(params=[False, True], ids=["short", "long"])
def long(request, monkeypatch):
    monkeypatch.setattr(examples, "LONG", request.param)
    return request.param


@pytest.mark.parametrize(("count", "every"), [(10, 3), (3, 3), (2, 3), (1, 1), (30, 3)])
def test_every_case_is_met_by_one_beginning_or_another(count, every, long):
    found = [some(range(count), every, first) for first in range(every)]
    assert set().union(*found) == set(range(count))
    assert all(found)
    assert all(len(some) == count for some in found) or not long


@pytest.mark.parametrize(("rows", "columns", "every"), [(15, 9, 3), (15, 10, 3), (2, 7, 2), (5, 5, 5), (1, 4, 1)])
def test_every_row_and_every_column_is_there(rows, columns, every, long):
    pairs = crossed(range(rows), "abcdefghij"[:columns], every)
    assert {row for row, _ in pairs} == set(range(rows))
    assert {column for _, column in pairs} == set("abcdefghij"[:columns])
    assert len(set(pairs)) == len(pairs) <= rows * columns
    assert (len(pairs) == rows * columns) == (long or every == 1)


def test_diagonals_so_far_apart_that_somebody_would_be_left_out_are_refused():
    with pytest.raises(ValueError, match="would leave somebody out"):
        crossed(range(2), range(9), 3)
