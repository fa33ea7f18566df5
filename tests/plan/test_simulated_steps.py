"""Steps played with ghosts: folded and unfolded alike to the bit, and beside the formulas."""

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from dlmini.comm import Link, Nodes
from dlmini.plan import DEVICES, Layout, Sheet, forecast, kernels, simulate, simulate_zero2, zero2
from dlmini.plan.cost import most_parameters
from dlmini.plan.folding import replayed, ring_end

A100 = DEVICES["a100-80gb"]
SMALL = Sheet("small", 64, 6, 4, 100, 8)
LONG = "DLMINI_LONG" in os.environ
LAYOUTS = some.builds(
    Layout,
    some.sampled_from([1, 2, 4]),
    some.sampled_from([1, 2, 3]),
    some.sampled_from([1, 2, 3]),
    some.sampled_from([1, 2]),
    some.sampled_from([1, 2]),
    some.sampled_from([0, 1]),
    some.sampled_from(["none", "selective", "full"]),
    some.booleans(),
    some.sampled_from([2, 4]),
    some.booleans(),
)


def played_alone(layout: Layout) -> int:
    """Ranks of an unfolded run: where sums of copies go on beside the work, one of each tensor group."""
    beside = layout.overlap and layout.data > 1 and layout.pipe == 1
    return layout.data if beside else layout.devices


def on_nodes(per_node: int):
    return replace(A100, network=Nodes(per_node, Link(2e-6, 195e9), Link(5e-6, 22.5e9), shared=False))


@given(LAYOUTS, some.sampled_from([1, 2, 4, 12]), some.integers(1, 3))
@settings(max_examples=400 if LONG else 60, deadline=None)
def test_folded_equals_unfolded_to_the_bit_or_is_refused(layout, per_node, rounds):
    batch, device = layout.data * layout.micro * layout.pipe * rounds, on_nodes(per_node)
    if layout.fault(SMALL, batch):
        return
    try:
        folded = simulate(SMALL, layout, device, batch)
    except ValueError as refusal:
        if "cannot be folded exactly" not in str(refusal):
            raise
        return
    every = simulate(SMALL, layout, device, batch, fold=False)
    assert len(folded) == layout.pipe
    assert list(every) == [folded[layout.grid.place(rank).pipe] for rank in range(played_alone(layout))]


@pytest.mark.parametrize(
    "layout",
    [
        Layout(4, 3, 2),
        Layout(4, 2, 3, recompute="full"),
        Layout(4, 1, 3, sequence_parallel=True),
        Layout(4, 1, 3, overlap=False),
        Layout(1, 3, 1),
    ],
    ids=repr,
)
def test_layouts_of_whole_nodes_are_folded_and_not_refused(layout):
    device, batch = on_nodes(4 if layout.tensor > 1 else 1), 12
    folded = simulate(SMALL, layout, device, batch)
    every = simulate(SMALL, layout, device, batch, fold=False)
    assert [folded[layout.grid.place(rank).pipe] for rank in range(played_alone(layout))] == list(every)
    assert folded.seconds == every.seconds


@pytest.mark.parametrize(
    "layout",
    [
        Layout(2, 3, 2),
        Layout(4, 2, 3, recompute="full"),
        Layout(2, 1, 3, 2, zero=1, overlap=False),
        Layout(2, 3, 2, chunks=2),
        Layout(2, 3, 2, sequence_parallel=True, zero=1),
        Layout(1, 3, 4, gradient=4),
    ],
    ids=repr,
)
def test_bytes_of_every_split_are_those_of_its_law(layout):
    """Sums: 2 + 2 a layer (full: 2 more), one at each end, 2 (t - 1) messages of s b h / t each; a part of s b h from
    stage to stage, there and back, and put together among t; gradients and weights among d."""
    t, p, d, v, each = layout.tensor, layout.pipe, layout.data, layout.chunks, layout.gradient
    batch, numbers = 12 * layout.micro, SMALL.sequence * layout.micro * SMALL.hidden
    pipelined = d * layout.micros(batch)  # micro-batches of all pipelines
    sums = (6 if layout.recompute == "full" else 4) * SMALL.layers + 2
    inside = pipelined * sums * 2 * (t - 1) * numbers * 2
    hops = 2 * (p * v - 1) * pipelined
    between = hops * numbers * 2 * (1 if layout.sequence_parallel else t)
    filled = -(-most_parameters(SMALL, layout) // d) * d
    copies = t * p * (d - 1) * filled * (each + 2 if layout.zero else 2 * each)
    assert simulate(SMALL, layout, on_nodes(4), batch, fold=False).books.total().nbytes == inside + between + copies


@pytest.mark.parametrize(
    ("layout", "network", "said"),
    [
        (Layout(2, 2), Nodes(4, Link(0, 1), Link(0, 1), shared=False), "may meet inside a node of 4"),
        (Layout(2), Nodes(2, Link(0, 1), Link(0, 1)), "queue for one card"),
        (Layout(4), Nodes(2, Link(0, 1), Link(0, 1), shared=False), "across nodes of 2"),
        (Layout(data=3), Nodes(2, Link(0, 1), Link(0, 1), shared=False), "partly in one node"),
    ],
)
def test_what_cannot_be_folded_is_refused_with_the_reason(layout, network, said):
    with pytest.raises(ValueError, match=said):
        simulate(SMALL, layout, replace(A100, network=network), 12)


def test_a_ring_of_equals_takes_its_formula():
    seconds = ring_end(1.0, 0.0, 14, 1e-3, 2e-6) - 1.0
    assert seconds == pytest.approx(14 * (1e-3 + 2e-6))
    assert ring_end(1.0, 2.0, 0, 1e-3, 0.0) == 1.0
    assert ring_end(1.0, 2.0, 1, 0.5, 0.0) == 2.5


@given(
    some.lists(some.tuples(some.integers(0, 3), some.floats(0, 1), some.integers(0, 9)), min_size=1), some.floats(0, 9)
)
@settings(max_examples=50, deadline=None)
def test_the_compiled_row_equals_its_twin(row, clock):
    columns = [np.array(column) for column in zip(*row, strict=True)]
    given = clock, clock / 2, clock * 1.1, columns[0], columns[1].astype(float), columns[2], 1e-3
    assert kernels.replayed(*given) == replayed(*given)


@pytest.mark.parametrize("how", [{"recompute": "full"}, {"recompute": "selective", "sequence_parallel": True}])
def test_a_played_step_is_near_its_forecast(how):
    """175 billion parameters on 64 devices: the formula says of sums what playing them gives."""
    layout = Layout(tensor=8, pipe=8, chunks=1, gradient=4, **how)
    played, told = simulate("gpt-175b", layout, batch=16), forecast("gpt-175b", layout, batch=16)
    assert played.seconds == pytest.approx(told.seconds, rel=0.03)


@pytest.mark.parametrize("ranks", [1, 3, 8, 20])
def test_zero_2_sends_what_its_regime_says(ranks):
    """But for what is not waited for there: numbers travel by a tree here."""
    found = simulate_zero2("gpt2", ranks, bucket=20_000_000)
    wanted = [one for one in zero2("gpt2", ranks, 20_000_000) if one.what != "a number"]
    messages, nbytes = found.books.total()

    assert messages >= sum(one.messages for one in wanted) * ranks
    assert messages - sum(one.messages for one in wanted) * ranks <= 2 * 2 * ranks.bit_length() * ranks
    assert nbytes == pytest.approx(sum(one.sent for one in wanted) * ranks, rel=1e-3)


def test_overlap_hides_what_is_sent_beside_the_way_back():
    beside, after = (simulate_zero2("gpt2", 16, bucket=20_000_000, overlap=one).seconds for one in (True, False))
    assert beside < after
