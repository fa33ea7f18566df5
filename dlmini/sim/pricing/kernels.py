"""One step of a priced collective, compiled. Its readable twin of the same name is in vectors.py.

Unlike the house's other kernels it must not reassociate: a price equals the message-by-message run in every bit.
"""

from __future__ import annotations

from dlmini.jit import kernel


@kernel(exact=True)
def pass_ports(head, tail, size, free, last, lax, per_byte, latency):
    """All messages through their next port, each its own: contiguous, so that it becomes vector code."""
    late = 0
    for k in range(len(head)):
        first, before = head[k], free[k]
        start = first if first > before else before
        done = start + size[k] * per_byte[k]
        late += (first <= last[k]) & (not lax[k])
        last[k], free[k] = first, done
        head[k] = start + latency[k]
        tail[k] = (tail[k] if tail[k] > done else done) + latency[k]
    return late == 0


@kernel(exact=True)
def advance(
    source, sends, lo, hi, add, weights, gamma, overhead, per_byte, latency, lax, free, last,
    clock, waiting, communication, compute, nbytes, size, sent, head, tail,
):  # fmt: skip
    n, ordered = len(clock), True
    for i in range(n):
        size[i] = (weights[hi[i]] - weights[lo[i]]) * sends[i]
        nbytes[i] += size[i]
    for i in range(n):
        sent[i] = head[i] = tail[i] = clock[i]
        clock[i] += overhead * sends[i]
        communication[i] += clock[i] - sent[i]
    for hop in range(len(free)):
        ordered &= pass_ports(head, tail, size, free[hop], last[hop], lax[hop], per_byte[hop], latency[hop])
    for j in range(n):
        k = source[j]
        if k < n:
            called = clock[j]
            left = called if called > tail[k] else tail[k]
            begun = called if called > sent[k] else sent[k]
            begun = begun if begun < left else left
            waiting[j] += begun - called
            communication[j] += left - begun
            clock[j] = left
    if add:
        for j in range(n):
            k = source[j]
            if k < n:
                left = clock[j]
                clock[j] = left + size[k] * gamma[j]
                compute[j] += clock[j] - left
    return ordered
