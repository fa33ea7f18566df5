"""The worker's life: the first file to read. Every method of the course is this loop with other pieces."""

from itertools import islice

import numpy as np

from dlmini.events import Round, Snapshot
from dlmini.topology.turn import Turn

ENCODE, EVERYBODY = 11, 2**31  # the purpose of a compressor's coin, and the rank in its key where all share one


def program(comm, task, recipe):
    """What every rank runs: the last ranks may be servers, the others are workers. Returns the final weights."""
    recipe.check(comm.size)
    return serve(comm, task, recipe) if comm.rank >= recipe.workers(comm.size) else work(comm, task, recipe)


def work(comm, task, recipe):
    """One worker's whole life."""
    sync, topology, compression = recipe.sync, recipe.topology, recipe.compression
    inner, outer = (optimizer.start(task.size) for optimizer in recipe.optimizers())
    workers = recipe.workers(comm.size)
    codec = compression.fit(task.shapes).start(task.size, workers)
    batches = task.batches(comm.rank, workers, recipe.seed)
    w = task.initial(recipe.seed)
    grad, start, update, unsaid, late, mixed = (np.zeros_like(w) for _ in range(6))
    for t in range(recipe.rounds):
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
        coin = np.random.default_rng([recipe.seed, EVERYBODY if compression.shared_coin else comm.rank, t, ENCODE])
        packet = comm.compute("encode", codec.encode, update, coin)  # 2. say it briefly
        if recipe.remembers_unsaid:
            unsaid[:] = update
            packet.add_to(unsaid, -1.0)  # what compression kept back
        w = topology.exchange(comm, Turn(t, start, w, packet, mixed, compression.summable), outer)  # 3. talk
        comm.emit(Round(t, loss, packet.nbytes))  # 4. tell the notebook
        if comm.rank == 0 and recipe.looks_after(t):
            comm.emit(Snapshot(t, w))
    return w - late if sync.late else w


def serve(comm, task, recipe):
    """A server's whole life: it keeps a shard of the weights and steps on what workers push."""
    low, high = recipe.topology.shards(task.size)[comm.rank - recipe.workers(comm.size)]
    shard, outer = task.initial(recipe.seed)[low:high].copy(), recipe.optimizers()[1].start(high - low)
    return recipe.topology.serve(comm, shard, outer, recipe.rounds, recipe.sync.staleness)
