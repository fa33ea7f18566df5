"""MPI's own collectives, on buffers: the library chooses the algorithm and the order of addition.

Before a sum the ranks *meet*: a note from each tells all when the last one came (until then it was waiting, from then
on it is communication) and whether all brought the same to the same verb, which MPI itself would answer with wrong
sums or a crash. Cost: one small all-gather, some 10 us on one machine. Waiting for others is done there, politely;
MPI's own calls, which never sleep, are made when all are here.

How MPI moves the bytes is its secret; the ledger books what the schedule of `collectives.py` would have sent.
"""

from __future__ import annotations

import numpy as np
from mpi4py import MPI

from dlmini.comm import wire
from dlmini.comm.base import Comm
from dlmini.comm.channels import ALLGATHER, ALLREDUCE, BARRIER, BCAST, REDUCE_SCATTER, name_of
from dlmini.comm.collectives import Pending, plan_of
from dlmini.comm.errors import Unserved
from dlmini.comm.real_transports import chunk_weights, sent_by, tree_from
from dlmini.comm.schedules import Plan, cut, ring

ALIGNED = 64  # bytes: where each rank's message begins in a gathered buffer
MOST = 2**31  # numbers or bytes: MPI counts in C's int; what is longer goes by the schedule


class Native(Comm):
    """The `native` collectives; a subclass has the MPI communicator and the mail, and knows who has `_finished`."""

    natives = 0  # how many have been called

    def _wait_for_all(self, plan: Plan) -> None:
        called = self.now()
        notes = self._meet(BARRIER, called)
        self._book_native(BARRIER, plan, (0,) * plan.chunks, called, notes)

    def _native_allreduce(self, x) -> Pending:
        if not known_to_mpi(x):
            return super()._native_allreduce(x)
        called, x = self.now(), np.ascontiguousarray(x)
        notes, total = self._meet(ALLREDUCE, called, x.dtype.num, len(x)), np.empty_like(x)
        self._mpi.Allreduce(x, total)
        plan = plan_of(ring, "allreduce", self.size)
        self._book_native(ALLREDUCE, plan, chunk_weights(plan, len(x), x.itemsize), called, notes)
        return Pending(total)

    def _native_reduce_scatter(self, x):
        if not known_to_mpi(x):
            return super()._native_reduce_scatter(x)
        called, x = self.now(), np.ascontiguousarray(x)
        notes, parts = self._meet(REDUCE_SCATTER, called, x.dtype.num, len(x)), np.diff(cut(len(x), self.size))
        part = np.empty(parts[self.rank], x.dtype)
        self._mpi.Reduce_scatter(x, part, parts)
        plan = plan_of(ring, "reduce_scatter", self.size)
        self._book_native(REDUCE_SCATTER, plan, chunk_weights(plan, len(x), x.itemsize), called, notes)
        return part

    def _native_allgather(self, message) -> list:
        called, frame = self.now(), wire.pack(message)
        mine = b"".join([*frame.buffers, frame.header])
        notes = self._meet(ALLGATHER, called, len(mine) - len(frame.header), len(mine), frame.nbytes)
        ends, sizes, weights = notes[:, 2:].astype(int).T
        starts = np.concatenate([[0], np.cumsum(-(-sizes // ALIGNED) * ALIGNED)])
        if starts[-1] >= MOST:
            return super()._native_allgather(message)
        gathered = np.empty(starts[-1], np.uint8)
        self._mpi.Allgatherv([mine, MPI.BYTE], [gathered, sizes, starts[:-1], MPI.BYTE])
        plan = plan_of(ring, "allgather", self.size)
        self._book_native(ALLGATHER, plan, tuple(weights[plan.owner].tolist()), called, notes)
        parts = [gathered[at : at + size] for at, size in zip(starts, sizes, strict=False)]
        found = [wire.unpack(bytes(part[end:]), part[:end]) for part, end in zip(parts, ends, strict=True)]
        return [*found[: self.rank], message, *found[self.rank + 1 :]]

    def _native_bcast(self, message, root: int):
        """Nobody waits for those who come after it: the note goes along the tree too."""
        called, note, data = self.now(), np.empty((1, 4)), None
        if self.rank == root:
            frame = wire.pack(message)
            data = np.frombuffer(b"".join([*frame.buffers, frame.header]), np.uint8)
            note[:] = called, len(data) - len(frame.header), len(data), frame.nbytes
        self._join(BCAST, self._mpi.Ibcast(note, root))
        end, size, weight = note[0, 1:].astype(int).tolist()
        if size >= MOST:
            return super()._native_bcast(message, root)
        data = np.empty(size, np.uint8) if data is None else data
        self._mpi.Bcast([data, MPI.BYTE], root)
        self._book_native(BCAST, tree_from(root, self.size), (weight,), called, note)
        return message if self.rank == root else wire.unpack(bytes(data[end:]), data[:end])

    # ---- meeting and booking ----

    def _meet(self, verb: int, called: float, *brought: int) -> np.ndarray:
        """Everybody's note: when it came, to do what, with what. A ValueError on all ranks if these do not agree."""
        mine = np.array([called, verb, *brought, *[0] * (3 - len(brought))], float)
        notes = np.empty((self.size, len(mine)))
        self._join(verb, self._mpi.Iallgather(mine, notes))
        if (notes[:, 1] != verb).any() or (verb in SUMS and (notes[:, 2:] != mine[2:]).any()):
            raise ValueError(mismatch(notes[:, 1:].astype(int).tolist()))
        return notes

    def _join(self, verb: int, request: MPI.Request) -> None:
        """Wait until all have come. Who has finished after fewer collectives than we have called never will."""
        self.natives += 1
        if self._mail.until(lambda: request.Test() or self._missing()) is not True:
            self._abandoned = request  # keeps the memory that MPI may still write to
            gone = ", ".join(map(str, self._missing()))
            raise Unserved(f"rank {self.rank} waits in {name_of(verb)} for rank {gone}, finished without calling it")

    def _missing(self) -> list[int]:
        return sorted(rank for rank, natives in self._finished().items() if natives < self.natives)

    def _book_native(self, verb: int, plan: Plan, weights: tuple[int, ...], called: float, notes: np.ndarray) -> None:
        for to, messages, nbytes in sent_by(self.rank, plan, weights):
            self.ledger.book(to, verb, nbytes, messages)
        self._book_received(called, float(notes[:, 0].max()), self.now())


SUMS = (ALLREDUCE, REDUCE_SCATTER)
NAMES = {np.dtype(code).num: np.dtype(code).name for code in np.typecodes["AllInteger"] + np.typecodes["AllFloat"]}


def mismatch(notes: list[list[int]]) -> str:
    def told(verb, dtype, length, _) -> str:
        return f"brings {length} {NAMES[dtype]} to {name_of(verb)}" if verb in SUMS else f"calls {name_of(verb)}"

    what = "call the same verbs in one order, with vectors of one kind"
    if len({(verb, dtype) for verb, dtype, *_ in notes}) == 1:
        what = "bring vectors of the same length"
    return f"all ranks must {what}, but " + "; ".join(f"rank {rank} {told(*note)}" for rank, note in enumerate(notes))


def known_to_mpi(x) -> bool:
    """Not a ghost, nor numbers that MPI cannot add (half precision, foreign byte order), nor too many of them."""
    if not isinstance(x, np.ndarray) or not x.dtype.isnative or len(x) >= MOST:
        return False
    return x.dtype.char != "e" and x.dtype.char in MPI._typedict
