"""A row of work and sums of folded ranks, compiled. Its readable twin of the same name is in folding.py.

It must not reassociate: folded equals unfolded in every bit.
"""

from __future__ import annotations

from dlmini.jit import kernel


@kernel(exact=True)
def replayed(clock, busy, free, kinds, amounts, steps, latency):
    ended = clock
    for i in range(len(kinds)):
        kind, amount = kinds[i], amounts[i]
        if kind == 0:  # work
            clock += amount
        elif kind == 3:  # wait
            clock = max(clock, ended)
        else:
            start = max(clock, busy)
            if steps[i]:
                start = max(start, free)
            for _ in range(steps[i]):
                start = max((start + amount) + latency, (start + latency) + amount)
            busy = ended = start
            if kind == 1:  # a sum that is waited for
                clock = max(clock, ended)
    return clock, busy
