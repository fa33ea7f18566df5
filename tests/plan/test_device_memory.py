"""What devices must hold: the published grids and formulas."""

import pytest

from dlmini.parallel import interleaved, one_f_one_b
from dlmini.plan import Layout, Sheet, device_of, forecast, memory, sheet_of
from dlmini.plan.memory import layer_activations, pieces, rank_memory, state

PSI = 7_500_000_000


@pytest.mark.parametrize(("stage", "gigabytes"), [(0, 120.0), (1, 31.4), (2, 16.6), (3, 1.88)])
def test_zero_on_64_devices_holds_what_its_publication_says(stage, gigabytes):
    assert state(PSI, 64, stage).total / 1e9 == pytest.approx(gigabytes, rel=4e-3)


@pytest.mark.parametrize("copies", [1, 3, 64, 1024])
def test_zeros_grid_is_exact(copies):
    found = [state(PSI, copies, stage).total for stage in range(4)]
    wanted = [16 * PSI, 4 * PSI + 12 * PSI / copies, 2 * PSI + 14 * PSI / copies, 16 * PSI / copies]
    assert found == pytest.approx(wanted, rel=1e-12)
    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("tensor", [1, 2, 8])
def test_activations_of_a_layer_follow_the_published_formulas(tensor):
    sheet = sheet_of("gpt-175b")
    s, b, h, a, t = sheet.sequence, 2, sheet.hidden, sheet.heads, tensor

    def kept(**changed):
        return layer_activations(sheet, Layout(tensor=t, micro=b, **changed))

    assert kept() == pytest.approx(s * b * h * (10 + 24 / t + 5 * a * s / (h * t)))
    assert kept(sequence_parallel=True) == pytest.approx(s * b * h / t * (34 + 5 * a * s / h))
    assert kept(sequence_parallel=True, recompute="selective") == pytest.approx(34 * s * b * h / t)
    assert kept(recompute="full") == 2 * s * b * h


@pytest.mark.parametrize(
    ("pipe", "chunks", "micros"), [(1, 1, 3), (4, 1, 2), (4, 1, 9), (4, 2, 8), (3, 3, 3), (5, 2, 5)]
)
def test_micro_batches_in_flight_are_those_of_the_schedule(pipe, chunks, micros):
    layout = Layout(pipe=pipe, chunks=chunks)
    timetable = (one_f_one_b if chunks == 1 else interleaved(chunks)).plan(pipe, micros)
    assert [pieces(layout, micros, r) for r in range(pipe)] == [timetable.in_flight(r) for r in range(pipe)]


def test_the_first_of_interleaved_stages_keeps_the_published_share_more():
    """1 + (p - 1) / (p v) times what it would keep without chunks (Korthikanti et al., 2022), with v p pieces more."""
    layout = Layout(pipe=8, chunks=3)
    assert pieces(layout, 64, 0) / 3 == pytest.approx(8 * (1 + 7 / 24), abs=1 / 3)


def test_a_model_that_does_not_fit_is_said_not_to():
    tight = forecast("bloom-176b", Layout(tensor=8, pipe=2, data=24), batch=384)
    assert not tight.fits
    assert tight.memory.total > device_of("a100-80gb").room
    assert forecast("bloom-560m", Layout(data=8, zero=2), batch=8).fits


def test_without_dropout_no_masks_are_kept():
    with_masks = Sheet("a", 64, 2, 4, 100, 16)
    without = Sheet("a", 64, 2, 4, 100, 16, dropout=False)
    numbers = 16 * 64
    gone = 2 * numbers + 3 * 4 * 16 * 16
    assert layer_activations(with_masks, Layout()) - layer_activations(without, Layout()) == gone


@pytest.mark.parametrize(("pipe", "chunks"), [(1, 1), (5, 1), (7, 1), (6, 2), (4, 3), (3, 4)])
def test_no_rank_holds_more_than_is_said(pipe, chunks):
    sheet, layout = Sheet("a", 64, 25, 4, 1000, 16), Layout(pipe=pipe, chunks=chunks)
    every = [rank_memory(sheet, layout, 4 * pipe, rank).total for rank in range(pipe)]
    assert memory(sheet, layout, 4 * pipe).total == max(every)


def test_memory_is_that_of_the_fullest_rank():
    layout = Layout(tensor=8, pipe=8, micro=1, recompute="selective", sequence_parallel=True)
    first = memory(sheet_of("gpt-175b"), layout, 64)
    fewer = memory(sheet_of("gpt-175b"), layout, 1)  # one micro-batch in flight
    assert first.activations > fewer.activations
    assert first.optimiser == fewer.optimiser
