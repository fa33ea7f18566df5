"""Copies without a pipeline, layer by layer: weights are gathered one layer ahead, gradients sent off behind.

A rank's day, for each micro-batch (ZeRO 3; below that weights are whole and, but for ZeRO 0, gathered at the end):

    there    wait for the weights of layer i, post the gather of layer i + 1, compute
    back     the same from the last layer to the first, and post the scatter of layer i's gradient behind it
With ZeRO 0 and 1 gradients add up where they are, and leave beside the last micro-batch's way back alone: summed for
everybody (0), or scattered (1).
The embedding, which is also the last product, is a layer of its own: the first there, the first and the last back.
What is posted follows one another on the links between copies; sums inside a layer have links of their own, and their
seconds are those of the formula (cost.py). Zhao et al., PyTorch FSDP: experiences on scaling fully sharded data
parallel, 2023.
"""

from __future__ import annotations

from dataclasses import dataclass

from dlmini.comm.ghost import Ghost
from dlmini.comm.launch import launch
from dlmini.plan.cost import ADAM, end_times, layer_times, most_parameters, shape
from dlmini.plan.device import Device
from dlmini.plan.folding import FoldedLane, foldable, folded_network
from dlmini.plan.layout import Layout
from dlmini.plan.sheets import Sheet
from dlmini.sim.cluster import Cluster
from dlmini.sim.simulated import SimResults, Simulated


@dataclass(frozen=True)
class ShardedJob:
    """layers: (seconds there, seconds back, numbers) of each; the first is embedding and loss together."""

    layers: tuple[tuple[float, float, int], ...]
    layout: Layout
    micros: int
    optimiser: float
    folded: tuple | None = None  # link and port of the copies' ring, if one rank stands for all


def sharded_job(sheet: Sheet, layout: Layout, device: Device, batch: int) -> ShardedJob:
    """Numbers are filled up so that all copies have equal parts, as frameworks do."""
    there, back = (one.total for one in layer_times(sheet, shape(layout), device))
    ends = [end_times(sheet, shape(layout), device, last) for last in (False, True)]
    outer = [sum(end[way].total for end in ends) for way in (0, 1)]
    parameters, own = most_parameters(sheet, layout), sheet.layer_share(layout.tensor)
    sizes = [-(-n // layout.data) * layout.data for n in (parameters - sheet.layers * own, own)]
    layers = ((*outer, sizes[0]), *[(there, back, sizes[1])] * sheet.layers)
    seconds = device.memory.seconds(ADAM * parameters / (layout.data if layout.zero else 1))
    return ShardedJob(layers, layout, layout.micros(batch), seconds)


class Sharded:
    """One rank: what it gathers and scatters, beside what it computes."""

    def __init__(self, comm, job: ShardedJob):
        self.comm, self.job, self.scattered, self.coming = comm, job, [], {}
        n, (link, port) = job.layout.data, job.folded or (None, None)
        self.copies = comm if job.folded is None else FoldedLane(comm, n, link, port)
        self.parts = [Ghost(size // n, "f2") for *_, size in job.layers]
        self.slopes = [Ghost(size, f"f{job.layout.gradient}") for *_, size in job.layers]

    def step(self) -> float:
        for left in reversed(range(self.job.micros)):
            self.whole = left > 0 and self.job.layout.zero < 2  # gradients stay, and the next ones are added
            self.way(0, range(len(self.parts)))
            self.way(1, [0, *range(len(self.parts) - 1, 0, -1)])
        for one in self.scattered:
            one.wait()
        self.comm.compute("optimiser", None, flops=self.job.optimiser)
        if self.job.layout.zero in (1, 2):
            whole = Ghost(sum(part.size for part in self.parts), "f2")
            self.copies.allgather(whole, wait=False).wait()
        return self.comm.now()

    def way(self, back: int, order) -> None:
        """Through all layers; the embedding's gradient is whole when all others are."""
        order = list(order)
        self.gather(order[0])
        for i, following in zip(order, [*order[1:], None], strict=True):
            self.arrived(i)
            self.gather(following)
            self.comm.compute("backward" if back else "forward", None, flops=self.job.layers[i][back])
            if back and i:
                self.scatter(i)
        if back:
            self.scatter(0)

    def gather(self, i: int | None) -> None:
        if i is None or self.job.layout.zero < 3:
            return
        self.coming[i] = self.copies.allgather(self.parts[i], wait=False)
        if not self.job.layout.overlap:
            self.arrived(i)

    def arrived(self, i: int) -> None:
        if (coming := self.coming.pop(i, None)) is not None:
            coming.wait()

    def scatter(self, i: int) -> None:
        if self.whole:
            return
        send = self.copies.reduce_scatter if self.job.layout.zero else self.copies.allreduce
        one = send(self.slopes[i], wait=False)
        self.scattered.append(one)
        if not self.job.layout.overlap:
            one.wait()


def sharded_step(comm, job: ShardedJob) -> float:
    """One rank's part in one step; when it ends."""
    return Sharded(comm, job).step()


def play_sharded(sheet: Sheet, layout: Layout, device: Device, batch: int, fold: bool) -> SimResults:
    """Folded: one rank for all copies. Else one for each copy, which stands for its tensor group."""
    if layout.pipe > 1:
        raise ValueError(f"{layout!r}: ZeRO {layout.zero} is played without a pipeline; use pipe=1, or zero=1")
    job, ranks, network = sharded_job(sheet, layout, device, batch), layout.data, device.network
    if fold:
        if reason := foldable(sheet, layout, network):
            raise ValueError(f"{layout!r} cannot be folded exactly: {reason}; use fold=False")
        job, ranks = ShardedJob(*list(vars(job).values())[:4], (device.link(layout.devices), 0)), 1
    network = folded_network(network, layout.tensor)
    return launch(sharded_step, Simulated(ranks, Cluster(network, flops=1.0)), (job,))
