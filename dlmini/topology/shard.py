"""A server's side: a shard of the weights, who has pushed, and who waits."""

from bisect import insort
from collections.abc import Iterable
from operator import itemgetter

import numpy as np

from dlmini.comm.errors import DeadRank
from dlmini.compression.packets import Dense
from dlmini.events import Checkpoint, Served
from dlmini.memory import arrays, restore

PUSH, FETCH = 1, 2
JOIN, LEAVE = "join", "leave"  # what a worker that has come back says in the place of a packet
BACK = 13  # the purpose of a coin for the way back
worker_of = itemgetter(0)  # of a push: (worker, packet, weight)


class Shard:
    """One server.

    version     steps that were made; `read` is the version that each worker holds
    heap        pushes that wait until they are enough for a step, in the order of ranks
    mixed       the sum of pushes whose turn has come, `added` of them: where everybody pushes once for each step, rank
                after rank can be added while others are still on their way, and the order is the same
    seen        the weights as each worker has them, where the way back is compressed
    """

    def __init__(self, topology, w: np.ndarray, outer, recipe, workers: int):
        sync = recipe.sync
        self.w, self.outer, self.recipe = w, outer, recipe
        self.quorum = self.wanted = topology.quorum or (workers if sync.staleness == 0 else 1)
        self.once_each = sync.staleness == 0 and self.quorum == workers
        self.mixed, self.added = np.zeros_like(w), 0
        self.gate = sync.gate(workers, recipe.rounds, recipe.checkpoints_after)
        self.gate.clocks[1:], self.admitted = sync.warm_start, sync.warm_start == 0
        self.early: set[int] = set()  # who came back before the others were admitted
        self.version, self.read, self.heap = 0, np.zeros(workers, int), []
        self.back = topology.back and topology.back.fit(((w.size,),))
        self.seen = np.tile(w, (workers, 1)) if self.back else np.zeros((0, 0))

    def live(self, comm, before=None) -> np.ndarray:
        whole = {"w": self.w, "outer": self.outer, "gate": self.gate, "pushes": self}
        if before is not None:
            restore(whole, before)
        self.admit(comm)
        while not self.gate.passed:
            try:
                worker, packet = comm.recv_any(PUSH)
            except DeadRank:
                self.strike(comm.gone())
            else:
                self.heed(comm, worker, packet)
            for ready in self.gate.open():
                if self.recipe.sync.fetches(self.gate.clocks[ready] - 1):
                    self.reply(comm, ready)
            self.admit(comm)
            if self.all_have_come():
                comm.emit(Checkpoint(self.gate.slowest - 1, arrays(whole)))
        if self.heap or self.added:
            self.step()
        return self.w

    def heed(self, comm, worker: int, said) -> None:
        """A push; or somebody comes back, or leaves for good."""
        if not isinstance(said, tuple):
            self.hear(comm, worker, said)
            self.gate.arrive(worker)
        elif said[0] == JOIN:
            self.take_back(comm, worker, *said[1:])
        else:
            self.strike([worker])

    def strike(self, gone: Iterable[int]) -> None:
        """Workers have died: nobody waits for them, and a quorum is never more than those who live."""
        for worker in gone:
            self.gate.strike(worker)
        self.quorum = min(self.wanted, max(1, int(self.gate.living.sum())))
        if len(self.heap) >= self.quorum:
            self.step()

    def take_back(self, comm, worker: int, life: int, clock: int | None) -> None:
        """A worker has come back, its memory lost: it is told the round it goes on with, and gets the weights whole."""
        clock = self.gate.take_back(worker, clock)
        self.read[worker], self.quorum = self.version, min(self.wanted, int(self.gate.living.sum()))
        if not self.admitted:
            self.early.add(worker)
        if self.back is not None:
            self.seen[worker] = self.w
        comm.send(worker, (life, clock, self.w), FETCH)

    def hear(self, comm, worker: int, packet) -> None:
        """Take a push; make a step when they are enough."""
        staleness = self.version - int(self.read[worker])
        comm.emit(Served(worker, int(self.gate.clocks[worker]), staleness))
        insort(self.heap, (worker, packet, self.recipe.sync.weight(staleness)), key=worker_of)
        while self.once_each and self.heap and self.heap[0][0] == self.added:
            self.add(self.quorum)
        if self.added + len(self.heap) == self.quorum:
            self.step()

    def add(self, count: int) -> None:
        """Add the first push in the heap to the mean of `count`."""
        _, packet, weight = self.heap.pop(0)
        packet.add_to(self.mixed, weight / count)
        self.added += 1

    def step(self) -> None:
        """One step on the mean of the pushes, added in the order of ranks whatever the order of arrival."""
        count = self.added + len(self.heap)
        if count == len(self.heap) == 1 and (alone := self.plain(*self.heap[0])) is not None:
            self.heap.clear()
            self.outer.apply(self.w, alone)
        else:
            while self.heap:
                self.add(count)
            self.outer.apply(self.w, self.mixed)
            self.mixed[:], self.added = 0, 0
        self.version += 1

    def plain(self, worker: int, packet, weight: float) -> np.ndarray | None:
        """The numbers of a push that stands for itself: as they are they are the mean, and no pass is made over them.

        Where nobody waits that is every push: two passes of three are saved.
        """
        return packet.values if type(packet) is Dense and weight == 1 else None

    def reply(self, comm, worker: int) -> None:
        """The weights, or what the worker lacks of them."""
        self.read[worker] = self.version
        if self.back is None:
            comm.send(worker, self.w, FETCH)
            return
        seen = self.seen[worker]
        coin = np.random.default_rng([self.recipe.seed, comm.rank, int(self.gate.clocks[worker]), BACK, worker])
        packet = comm.compute("encode", self.back.encode, self.w - seen, coin)
        packet.add_to(seen)
        comm.send(worker, packet, FETCH)

    def admit(self, comm) -> None:
        """Worker 0 has learned alone for long enough, or has died: the others may begin."""
        alone = self.gate.living[0] and self.gate.clocks[0] < self.recipe.sync.warm_start
        if not self.admitted and not alone:
            self.admitted = True
            for worker in set(range(1, len(self.read))) - self.early:
                self.reply(comm, worker)

    def all_have_come(self) -> bool:
        clock = self.gate.slowest
        return self.recipe.checkpoints_after(clock - 1) and bool((self.gate.clocks[self.gate.living] == clock).all())

    def memory(self) -> dict:
        heap = np.array([packet.dense() for _, packet, _ in self.heap], np.float32).reshape(-1, self.w.size)
        pushers = np.array([(worker, weight) for worker, _, weight in self.heap]).reshape(-1, 2)
        return {"version": self.version, "read": self.read, "heap": heap, "pushers": pushers, "seen": self.seen}

    def restore(self, memory: dict) -> None:
        self.version, self.read[:] = int(memory["version"]), memory["read"]
        self.seen[:] = memory["seen"]
        pushes = zip(memory["pushers"], memory["heap"], strict=True)
        heap = [(int(worker), Dense(dense), float(weight)) for (worker, weight), dense in pushes]
        self.heap = sorted(heap, key=worker_of)
