"""One iteration of ZeRO 2 as DeepSpeed sends it, played on every rank: both regimes, with overlap and without.

A flush leaves when it is full, in proportion to the way back: one all-reduce of it, or a reduce for each rank that owns
some of it, each along a binomial tree of its own. With overlap they go on beside the way back, one after another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from dlmini.checks import truth, whole, word
from dlmini.comm.ghost import Ghost
from dlmini.comm.launch import launch
from dlmini.comm.schedules import Plan, cut, tree
from dlmini.plan.cost import ADAM, end_times, layer_times
from dlmini.plan.device import Device, device_of
from dlmini.plan.layout import Layout
from dlmini.plan.sheets import Sheet, sheet_of
from dlmini.plan.zero_regimes import BUCKET, FLUSHES, flush_sizes, owned
from dlmini.sim.cluster import Cluster
from dlmini.sim.simulated import SimResults, Simulated


@dataclass(frozen=True)
class ZeroJob:
    """One iteration of data-parallel training: seconds there and back, then what is sent.

    flushes: of every flush, (owner, numbers) of what leaves together; owner None: all of it goes to everybody.
    """

    flushes: tuple[tuple[tuple[int | None, int], ...], ...]
    parameters: int
    forward: float
    backward: float
    overlap: bool
    optimiser: float


def zero2_step(comm, job: ZeroJob) -> float:
    """One rank's iteration; when it ends."""
    comm.compute("forward", None, flops=job.forward)
    comm.compute("backward", leave, comm, job, flops=job.backward)
    for _ in range(2):  # the norm of gradients; whether any is no number
        comm.allreduce(Ghost(1, "f4"), tree)
    comm.compute("optimiser", None, flops=job.optimiser)
    edges = cut(job.parameters, comm.size)
    comm.allgather(Ghost(int(edges[comm.rank + 1] - edges[comm.rank]), "f2"))
    return comm.now()


def leave(comm, job: ZeroJob) -> None:
    pending, done = [], 0
    for flush in job.flushes:
        done += sum(size for _, size in flush)
        comm.reached(done / job.parameters)
        for owner, size in flush:
            one = posted(comm, owner, size)
            if job.overlap:
                pending.append(one.start())
            else:
                one.wait()
    for one in pending:
        one.wait()


def posted(comm, owner: int | None, size: int):
    """The sum of so many numbers, on every rank or on its owner alone."""
    if owner is None:
        return comm.allreduce(Ghost(size, "f2"), wait=False)
    return comm._sum(to_owner(comm.size, owner), Ghost(size, "f2"))


@lru_cache(maxsize=8192)
def to_owner(ranks: int, owner: int) -> Plan:
    return replace(tree.reduce(ranks, owner), trusted=True)


def compute_seconds(sheet: Sheet, device: Device, micro: int) -> tuple[float, float]:
    """There and back of the whole model on one device."""
    layout = Layout(micro=micro)
    ends = [end_times(sheet, layout, device, last) for last in (False, True)]
    layers = layer_times(sheet, layout, device)
    return tuple(sheet.layers * layers[way].total + sum(end[way].total for end in ends) for way in (0, 1))


def zero2_job(
    sheet,
    ranks: int,
    device: Device,
    bucket: int = BUCKET,
    micro: int = 1,
    overlap: bool = True,
    flush: str = "allreduce",
) -> ZeroJob:
    sheet, ranks = sheet_of(sheet), whole(ranks, "ranks", 1)
    word(flush, "flush", FLUSHES)
    rows = owned(sheet, ranks, bucket) if flush == "reduce" else [[(None, n)] for n in flush_sizes(sheet, bucket)]
    seconds = compute_seconds(sheet, device, whole(micro, "micro", 1))
    optimiser = device.memory.seconds(ADAM * sheet.parameters / ranks)
    return ZeroJob(tuple(map(tuple, rows)), sheet.parameters, *seconds, truth(overlap, "overlap"), optimiser)


def simulate_zero2(
    sheet,
    ranks: int,
    device="a100-80gb",
    bucket: int = BUCKET,
    micro: int = 1,
    overlap: bool = True,
    log: bool = False,
    flush: str = "allreduce",
) -> SimResults:
    """One iteration of ZeRO 2 on every rank. flush: "allreduce", DeepSpeed's default, or "reduce", one per owner."""
    device = device_of(device)
    job = zero2_job(sheet, ranks, device, bucket, micro, overlap, flush)
    return launch(zero2_step, Simulated(ranks, Cluster(device.network, flops=1.0), log=log), (job,))
