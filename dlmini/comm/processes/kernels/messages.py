"""Letters through ring buffers: written and announced in one call, waited for and copied out in another.

    tail    how many bytes have ever been written; head: how many a reader has ever read; byte i lies at i mod capacity

Only the writer moves the tail and only a reader its head, so no lock is needed. A letter is an envelope and a body
(header and payload, see wire.py) in pieces (see layout.py). A short piece lies in the ring itself. A long one lies once
in a cell of its sender, and only the number of the cell passes the ring: the cell is free again when every reader has
read beyond that word. Where each rank has a core of its own, pieces are announced one by one, so that one rank copies
in while the other copies out. If no cell is free, pieces go through the ring.

Cost of n bytes: two copies, overlapped. `plain/messages.py` holds the NumPy twins.
"""

import numpy as np

from dlmini.comm.processes.kernels import layout
from dlmini.comm.processes.kernels.atomics import load
from dlmini.comm.processes.kernels.numbers import copy
from dlmini.comm.processes.kernels.waiting import publish, watch
from dlmini.jit import kernel

ENVELOPE = 8 * (layout.END - layout.ENVELOPE)  # bytes


@kernel(exact=True, inline=True)
def least_head(board, first, readers):
    """How far the slowest reader of a ring buffer is."""
    least = load(board, first + layout.LINE)
    for reader in range(1, readers):
        least = min(least, load(board, first + layout.LINE * (1 + reader)))
    return least


@kernel(exact=True)
def is_free(board, cells, cell):
    """Has everybody read it?"""
    due, ring, readers = cells[cell * layout.KNOWN], cells[cell * layout.KNOWN + 1], cells[cell * layout.KNOWN + 2]
    return due == 0 or least_head(board, ring, readers) >= due


@kernel(exact=True, inline=True)
def free_cell(board, cells):
    """The next free cell, in turns: NOTHING if there is none.

    A cell that was just read is still in the reader's own cache, and slow to write (1 MB: 120 us a message for 40). One
    that was used long ago is in no cache. So the turn begins again after NEAR cells, if the reader keeps up.
    """
    count, last = cells.size // layout.KNOWN, cells.size - 1
    first = cells[last] + 1
    if first % layout.NEAR == 0 and is_free(board, cells, 0):
        first -= first
    for step in range(count):
        cell = (first + step) % count
        if is_free(board, cells, cell):
            cells[last] = cell
            return cell
    return layout.NOTHING


@kernel(exact=True, inline=True)
def word_at(end):
    """Where in the board the word lies at which this end is."""
    return (end[layout.DATA] + end[layout.POSITION] % end[layout.CAPACITY]) >> 3


@kernel(exact=True, inline=True)
def put(board, end, word):
    board[word_at(end)] = word
    end[layout.POSITION] += 8


@kernel(exact=True, inline=True)
def put_bytes(board, end, data, at, count):
    """data[at:][:count] into the ring, and on to the next whole word."""
    memory, capacity = board.view(np.uint8), end[layout.CAPACITY]
    place = end[layout.POSITION] % capacity
    first = min(count, capacity - place)
    copy(memory, end[layout.DATA] + place, data, at, first)
    if count > first:
        copy(memory, end[layout.DATA], data, at + first, count - first)
    end[layout.POSITION] += (count + 7) & ~7


@kernel(exact=True, inline=True)
def put_in_cell(board, settings, end, cells, cell, data, at, count):
    """data[at:][:count] into the cell, its number into the ring."""
    here = settings[layout.SLABS] + (settings[layout.RANK] * settings[layout.CELLS] + cell) * layout.CELL
    copy(board.view(np.uint8), here, data, at, count)
    put(board, end, (cell + 1) << layout.PLACE | count)
    known = cell * layout.KNOWN
    cells[known], cells[known + 1], cells[known + 2] = end[layout.POSITION], end[layout.WORDS], end[layout.READERS]


@kernel(exact=True, inline=True)
def room_of(board, end):
    """How many bytes the ring has room for. Where all readers are dead (FAR), always for all it can hold."""
    head = least_head(board, end[layout.WORDS], end[layout.READERS])
    return min(end[layout.CAPACITY], end[layout.CAPACITY] - (end[layout.POSITION] - head))


@kernel(exact=True, inline=True)
def announce(board, settings, end):
    publish(board, settings, end[layout.WORDS] + layout.TAIL, end[layout.POSITION], end[layout.PEER], layout.NOTHING)


@kernel(exact=True)
def write(board, settings, end, cells, data, at):
    """The body from data[at] on, as far as there is room: where it stopped."""
    cell, room = at - at, room_of(board, end)
    while at < data.size and room >= 16:
        if end[layout.PIECE] == 0:
            count = min(data.size - at, layout.CELL)
            cell = free_cell(board, cells) if count > layout.INLINE and cell >= 0 else layout.NOTHING
            if cell >= 0:
                put_in_cell(board, settings, end, cells, cell, data, at, count)
                at, room = at + count, room - 8
                if settings[layout.SPIN]:
                    announce(board, settings, end)
                continue
            put(board, end, count)
            end[layout.PIECE], room = count, room - 8
        count = min(end[layout.PIECE], room)
        put_bytes(board, end, data, at, count)
        end[layout.PIECE] -= count
        at, room = at + count, room_of(board, end)
    announce(board, settings, end)
    return at


@kernel(exact=True)
def post(board, settings, end, cells, low, high, sent, header, payload, first, last, data):
    """A letter's envelope and as much of its body as there is room for: how much; NOTHING if not even the envelope."""
    if room_of(board, end) < ENVELOPE:
        return layout.NOTHING
    times = end.view(np.float64)
    end[layout.LOW], end[layout.HIGH], times[layout.SENT] = low, high, sent
    end[layout.HEADER], end[layout.PAYLOAD], times[layout.FIRST], times[layout.LAST] = header, payload, first, last
    for word in range(layout.ENVELOPE, layout.END):
        put(board, end, end[word])
    return write(board, settings, end, cells, data, header - header)


@kernel(exact=True, inline=True)
def open_letter(board, end):
    """Read the next envelope, if one is there."""
    if load(board, end[layout.WORDS] + layout.TAIL) == end[layout.POSITION]:
        return False
    for word in range(layout.ENVELOPE, layout.END):
        end[word] = board[word_at(end)]
        end[layout.POSITION] += 8
    end[layout.LENGTH], end[layout.DONE] = end[layout.HEADER] + end[layout.PAYLOAD], 0
    return True


@kernel(exact=True, inline=True)
def tell(board, settings, end):
    """Let the writer know how far I am."""
    end[layout.TOLD] = end[layout.POSITION]
    publish(board, settings, end[layout.HEAD], end[layout.TOLD], end[layout.PEER], end[layout.WORDS] + layout.WANTED)


@kernel(exact=True, inline=True)
def get_bytes(board, end, out, count):
    """The next bytes of the ring into out."""
    memory, capacity = board.view(np.uint8), end[layout.CAPACITY]
    place = end[layout.POSITION] % capacity
    first = min(count, capacity - place)
    copy(out, end[layout.DONE], memory, end[layout.DATA] + place, first)
    if count > first:
        copy(out, end[layout.DONE] + first, memory, end[layout.DATA], count - first)
    end[layout.POSITION] += (count + 7) & ~7
    end[layout.DONE] += count


@kernel(exact=True, inline=True)
def get_from_cell(board, settings, end, out, word):
    """What the word says out of its sender's cell, which then is free."""
    cell, count = (word >> layout.PLACE) - 1, word & ((1 << layout.PLACE) - 1)
    here = settings[layout.SLABS] + (end[layout.PEER] * settings[layout.CELLS] + cell) * layout.CELL
    copy(out, end[layout.DONE], board.view(np.uint8), here, count)
    end[layout.POSITION] += 8
    end[layout.DONE] += count
    tell(board, settings, end)


@kernel(exact=True)
def fetch(board, settings, end, out):
    """Copy of the letter's body what is here. Is it whole?"""
    while end[layout.DONE] < end[layout.LENGTH]:
        here = load(board, end[layout.WORDS] + layout.TAIL) - end[layout.POSITION]
        if here == 0:
            break
        if end[layout.PIECE] == 0:
            word = board[word_at(end)]
            if word >> layout.PLACE:
                get_from_cell(board, settings, end, out, word)
                continue
            end[layout.PIECE] = word
            end[layout.POSITION] += 8
            here -= 8
        count = min(end[layout.PIECE], here)
        get_bytes(board, end, out, count)
        end[layout.PIECE] -= count
    if end[layout.POSITION] - end[layout.TOLD] > end[layout.CAPACITY] // 4:  # the writer never lacks more than this
        tell(board, settings, end)
    return end[layout.DONE] == end[layout.LENGTH]


@kernel(exact=True)
def read(board, settings, end, out):
    """The next letter into out, as far as it is here: NOTHING, PART, WHOLE; UNFIT if out is not its size."""
    if end[layout.LENGTH] < 0 and not open_letter(board, end):
        return layout.NOTHING
    if out.size != end[layout.LENGTH]:
        return layout.UNFIT
    if not fetch(board, settings, end, out):
        return layout.PART
    end[layout.LENGTH] = -1
    return layout.WHOLE


@kernel(exact=True)
def pull(board, settings, end, out, low, high, watched, seen, count, naps, which):
    """Wait for a vector of this channel, as long as out: WHOLE; UNFIT if the next letter is another; or other news.

    The ring is watched[which]; a letter without header is a vector of float32.
    """
    while True:
        if end[layout.LENGTH] >= 0 or open_letter(board, end):
            same = end[layout.LOW] == low and end[layout.HIGH] == high
            if end[layout.HEADER] or not same or end[layout.LENGTH] != out.size:
                return layout.UNFIT
            whole = fetch(board, settings, end, out)
            seen[which] = end[layout.POSITION]
            if whole:
                end[layout.LENGTH] = -1
                return layout.WHOLE
        found = watch(board, settings, watched, seen, count, naps)
        if found != which:
            return found
