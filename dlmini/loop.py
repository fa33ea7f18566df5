"""The worker's life: the first file to read. Every method of the course is this loop with other pieces."""

from itertools import islice

import numpy as np

from dlmini.events import Checkpoint, Round, Snapshot
from dlmini.memory import arrays, recalled
from dlmini.topology.turn import Turn


def program(comm, task, recipe, before=None):
    """What every rank runs: the last ranks may be servers. Returns the final weights. before: memories to resume."""
    recipe.check(comm.size)
    life = serve if comm.rank >= recipe.workers(comm.size) else work
    return life(comm, task, recipe, before and before[comm.rank])


def work(comm, task, recipe, before=None):
    """One worker's whole life."""
    sync, compression, workers = recipe.sync, recipe.compression, recipe.workers(comm.size)
    inner, outer = (optimizer.start(task.size) for optimizer in recipe.optimizers())
    codec, w = compression.fit(task.shapes).start(task.size, workers), task.initial(recipe.seed)
    topology = recipe.topology.start(comm, w, recipe, task.shapes)
    grad, start, update, unsaid, late, mixed = (np.zeros_like(w) for _ in range(6))
    memory = {"w": w, "unsaid": unsaid, "late": late, "inner": inner, "outer": outer, "codec": codec, "talk": topology}
    first = recalled(memory, before, sync.joins(comm.rank))
    batches = task.batches(comm.rank, workers, recipe.seed, recipe.steps(sync.joins(comm.rank), first))
    for t in range(first, recipe.rounds):
        start[:], update[:] = w, unsaid
        if sync.late:  # the step that was taken after the last exchange is said in this one
            w -= late
            update += late
        for i, batch in enumerate(islice(batches, sync.period(t))):  # 1. learn alone
            loss = comm.compute("gradient", task.loss_and_grad, w, batch, grad, flops=task.flops)
            step = inner(grad, w)
            if sync.late and i == sync.period(t) - 1:
                late[:] = step
            else:
                w -= step
                update += step
        packet = comm.compute("encode", codec.encode, update, recipe.coin(comm.rank, t))  # 2. say it briefly
        if recipe.remembers_unsaid:
            unsaid[:] = update
            packet.add_to(unsaid, -1.0)  # what compression kept back
        w = topology.exchange(comm, Turn(t, start, w, packet, mixed, compression.summable), outer)  # 3. talk
        comm.emit(Round(t, loss, packet.nbytes))  # 4. tell the notebook
        if recipe.evaluates_after(t, comm.rank, comm.gone()):
            comm.emit(Snapshot(t, w))
        if recipe.checkpoints_after(t):
            comm.emit(Checkpoint(t, arrays(memory)))
    return w - late if sync.late else w


def serve(comm, task, recipe, before=None):
    """A server's whole life: it keeps a shard of the weights and steps on what workers push."""
    low, high = recipe.topology.shards(task.size)[comm.rank - recipe.workers(comm.size)]
    shard, outer = task.initial(recipe.seed)[low:high].copy(), recipe.optimizers()[1].start(high - low)
    return recipe.topology.serve(comm, shard, outer, recipe, before)
