"""Waiting without wasting: look again and again, then let others run, then sleep until the bell rings.

    look      SPIN times, a breath apart: the answer is there within a microsecond if the partner runs on another core
    yield     YIELDS times: the partner may be waiting for this very core
    sleep     until somebody rings my bell, or a little while has passed: an abort must always be seen

Who has news stores it, then looks whether the other sleeps. Who wants to sleep says so, then looks for news. Between
the two steps each puts a fence, so that at least one of them sees the other (Dekker's handshake), and no news is slept
through. Where the system has no futex (Linux alone has), sleeping is a nap of fixed length.

Systems tend to wake a sleeper on the core of its waker, and to leave both there. Each then spins in vain, until it
yields, while other cores are idle: that is noticed here, and one of the two steps aside.
"""

import numpy as np

from dlmini.comm.processes.kernels import atomics as words
from dlmini.comm.processes.kernels import layout
from dlmini.comm.processes.kernels.atomics import add, address, call, fence, load, pause, store
from dlmini.jit import kernel

FUTEX_WAIT, FUTEX_WAKE = 0, 1
CLOSE_YIELDS, CLOSE_TIMES = 4, 8  # news within so few yields, so often in a row: the partner waits for this core


@kernel(exact=True, inline=True)
def words_of(rank):
    return layout.LINE * (1 + 2 * rank)


@kernel(exact=True, inline=True)
def ring_bell(board, settings, rank):
    """Wake a rank, if it sleeps. Call `fence` first."""
    at = words_of(rank)
    if load(board, at + layout.ASLEEP):
        add(board, at + layout.BELL, 1)
        if settings[layout.FUTEX]:
            call(settings[layout.SYSCALL], settings[layout.FUTEX], address(board, at + layout.BELL), FUTEX_WAKE, 1, 0)


@kernel(exact=True, inline=True)
def sleep(board, settings, bell):
    """Until my bell is no longer at `bell`, or a little while has passed."""
    if settings[layout.FUTEX]:
        at, limit = address(board, words_of(settings[layout.RANK]) + layout.BELL), address(settings, layout.SECONDS)
        call(settings[layout.SYSCALL], settings[layout.FUTEX], at, FUTEX_WAIT, bell & 0xFFFFFFFF, limit)
    else:
        call(settings[layout.SLEEP], settings[layout.NAP], 0, 0, 0, 0)


@kernel(exact=True, inline=True)
def notice(settings, tries):
    """After a wait: did news come as soon as I gave my core away? Again and again, it means that we share one."""
    if settings[layout.SPIN] < tries <= settings[layout.SPIN] + CLOSE_YIELDS:
        settings[layout.CLOSE] += 1
        if settings[layout.CLOSE] == CLOSE_TIMES:
            step_aside(settings)
    else:
        settings[layout.CLOSE] = 0


@kernel(exact=True)
def step_aside(settings):
    """Move to any other core; from there on the system may move me as it likes."""
    if settings[layout.SETAFFINITY]:
        call(settings[layout.SYSCALL], settings[layout.GETCPU], address(settings, layout.CPU), 0, 0, 0)
        others = 0
        for word in range(layout.MASK):
            here = 1 << settings[layout.CPU] % 64 if word == settings[layout.CPU] // 64 else 0
            settings[layout.OTHERS + word] = settings[layout.ALLOWED + word] & ~here
            others |= settings[layout.OTHERS + word]
        for cores in (layout.OTHERS, layout.ALLOWED):
            if others:
                call(
                    settings[layout.SYSCALL],
                    settings[layout.SETAFFINITY],
                    0,
                    8 * layout.MASK,
                    address(settings, cores),
                    0,
                )


@kernel(exact=True)
def publish(board, settings, word, value, rank, wanted):
    """Set a word of mine, and wake `rank` (ALL: everybody), who may wait for it.

    If `wanted` is a word (not NOTHING), only if that says so.
    """
    store(board, word, value)
    fence()
    if wanted == layout.NOTHING or load(board, wanted):
        for one in range(settings[layout.SIZE]):
            if rank in (one, layout.ALL):
                ring_bell(board, settings, one)


@kernel(exact=True)
def enter(board, word, head, busy):
    """Pass a port whose clock is that word, for `busy` seconds: when it begins, `head` or when the port is free."""
    return words.enter(board, word, head, busy)


@kernel(exact=True)
def look(board, word):
    """A word, and everything its writer wrote before it."""
    return load(board, word)


@kernel(exact=True, inline=True)
def changed(board, watched, seen, count):
    """The first of the watched words that is no longer what was seen."""
    for i in range(count):
        if load(board, watched[i]) != seen[i]:
            return i
    return layout.NOTHING


@kernel(exact=True)
def watch(board, settings, watched, seen, count, naps):
    """Wait until one of the watched words changes: which one; NOTHING after so many naps; or ABORTED."""
    mine = words_of(settings[layout.RANK])
    tries, rests = 0, settings[layout.SPIN] + settings[layout.YIELDS]
    while True:
        found = changed(board, watched, seen, count)
        if found != layout.NOTHING:
            notice(settings, tries)
            return found
        if load(board, layout.ABORT) == settings[layout.RUN]:
            return layout.ABORTED
        tries += 1
        if tries <= settings[layout.SPIN]:
            pause()
        elif tries <= rests:
            call(settings[layout.YIELD], 0, 0, 0, 0, 0)
        elif tries > rests + naps:
            return layout.NOTHING
        else:
            bell = load(board, mine + layout.BELL)
            store(board, mine + layout.ASLEEP, bell + 1)
            fence()
            if changed(board, watched, seen, count) == layout.NOTHING:
                sleep(board, settings, bell)
            store(board, mine + layout.ASLEEP, 0)


@kernel(exact=True, inline=True)
def missing(board, size, turn, first):
    """The first rank, from `first` on, that has not come to this meeting; `size` if all have."""
    while first < size and load(board, words_of(first) + layout.ARRIVED) >= turn:
        first += 1
    return first


@kernel(exact=True)
def gather(board, settings):
    """Come to the next meeting, and wait until all have come: 0, ABORTED, or GONE if one has ended without coming."""
    size, mine = settings[layout.SIZE], words_of(settings[layout.RANK])
    turn = board[mine + layout.ARRIVED] + 1
    store(board, mine + layout.ARRIVED, turn)
    fence()
    who = missing(board, size, turn, size - size)
    if who == size:  # the last one to come wakes those who sleep
        for rank in range(size):
            ring_bell(board, settings, rank)
        return 0
    tries, rests = 0, settings[layout.SPIN] + settings[layout.YIELDS]
    while True:
        who = missing(board, size, turn, who)
        if who == size:
            notice(settings, tries)
            return 0
        if load(board, layout.ABORT) == settings[layout.RUN]:
            return layout.ABORTED
        tries += 1
        if tries <= settings[layout.SPIN]:
            pause()
        elif tries <= rests:
            call(settings[layout.YIELD], 0, 0, 0, 0, 0)
        else:
            ended = abs(load(board, words_of(who) + layout.FINISHED)) == settings[layout.RUN]
            if ended and missing(board, size, turn, who) == who:  # looked at again: it may have come and then finished
                return layout.GONE
            bell = load(board, mine + layout.BELL)
            store(board, mine + layout.ASLEEP, bell + 1)
            fence()
            if missing(board, size, turn, who) < size:
                sleep(board, settings, bell)
            store(board, mine + layout.ASLEEP, 0)


@kernel(exact=True)
def meet(board, settings, ticket, now):
    """A meeting for the same purpose: when the last one came, or a negative verdict.

    `ticket` says what I came for; if somebody came for something else, all get MISMATCH.
    """
    stamps, mine = board.view(np.float64), words_of(settings[layout.RANK])
    half = (board[mine + layout.ARRIVED] + 1) & 1
    board[mine + layout.TICKET + half] = ticket
    stamps[mine + layout.STAMP + half] = now
    verdict = gather(board, settings)
    if verdict < 0:
        return float(verdict)
    last = now
    for rank in range(settings[layout.SIZE]):
        at = words_of(rank)
        if board[at + layout.TICKET + half] != ticket:
            return float(layout.MISMATCH)
        last = max(last, stamps[at + layout.STAMP + half])
    return last
