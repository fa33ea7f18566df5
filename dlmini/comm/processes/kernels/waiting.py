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

from dlmini.comm.processes.kernels import board as spot
from dlmini.comm.processes.kernels import words
from dlmini.comm.processes.kernels.words import add, address, call, fence, load, pause, store
from dlmini.jit import kernel

FUTEX_WAIT, FUTEX_WAKE = 0, 1
CLOSE_YIELDS, CLOSE_TIMES = 4, 8  # news within so few yields, so often in a row: the partner waits for this core


@kernel(exact=True, inline=True)
def words_of(rank):
    return spot.LINE * (1 + 2 * rank)


@kernel(exact=True, inline=True)
def ring_bell(board, habits, rank):
    """Wake a rank, if it sleeps. Call `fence` first."""
    at = words_of(rank)
    if load(board, at + spot.ASLEEP):
        add(board, at + spot.BELL, 1)
        if habits[spot.FUTEX]:
            call(habits[spot.SYSCALL], habits[spot.FUTEX], address(board, at + spot.BELL), FUTEX_WAKE, 1, 0)


@kernel(exact=True, inline=True)
def sleep(board, habits, bell):
    """Until my bell is no longer at `bell`, or a little while has passed."""
    if habits[spot.FUTEX]:
        at, limit = address(board, words_of(habits[spot.RANK]) + spot.BELL), address(habits, spot.SECONDS)
        call(habits[spot.SYSCALL], habits[spot.FUTEX], at, FUTEX_WAIT, bell & 0xFFFFFFFF, limit)
    else:
        call(habits[spot.SLEEP], habits[spot.NAP], 0, 0, 0, 0)


@kernel(exact=True, inline=True)
def notice(habits, tries):
    """After a wait: did news come as soon as I gave my core away? Again and again, it means that we share one."""
    if habits[spot.SPIN] < tries <= habits[spot.SPIN] + CLOSE_YIELDS:
        habits[spot.CLOSE] += 1
        if habits[spot.CLOSE] == CLOSE_TIMES:
            step_aside(habits)
    else:
        habits[spot.CLOSE] = 0


@kernel(exact=True)
def step_aside(habits):
    """Move to any other core; from there on the system may move me as it likes."""
    if habits[spot.SETAFFINITY]:
        call(habits[spot.SYSCALL], habits[spot.GETCPU], address(habits, spot.CPU), 0, 0, 0)
        others = 0
        for word in range(spot.MASK):
            here = 1 << habits[spot.CPU] % 64 if word == habits[spot.CPU] // 64 else 0
            habits[spot.OTHERS + word] = habits[spot.ALLOWED + word] & ~here
            others |= habits[spot.OTHERS + word]
        for cores in (spot.OTHERS, spot.ALLOWED):
            if others:
                call(habits[spot.SYSCALL], habits[spot.SETAFFINITY], 0, 8 * spot.MASK, address(habits, cores), 0)


@kernel(exact=True)
def publish(board, habits, word, value, rank, wanted):
    """Set a word of mine, and wake `rank` (ALL: everybody), who may wait for it.

    If `wanted` is a word (not NOTHING), only if that says so.
    """
    store(board, word, value)
    fence()
    if wanted == spot.NOTHING or load(board, wanted):
        for one in range(habits[spot.SIZE]):
            if rank in (one, spot.ALL):
                ring_bell(board, habits, one)


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
    return spot.NOTHING


@kernel(exact=True)
def watch(board, habits, watched, seen, count, naps):
    """Wait until one of the watched words changes: which one; NOTHING after so many naps; or ABORTED."""
    mine = words_of(habits[spot.RANK])
    tries, rests = 0, habits[spot.SPIN] + habits[spot.YIELDS]
    while True:
        found = changed(board, watched, seen, count)
        if found != spot.NOTHING:
            notice(habits, tries)
            return found
        if load(board, spot.ABORT) == habits[spot.RUN]:
            return spot.ABORTED
        tries += 1
        if tries <= habits[spot.SPIN]:
            pause()
        elif tries <= rests:
            call(habits[spot.YIELD], 0, 0, 0, 0, 0)
        elif tries > rests + naps:
            return spot.NOTHING
        else:
            bell = load(board, mine + spot.BELL)
            store(board, mine + spot.ASLEEP, bell + 1)
            fence()
            if changed(board, watched, seen, count) == spot.NOTHING:
                sleep(board, habits, bell)
            store(board, mine + spot.ASLEEP, 0)


@kernel(exact=True, inline=True)
def missing(board, size, turn, first):
    """The first rank, from `first` on, that has not come to this meeting; `size` if all have."""
    while first < size and load(board, words_of(first) + spot.ARRIVED) >= turn:
        first += 1
    return first


@kernel(exact=True)
def gather(board, habits):
    """Come to the next meeting, and wait until all have come: 0, ABORTED, or GONE if one has ended without coming."""
    size, mine = habits[spot.SIZE], words_of(habits[spot.RANK])
    turn = board[mine + spot.ARRIVED] + 1
    store(board, mine + spot.ARRIVED, turn)
    fence()
    who = missing(board, size, turn, size - size)
    if who == size:  # the last one to come wakes those who sleep
        for rank in range(size):
            ring_bell(board, habits, rank)
        return 0
    tries, rests = 0, habits[spot.SPIN] + habits[spot.YIELDS]
    while True:
        who = missing(board, size, turn, who)
        if who == size:
            notice(habits, tries)
            return 0
        if load(board, spot.ABORT) == habits[spot.RUN]:
            return spot.ABORTED
        tries += 1
        if tries <= habits[spot.SPIN]:
            pause()
        elif tries <= rests:
            call(habits[spot.YIELD], 0, 0, 0, 0, 0)
        else:
            ended = load(board, words_of(who) + spot.FINISHED) == habits[spot.RUN]
            if ended and missing(board, size, turn, who) == who:  # looked at again: it may have come and then finished
                return spot.GONE
            bell = load(board, mine + spot.BELL)
            store(board, mine + spot.ASLEEP, bell + 1)
            fence()
            if missing(board, size, turn, who) < size:
                sleep(board, habits, bell)
            store(board, mine + spot.ASLEEP, 0)


@kernel(exact=True)
def meet(board, habits, ticket, now):
    """A meeting for the same purpose: when the last one came, or a negative verdict.

    `ticket` says what I came for; if somebody came for something else, all get MISMATCH.
    """
    stamps, mine = board.view(np.float64), words_of(habits[spot.RANK])
    half = (board[mine + spot.ARRIVED] + 1) & 1
    board[mine + spot.TICKET + half] = ticket
    stamps[mine + spot.STAMP + half] = now
    verdict = gather(board, habits)
    if verdict < 0:
        return float(verdict)
    last = now
    for rank in range(habits[spot.SIZE]):
        at = words_of(rank)
        if board[at + spot.TICKET + half] != ticket:
            return float(spot.MISMATCH)
        last = max(last, stamps[at + spot.STAMP + half])
    return last
