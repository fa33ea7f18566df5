"""Letters through ring buffers once more, readable: the twins of kernels/messages.py, same names and signatures.

The kernels' file says what a letter looks like, and when a cell is free.
"""

from __future__ import annotations

import numpy as np

from dlmini.comm.processes.kernels import layout
from dlmini.comm.processes.plain.waiting_and_sums import look, publish, watch

WORD = 8  # bytes


def put(board, end, words):
    """Words into the ring."""
    for word in words:
        board[(end[layout.DATA] + end[layout.POSITION] % end[layout.CAPACITY]) // WORD] = word
        end[layout.POSITION] += WORD


def take(board, end, count):
    """The next words of the ring."""
    at = (end[layout.POSITION] + WORD * np.arange(count)) % end[layout.CAPACITY]
    end[layout.POSITION] += WORD * count
    return board[(end[layout.DATA] + at) // WORD]


def places(end, count):
    """Where the next bytes of the ring lie; the end moves on to the next whole word."""
    at = (end[layout.POSITION] + np.arange(count)) % end[layout.CAPACITY]
    end[layout.POSITION] += -(-count // WORD) * WORD
    return end[layout.DATA] + at


def cell_of(board, settings, owner, cell):
    """The bytes of a cell."""
    begin = settings[layout.SLABS] + (owner * settings[layout.CELLS] + cell) * layout.CELL
    return board.view(np.uint8)[begin : begin + layout.CELL]


def least_head(board, first, readers):
    return min(look(board, first + layout.LINE * (1 + reader)) for reader in range(readers))


def room_of(board, end):
    head = least_head(board, end[layout.WORDS], end[layout.READERS])
    return int(min(end[layout.CAPACITY], end[layout.CAPACITY] - (end[layout.POSITION] - head)))


def free_cell(board, cells):
    for cell, (due, ring, readers) in enumerate(cells[:-1].reshape(-1, layout.KNOWN)):
        if due == 0 or least_head(board, ring, readers) >= due:
            return cell
    return layout.NOTHING


def write(board, settings, end, cells, data, at):
    while at < data.size and (room := room_of(board, end)) >= 2 * WORD:
        if end[layout.PIECE] == 0:
            count = min(data.size - at, layout.CELL)
            cell = free_cell(board, cells) if count > layout.INLINE else layout.NOTHING
            if cell >= 0:
                cell_of(board, settings, settings[layout.RANK], cell)[:count] = data[at : at + count]
                put(board, end, [(cell + 1) << layout.PLACE | count])
                cells[:-1].reshape(-1, layout.KNOWN)[cell] = (
                    end[layout.POSITION],
                    end[layout.WORDS],
                    end[layout.READERS],
                )
                at += count
                continue
            put(board, end, [count])
            end[layout.PIECE], room = count, room - WORD
        count = min(int(end[layout.PIECE]), room)
        board.view(np.uint8)[places(end, count)] = data[at : at + count]
        end[layout.PIECE] -= count
        at += count
    publish(board, settings, end[layout.WORDS] + layout.TAIL, end[layout.POSITION], end[layout.PEER], layout.NOTHING)
    return at


def post(board, settings, end, cells, low, high, sent, header, payload, first, last, data):
    if room_of(board, end) < WORD * (layout.END - layout.ENVELOPE):
        return layout.NOTHING
    times = np.array([sent, first, last]).view(np.int64)
    put(board, end, [low, high, times[0], header, payload, *times[1:]])
    return write(board, settings, end, cells, data, 0)


def open_letter(board, end):
    if look(board, end[layout.WORDS] + layout.TAIL) == end[layout.POSITION]:
        return False
    end[layout.ENVELOPE :] = take(board, end, layout.END - layout.ENVELOPE)
    end[layout.LENGTH], end[layout.DONE] = end[layout.HEADER] + end[layout.PAYLOAD], 0
    return True


def fetch(board, settings, end, out):
    while end[layout.DONE] < end[layout.LENGTH]:
        if look(board, end[layout.WORDS] + layout.TAIL) == end[layout.POSITION]:
            break
        done = end[layout.DONE]
        if end[layout.PIECE] == 0:
            cell, count = divmod(int(take(board, end, 1)[0]), 1 << layout.PLACE)
            if cell:
                out[done : done + count] = cell_of(board, settings, end[layout.PEER], cell - 1)[:count]
                end[layout.DONE] += count
                continue
            end[layout.PIECE] = count
        count = int(min(end[layout.PIECE], look(board, end[layout.WORDS] + layout.TAIL) - end[layout.POSITION]))
        out[done : done + count] = board.view(np.uint8)[places(end, count)]
        end[layout.PIECE] -= count
        end[layout.DONE] += count
    tell(board, settings, end)
    return bool(end[layout.DONE] == end[layout.LENGTH])


def tell(board, settings, end):
    end[layout.TOLD] = end[layout.POSITION]
    publish(board, settings, end[layout.HEAD], end[layout.TOLD], end[layout.PEER], end[layout.WORDS] + layout.WANTED)


def read(board, settings, end, out):
    if end[layout.LENGTH] < 0 and not open_letter(board, end):
        return layout.NOTHING
    if out.size != end[layout.LENGTH]:
        return layout.UNFIT
    if not fetch(board, settings, end, out):
        return layout.PART
    end[layout.LENGTH] = -1
    return layout.WHOLE


def pull(board, settings, end, out, low, high, watched, seen, count, naps, which):
    while True:
        if end[layout.LENGTH] >= 0 or open_letter(board, end):
            if end[layout.HEADER] or (end[layout.LOW], end[layout.HIGH], end[layout.LENGTH]) != (low, high, out.size):
                return layout.UNFIT
            found = read(board, settings, end, out)
            seen[which] = end[layout.POSITION]
            if found == layout.WHOLE:
                return found
        found = watch(board, settings, watched, seen, count, naps)
        if found != which:
            return found
