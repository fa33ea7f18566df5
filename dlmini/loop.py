"""The worker's life: the first file to read. Every method of the course is this loop with other pieces."""

from itertools import islice

from dlmini.events import Checkpoint, Round, Snapshot
from dlmini.memory import arrays, recalled, rooms
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
    sync, workers, w = recipe.sync, recipe.workers(comm.size), task.initial(recipe.seed)
    inner, outer = recipe.steppers(task.shapes, comm.rank, workers)
    topology = recipe.topology.start(comm, w, recipe, task.shapes)
    learn, grad, codec = recipe.speech(task, topology, w, workers)
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
            elif recipe.remembers_unsaid:  # the update is the gradient itself
                update += unsaid
        packet = comm.compute("encode", codec.encode, update, recipe.coin(comm.rank, t))  # 2. say it briefly
        if recipe.remembers_unsaid:
            unsaid[:] = update
            packet.add_to(unsaid, -1.0)  # what compression kept back
        w = topology.exchange(comm, Turn(t, start, w, packet, mixed, recipe.compression.summable), outer)  # 3. talk
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
