"""Letters through ring buffers: written and announced in one call, waited for and copied out in another.

    tail    how many bytes have ever been written; head: how many a reader has ever read; byte i lies at i mod capacity

Only the writer moves the tail and only a reader its head, so no lock is needed. A letter is an envelope and a body
(header and payload, see wire.py) in pieces (see board.py). A short piece lies in the ring itself. A long one lies once
in a cell of its sender, and only the number of the cell passes the ring: the cell is free again when every reader has
read beyond that word. Where each rank has a core of its own, pieces are announced one by one, so that one rank copies
in while the other copies out. If no cell is free, pieces go through the ring.

Cost of n bytes: two copies, overlapped. `letters.py`, one folder up, holds the NumPy twins.
"""

import numpy as np

from dlmini.comm.processes.kernels import board as spot
from dlmini.comm.processes.kernels.numbers import copy
from dlmini.comm.processes.kernels.waiting import publish, watch
from dlmini.comm.processes.kernels.words import load
from dlmini.jit import kernel

ENVELOPE = 8 * (spot.END - spot.ENVELOPE)  # bytes


@kernel(exact=True, inline=True)
def least_head(board, first, readers):
    """How far the slowest reader of a ring buffer is."""
    least = load(board, first + spot.LINE)
    for reader in range(1, readers):
        least = min(least, load(board, first + spot.LINE * (1 + reader)))
    return least


@kernel(exact=True, inline=True)
def free_cell(board, cells, first):
    """The first cell, from `first` on and around, that everybody has read; NOTHING if there is none."""
    count = cells.size // spot.KNOWN
    for step in range(count):
        cell = (first + step) % count
        at = cell * spot.KNOWN
        due = cells[at + spot.DUE]
        if due == 0 or least_head(board, cells[at + spot.RING], cells[at + spot.SHARED]) >= due:
            return cell
    return spot.NOTHING


@kernel(exact=True, inline=True)
def word_at(end):
    """Where in the board the word lies at which this end is."""
    return (end[spot.DATA] + end[spot.POSITION] % end[spot.CAPACITY]) >> 3


@kernel(exact=True, inline=True)
def put(board, end, word):
    board[word_at(end)] = word
    end[spot.POSITION] += 8


@kernel(exact=True, inline=True)
def put_bytes(board, end, data, at, count):
    """data[at:][:count] into the ring, and on to the next whole word."""
    memory, capacity = board.view(np.uint8), end[spot.CAPACITY]
    place = end[spot.POSITION] % capacity
    first = min(count, capacity - place)
    copy(memory, end[spot.DATA] + place, data, at, first)
    if count > first:
        copy(memory, end[spot.DATA], data, at + first, count - first)
    end[spot.POSITION] += (count + 7) & ~7


@kernel(exact=True, inline=True)
def put_in_cell(board, habits, end, cells, cell, data, at, count):
    """data[at:][:count] into the cell, its number into the ring."""
    here = habits[spot.SLABS] + (habits[spot.RANK] * habits[spot.CELLS] + cell) * spot.CELL
    copy(board.view(np.uint8), here, data, at, count)
    put(board, end, (cell + 1) << spot.PLACE | count)
    known = cell * spot.KNOWN
    cells[known + spot.DUE] = end[spot.POSITION]
    cells[known + spot.RING], cells[known + spot.SHARED] = end[spot.WORDS], end[spot.READERS]


@kernel(exact=True, inline=True)
def room_of(board, end):
    """How many bytes the ring has room for."""
    head = least_head(board, end[spot.WORDS], end[spot.READERS])
    return end[spot.CAPACITY] - (end[spot.POSITION] - head)


@kernel(exact=True, inline=True)
def announce(board, habits, end):
    publish(board, habits, end[spot.WORDS] + spot.TAIL, end[spot.POSITION], end[spot.PEER], spot.NOTHING)


@kernel(exact=True)
def write(board, habits, end, cells, data, at):
    """The body from data[at] on, as far as there is room: where it stopped."""
    cell, room = at - at, room_of(board, end)
    while at < data.size and room >= 16:
        if end[spot.PIECE] == 0:
            count = min(data.size - at, spot.CELL)
            cell = free_cell(board, cells, cell) if count > spot.INLINE and cell >= 0 else spot.NOTHING
            if cell >= 0:
                put_in_cell(board, habits, end, cells, cell, data, at, count)
                at, room = at + count, room - 8
                if habits[spot.SPIN]:
                    announce(board, habits, end)
                continue
            put(board, end, count)
            end[spot.PIECE], room = count, room - 8
        count = min(end[spot.PIECE], room)
        put_bytes(board, end, data, at, count)
        end[spot.PIECE] -= count
        at, room = at + count, room_of(board, end)
    announce(board, habits, end)
    return at


@kernel(exact=True)
def post(board, habits, end, cells, low, high, sent, header, payload, first, last, data):
    """A letter's envelope and as much of its body as there is room for: how much; NOTHING if not even the envelope."""
    if room_of(board, end) < ENVELOPE:
        return spot.NOTHING
    times = end.view(np.float64)
    end[spot.LOW], end[spot.HIGH], times[spot.SENT] = low, high, sent
    end[spot.HEADER], end[spot.PAYLOAD], times[spot.FIRST], times[spot.LAST] = header, payload, first, last
    for word in range(spot.ENVELOPE, spot.END):
        put(board, end, end[word])
    return write(board, habits, end, cells, data, header - header)


@kernel(exact=True, inline=True)
def open_letter(board, end):
    """Read the next envelope, if one is there."""
    if load(board, end[spot.WORDS] + spot.TAIL) == end[spot.POSITION]:
        return False
    for word in range(spot.ENVELOPE, spot.END):
        end[word] = board[word_at(end)]
        end[spot.POSITION] += 8
    end[spot.LENGTH], end[spot.DONE] = end[spot.HEADER] + end[spot.PAYLOAD], 0
    return True


@kernel(exact=True, inline=True)
def tell(board, habits, end):
    """Let the writer know how far I am."""
    end[spot.TOLD] = end[spot.POSITION]
    publish(board, habits, end[spot.HEAD], end[spot.TOLD], end[spot.PEER], end[spot.WORDS] + spot.WANTED)


@kernel(exact=True, inline=True)
def get_bytes(board, end, out, count):
    """The next bytes of the ring into out."""
    memory, capacity = board.view(np.uint8), end[spot.CAPACITY]
    place = end[spot.POSITION] % capacity
    first = min(count, capacity - place)
    copy(out, end[spot.DONE], memory, end[spot.DATA] + place, first)
    if count > first:
        copy(out, end[spot.DONE] + first, memory, end[spot.DATA], count - first)
    end[spot.POSITION] += (count + 7) & ~7
    end[spot.DONE] += count


@kernel(exact=True, inline=True)
def get_from_cell(board, habits, end, out, word):
    """What the word says out of its sender's cell, which then is free."""
    cell, count = (word >> spot.PLACE) - 1, word & ((1 << spot.PLACE) - 1)
    here = habits[spot.SLABS] + (end[spot.PEER] * habits[spot.CELLS] + cell) * spot.CELL
    copy(out, end[spot.DONE], board.view(np.uint8), here, count)
    end[spot.POSITION] += 8
    end[spot.DONE] += count
    tell(board, habits, end)


@kernel(exact=True)
def fetch(board, habits, end, out):
    """Copy of the letter's body what is here. Is it whole?"""
    while end[spot.DONE] < end[spot.LENGTH]:
        here = load(board, end[spot.WORDS] + spot.TAIL) - end[spot.POSITION]
        if here == 0:
            break
        if end[spot.PIECE] == 0:
            word = board[word_at(end)]
            if word >> spot.PLACE:
                get_from_cell(board, habits, end, out, word)
                continue
            end[spot.PIECE] = word
            end[spot.POSITION] += 8
            here -= 8
        count = min(end[spot.PIECE], here)
        get_bytes(board, end, out, count)
        end[spot.PIECE] -= count
    if end[spot.POSITION] - end[spot.TOLD] > end[spot.CAPACITY] // 4:  # the writer never lacks more than this
        tell(board, habits, end)
    return end[spot.DONE] == end[spot.LENGTH]


@kernel(exact=True)
def read(board, habits, end, out):
    """The next letter into out, as far as it is here: NOTHING, PART, WHOLE; UNFIT if out is not its size."""
    if end[spot.LENGTH] < 0 and not open_letter(board, end):
        return spot.NOTHING
    if out.size != end[spot.LENGTH]:
        return spot.UNFIT
    if not fetch(board, habits, end, out):
        return spot.PART
    end[spot.LENGTH] = -1
    return spot.WHOLE


@kernel(exact=True)
def pull(board, habits, end, out, low, high, watched, seen, count, naps, which):
    """Wait for a vector of this channel, as long as out: WHOLE; UNFIT if the next letter is another; or other news.

    The ring is watched[which]; a letter without header is a vector of float32.
    """
    while True:
        if end[spot.LENGTH] >= 0 or open_letter(board, end):
            same = end[spot.LOW] == low and end[spot.HIGH] == high
            if end[spot.HEADER] or not same or end[spot.LENGTH] != out.size:
                return spot.UNFIT
            whole = fetch(board, habits, end, out)
            seen[which] = end[spot.POSITION]
            if whole:
                end[spot.LENGTH] = -1
                return spot.WHOLE
        found = watch(board, habits, watched, seen, count, naps)
        if found != which:
            return found
