"""The shared-memory kernels, their NumPy twins and an independent truth; ranks are threads on a private board."""

import os
import threading

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from dlmini.comm.processes.kernels import layout, summing, waiting
from dlmini.comm.processes.plain import waiting_and_sums as plain
from dlmini.comm.processes.shared_area import SharedArea, nbytes
from dlmini.comm.processes.wait_settings import wait_settings

RUN = 7


def together(size, body, cores=2):
    """body(rank, words, settings) on `size` threads that share a board; their results by rank."""
    area, found = SharedArea(bytearray(nbytes(size, 1)), size, 1), [None] * size

    def live(rank):
        found[rank] = body(rank, area.words, wait_settings(rank, area, RUN, cores))

    threads = [threading.Thread(target=live, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def vectors(size, n, dtype):
    return [np.random.default_rng([rank, n]).standard_normal(n).astype(dtype) for rank in range(size)]


def ring_order(xs, shift):
    """The sum as the ring schedule adds: chunk c from rank c + shift on, around the ring."""
    size, n = len(xs), len(xs[0])
    out = np.empty_like(xs[0])
    for c in range(size):
        part = slice(c * n // size, (c + 1) * n // size)
        total = xs[(c + shift) % size][part]
        for k in range(1, size):
            total = total + xs[(c + shift + k) % size][part]
        out[part] = total
    return out


EVERY = {"numba": summing, "numpy": plain.Sums(), "mixed": plain.Sums(waiting.meet)}
WAYS = pytest.mark.parametrize("way", EVERY.values(), ids=EVERY)


@WAYS
@examples(25)
@given(
    size=st.integers(2, 6),
    n=st.sampled_from([0, 1, 5, 2047, 2048, 4095, 4096, 4097, 12_289]) | st.integers(0, 9000),
    dtype=st.sampled_from(["f4", "f8"]),
)
def test_allreduce_adds_in_the_order_of_the_ring_to_the_bit(way, size, n, dtype):
    dtype = "f4" if way is summing else dtype  # compiled for nothing else
    xs = vectors(size, n, dtype)

    def body(rank, words, own):
        out = np.full(n, np.nan, dtype)
        last = way.allreduce(xs[rank], out, words, own, out.dtype.num, float(rank))
        again = np.full(n, np.nan, dtype)  # a second call meets the slots as the first has left them
        way.allreduce(out, again, words, own, out.dtype.num, 0.0)
        return last, out, again

    truth = ring_order(xs, 0)
    for last, out, again in together(size, body):
        assert last == size - 1
        assert out.tobytes() == truth.tobytes()
        assert again.tobytes() == ring_order([truth] * size, 0).tobytes()


@WAYS
@examples(25)
@given(
    size=st.integers(2, 6),
    n=st.sampled_from([0, 1, 5, 4096, 12_289, 30_001]) | st.integers(0, 9000),
    dtype=st.sampled_from(["f4", "f8"]),
)
def test_reduce_scatter_gives_everyone_a_part_of_the_ring_s_sum(way, size, n, dtype):
    dtype = "f4" if way is summing else dtype
    xs, truth = vectors(size, n, dtype), ring_order(vectors(size, n, dtype), 1)

    def body(rank, words, own):
        out = np.full((rank + 1) * n // size - rank * n // size, np.nan, dtype)
        return way.reduce_scatter(xs[rank], out, words, own, out.dtype.num, 0.0), out

    found = together(size, body)
    assert [last for last, _ in found] == [0.0] * size
    assert np.concatenate([out for _, out in found]).tobytes() == truth.tobytes()


@pytest.mark.parametrize("way", [waiting, plain], ids=["numba", "numpy"])
@pytest.mark.parametrize("cores", [1, 8], ids=["crowded", "roomy"])
def test_nobody_leaves_a_meeting_before_all_have_come(way, cores):
    came = []

    def body(rank, words, own):
        for turn in range(30):
            came.append((turn, rank))
            if way.meet(words, own, 5, float(turn)) != turn:
                return "wrong time"
            if len([one for one in list(came) if one[0] == turn]) < 4:
                return "too early"
        return "fine"

    assert together(4, body, cores) == ["fine"] * 4


@pytest.mark.parametrize("way", [waiting, plain], ids=["numba", "numpy"])
def test_a_meeting_for_different_purposes_is_refused_on_all_ranks(way):
    found = together(3, lambda rank, words, own: way.meet(words, own, 5 if rank else 6, 0.0))
    assert found == [layout.MISMATCH] * 3


@pytest.mark.parametrize("way", [waiting, plain], ids=["numba", "numpy"])
def test_a_meeting_ends_when_aborted_or_when_somebody_is_gone(way):
    def aborted(rank, words, own):
        if rank == 0:
            words[layout.ABORT] = RUN
            return layout.ABORTED
        return way.meet(words, own, 5, 0.0)

    def gone(rank, words, own):
        if rank == 0:
            way.publish(words, own, layout.rank_words(0) + layout.FINISHED, RUN, layout.ALL, layout.NOTHING)
            return layout.GONE
        return way.meet(words, own, 5, 0.0)

    assert together(2, aborted) == [layout.ABORTED] * 2
    assert together(2, gone) == [layout.GONE] * 2


@pytest.mark.parametrize("way", [waiting, plain], ids=["numba", "numpy"])
@pytest.mark.parametrize("cores", [1, 8], ids=["crowded", "roomy"])
@pytest.mark.parametrize("futex", [True, False], ids=["bells", "naps"])
def test_a_watcher_sees_every_change_also_when_it_sleeps(way, cores, futex):
    """Two ranks hand a number to and fro: if one change were slept through, this would not end."""
    word = [layout.rank_words(2), layout.rank_words(2) + layout.LINE]

    def body(rank, words, own):
        own[layout.FUTEX] *= futex  # only Linux has it
        theirs = np.array([word[1 - rank]])
        for turn in range(1, 200):
            if rank == 0:
                way.publish(words, own, word[0], turn, 1, layout.NOTHING)
            while way.watch(words, own, theirs, np.array([turn - 1]), 1, 50) == layout.NOTHING:
                pass
            if way.look(words, word[1 - rank]) != turn:
                return "wrong number"
            if rank == 1:
                way.publish(words, own, word[1], turn, 0, layout.NOTHING)
        return "fine"

    assert together(2, body, cores) == ["fine"] * 2


@pytest.mark.parametrize("way", [waiting, plain], ids=["numba", "numpy"])
def test_a_watch_without_news_ends_by_itself(way):
    def body(rank, words, own):
        return way.watch(words, own, np.array([layout.length(1) - 1]), np.zeros(1, np.int64), 1, 2)

    assert together(1, body) == [layout.NOTHING]


@pytest.mark.parametrize("way", [waiting, plain], ids=["numba", "numpy"])
def test_who_comes_to_a_meeting_and_finishes_at_once_has_not_deserted_the_others(way):
    """However late the others look: that it came counts, not that it is gone."""

    def body(rank, words, own):
        own[layout.SPIN] = own[layout.YIELDS] = 0
        for run in range(RUN, RUN + 300):
            own[layout.RUN] = run
            if way.meet(words, own, 5, 1.0) != 1.0:
                return "deserted"
            way.publish(words, own, layout.rank_words(rank) + layout.FINISHED, run, layout.ALL, layout.NOTHING)
        return "fine"

    assert together(3, body) == ["fine"] * 3


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux lets a thread choose its core")
def test_who_steps_aside_may_go_anywhere_afterwards():
    allowed = os.sched_getaffinity(0)

    def body(rank, words, own):
        waiting.step_aside(own)
        left = {core for core in range(64 * layout.MASK) if own[layout.OTHERS + core // 64] >> core % 64 & 1}
        return os.sched_getaffinity(0), left, int(own[layout.CPU])

    [(now, others, before)] = together(1, body)
    assert now == allowed
    assert others == allowed - {before}
