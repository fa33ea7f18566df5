"""What all packets share. A packet is a compressed vector on its way: it knows its bytes, and how to be added.

    packet.nbytes == len(packet.wire())        true bytes, indices, scales and header included
    type(packet).from_wire(packet.wire())      the packet again
    packet.dense()                             the vector it stands for, in new memory
    packet.add_to(out, weight)                 out += weight * dense(), to the bit, in O(what was sent)
    packet.part(lo, hi)                        numbers lo to hi - 1, for the server that owns them; may be cut again
Packets that may be added on the way (all-reduce) also have
    packet.summand                             an array; the sum over ranks of these
    packet.replaced(total)                     ... carried by a packet stands for the sum of the vectors
"""

from __future__ import annotations

import struct
from typing import ClassVar

import numpy as np

Vector = np.ndarray


class Packet:
    """A kind of packet has a `size`, `pieces` and three verbs; `letter` tells kinds apart inside other packets."""

    letter: ClassVar[bytes] = b""
    kinds: ClassVar[dict[bytes, type[Packet]]] = {}
    size: int

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        taken = Packet.kinds.get(cls.letter)
        if taken is not None and taken.__qualname__ != cls.__qualname__:
            raise TypeError(
                f"the letter {cls.letter!r} of {cls.__name__} belongs to {taken.__name__}: choose a free one"
            )
        if cls.letter:
            Packet.kinds[cls.letter] = cls

    def pieces(self) -> tuple:
        """What is sent, as buffers end to end."""
        raise NotImplementedError

    @classmethod
    def from_wire(cls, buffer) -> Packet:
        raise NotImplementedError

    def add_to(self, out: Vector, weight: float = 1.0) -> None:
        raise NotImplementedError

    def part(self, lo: int, hi: int) -> Packet:
        raise NotImplementedError

    @property
    def nbytes(self) -> int:
        return sum(memoryview(piece).nbytes for piece in self.pieces())

    def wire(self) -> bytes | memoryview:
        pieces = self.pieces()
        if len(pieces) == 1 and len(pieces[0]):
            return memoryview(pieces[0]).cast("B")
        return b"".join(pieces)

    def dense(self) -> Vector:
        out = np.zeros(self.size, np.float32)
        self.add_to(out)
        return out

    def check_out(self, out: Vector) -> None:
        if not isinstance(out, np.ndarray) or out.dtype != np.float32 or out.shape != (self.size,):
            found = f"{out.dtype}{list(out.shape)}" if isinstance(out, np.ndarray) else type(out).__name__
            raise ValueError(f"out is {found}, but this packet is added to a vector of {self.size} float32")
        if not (out.flags.writeable and out.flags.c_contiguous):
            raise ValueError("out must be writable and contiguous: pass a vector of its own, for example out.copy()")

    def check_cut(self, lo: int, hi: int) -> None:
        if not 0 <= lo <= hi <= self.size:
            raise ValueError(
                f"numbers {lo} to {hi} are asked of a packet of {self.size}; 0 <= lo <= hi <= size must hold"
            )


class Reader:
    """Takes a packet's bytes apart again; says so when they are too few, too many, or the wrong ones."""

    def __init__(self, buffer, kind: type):
        self.rest, self.kind = memoryview(buffer).cast("B"), kind.__name__
        self.given = len(self.rest)

    def fields(self, form: str) -> tuple:
        return struct.unpack(form, self.take(struct.calcsize(form)))

    def array(self, dtype, count: int) -> np.ndarray:
        """A view where the bytes are aligned and writable, else a copy."""
        found = np.frombuffer(self.take(count * np.dtype(dtype).itemsize), dtype)
        return found if found.flags.aligned and found.flags.writeable else found.copy()

    def take(self, count: int) -> memoryview:
        self.check(0 <= count <= len(self.rest), f"they end {count - len(self.rest)} bytes too early")
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def all_of(self, dtype) -> np.ndarray:
        """An array that reaches to the end."""
        count, rest = divmod(len(self.rest), np.dtype(dtype).itemsize)
        if rest:  # asked before the sentence is made: to name a dtype takes longer than to add a thousand numbers
            self.check(False, f"the last {len(self.rest)} are no whole number of {np.dtype(dtype)}")
        return self.array(dtype, count)

    def done(self) -> None:
        self.check(not len(self.rest), f"{len(self.rest)} are left over")

    def check(self, right: bool, why: str) -> None:
        if not right:
            raise ValueError(f"these {self.given} bytes are not a {self.kind} packet: {why}")
