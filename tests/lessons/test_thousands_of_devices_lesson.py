"""Lesson 16: message sizes, stages, layouts, faulty programs, and the desk."""

import numpy as np
import pytest

from dlmini.comm.errors import CommError
from dlmini.lessons.thousands_of_devices import jobs, pictures
from dlmini.lessons.thousands_of_devices.desk import Tries, desk
from dlmini.lessons.thousands_of_devices.grading import odd_cuts, plain_cuts
from dlmini.lessons.thousands_of_devices.mistakes import equal_counts
from dlmini.plan import Layout, MemoryGrows, flush_sizes, rehearse, sheet_of, simulate_zero2
from dlmini.plan.three_ways import ThreeWays
from dlmini.plan.torch_regimes import fsdp_collectives


@pytest.mark.parametrize("bucket", [500_000_000, 200_000_000, 50_000_000])
def test_the_lessons_traffic_is_the_librarys(bucket):
    flushes, sent = jobs.traffic([t.size for t in jobs.SMALL.tensors()], 8, bucket)
    assert flushes == [2 * n for n in flush_sizes(jobs.SMALL, bucket)]
    played = simulate_zero2(jobs.SMALL, 8, bucket=bucket).books.total().nbytes / 8
    assert sent == pytest.approx(played, rel=1e-6)


def test_fewer_bytes_take_longer():
    rows = {(row.flush, row.overlap): row for row in jobs.regimes(32)}
    assert rows["reduce", True].sent < 0.7 * rows["allreduce", True].sent
    assert rows["reduce", True].seconds > rows["allreduce", True].seconds
    for flush in ("allreduce", "reduce"):
        assert rows[flush, True].seconds <= rows[flush, False].seconds


def test_blooms_layers_come_out_even_with_its_ends():
    times = jobs.unit_times()
    assert len(times) == 72
    assert 0.9 < times[-1] / times[1] < 1.2  # the last product is about a layer
    best = jobs.best_cut(times, 12)
    assert jobs.pipeline_seconds(times, best, 128) <= jobs.pipeline_seconds(times, equal_counts(72, 12), 128)


def test_the_last_product_of_the_small_one_is_ten_layers():
    times = jobs.unit_times(jobs.SMALL, 1, 1)
    assert 8 < times[-1] / times[1] < 12
    assert sum(jobs.best_cut(times, 4)) == 26
    assert jobs.pipeline_seconds(times, jobs.best_cut(times, 4), 32) < 0.75 * jobs.pipeline_seconds(
        times, equal_counts(26, 4), 32
    )


def test_times_that_are_graded_add_up_alike_in_every_order():
    """Python's own sum rounds otherwise than a running one from 3.12 on; whoever compares the two must not fail."""
    for seed in range(5):
        for case in (*plain_cuts(np.random.default_rng(seed)), *odd_cuts(np.random.default_rng(seed))):
            assert all((8 * seconds).is_integer() for seconds in case.args[0])


def test_what_was_used_is_among_the_best_grids_and_recomputing_costs_a_fifth():
    ranked, used = jobs.found_by_search(), jobs.told(jobs.USED)
    grids = [(f.layout.tensor, f.layout.pipe, f.layout.data) for f in ranked[:4]]
    assert (4, 12, 8) in grids
    assert used.fits
    assert 1.2 < used.seconds / ranked[0].seconds < 1.4
    assert used.parts["recomputed"] > 0.6 * (used.seconds - ranked[0].seconds)


def test_six_numbers_choose_nearly_as_well_as_was_chosen():
    chosen = jobs.choose(384, 8, 72, 2048, 80e9, jobs.layer_costs())
    assert jobs.told(Layout(*chosen, zero=1, recompute="full")).seconds < 1.05 * jobs.told(jobs.USED).seconds


@pytest.mark.parametrize(("fault", "kind"), [("length", CommError), ("checkpoint", CommError), ("memory", MemoryGrows)])
def test_the_lessons_faults_are_found_and_the_repaired_program_runs(fault, kind):
    with pytest.raises(kind):
        rehearse(jobs.training, 16, (40, fault))
    rehearse(jobs.training, 16, (40,))


def test_the_desk_says_what_does_not_fit_and_remembers_the_best():
    tries = Tries()
    common = {"micro": 1, "recompute": "none", "sequence": False}
    tries.drawn(8, 3, 16, zero=0, **common)
    assert tries.best is None  # out of memory
    tries.drawn(4, 12, 8, zero=1, **common)
    first = tries.best.seconds
    tries.drawn(4, 12, 8, zero=1, **common | {"recompute": "full"})
    assert tries.best.seconds == first
    said = tries.drawn(8, 8, 8, zero=1, **common)
    assert "are 512 devices; there are 384" in said.axes[0].texts[0].get_text()
    assert (
        "sequence_parallel shares"
        in tries.drawn(1, 48, 8, zero=1, **common | {"sequence": True}).axes[0].texts[0].get_text()
    )


def test_out_of_memory_is_red():
    figure = pictures.layout_bars(jobs.told(Layout(8, 3, 16)))
    assert "OUT OF MEMORY" in figure.axes[0].get_title(loc="left")
    assert figure.axes[0].title.get_color() == "red" or figure.axes[0]._left_title.get_color() == "red"
    fits = pictures.layout_bars(jobs.told(jobs.USED))
    assert "it fits" in fits.axes[0].get_title(loc="left")


def test_a_slider_draws_another_picture():
    made = desk(tensor=8, pipe=3, data=16)
    before = made.picture.value
    made.choices["zero"].value = 1
    assert made.picture.value != before
    assert "image/png" in made._repr_mimebundle_()


def test_three_ways_are_drawn():
    ways = ThreeWays(64, 0.2, 0.3, 0.25, {16: 0.1, 32: 0.2})
    assert len(pictures.three_ways_picture(ways).axes[0].lines) == 4


def test_more_rarely_between_nodes_is_faster():
    rows = jobs.level_rows(periods=(1, 16))
    assert rows[0].seconds > rows[1].seconds
    assert all(0 < row.accuracy < 1 for row in rows)


def test_the_sheet_that_is_laid_out_is_blooms():
    assert sheet_of("bloom-176b") is jobs.LARGE
    assert jobs.LARGE.parameters == 176_247_271_424


def test_the_recorded_trace_is_what_is_reckoned():
    found = jobs.recorded_trace()
    assert found.world == 3072
    assert {(kind, n): often for (kind, n, _), often in found.table().items()} == fsdp_collectives("bloom-560m", 3072)
    assert found.work.flops == pytest.approx(jobs.SMALL.flops(1), rel=0.05)
