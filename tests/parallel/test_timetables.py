"""Laws of pipeline schedules, for any number of stages, micro-batches and chunks."""

import itertools
from collections import Counter

import pytest
from examples import examples
from hypothesis import assume, given
from hypothesis import strategies as st

from dlmini.parallel import Job, Timetable, gpipe, interleaved, one_f_one_b, pipedream, price, zero_bubble
from dlmini.parallel.bubbles import draw
from dlmini.parallel.pipeline import GPipe
from dlmini.parallel.timetable import BACKWARD, FORWARD, WEIGHTS

PLAIN = (gpipe, one_f_one_b, zero_bubble, pipedream)
ranks, micros = st.integers(1, 9), st.integers(1, 24)
seconds = st.integers(1, 9)


@st.composite
def timetables(draw):
    """Any schedule, for any numbers that it takes."""
    p, m, v = draw(ranks), draw(micros), draw(st.integers(1, 4))
    if draw(st.booleans()):
        return interleaved(v).plan(p, p * (1 + m % 4))
    return draw(st.sampled_from([*PLAIN, GPipe(v)])).plan(p, m)


@given(timetables())
def test_every_job_is_done_once_and_in_a_legal_order(timetable):
    assert timetable.check() is timetable
    kinds = [FORWARD, BACKWARD, *[WEIGHTS] * timetable.split]
    for row in timetable.rows:
        once = Counter(Job(k, i, c) for k in kinds for i in range(timetable.micros) for c in range(timetable.chunks))
        assert Counter(row) == once


@given(timetables(), seconds, seconds, seconds, st.integers(0, 5))
def test_prices_respect_every_need_and_no_rank_does_two_things_at_once(timetable, f, b, w, message):
    priced = price(timetable, f, b, w, message)
    ends = {(slot.rank, Job(slot.kind, slot.micro, slot.chunk)): slot for slot in priced.slots}
    for (rank, job), slot in ends.items():
        for other, need in timetable.needs(rank, job):
            assert slot.start >= ends[other, need].end + message * (other != rank)
    for rank, row in enumerate(timetable.rows):
        mine = [ends[rank, job] for job in row]
        assert all(a.end <= b.start for a, b in itertools.pairwise(mine))
    work = timetable.micros * timetable.chunks * (f + b + w)
    assert priced.busy == [work] * timetable.ranks
    assert priced.seconds >= work


@given(timetables())
def test_gradients_are_added_in_the_order_of_micro_batches_by_every_schedule(timetable):
    last = WEIGHTS if timetable.split else BACKWARD
    for row in timetable.rows:
        for chunk in range(timetable.chunks):
            assert [j.micro for j in row if (j.kind, j.chunk) == (last, chunk)] == list(range(timetable.micros))


@given(ranks, micros, seconds, seconds, seconds)
def test_gpipe_and_one_f_one_b_idle_p_minus_1_over_m_plus_p_minus_1(p, m, f, b, w):
    for schedule in (gpipe, one_f_one_b, pipedream):
        priced = price(schedule.plan(p, m), f, b, w)
        assert priced.seconds == (m + p - 1) * (f + b + w)
        assert priced.idle_share == pytest.approx((p - 1) / (m + p - 1), abs=1e-12)


@given(ranks, st.integers(1, 4), st.integers(1, 5), seconds, seconds, seconds)
def test_interleaved_stages_idle_p_minus_1_over_v_m_plus_p_minus_1(p, v, groups, f, b, w):
    m = p * groups
    priced = price(interleaved(v).plan(p, m), f, b, w)
    assert priced.seconds == (v * m + p - 1) * (f + b + w)
    assert priced.idle_share == pytest.approx((p - 1) / (v * m + p - 1), abs=1e-12)


@examples(300)
@given(ranks, micros, seconds, seconds, seconds)
def test_zero_bubble_takes_what_its_formula_says_and_longer_where_that_does_not_hold(p, m, f, b, w):
    seconds = price(zero_bubble.plan(p, m), f, b, w).seconds
    formula = m * (f + b + w) + (p - 1) * (f + b - w)
    if (w <= min(f, b) and m >= p) or p == 1:
        assert seconds == formula
    else:
        assert seconds > formula
    assert seconds <= price(one_f_one_b.plan(p, m), f, b, w).seconds


@given(ranks, micros)
def test_activations_in_flight_are_what_each_schedule_promises(p, m):
    for rank in range(p):
        assert gpipe.plan(p, m).in_flight(rank) == m
        assert one_f_one_b.plan(p, m).in_flight(rank) == min(m, p - rank)
        assert pipedream.plan(p, m).in_flight(rank) == min(m, p - rank)
        assert zero_bubble.plan(p, m).in_flight(rank) == min(m, p)


@given(ranks, st.integers(2, 4), st.integers(1, 5))
def test_activations_in_flight_of_interleaved_stages(p, v, groups):
    m, timetable = p * groups, interleaved(v).plan(p, p * groups)
    for rank in range(p):
        assert timetable.in_flight(rank) == min(v * m, 2 * (p - rank - 1) + (v - 1) * p + 1)


@given(ranks, micros)
def test_warm_up_is_p_minus_r_minus_1_forwards(p, m):
    for rank, row in enumerate(one_f_one_b.plan(p, m).rows):
        first = [job.kind for job in row].index(BACKWARD)
        assert first == min(p - rank - 1, m) + (m > p - rank - 1)


@given(ranks, micros)
def test_pipedream_works_with_weights_that_are_n_minus_s_minus_1_updates_old(p, m):
    for stage, row in enumerate(pipedream.plan(p, m).rows):
        updates = 0
        for job in row:
            if job.kind == FORWARD:
                assert updates == max(0, job.micro - (p - stage - 1))
            updates += job.kind == BACKWARD


@given(st.integers(2, 6), st.integers(2, 4), st.integers(1, 20))
def test_interleaving_micro_batches_that_do_not_fill_the_rounds_is_refused(p, v, m):
    assume(m % p)
    with pytest.raises(ValueError, match=f"use a multiple of {p}"):
        interleaved(v).plan(p, m)


def test_a_timetable_that_waits_for_ever_is_refused_and_says_who_waits_for_what():
    there, back = Job(FORWARD, 0), Job(BACKWARD, 0)
    stuck = Timetable("stuck", ((there, back), (back, there)), 1)
    with pytest.raises(ValueError, match=r"rank 0 waits for ever for backward of micro-batch 0 of rank 1"):
        stuck.check()
    with pytest.raises(ValueError, match="rank 1 does forward of micro-batch 0 twice"):
        Timetable("twice", ((there, back), (there, there, back)), 1).check()
    with pytest.raises(ValueError, match="rank 0 never does backward of micro-batch 0"):
        Timetable("half", ((there,), (there, back)), 1).check()
    with pytest.raises(ValueError, match="rank 0 has no forward of micro-batch 1"):
        Timetable("more", ((there, Job(FORWARD, 1), back),), 1).check()


def test_unequal_stages_are_priced_by_the_slowest():
    priced = price(one_f_one_b.plan(3, 10), [1, 4, 1], [1, 4, 1], 0)
    assert priced.seconds >= 10 * 8
    assert priced.idle[1] < priced.idle[0]
    with pytest.raises(ValueError, match=r"forward is .* one for every stage"):
        price(one_f_one_b.plan(3, 10), [1, 2])


def most_at_once(spans):
    """How many of these (start, end) overlap at one moment; what ends leaves before what begins."""
    news = sorted([(start, 1) for start, _ in spans] + [(end, -1) for _, end in spans])
    return max(itertools.accumulate(change for _, change in news), default=0)


@given(timetables(), st.data())
def test_across_a_border_there_are_never_more_messages_than_micro_batches_in_flight_before_it(timetable, data):
    """Whatever stages and messages take: the meter's bound on messages under way."""
    costs = [data.draw(st.lists(seconds, min_size=timetable.stages, max_size=timetable.stages)) for _ in range(3)]
    slots = price(timetable, *costs, message=data.draw(st.integers(0, 9))).slots
    done = {(timetable.stage(s.rank, s.chunk), s.kind, s.micro): s for s in slots}
    for stage in range(timetable.stages - 1):
        there = [(done[stage, FORWARD, i].end, done[stage + 1, FORWARD, i].start) for i in range(timetable.micros)]
        back = [(done[stage + 1, BACKWARD, i].end, done[stage, BACKWARD, i].start) for i in range(timetable.micros)]
        assert most_at_once(there + back) <= timetable.in_flight(stage % timetable.ranks)


def test_the_diagram_shows_every_job_and_the_idle_share():
    picture = draw(one_f_one_b.plan(2, 2), forward=1, backward=2, weights=0)
    assert str(picture).splitlines() == [
        "one_f_one_b: idle 33.3%",
        "rank 0: F0 F1 .  .  B0 -- .  B1 --",
        "rank 1: .  F0 B0 -- F1 B1 -- .  .",
    ]
    assert picture.svg().count("<rect") == 1 + 2 + 2 * 2 * 4 + 1  # the paper is white, on a dark page, too
    assert 'aria-label="one_f_one_b' in picture.svg()
    assert "F0'" in str(draw(interleaved(2).plan(2, 2)))
    with pytest.raises(ValueError, match="spans=True"):
        draw([])
