"""`rehearse`: a program on thousands of ranks with ghosts, before it costs money. What cannot work is named.

Deadlocks, mismatched collectives and ranks that leave early are the simulator's to tell (sim/diagnosis.py). Every
rank's memory is looked at, too (sim/ghost_meter.py): ghosts weigh what arrays would. A rank whose ghosts outgrow its
device, or become more from step to step, is named with the line that makes what is never given back.
"""

from __future__ import annotations

from dlmini.checks import real, whole
from dlmini.comm.launch import check_program
from dlmini.plan.device import device_of
from dlmini.sim.cluster import Cluster
from dlmini.sim.ghost_meter import MemoryGrows, Meter, metered, rehearsed, weighed
from dlmini.sim.simulated import SimResults, Simulated

__all__ = ["MemoryGrows", "rehearse"]


def rehearse(program, ranks: int, args: tuple = (), device="a100-80gb", room: float | None = None) -> SimResults:
    """`program(comm, *args)` on so many ranks of a device, in virtual time; or the first thing that is wrong with it.

    Make arrays as `Ghost(shape, dtype)`. room: bytes of a rank, by default the device's. FLOPs given to `comm.compute`
    take the time that the device needs for them at its best.
    """
    device, ranks = device_of(device), whole(ranks, "ranks", 1)
    check_program(program, args)
    meter = Meter(device.room if room is None else real(room, "room", above=0, hint="bytes"))
    cluster = Cluster(device.network, flops=device.products.peak * device.products.best)
    with weighed(meter):
        simulation = Simulated(ranks, cluster).open(rehearsed, (program, tuple(args), meter))
        simulation.engine.ticket = metered(meter)
        results = simulation.run()
        meter.judge()
    return results
