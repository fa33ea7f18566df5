"""ZeRO 0 to 3 played layer by layer, DeepSpeed's regimes, levels, and one job asked three ways."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from dlmini import Simulated, launch
from dlmini.comm import Link, Nodes
from dlmini.comm.schedules import play, tree
from dlmini.comm.schedules.play import Slices
from dlmini.plan import DEVICES, Layout, Sheet, forecast, simulate, simulate_zero2, zero2
from dlmini.plan.levels import level_seconds, simulate_levels
from dlmini.plan.three_ways import three_ways, zero2_formula
from dlmini.plan.transfers import data_transfers

A100 = DEVICES["a100-80gb"]
SMALL = Sheet("small", 64, 6, 4, 100, 8)


def on_nodes(per_node: int):
    return replace(A100, network=Nodes(per_node, Link(2e-6, 195e9), Link(5e-6, 22.5e9), shared=False))


@given(
    some.sampled_from([1, 2]),
    some.sampled_from([2, 3, 4]),
    some.sampled_from([1, 2]),
    some.sampled_from([0, 1, 2, 3]),
    some.booleans(),
    some.integers(1, 3),
)
@settings(max_examples=60, deadline=None)
def test_folded_steps_of_copies_equal_unfolded_ones_to_the_bit(tensor, data, micro, zero, overlap, rounds):
    layout = Layout(tensor, 1, data, micro, zero=zero, overlap=overlap or zero < 2)
    device, batch = on_nodes(tensor), data * micro * rounds
    folded, every = (simulate(SMALL, layout, device, batch, fold=fold) for fold in (True, False))
    assert len(every) == data
    assert set(every) == set(folded)


@pytest.mark.parametrize("zero", [0, 1, 2, 3])
def test_copies_send_what_the_plan_says(zero):
    """But for filling up: a layer's numbers are cut into equal parts."""
    layout, micros = Layout(data=8, zero=zero), 3
    found = simulate(SMALL, layout, on_nodes(1), 8 * micros, fold=False)
    wanted = sum(one.sent for one in data_transfers(layout, SMALL.parameters, micros)) * 8
    assert found.books.total().nbytes == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("overlap", [True, False])
def test_a_played_zero_3_step_is_near_its_forecast(overlap):
    layout = Layout(8, 1, 16, 4, zero=3, recompute="selective", sequence_parallel=True, overlap=overlap)
    played, told = simulate("gpt-175b", layout, batch=128), forecast("gpt-175b", layout, batch=128)
    assert played.seconds == pytest.approx(told.seconds, rel=0.03)


@pytest.mark.parametrize("zero", [0, 1])
@pytest.mark.parametrize("overlap", [True, False])
def test_sums_of_whole_gradients_are_hidden_as_their_forecast_says(zero, overlap):
    """One node: there is enough work to hide them, but for what leaves last."""
    layout = Layout(2, 1, 4, 4, zero=zero, sequence_parallel=True, overlap=overlap)
    model = Sheet("one node", 2048, 12, 16, 32000, 1024)
    played, told = simulate(model, layout, A100, 16), forecast(model, layout, A100, 16)
    assert played.seconds == pytest.approx(told.seconds, rel=0.03)


@pytest.mark.parametrize("zero", [0, 1, 2, 3])
@pytest.mark.parametrize(("model", "micro"), [("bloom-560m", 1), ("bloom-560m", 4), ("gpt2-xl", 2), ("bloom-7b1", 1)])
def test_what_is_hidden_is_reckoned_as_it_is_played(model, micro, zero):
    """64 copies far apart, two micro-batches: little work, much work; an embedding of half of all parameters."""
    layout, device, batch = Layout(data=64, micro=micro, zero=zero), on_nodes(1), 128 * micro
    told = forecast(model, layout, device, batch)
    assert told.parts["data"] > 0.02 * told.seconds
    assert simulate(model, layout, device, batch).seconds == pytest.approx(told.seconds, rel=0.02)


def test_zero_3_with_a_pipeline_is_refused():
    with pytest.raises(ValueError, match="ZeRO 3 is played without a pipeline"):
        simulate(SMALL, Layout(pipe=2, data=2, zero=3), batch=4)


# ---- a reduce for each owner ----


@pytest.mark.parametrize(("size", "root"), [(1, 0), (2, 1), (5, 3), (8, 6)])
def test_a_tree_reduces_to_any_root(size, root):
    def program(comm):
        return play(comm, tree.reduce(comm.size, root), Slices(np.full(3, 2.0**comm.rank), 1), 7).x[0]

    results = launch(program, Simulated(size))
    assert results[root] == 2.0**size - 1
    assert results.books.total().messages == size - 1


@pytest.mark.parametrize("overlap", [True, False])
@pytest.mark.parametrize("ranks", [1, 3, 16])
def test_a_reduce_for_each_owner_sends_two_thirds_of_the_default(ranks, overlap):
    found = simulate_zero2("gpt2", ranks, bucket=20_000_000, overlap=overlap, flush="reduce")
    reduces = [one for one in zero2("gpt2", ranks, 20_000_000, "reduce") if one.what == "gradients"]
    gathered = zero2("gpt2", ranks, 20_000_000)[-1]
    wanted = (ranks - 1) * sum(one.nbytes for one in reduces) + ranks * gathered.sent
    assert found.books.total().nbytes == pytest.approx(wanted, rel=1e-4)
    assert found.books.total().messages >= (ranks - 1) * len(reduces)


def test_many_small_reduces_take_longer_than_few_large_sums():
    few, many = (simulate_zero2("gpt2", 32, flush=flush).seconds for flush in ("allreduce", "reduce"))
    assert many > few


# ---- levels; three ways ----


@pytest.mark.parametrize("period", [1, 2, 5])
def test_levels_take_what_their_formula_says(period):
    found = simulate_levels("gpt2", 3, period=period)
    assert found.seconds / period == pytest.approx(level_seconds("gpt2", 3, period=period), rel=1e-6)


def test_talking_more_rarely_between_nodes_is_never_slower():
    told = [level_seconds("gpt2", 16, "a100-jean-zay", period) for period in (1, 2, 4, 8, 16)]
    assert told == sorted(told, reverse=True)


def test_the_formula_is_exact_where_all_hops_are_alike():
    device = on_nodes(1)
    for overlap in (True, False):
        told = zero2_formula("gpt2", 12, device, 20_000_000, overlap)
        played = simulate_zero2("gpt2", 12, device, 20_000_000, overlap=overlap).seconds
        assert told == pytest.approx(played, rel=2e-3)


def test_three_ways_answer_the_same_question():
    asked = three_ways("gpt2", 48, small=(16, 24, 32), bucket=20_000_000)
    assert list(asked.measured) == [16, 24, 32]
    assert all(abs(error) < 0.5 for error in asked.errors().values())
    assert three_ways("gpt2", 16, small=(8, 16)).extrapolated == pytest.approx(
        three_ways("gpt2", 16, (8, 16)).simulated
    )
    with pytest.raises(ValueError, match="two or more numbers of devices"):
        three_ways("gpt2", 16, small=(8,))
