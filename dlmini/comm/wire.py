"""The wire format: what a message may be, how it becomes bytes, and what it weighs.

A message is None, a bool, int, float, str or bytes, a NumPy array or scalar of any dtype without Python objects, a
packet, a ghost, or a tuple, list or dict of these. Nothing is pickled: an array travels as its own memory.

    frame = pack(message)                          frame.header, frame.buffers (end to end: the payload), frame.nbytes
    message = unpack(frame.header, payload)        on the other side

**What is booked** (`nbytes`, the same on every transport). Of a bare value only its data: 4 n for n float32, 8 for an
int or a float, 1 for a bool, 0 for None, the UTF-8 length of a str, len(wire()) of a packet. Its header (type, dtype
and shape, some ten bytes) is free, as are the headers of MPI and Ethernet, so that a ring books exactly 2 (N-1)/N S.
Of a tuple, list or dict everything: the items' data and the table of contents that tells them apart.

Arrays arrive in C order, writable, with their dtype and shape; a memmap arrives as a plain array, a bytearray as bytes.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from numpy import ndarray

from dlmini.comm.codec import read, write
from dlmini.comm.frames import Reader, Writer
from dlmini.comm.ghost import Ghost

CONTAINERS = (tuple, list, dict)


class Frame(NamedTuple):
    """A message ready to travel. `nbytes` is the length of the payload; only a ghost weighs more than it carries."""

    header: bytes
    buffers: list
    nbytes: int

    def payload(self) -> bytearray:
        return bytearray().join(self.buffers)


def pack(message) -> Frame:
    """Serialise. The buffers are views of the message's own memory wherever possible: send or copy them at once."""
    out = Writer()
    write(message, out)
    if type(message) in CONTAINERS:
        return Frame(b"C" + len(out.toc).to_bytes(8, "little"), [out.toc, *out.buffers], out.weight + len(out.toc))
    return Frame(bytes(out.toc), out.buffers, out.weight)


def unpack(header: bytes, payload) -> object:
    """The message again. Arrays are views into `payload` where aligned: hand over a bytearray nobody else uses."""
    payload = memoryview(payload)
    if header[:1] == b"C":
        size = int.from_bytes(header[1:9], "little")
        return read(Reader(bytes(payload[:size]), payload[size:]))
    return read(Reader(bytes(header), payload))


def copied(message) -> tuple[object, int]:
    """What the receiver will hold, and its weight: a message through the wire without a wire (the simulator's send)."""
    kind = type(message)
    if kind is ndarray and not message.dtype.hasobject:
        return message.copy(), message.nbytes
    if kind is float:
        return message, 8
    if kind is Ghost:
        return message, message.nbytes
    frame = pack(message)
    return unpack(frame.header, frame.payload()), frame.nbytes


class Envelope(NamedTuple):
    """What precedes header and payload in a stream of bytes: for transports that have no envelopes of their own.

    Channel, time at which send was called, lengths of header and payload; and, where a link model delays messages,
    when the first byte reaches the receiver's port (head) and the earliest time for the last one (tail).
    """

    channel: int
    sent: float
    header: int
    payload: int
    head: float = 0.0
    tail: float = 0.0

    def to_bytes(self) -> bytes:
        return self.channel.to_bytes(16, "little", signed=True) + _REST.pack(*self[1:])

    @classmethod
    def from_bytes(cls, data) -> Envelope:
        return cls(int.from_bytes(data[:16], "little", signed=True), *_REST.unpack(data[16:ENVELOPE]))


_REST = struct.Struct("<dQQdd")
ENVELOPE = 16 + _REST.size  # its length in bytes
