"""Letters through ring buffers once more, readable: the twins of kernels/letters.py, same names and signatures.

The kernels' file says what a letter looks like, and when a cell is free.
"""

from __future__ import annotations

import numpy as np

from dlmini.comm.processes.kernels import shared_words as spot
from dlmini.comm.processes.plain.waiting_and_sums import look, publish, watch

WORD = 8  # bytes


def put(board, end, words):
    """Words into the ring."""
    for word in words:
        board[(end[spot.DATA] + end[spot.POSITION] % end[spot.CAPACITY]) // WORD] = word
        end[spot.POSITION] += WORD


def take(board, end, count):
    """The next words of the ring."""
    at = (end[spot.POSITION] + WORD * np.arange(count)) % end[spot.CAPACITY]
    end[spot.POSITION] += WORD * count
    return board[(end[spot.DATA] + at) // WORD]


def places(end, count):
    """Where the next bytes of the ring lie; the end moves on to the next whole word."""
    at = (end[spot.POSITION] + np.arange(count)) % end[spot.CAPACITY]
    end[spot.POSITION] += -(-count // WORD) * WORD
    return end[spot.DATA] + at


def cell_of(board, habits, owner, cell):
    """The bytes of a cell."""
    begin = habits[spot.SLABS] + (owner * habits[spot.CELLS] + cell) * spot.CELL
    return board.view(np.uint8)[begin : begin + spot.CELL]


def least_head(board, first, readers):
    return min(look(board, first + spot.LINE * (1 + reader)) for reader in range(readers))


def room_of(board, end):
    head = least_head(board, end[spot.WORDS], end[spot.READERS])
    return int(end[spot.CAPACITY] - (end[spot.POSITION] - head))


def free_cell(board, cells):
    for cell, (due, ring, readers) in enumerate(cells[:-1].reshape(-1, spot.KNOWN)):
        if due == 0 or least_head(board, ring, readers) >= due:
            return cell
    return spot.NOTHING


def write(board, habits, end, cells, data, at):
    while at < data.size and (room := room_of(board, end)) >= 2 * WORD:
        if end[spot.PIECE] == 0:
            count = min(data.size - at, spot.CELL)
            cell = free_cell(board, cells) if count > spot.INLINE else spot.NOTHING
            if cell >= 0:
                cell_of(board, habits, habits[spot.RANK], cell)[:count] = data[at : at + count]
                put(board, end, [(cell + 1) << spot.PLACE | count])
                cells[:-1].reshape(-1, spot.KNOWN)[cell] = end[spot.POSITION], end[spot.WORDS], end[spot.READERS]
                at += count
                continue
            put(board, end, [count])
            end[spot.PIECE], room = count, room - WORD
        count = min(int(end[spot.PIECE]), room)
        board.view(np.uint8)[places(end, count)] = data[at : at + count]
        end[spot.PIECE] -= count
        at += count
    publish(board, habits, end[spot.WORDS] + spot.TAIL, end[spot.POSITION], end[spot.PEER], spot.NOTHING)
    return at


def post(board, habits, end, cells, low, high, sent, header, payload, first, last, data):
    if room_of(board, end) < WORD * (spot.END - spot.ENVELOPE):
        return spot.NOTHING
    times = np.array([sent, first, last]).view(np.int64)
    put(board, end, [low, high, times[0], header, payload, *times[1:]])
    return write(board, habits, end, cells, data, 0)


def open_letter(board, end):
    if look(board, end[spot.WORDS] + spot.TAIL) == end[spot.POSITION]:
        return False
    end[spot.ENVELOPE :] = take(board, end, spot.END - spot.ENVELOPE)
    end[spot.LENGTH], end[spot.DONE] = end[spot.HEADER] + end[spot.PAYLOAD], 0
    return True


def fetch(board, habits, end, out):
    while end[spot.DONE] < end[spot.LENGTH]:
        if look(board, end[spot.WORDS] + spot.TAIL) == end[spot.POSITION]:
            break
        done = end[spot.DONE]
        if end[spot.PIECE] == 0:
            cell, count = divmod(int(take(board, end, 1)[0]), 1 << spot.PLACE)
            if cell:
                out[done : done + count] = cell_of(board, habits, end[spot.PEER], cell - 1)[:count]
                end[spot.DONE] += count
                continue
            end[spot.PIECE] = count
        count = int(min(end[spot.PIECE], look(board, end[spot.WORDS] + spot.TAIL) - end[spot.POSITION]))
        out[done : done + count] = board.view(np.uint8)[places(end, count)]
        end[spot.PIECE] -= count
        end[spot.DONE] += count
    tell(board, habits, end)
    return bool(end[spot.DONE] == end[spot.LENGTH])


def tell(board, habits, end):
    end[spot.TOLD] = end[spot.POSITION]
    publish(board, habits, end[spot.HEAD], end[spot.TOLD], end[spot.PEER], end[spot.WORDS] + spot.WANTED)


def read(board, habits, end, out):
    if end[spot.LENGTH] < 0 and not open_letter(board, end):
        return spot.NOTHING
    if out.size != end[spot.LENGTH]:
        return spot.UNFIT
    if not fetch(board, habits, end, out):
        return spot.PART
    end[spot.LENGTH] = -1
    return spot.WHOLE


def pull(board, habits, end, out, low, high, watched, seen, count, naps, which):
    while True:
        if end[spot.LENGTH] >= 0 or open_letter(board, end):
            if end[spot.HEADER] or (end[spot.LOW], end[spot.HIGH], end[spot.LENGTH]) != (low, high, out.size):
                return spot.UNFIT
            found = read(board, habits, end, out)
            seen[which] = end[spot.POSITION]
            if found == spot.WHOLE:
                return found
        found = watch(board, habits, watched, seen, count, naps)
        if found != which:
            return found
