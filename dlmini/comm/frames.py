"""Two ends of a wire: a table of contents and the data it describes, being written and being read."""

from __future__ import annotations

import struct


class Writer:
    def __init__(self):
        self.toc, self.buffers, self.weight = bytearray(), [], 0

    def put(self, descriptor: bytes, data=b"") -> None:
        self.toc += descriptor
        if len(data):
            self.buffers.append(data)
            self.weight += len(data)

    def put_sized(self, descriptor: bytes, data) -> None:
        self.put(descriptor + struct.pack("<Q", len(data)), data)


class Reader:
    def __init__(self, toc: bytes, payload: memoryview):
        self.toc, self.at, self.payload, self.offset = toc, 0, payload, 0

    def field(self, form: str) -> tuple:
        at, self.at = self.at, self.at + struct.calcsize(form)
        return struct.unpack_from(form, self.toc, at)

    def text(self, length: int) -> str:
        at, self.at = self.at, self.at + length
        return self.toc[at : self.at].decode()

    def data(self, length: int) -> memoryview:
        at, self.offset = self.offset, self.offset + length
        if self.offset > len(self.payload):
            raise ValueError(f"the payload ends after {len(self.payload)} bytes, but its header promises {self.offset}")
        return self.payload[at : self.offset]

    def sized(self) -> memoryview:
        return self.data(self.field("<Q")[0])
