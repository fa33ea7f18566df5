"""The worker's life: the first file to read. Every method of the course is this loop with other pieces."""

from functools import partial
from itertools import islice

import numpy as np

from dlmini.events import Checkpoint, Round, Snapshot
from dlmini.memory import arrays, recalled
from dlmini.topology.turn import Turn


def program(comm, task, recipe, before=None):
    """What every rank runs: the last ranks may be servers. Returns the final weights. before: memories to resume."""
    if hasattr(task, "place"):  # one network on several ranks: who exchanges with me, and what is my part of the task?
        comm, task, before = task.place(comm, recipe, before)
    else:
        before = before and before[comm.rank]
    recipe.check(comm.size)
    life = serve if comm.rank >= recipe.workers(comm.size) else work
    return life(comm, task, recipe, before)


def work(comm, task, recipe, before=None):
    """One worker's whole life."""
    sync, compression, workers = recipe.sync, recipe.compression, recipe.workers(comm.size)
    inner, outer = recipe.steppers(task.shapes, comm.rank, workers)
    codec, w = compression.fit(task.shapes).start(task.size, workers), task.initial(recipe.seed)
    topology = recipe.topology.start(comm, w, recipe, task.shapes)
    grad = topology.grad if recipe.overlaps else np.zeros_like(w)
    learn = partial(task.loss_and_grad, ready=topology.ready) if recipe.overlaps else task.loss_and_grad
    start, update, unsaid, late, mixed = rooms(recipe, w, grad)
    memory = {"w": w, "unsaid": unsaid, "late": late, "inner": inner, "outer": outer, "codec": codec, "talk": topology}
    first = topology.rejoin(comm, w) if comm.life else recalled(memory, before, sync.joins(comm.rank))
    batches = task.batches(comm.rank, workers, recipe.seed, recipe.steps(sync.joins(comm.rank), first))
    for t in range(first, recipe.rounds):
        if sync.local:
            start[:], update[:] = w, unsaid
        if sync.late:  # the step that was taken after the last exchange is said in this one
            w -= late
            update += late
        for i, batch in enumerate(islice(batches, sync.period(t))):  # 1. learn alone
            loss = comm.compute("gradient", learn, w, batch, grad, flops=task.flops)
            if sync.late and i == sync.period(t) - 1:
                late[:] = inner(grad, w)
            elif sync.local:
                step = inner(grad, w)
                w -= step
                update += step
            elif not recipe.overlaps:  # the update is the gradient itself
                update += unsaid
        if recipe.overlaps:
            packet = topology  # which has said everything while it was learned
        else:
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


def rooms(recipe, w, grad):
    """(start, update, unsaid, late, mixed): vectors where the recipe uses them, elsewhere a single zero.

    Who does not step alone says its gradient, and its weights stay where the round began.
    """
    local, zero = recipe.sync.local, np.zeros((), w.dtype)
    used = local, local, recipe.remembers_unsaid, recipe.sync.late, recipe.topology.mixes
    start, update, *others = (np.zeros_like(w) if use else zero for use in used)
    return (start, update, *others) if local else (w, grad, *others)


def serve(comm, task, recipe, before=None):
    """A server's whole life: it keeps a shard of the weights and steps on what workers push."""
    low, high = recipe.topology.shards(task.size)[comm.rank - recipe.workers(comm.size)]
    shard, outer = task.initial(recipe.seed)[low:high].copy(), recipe.optimizers()[1].start(high - low)
    return recipe.topology.serve(comm, shard, outer, recipe, before)
