"""A step of a huge model in virtual time: the programs of `parallel/`, with ghosts, on every one of thousands of ranks.

`simulate` plays a layout: each rank its row of the pipeline's timetable (parallel/pipeline.py), sums inside layers in
its tensor group, gradients and weights in its data group. Ranks that provably do the same at the same time are folded
into one (folding.py). Without a pipeline, copies sum, scatter and gather layer by layer (sharded.py), as `overlap`
says. With one, ZeRO 0 and 1 sum gradients when the pipeline is empty: there `forecast` hides more than is played here.
Local work is charged in seconds (cost.py): the cluster makes one "FLOP" a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

from dlmini.checks import truth
from dlmini.comm.ghost import Ghost
from dlmini.comm.launch import launch
from dlmini.parallel.pipeline import play
from dlmini.parallel.timetable import FORWARD, Timetable
from dlmini.plan.cost import ADAM, end_times, layer_times, most_parameters, shape
from dlmini.plan.device import Device, device_of
from dlmini.plan.folding import Folded, FoldedStage, foldable, folded_network, refuse_ties
from dlmini.plan.layout import Layout, layout_of
from dlmini.plan.operations import layer_products
from dlmini.plan.sharded import play_sharded
from dlmini.plan.sheets import Sheet, sheet_of
from dlmini.plan.tracked import checked, played_numbers, tell
from dlmini.sim.cluster import Cluster
from dlmini.sim.simulated import SimResults, Simulated


class SheetStage:
    """Some layers of a model sheet, as `play` wants a stage: shapes, bytes and seconds, and sums that are sent."""

    def __init__(self, comm, tensor, job: Job, layers: int, first: bool, last: bool):
        self.comm, self.tensor, self.job, self.layers, self.first, self.last = comm, tensor, job, layers, first, last
        sheet, layout, device = job.sheet, shape(job.layout), job.device
        there, back = layer_times(sheet, layout, device)
        self.there, self.back = there.products + there.memory, back.products + back.memory
        self.again = 0.0 if layout.recompute == "none" else back.again
        if layout.recompute == "full":
            self.again = self.there
        self.ends = [end_times(sheet, layout, device, end) for end, mine in ((False, first), (True, last)) if mine]
        self.beside = [layer_products(sheet, layout)[i].weight_gradient(device) for i in (0, 4)]
        numbers = sheet.sequence * layout.micro * sheet.hidden
        self.x, self.sent = Ghost(numbers, "f2"), Ghost(numbers // layout.tensor, "f2")
        self.own = [self.seconds(way) for way in (False, True)]

    def flops(self, kind: str, micro: int) -> float:
        """Seconds of its own work."""
        return self.own[kind != FORWARD]

    def seconds(self, way: bool) -> float:
        own = sum(end[way].products + end[way].memory for end in self.ends)
        return own + self.layers * (self.back + self.again if way else self.there)

    def forward(self, micro: int, x) -> Ghost:
        if self.job.layout.tensor > 1:
            self.regather(self.first)
            self.sums(2 * self.layers, 0.0, 1.0)
            if self.first:
                self.tensor.allreduce(self.x)
        return self.sent

    def backward(self, micro: int, dy) -> Ghost:
        if self.job.layout.tensor > 1:
            self.regather(self.last)
            if self.last:
                self.tensor.allreduce(self.x)
            self.way_back()
        return self.sent

    def weights(self, micro: int, nothing) -> None:
        """Never asked for: no schedule here splits the way back."""

    def regather(self, end: bool) -> None:
        """Each tensor-parallel rank has got its part of what another stage sent; an end of the pipeline gets none."""
        if self.job.layout.regathers and not end:
            self.tensor.allgather(self.sent)

    def sums(self, count: int, start: float, end: float) -> None:
        """So many sums, evenly over a part of the work."""
        for i in range(count):
            self.comm.reached(start + (end - start) * (i + 1) / count)
            self.tensor.allreduce(self.x)

    def way_back(self) -> None:
        """Layer by layer: the way there again, if it was not kept; then two sums, beside weights' gradients if so."""
        layout, whole = self.job.layout, self.own[1]
        each, done = (self.back + self.again) / whole, 0.0
        for _ in range(self.layers):
            if layout.recompute == "full":
                self.sums(2, done, done + self.again / whole)
            for half, beside in zip((0.5, 1.0), self.beside, strict=True):
                self.comm.reached(done + (self.again + half * self.back - beside) / whole)
                self.sum_back(done + (self.again + half * self.back) / whole)
            done += each

    def sum_back(self, share: float) -> None:
        """The sum of an input's gradient; with overlap it is waited for when the weight's is there, too."""
        layout, x = self.job.layout, self.x
        if not layout.overlap:
            self.comm.reached(share)
            self.tensor.allreduce(x)
        elif layout.sequence_parallel:
            self.tensor.reduce_scatter(x)
            beside = self.tensor.reduce_scatter(x, wait=False)
            self.comm.reached(share)
            beside.wait()
        else:
            beside = self.tensor.allreduce(x, wait=False)
            self.comm.reached(share)
            beside.wait()


@dataclass(frozen=True)
class Job:
    """What all ranks do together. fold: the world is one pipeline, whose ranks stand for all like them."""

    sheet: Sheet
    layout: Layout
    device: Device
    batch: int
    fold: bool = False

    @cached_property
    def timetable(self) -> Timetable:
        """Made once: all ranks read it."""
        return self.layout.timetable(self.batch)

    def stage(self, comm, tensor, number: int):
        """Number so and so of the pipeline."""
        last = number == self.layout.stages - 1
        return SheetStage(comm, tensor, self, self.layout.layers(self.sheet)[number], number == 0, last)

    def groups(self, comm):
        """My place in the pipeline; pipeline and data group; and how my stages are made."""
        grid = self.layout.grid
        if self.fold:
            near = grid.size <= self.device.per_node
            port = comm.rank if near else 2 * comm.size + comm.rank  # as `Nodes` numbers them
            copies = Folded(comm, grid.data, self.device.link(grid.size), port)
            inside = self.device.network.inside
            return (
                comm.rank,
                comm,
                copies,
                lambda s: FoldedStage(comm, partial(self.stage, number=s), grid.tensor, inside),
            )
        found = (grid.pipe_group(comm.rank), grid.data_group(comm.rank), grid.tensor_group(comm.rank))
        pipe, data, tensor = (comm.group(ranks) for ranks in found)
        return grid.place(comm.rank).pipe, pipe, data, lambda s: self.stage(comm, tensor, s)


def step(comm, job: Job) -> float:
    """One rank's part in one step; when it ends."""
    place, pipe, data, stage = job.groups(comm)
    play(pipe, job.timetable, [stage(s) for s in range(place, job.layout.stages, job.layout.pipe)])
    synchronise(comm, data, job)
    return comm.now()


def synchronise(comm, data, job: Job) -> None:
    """Gradients are summed or scattered, the optimiser steps, weights are gathered; hidden by nothing: what is sent
    beside a pipeline would meet the messages between its stages."""
    layout, parameters = job.layout, padded(most_parameters(job.sheet, job.layout), job.layout.data)
    kind, seconds = ("f2" if layout.gradient == 2 else "f4"), job.device.memory.seconds(ADAM * parameters)
    if layout.data == 1 or layout.zero == 0:
        if layout.data > 1:
            data.allreduce(Ghost(parameters, kind))
        comm.compute("optimiser", None, flops=seconds)
        return
    data.reduce_scatter(Ghost(parameters, kind))
    comm.compute("optimiser", None, flops=job.device.memory.seconds(ADAM * parameters / layout.data))
    data.allgather(Ghost(parameters // layout.data, "f2"))


def padded(numbers: int, parts: int) -> int:
    """Filled up so that all parts are equal, as frameworks do."""
    return -(-numbers // parts) * parts


def simulate(sheet, layout: Layout, device="a100-80gb", batch: int = 1, fold: bool = True, tracker=None) -> SimResults:
    """One step, played; results[rank] is when that rank ends.

    fold=True: only one pipeline is played, whose ranks stand for all that do the same at the same time; refused where
    that would not be exact, with the reason. fold=False: every rank is; where sums of copies go on beside the work, and
    with ZeRO 2 and 3, one of each tensor group. tracker: is told seconds, messages and bytes (tracked.py).
    """
    sheet, device, tracker, fold = sheet_of(sheet), device_of(device), checked(tracker), truth(fold, "fold")
    layout_of(layout).check(sheet, batch)
    beside = layout.zero >= 2 or (layout.overlap and layout.data > 1 and layout.pipe == 1)
    results = (play_sharded if beside else play_pipeline)(sheet, layout, device, batch, fold)
    tell(tracker, map(played_numbers, [results]))
    return results


def play_pipeline(sheet: Sheet, layout: Layout, device: Device, batch: int, fold: bool) -> SimResults:
    """A pipeline, perhaps of one stage; then what copies exchange."""
    job, ranks, network = Job(sheet, layout, device, batch, fold), layout.devices, device.network
    if fold:
        if reason := foldable(sheet, layout, network):
            raise ValueError(f"{layout!r} cannot be folded exactly: {reason}; use fold=False")
        ranks, network = layout.pipe, folded_network(network, layout.tensor)
    results = launch(step, Simulated(ranks, Cluster(network, flops=1.0), log=fold), (job,))
    if fold:
        refuse_ties(results.raw_log, network, ranks)
    return results
