"""Training by levels: inside a node everybody talks every step, between nodes every p-th.

Links inside a node are ten times faster than those between nodes, so what is far away is talked to more rarely:
gradients are summed in the node at every step, and weights averaged among all at every p-th, by a hierarchical
all-reduce. A node is one worker of Local-SGD (Stich, 2019), whose batch is that of all its devices.

    seconds of a step    work + 2 (g-1) (a_in + S / (g B_in)) + 1/p of the same again,
                         and 1/p of 2 (h-1) (a_out + S / (g h B_out))          g devices in each of h nodes
"""

from __future__ import annotations

from dataclasses import dataclass

from dlmini.checks import whole
from dlmini.comm.ghost import Ghost
from dlmini.comm.launch import launch
from dlmini.comm.schedules import Hierarchical
from dlmini.plan.cost import ADAM
from dlmini.plan.device import Device, device_of
from dlmini.plan.sheets import Sheet, sheet_of
from dlmini.plan.transfers import Transfer
from dlmini.plan.zero_steps import compute_seconds
from dlmini.sim.cluster import Cluster
from dlmini.sim.simulated import SimResults, Simulated


@dataclass(frozen=True)
class LevelJob:
    """work: seconds of a step on one device, optimiser and all."""

    numbers: int
    work: float
    per_node: int
    period: int
    steps: int


def level_job(sheet: Sheet, device: Device, period: int, steps: int) -> LevelJob:
    work = sum(compute_seconds(sheet, device, 1)) + device.memory.seconds(ADAM * sheet.parameters)
    return LevelJob(sheet.parameters, work, device.per_node, period, steps)


def level_steps(comm, job: LevelJob) -> float:
    """One rank's steps; when they end."""
    first = comm.rank // job.per_node * job.per_node
    node = comm.group(range(first, first + job.per_node))
    for step in range(1, job.steps + 1):
        comm.compute("step", None, flops=job.work)
        node.allreduce(Ghost(job.numbers, "f2"))
        if step % job.period == 0:
            comm.allreduce(Ghost(job.numbers, "f2"), Hierarchical(job.per_node))
    return comm.now()


def simulate_levels(sheet, nodes: int, device="a100-80gb", period: int = 1, steps: int | None = None) -> SimResults:
    """So many steps (by default one period) on every device of `nodes` nodes; seconds of all of them."""
    sheet, device, nodes = sheet_of(sheet), device_of(device), whole(nodes, "nodes", 2)
    period = whole(period, "period", 1, hint="steps between two averages over all nodes")
    job = level_job(sheet, device, period, whole(steps, "steps", 1) if steps is not None else period)
    return launch(level_steps, Simulated(nodes * device.per_node, Cluster(device.network, flops=1.0)), (job,))


def level_seconds(sheet, nodes: int, device="a100-80gb", period: int = 1) -> float:
    """The same by formula, for one step."""
    sheet, device, nodes = sheet_of(sheet), device_of(device), whole(nodes, "nodes", 2)
    g, nbytes = device.per_node, 2 * sheet.parameters
    inside = Transfer("gradients", "allreduce", g, g, nbytes).seconds(device)
    between = Transfer("weights", "allreduce", nodes, nodes * g, nbytes / g).seconds(device)
    return level_job(sheet, device, period, period).work + inside + (inside + between) / period
