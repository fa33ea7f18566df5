"""Sums over ranks in shared memory: everybody adds a slice of everybody's numbers, in the order of the ring.

A vector passes in blocks, each through a slot per rank. While one block is added, the next is copied in and the last
one's sums are copied out, so one meeting per block is enough: phase k follows meeting k and reads what was written
before it. Slots and sums are double: one half is written while the other is read. Which half comes first depends on
the number of the meeting, so that a call never writes what a slower rank still reads from the call before.

    order   element i of n lies in chunk c, the largest with c n // P <= i; its sum is ((x_c + x_c+1) + ...) + x_c-1,
            ranks modulo P: exactly the ring schedule's (schedules/rings.py), so bits do not depend on the transport
    cost    (P-1)/P of the vector copied in, as much copied out, (P-1)/P added; two meetings, one more per block
            a short vector: all of it copied in, everybody adds everything, one meeting

Compiled `exact`, so that sums are not reordered. `plain.py` holds the NumPy twins.
"""

from dlmini.comm.processes.kernels import layout
from dlmini.comm.processes.kernels.numbers import accumulate, add, copy
from dlmini.comm.processes.kernels.waiting import gather, meet, words_of
from dlmini.jit import kernel

STRIP = 2048  # numbers added at a time: they stay in the first-level cache from one addition to the next
LINE = 16  # slices begin on multiples of it, so that no cache line is written by two
SHORT = 2**14  # bytes of all ranks' vectors together, up to which everybody adds everything


@kernel(exact=True, inline=True)
def next_half(board, settings):
    """Which half of the slots the next meeting is for."""
    return (board[words_of(settings[layout.RANK]) + layout.ARRIVED] + 1) & 1


@kernel(exact=True, inline=True)
def slice_of(rank, size, count):
    """Which part of a block this rank adds."""
    each = ((count + size - 1) // size + LINE - 1) // LINE * LINE
    return min(count, rank * each), min(count, rank * each + each)


@kernel(exact=True, inline=True)
def add_strip(out, i, x, j, slots, at, stride, first, me, size, count):
    """out[i:] = the sum over ranks, from rank `first` on. Mine is x[j:], rank q's is slots[at + q stride:]."""
    second = (first + 1) % size
    if me in (first, second):
        add(out, i, x, j, slots, at + (first + second - me) * stride, count)
    else:
        add(out, i, slots, at + first * stride, slots, at + second * stride, count)
    for k in range(2, size):
        rank = (first + k) % size
        if rank == me:
            accumulate(out, i, x, j, count)
        else:
            accumulate(out, i, slots, at + rank * stride, count)


@kernel(exact=True, inline=True)
def add_block(out, x, begin, lo, hi, slots, at, block, into, me, size):
    """out[lo:hi] = the sum over ranks of x[lo:hi], chunk by chunk. Rank q's x[begin:] is at slots[at + 2 q block:].

    A copy goes to slots[into:], for the others; unless `into` is negative.
    """
    while lo < hi:
        chunk = ((lo + 1) * size - 1) // x.size
        end = min(hi, (chunk + 1) * x.size // size, lo + STRIP)
        add_strip(out, lo, x, lo, slots, at + lo - begin, 2 * block, chunk, me, size, end - lo)
        if into >= 0:
            copy(slots, into, out, lo, end - lo)
            into += end - lo
        lo = end


@kernel(exact=True, inline=True)
def put_in(x, begin, slots, at, block, but, size):
    """x[begin:] into a slot, at most a block, but for the slice that rank `but` adds."""
    count = min(block, x.size - begin)
    lo, hi = slice_of(but, size, count)
    copy(slots, at, x, begin, lo)
    copy(slots, at + hi, x, begin + hi, count - hi)


@kernel(exact=True, inline=True)
def fetch(out, begin, slots, at, block, but, size):
    """A block's sums into out[begin:], but for the slice that rank `but` has added."""
    count = min(block, out.size - begin)
    lo, hi = slice_of(but, size, count)
    copy(out, begin, slots, at, lo)
    copy(out, begin + hi, slots, at + hi, count - hi)


@kernel(exact=True)
def allreduce(x, out, board, settings, dtype, now):
    """out = the sum over ranks of x: when the last rank came, or a negative verdict. `dtype` is its number.

    Slots: two blocks for each rank, then two for the sums.
    """
    me, size, n, slots = settings[layout.RANK], settings[layout.SIZE], x.size, board.view(x.dtype)
    block, first = settings[layout.BLOCK] // x.itemsize, settings[layout.SLOTS] // x.itemsize
    mine, sums, half = first + 2 * me * block, first + 2 * size * block, next_half(board, settings)
    ticket, last = layout.ALLREDUCE << layout.VERB | dtype << layout.DTYPE | n, -1.0
    short = n <= min(block, SHORT // (x.itemsize * size))
    for k in range(-1, 1 if short else (n + block - 1) // block + 1):
        begin, at = k * block, first + ((half + k) & 1) * block
        if k == 0:
            last = meet(board, settings, ticket, now)
            if last < 0:
                return last
        elif k > 0:
            if gather(board, settings) < 0:
                return -1.0
            fetch(out, begin - block, slots, sums + ((k - 1) & 1) * block, block, me, size)
        if 0 <= begin < n:
            lo, hi = slice_of(0 if short else me, 1 if short else size, min(block, n - begin))
            into = -1 if short else sums + (k & 1) * block + lo
            add_block(out, x, begin, begin + lo, begin + hi, slots, at, block, into, me, size)
        if begin + block < n:
            at = mine + ((half + k + 1) & 1) * block
            put_in(x, begin + block, slots, at, block, size if short else me, size)
    return last


@kernel(exact=True, inline=True)
def put_parts(x, k, slots, at, piece, me, size):
    """Block k of everybody's part into my slot, one piece behind the other."""
    for rank in range(size):
        begin = rank * x.size // size + k * piece
        count = min(piece, (rank + 1) * x.size // size - begin)
        if rank != me and count > 0:
            copy(slots, at + rank * piece, x, begin, count)


@kernel(exact=True)
def reduce_scatter(x, out, board, settings, dtype, now):
    """out = my part of the sum over ranks of x: when the last rank came, or a negative verdict."""
    me, size, n, slots = settings[layout.RANK], settings[layout.SIZE], x.size, board.view(x.dtype)
    block, first = settings[layout.BLOCK] // x.itemsize, settings[layout.SLOTS] // x.itemsize
    half, piece, longest = next_half(board, settings), block // size, (n + size - 1) // size
    ticket, last = layout.REDUCE_SCATTER << layout.VERB | dtype << layout.DTYPE | n, -1.0
    for k in range(-1, max(1, (longest + piece - 1) // piece)):
        if k == 0:
            last = meet(board, settings, ticket, now)
            if last < 0:
                return last
        elif k > 0 and gather(board, settings) < 0:
            return -1.0
        if (k + 1) * piece < longest:
            put_parts(x, k + 1, slots, first + (2 * me + ((half + k + 1) & 1)) * block, piece, me, size)
        at, left = first + ((half + k) & 1) * block + me * piece, 0 if k < 0 else out.size - k * piece
        for begin in range(0, min(piece, left), STRIP):
            i, count = k * piece + begin, min(STRIP, piece - begin, left - begin)
            add_strip(out, i, x, me * n // size + i, slots, at + begin, 2 * block, (me + 1) % size, me, size, count)
    return last
