"""The board: the few shared words by which ranks on one machine see each other. 64-bit words, one writer each.

    ABORT                       the number of the run to be given up; written by the parent
    rank r, first line          how often it has come to a meeting, what it came for and when; the run it has finished,
                                or, with a minus, the one it has died in (then the parent writes for it)
    rank r, second line         its bell, which whoever has news for a sleeper rings; 0 or, if it sleeps, 1 + the bell
                                when it lay down; how many messages it holds that are still under way
    a ring buffer               how far it is written, whether its writer waits for room; how far each reader has read
    a port                      until when it is busy, where a network is imitated

Words with different writers lie on different cache lines: a line that two cores write travels between them all day.
A word is 8 bytes; a line here is 128, since processors fetch lines of 64 in pairs, and some have lines of 128.
"""

from __future__ import annotations

import platform
from functools import cache
from itertools import accumulate

X86 = platform.machine().lower() in ("x86_64", "amd64")
ARM = platform.machine().lower() in ("aarch64", "arm64")

LINE = 16  # words

ABORT = 0
# in the first line of a rank: TICKET and STAMP twice, for meetings of odd and even number (a rank may be one ahead)
ARRIVED, FINISHED, TICKET, STAMP = 0, 1, 2, 4
# in the second line of a rank
ASLEEP, BELL, HELD = LINE, LINE + 1, LINE + 2
# in the first line of a ring buffer; the readers' lines follow
TAIL, WANTED = 0, 1

# what each process knows for itself: an array of words that is not shared
RANK, SIZE, RUN, SPIN, YIELDS, YIELD, SYSCALL, FUTEX, SLEEP, NAP, SECONDS, NANOSECONDS, SLOTS, BLOCK = range(14)
SETAFFINITY, GETCPU, CPU, CLOSE = range(14, 18)
ALLOWED, OTHERS, MASK = 18, 34, 16  # two sets of cores, one bit each, in so many words
SLABS, CELLS = 50, 51  # at which byte the slabs begin, and how many cells each rank has
SETTINGS = 52  # its length

# an end of a ring buffer, as its process keeps it: where its words, its bytes begin, how many; who is at the other end;
# how far I am; bytes that are left of the piece I am at
WORDS, DATA, CAPACITY, PEER, POSITION, PIECE = range(6)
READERS = 6  # the writer's: how many read it
HEAD, TOLD, LENGTH, DONE = range(6, 10)  # a reader's: its word; what the writer knows; of its letter: bytes, those read
ENVELOPE, END = 10, 17  # the envelope of the letter at hand (wire.py); the length of it all
LOW, HIGH, SENT, HEADER, PAYLOAD, FIRST, LAST = range(ENVELOPE, END)  # low and high: the channel, in two words

# a letter in a ring buffer: the words of its envelope, then pieces: a word that says how long it is and where it lies,
# in a cell (counted from 1) or right behind the word (0); all that lies in the ring fills whole words
CELL = 2**15  # bytes of a cell: small, so that one rank fills the next while the other reads
PLACE = 32  # how far left in the word the cell's number stands
NEAR = 64  # cells in turn: more than a second-level cache holds, less than a third-level one
INLINE = 2**12  # bytes: shorter pieces are not worth a cell
# what a writer knows of each cell: until how far, in which ring, by how many it must be read to be free; and behind all
# of them, which cell it used last
KNOWN = 3

# what a meeting is for: a ticket is the verb, a number for the dtype, and the length, in one word
MEET, ALLREDUCE, REDUCE_SCATTER = range(3)
VERB, DTYPE = 56, 48

ALL = -1  # as a destination: everybody but me

# what a wait may end with, other than what was waited for
ABORTED, MISMATCH, GONE, NOTHING = -1, -2, -3, -4
# what reading a letter may come to: it is here; a part of it is; it needs memory of another size
WHOLE, PART, UNFIT = -5, -6, -7


FAR = 2**62  # how far a dead reader has read: nobody waits for it any more


def rank_words(rank: int) -> int:
    """Where the words of a rank begin."""
    return LINE * (1 + 2 * rank)


def readers(source: int, dest: int, size: int) -> list[int]:
    """Who reads the ring buffer (source, dest): dest; or, of (source, source), all others."""
    return [dest] if dest != source else [rank for rank in range(size) if rank != source]


@cache
def ring_words(size: int) -> dict[tuple[int, int], int]:
    """Where the words of each ring buffer begin."""
    lines = {(s, d): 1 + len(readers(s, d, size)) for s in range(size) for d in range(size)}
    begin = accumulate(lines.values(), initial=0)
    return {pair: rank_words(size) + LINE * line for pair, line in zip(lines, begin, strict=False)}


def head_word(source: int, dest: int, reader: int, size: int) -> int:
    """How far this reader has read."""
    return ring_words(size)[source, dest] + LINE * (1 + readers(source, dest, size).index(reader))


def ports(size: int) -> int:
    """How many ports a network between so many ranks may have."""
    return 4 * size**2 + 4 * size


def port_word(size: int, port: int) -> int:
    """Until when a port is busy, as a float."""
    return length(size) - ports(size) + port


def length(size: int) -> int:
    """Words on the board."""
    rings = 2 * size * (size - 1) + size * size
    return LINE * (1 + 2 * size + rings) + ports(size)
