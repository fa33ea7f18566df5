"""Forecasts: where a step's time goes, what is sent, and the laws that hold for all of it."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from dlmini import Simulated, launch
from dlmini.comm.ghost import Ghost
from dlmini.plan import (
    DEVICES,
    Layout,
    Rate,
    Sheet,
    Trace,
    ddp_buckets,
    flush_sizes,
    forecast,
    memory,
    sheet_of,
    simulate,
    zero2,
)
from dlmini.plan.cost import estimated, message_seconds, played, stage_times
from dlmini.plan.operations import Product
from dlmini.plan.transfers import ROUNDS, Transfer, data_transfers
from dlmini.plan.zero_regimes import owned

A100 = DEVICES["a100-80gb"]
SMALL = Sheet("small", 512, 8, 8, 1000, 128)


@given(
    some.sampled_from([1, 2, 4, 8]),
    some.sampled_from([1, 2, 4]),
    some.sampled_from([1, 2, 3]),
    some.sampled_from([1, 2]),
    some.sampled_from([0, 1, 2, 3]),
    some.sampled_from(["none", "selective", "full"]),
)
@settings(max_examples=40, deadline=None)
def test_parts_of_a_step_add_up_and_none_is_negative(tensor, pipe, data, chunks, zero, recompute):
    layout = Layout(tensor, pipe, data, 1, chunks if pipe > 1 else 1, zero, recompute)
    found = forecast(SMALL, layout, batch=24)
    assert sum(found.parts.values()) == found.seconds
    assert all(part >= -1e-12 for part in found.parts.values()), found.parts
    assert 0 < found.utilisation() < 1
    assert found.utilisation(recompute) >= found.utilisation()


@pytest.mark.parametrize(("pipe", "chunks", "micros"), [(4, 1, 8), (4, 2, 8), (8, 1, 3), (2, 4, 6)])
def test_idle_shares_of_equal_stages_are_those_of_the_schedules(pipe, chunks, micros):
    """(p - 1) / (v m + p - 1), and the formula for a search says the same as the timetable."""
    layout = Layout(pipe=pipe, chunks=chunks)
    inner = stage_times(SMALL, Layout(), A100)[0]
    times = [inner] * layout.stages
    work = layout.chunks * sum(one.total for one in inner)
    for way in (played, estimated):
        seconds = way(times, layout, micros, 0.0)
        assert 1 - micros * work / seconds == pytest.approx((pipe - 1) / (chunks * micros + pipe - 1)), way


@pytest.mark.parametrize("layout", [Layout(8, 8, 1, 1, 3), Layout(8, 8), Layout(4, 16, 2), Layout(8, 24, 1, 1, 4)])
def test_the_formula_of_a_search_is_near_the_timetable(layout):
    sheet, batch = sheet_of("gpt-175b"), layout.data * (64 if layout.pipe != 24 else 72)
    times, message = stage_times(sheet, layout, A100), message_seconds(sheet, layout, A100)
    exact = played(times, layout, batch, message)
    assert estimated(times, layout, batch, message) == pytest.approx(exact, rel=0.04)


@pytest.mark.parametrize(
    ("bucket", "megabytes"),
    [(500_000_000, [604.6, 513.8]), (200_000_000, [396.8, 207.8, 513.8])],
)
def test_buckets_of_bloom_560m_are_flushed_as_deepspeed_does(bucket, megabytes):
    found = [2 * size / 1e6 for size in flush_sizes("bloom-560m", bucket)]
    assert found == pytest.approx(megabytes, abs=0.05)


def test_small_buckets_flush_often_and_a_large_tensor_goes_alone():
    found = flush_sizes("bloom-560m", 50_000_000)
    assert len(found) == 8
    assert found[-1] == 256_901_120
    assert all(size <= 50_000_000 for size in found[:-1])


@given(some.integers(1, 60), some.integers(1, 10**7))
@settings(max_examples=30, deadline=None)
def test_every_gradient_is_flushed_once_and_to_its_owner(ranks, bucket):
    sizes = flush_sizes(SMALL, bucket)
    assert sum(sizes) == SMALL.parameters
    rows = owned(SMALL, ranks, bucket)
    assert [sum(size for _, size in row) for row in rows] == sizes
    by_owner = [sum(size for row in rows for owner, size in row if owner == rank) for rank in range(ranks)]
    assert sum(by_owner) == SMALL.parameters
    assert max(by_owner) - min(by_owner) <= 1
    assert all(size > 0 for row in rows for _, size in row)


def test_deepspeeds_default_sends_half_as_much_again_as_zero_needs():
    psi, n = sheet_of("bloom-560m").parameters, 3072
    default = sum(one.sent for one in zero2("bloom-560m", n) if one.what != "a number")
    needed = sum(one.sent for one in data_transfers(Layout(data=n, zero=2), psi, 1))
    assert default / needed == pytest.approx(1.5)


def test_one_reduce_for_each_owner_makes_thousands_of_small_ones():
    found = [one for one in zero2("bloom-560m", 3072, flush="reduce") if one.what == "gradients"]
    assert 3072 <= len(found) <= 3072 + 2
    assert max(one.nbytes for one in found) == 2 * -(-559_214_592 // 3072)


@pytest.mark.parametrize("ranks", [2, 3, 8])
@pytest.mark.parametrize("verb", ROUNDS)
def test_bytes_messages_and_seconds_of_a_collective_are_the_simulators(verb, ranks):
    """The same collective, run on so many simulated ranks with ghosts, message by message."""
    numbers = 24 * ranks
    given = numbers // ranks if verb == "allgather" else numbers

    def program(comm):
        getattr(comm, verb)(Ghost(given, "f2"))

    results = launch(program, Simulated(ranks, A100.network))
    formula = Transfer("any", verb, ranks, ranks, 2 * numbers)
    assert results.books.total()[0] == formula.messages * ranks
    assert results.books.total()[1] == formula.sent * ranks
    assert results.seconds == pytest.approx(formula.seconds(A100))


@pytest.mark.parametrize(("zero", "psis"), [(0, 2), (1, 2), (2, 2), (3, 3)])
def test_zeros_traffic_is_two_psi_and_three_in_its_last_stage(zero, psis):
    layout, psi = Layout(data=64, zero=zero), 1_000_000
    elements = sum(one.sent / 2 for one in data_transfers(layout, psi, 1))
    assert elements == pytest.approx(psis * psi * 63 / 64)


def test_one_device_sends_nothing():
    assert forecast("gpt2", Layout(), batch=1).transfers == ()
    assert Transfer("any", "allreduce", 1, 1, 100).seconds(A100) == 0


def test_sums_of_gradients_hide_behind_the_way_back():
    layout = Layout(data=64, zero=2)
    beside, after = (forecast("bloom-560m", replace(layout, overlap=o), batch=64).parts["data"] for o in (True, False))
    assert 0 < beside < after


def test_a_last_wave_that_is_not_full_takes_as_long_as_a_full_one():
    device = replace(A100, products=Rate(1.0))
    one, wave = Product("any", 256, 64, 128), 256 * 128 * 64 * 2
    assert one.occupied(device) == 108 * wave
    assert Product("any", 256, 64, 128 * 108).occupied(device) == 108 * wave
    assert Product("any", 256, 64, 128 * 109).occupied(device) == 216 * wave
    assert one.occupied(replace(device, units=0)) == one.flops


@pytest.mark.parametrize(
    ("layout", "batch", "said"),
    [
        (Layout(tensor=5), 1, "tensor is 5, but small has 8 heads"),
        (Layout(pipe=9), 9, "9 stages .* only 8 layers"),
        (Layout(data=2, micro=3), 8, "multiple of data x micro = 6"),
        (Layout(chunks=2), 4, "chunks is 2, but pipe is 1"),
        (Layout(pipe=4, chunks=2), 6, "6 micro-batches, pipe is 4"),
        (Layout(sequence_parallel=True), 1, "tensor=1 devices"),
    ],
)
def test_what_cannot_be_laid_out_is_refused_with_a_reason(layout, batch, said):
    with pytest.raises(ValueError, match=said):
        forecast(SMALL, layout, batch=batch)


def test_days_and_dollars_follow_from_the_step():
    found = forecast("gpt-175b", Layout(8, 8, 16, recompute="full"), batch=1536)
    days = found.days(300e9)
    assert days == pytest.approx(300e9 / (1536 * 2048) * found.seconds / 86400)
    assert found.dollars(300e9) == pytest.approx(days * 24 * 1024 * 2.0)
    rule = 8 * 300e9 * 175e9 / (1024 * found.utilisation("full") * 312e12) / 86400  # 8 T P / (n X)
    assert days == pytest.approx(rule, rel=0.05)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda: forecast("gpt2", 3), "layout is 3; it must be a Layout"),
        (lambda: simulate("gpt2", "x"), "layout is 'x'; it must be a Layout"),
        (lambda: memory("gpt2", None, 8), "layout is None; it must be a Layout"),
        (lambda: memory("gpt2", Layout(data=3), 8), "it must be a multiple of data x micro = 3"),
        (lambda: forecast("gpt2", Layout(), exact="no"), "exact is 'no'; it must be True or False"),
        (lambda: forecast("gpt2", Layout()).days(-1), "tokens is -1"),
        (lambda: forecast("gpt2", Layout()).utilisation("x"), "recompute is 'x'"),
        (lambda: zero2("gpt2", 4, gradient="a"), "gradient is 'a'"),
        (lambda: ddp_buckets(3), "sizes is 3; it must be a row of whole numbers"),
        (lambda: ddp_buckets([5], each=0), "each is 0"),
        (lambda: Trace(4, (3,)), "an event is 3; it must be Work"),
        (lambda: Trace(4, None), "events is None; it must be a row of Work"),
    ],
)
def test_what_does_not_belong_in_a_plan_is_refused_by_a_sentence(asked, said):
    with pytest.raises((TypeError, ValueError), match=said):
        asked()
