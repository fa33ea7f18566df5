"""Threads within a process: each takes a share of the batch through a pass of its own, and the gradients are added.

Compiled kernels and BLAS release Python's lock, so ordinary threads run side by side. Shares and the order of the sum
are fixed, so the same number of threads always gives the same bits. BLAS itself keeps to one thread: with many worker
processes on one machine, a thread pool in each would fight over the cores.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise

import numpy as np

from dlmini.nn.modes import Training


@cache
def one_blas_thread():
    """From now on BLAS uses one thread in this process."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1, user_api="blas")


class Team:
    """Passes that share batches, one per thread; the first is the caller's own."""

    def __init__(self, passes):
        self.passes = passes
        self.grads = [passes[0].model.zeros() for _ in passes[1:]]
        self.pool = ThreadPoolExecutor(len(self.grads)) if self.grads else None

    def loss_and_grad(self, w, x, y, grad, key, ready=None):
        if self.pool is None or len(x) < len(self.passes):
            return self.passes[0].loss_and_grad(w, x, y, grad, Training(key), len(x), ready)
        cuts = np.linspace(0, len(x), len(self.passes) + 1).astype(int)
        shares = [slice(a, b) for a, b in pairwise(cuts)]
        keys = [key if key is None else (*key, i) for i in range(len(shares))]
        others = [
            self.pool.submit(one.loss_and_grad, w, x[s], y[s], g, Training(k), len(x))
            for one, s, g, k in zip(self.passes[1:], shares[1:], self.grads, keys[1:], strict=True)
        ]
        loss = self.passes[0].loss_and_grad(w, x[shares[0]], y[shares[0]], grad, Training(keys[0]), len(x))
        for other, part in zip(others, self.grads, strict=True):
            loss += other.result()
            grad += part
        if ready is not None:  # no part of the sum is final before
            ready(0, 1.0)
        return loss
