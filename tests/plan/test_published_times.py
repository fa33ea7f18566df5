"""Published step times beside ours: one description of the device, one number of it fitted on one row.

Korthikanti et al., Reducing activation recomputation in large transformer models, 2022, table 5: A100-80GB, sequences
of 2048, t = 8, d = 1; with full recomputation, and with sequence parallelism and selective recomputation. BLOOM: its
engineers' tuning log, h 13824, 78 layers, 384 A100 with four 100 Gbit/s links a node.
"""

from dataclasses import replace
from statistics import mean

import pytest

from dlmini.plan import DEVICES, Layout, Rate, forecast
from dlmini.plan.cost import layer_times
from dlmini.plan.sheets import SHEETS, bloom

FULL = {"recompute": "full", "gradient": 4}
SELECTIVE = {"recompute": "selective", "sequence_parallel": True, "gradient": 4}
ROWS = [
    ("gpt-22b", Layout(tensor=8, micro=4), 4, 1.42, 1.10),
    ("gpt-175b", Layout(tensor=8, pipe=8, chunks=3), 64, 18.13, 13.75),
    ("gpt-530b", Layout(tensor=8, pipe=35, chunks=3), 280, 49.05, 37.83),
    ("gpt-1008b", Layout(tensor=8, pipe=64), 512, 94.42, 71.49),
]
FITTED = ("gpt-175b", "selective")
TUNING = bloom("BLOOM's tuning", 13824, 78, 108)
TUNED = Layout(4, 12, 8, 2, zero=1, recompute="full", gradient=4, overlap=False)


def errors():
    """Of every row, ours over theirs, less 1."""
    found = {}
    for name, layout, batch, full, selective in ROWS:
        for how, seconds in ((FULL, full), (SELECTIVE, selective)):
            ours = forecast(name, replace(layout, **how), "a100-80gb", batch).seconds
            found[name, how["recompute"]] = ours / seconds - 1
    for batch, seconds in ((512, 35.77), (2048, 107.12)):
        found["bloom", batch] = forecast(TUNING, TUNED, "a100-jean-zay", batch).seconds / seconds - 1
    return found


def test_the_row_that_was_fitted_fits_and_the_others_are_near():
    found = errors()
    assert abs(found.pop(FITTED)) < 0.005
    off = [abs(error) for error in found.values()]
    assert mean(off) < 0.07, found
    assert max(off) < 0.12, found


def test_blooms_two_batch_sizes_agree_when_one_is_fitted():
    """The products' best share is fitted on batch 2048, by bisection; batch 512 is then within 5 %."""

    def ours(best, batch):
        device = replace(DEVICES["a100-jean-zay"], products=Rate(312e12, best, 1e9))
        return forecast(TUNING, TUNED, device, batch).seconds

    low, high = 0.4, 0.9
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (middle, high) if ours(middle, 2048) > 107.12 else (low, middle)
    assert ours(low, 2048) == pytest.approx(107.12, rel=1e-3)
    assert ours(low, 512) == pytest.approx(35.77, rel=0.05)


def test_times_of_one_layer_are_near_the_published_ones():
    """22 billion parameters, table 4 of the same: 7.7 ms there, 11.9 back; sequence-parallel 7.2 and 11.8."""
    for layout, forward, backward in (
        (Layout(tensor=8, micro=4), 7.7, 11.9),
        (Layout(tensor=8, micro=4, sequence_parallel=True), 7.2, 11.8),
    ):
        there, back = layer_times(SHEETS["gpt-22b"], layout, DEVICES["a100-80gb"])
        assert there.total * 1e3 == pytest.approx(forward, rel=0.12)
        assert back.total * 1e3 == pytest.approx(backward, rel=0.12)


def test_a_layer_gains_from_sequence_parallelism_and_pays_for_recomputing():
    times = [
        sum(one.total for one in layer_times(SHEETS["gpt-22b"], Layout(tensor=8, micro=4, **how), DEVICES["a100-80gb"]))
        for how in ({}, {"recompute": "selective"}, {"recompute": "full"})
    ]
    assert times == sorted(times)
    assert 1.30 < times[2] / times[0] < 1.45  # 27.2 ms / 19.6 ms in the publication: 1.39
