"""Where networks are cut: the dearest stage is as cheap as can be."""

from itertools import combinations, pairwise

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from dlmini import Dense, Model, ReLU, cifar_net, lenet
from dlmini.parallel.balance import balanced, borders, checked_cuts, counted, measured


def dearest(costs, cuts):
    return max(sum(costs[a:b]) for a, b in pairwise((0, *cuts, len(costs))))


@examples(60)
@given(st.lists(st.integers(1, 40), min_size=2, max_size=8), st.data())
def test_no_other_cuts_have_a_cheaper_dearest_stage(widths, data):
    model = Model([Dense(width) for width in widths], (5,))
    stages = data.draw(st.integers(1, len(widths)))
    costs, cuts = counted(model), balanced(model, stages)
    assert len(cuts) == stages - 1
    every = combinations(range(1, len(widths)), stages - 1)
    assert dearest(costs, cuts) == min(dearest(costs, other) for other in every)


def test_what_follows_a_layer_with_weights_stays_with_it():
    assert borders(lenet()) == [3, 7, 9]
    assert balanced(lenet(), 2) == (3,)
    assert balanced(cifar_net(), 2) == (7,)
    assert balanced(lenet(), 4) == (3, 7, 9)


def test_more_stages_than_layers_with_weights_are_cut_between_any_layers_and_more_than_layers_are_refused():
    model = Model([Dense(4), ReLU(), Dense(3), ReLU()], (2,))
    assert balanced(model, 4) == (1, 2, 3)
    with pytest.raises(ValueError, match="5 stages, but the network has 4 layers: a stage needs one at least"):
        balanced(model, 5)


def test_among_equals_the_cut_that_sends_least_is_taken():
    model = Model([Dense(8), Dense(4), Dense(8)], (4,))  # 64, 64 and 64 FLOPs: either cut leaves 128 in one stage
    assert balanced(model, 2) == (2,)


def test_costs_may_be_measured_or_given():
    model = lenet()
    for singly in (False, True):
        costs = measured(model, images=2, times=1, singly=singly)
        assert len(costs) == len(model.layers)
        assert [i for i, cost in enumerate(costs) if cost] == (list(range(10)) if singly else [0, 3, 7, 9])
    assert balanced(model, 2, [0, 0, 0, 9, 0, 0, 0, 1, 0, 1]) == (7,)
    with pytest.raises(ValueError, match=r"costs is .* 10 numbers, one for each layer"):
        balanced(model, 2, [1, 2])


@pytest.mark.parametrize(
    ("cuts", "match"),
    [(3, "a row of 2"), ("best", "or None, or .measured"), ((3,), "a row of 2"), ((5, 3), "that grow")],
)
def test_cuts_of_ones_own_must_leave_every_stage_a_layer(cuts, match):
    with pytest.raises((ValueError, TypeError), match=match):
        checked_cuts(cuts, lenet(), 3)
    with pytest.raises(ValueError, match="a layer in cuts is 10; it must be a whole number from 1 to 9"):
        checked_cuts((3, 10), lenet(), 3)
    assert checked_cuts([3, 9], lenet(), 3) == (3, 9)
