"""Algorithms 1 to 3 of Tolstobrov 2022, as they stand there. Numbers at the end of a line are those of the document.

Nothing is remembered from one exchange to the next but the weights, and what a device drops is lost. Additions are in
the order of the formulas: left partner, oneself, right partner.
"""

from __future__ import annotations

import numpy as np

from dlmini.compression.packets import Sparse
from dlmini.events import Round, Snapshot

RIGHT, LEFT = 0, 1  # tags: at s = P/2 both partners are the same rank


def program(comm, task, plan, before=None):
    """The whole life of device i of P. Returns its weights."""
    device = (Gossip if plan.gossips else LocalSGD)(comm, task, plan)  # 1
    batches = task.batches(comm.rank, comm.size, plan.seed)
    for k in range(1, plan.rounds + 1):  # 2
        loss = comm.compute("gradient", task.loss_and_grad, device.w, next(batches), device.grad, flops=task.flops)  # 3
        said = device.iterate(k)
        comm.emit(Round(k - 1, loss, said))
        if plan.evaluates_after(k - 1) and (plan.all_workers or comm.rank == 0):
            comm.emit(Snapshot(k - 1, device.w))
    return device.w


class LocalSGD:
    """Algorithm 1. Weights are averaged, and the step of this iteration is taken after that: devices always differ.

    k mod p = 0:   w_i = 1/P sum_j w_j - eta grad E_i(w_i)          otherwise   w_i = w_i - eta grad E_i(w_i)
    """

    def __init__(self, comm, task, plan):
        self.comm, self.period, self.w = comm, plan.period, task.initial(plan.seed)
        self.grad, self.eta = np.zeros_like(self.w), self.w.dtype.type(plan.rate)

    def iterate(self, k: int) -> int:
        """Lines 4 to 9; returns the bytes of what was said."""
        if said := k % self.period == 0:  # 4
            self.w = self.comm.allreduce(self.w) / self.w.dtype.type(self.comm.size)  # 5
        self.w -= self.eta * self.grad  # 6, 8
        return self.w.nbytes if said else 0


class Gossip:
    """Algorithm 2; with a threshold t Algorithm 3.

        w_i = w_i - eta/3 (grad E_l + grad E_i + grad E_r),      r = (i + s) mod P,   l = (i - s + P) mod P
    With a period above 1, of which the document says nothing but "in combination", by the switches of `Reading`.
    """

    def __init__(self, comm, task, plan):
        self.comm, self.plan, self.w, self.s = comm, plan, task.initial(plan.seed), 1
        self.grad, self.eta = np.zeros_like(self.w), self.w.dtype.type(plan.rate)
        self.third = self.w.dtype.type(plan.rate / 3)
        self.sums = plan.period > 1 and plan.reading.mixed == "sum"
        self.since = np.zeros_like(self.w) if self.sums else self.grad
        self.start = self.w.copy() if self.sums else self.w  # the weights after the last exchange

    def iterate(self, k: int) -> int:
        """Lines 4 to 10; returns the bytes of what was said."""
        if self.sums:
            self.since += self.grad
        exchanges, said = k % self.plan.period == 0, 0
        if exchanges:
            said = self.exchange()
        else:
            self.w -= self.eta * self.grad
        if exchanges or self.plan.reading.advance == "iteration":
            self.s += 1  # 7
            if self.s > self.comm.size / 2:  # 8
                self.s = 1  # 9
        return said

    def exchange(self) -> int:
        if self.plan.period > 1 and self.plan.reading.mixed == "weights":
            left, right = self.partners(self.w)
            self.w = (left + self.w + right) / self.w.dtype.type(3) - self.eta * self.grad
            return self.w.nbytes
        packet = self.since if self.plan.threshold is None else self.comm.compute("encode", self.above)
        self.start -= self.third * self.total(*self.partners(packet), packet)  # 6, and 7 of Algorithm 3
        if self.sums:
            self.w[:], self.since[:] = self.start, 0
        return packet.nbytes

    def above(self) -> Sparse:
        """Algorithm 3, line 4: components whose size exceeds the threshold, and their places."""
        index = np.flatnonzero(np.abs(self.since) > self.plan.threshold).astype(np.uint32)
        return Sparse(self.since.size, index, self.since[index])

    def partners(self, message) -> tuple:
        """What the left and the right one say: two Sendrecv."""
        comm = self.comm
        r, l = (comm.rank + self.s) % comm.size, (comm.rank - self.s + comm.size) % comm.size  # 4
        comm.send(r, message, RIGHT)  # 5
        from_left = comm.recv(l, RIGHT)
        comm.send(l, message, LEFT)
        return from_left, comm.recv(r, LEFT)

    def total(self, left, right, mine) -> np.ndarray:
        """The sum of three gradients, from the left to the right."""
        if self.plan.threshold is None:
            return left + mine + right
        own, total = self.own(left, right, mine), np.zeros_like(self.since)
        total[left.index] += left.values
        total += own
        total[right.index] += right.values
        return total

    def own(self, left: Sparse, right: Sparse, mine: Sparse) -> np.ndarray:
        """One's own gradient, by the reading."""
        if self.plan.reading.own == "whole":
            return self.since
        counted = np.zeros_like(self.since)
        packets = (mine,) if self.plan.reading.own == "sent" else (left, mine, right)
        for packet in packets:
            counted[packet.index] = self.since[packet.index]
        return counted
