"""What notebook, PC and rank say to each other. Between notebook and PC all of it is encrypted and both are known.

PC -> notebook      HELLO    who I am and what I run (greeting.py); plain values, no pickle
                    READY    my rank waits for work
                    BYE      I leave
notebook -> PC      WELCOME  as whom;  REFUSED  why not, a sentence
                    TICK     nothing: that it can be sent shows that the PC is there
                    KILL     end the rank, at once;  DISMISS  the room is closed, good-bye

and through the PC, which passes it on unread, between notebook and rank:

notebook -> rank    RUN      number of the rank, of how many, and so on; then the program, pickled
                    PEERS    where the other ranks listen, and a secret for each
                    LOST     a rank has died, go on without it
                    ORDERS   a Control's array
                    ACK      so many bytes were heard
                    ABORT    give up
rank -> notebook    BOUND    where I listen
                    SAID     pickled chat: events, printed lines
                    WAITS    for whom I have been waiting for a while, and all letters sent and received so far
                    ANSWER   pickled: what came of it
PC -> notebook      DIED     the rank's exit code and last words; so it was not the rank who answered
                    SILENT   it did not give up when told to, and was ended: its last words
"""

from __future__ import annotations

from enum import IntEnum, auto
from typing import NamedTuple

from dlmini.comm import wire


class Kind(IntEnum):
    HELLO, READY, BYE = auto(), auto(), auto()
    WELCOME, REFUSED, TICK, KILL, DISMISS = auto(), auto(), auto(), auto(), auto()
    RUN, PEERS, LOST, ORDERS, ACK, ABORT = auto(), auto(), auto(), auto(), auto(), auto()
    BOUND, SAID, WAITS, ANSWER, DIED, SILENT = auto(), auto(), auto(), auto(), auto(), auto()


FOR_RANKS = {Kind.RUN, Kind.PEERS, Kind.LOST, Kind.ORDERS, Kind.ACK, Kind.ABORT}


class Order(NamedTuple):
    """What a rank is told of its run, in front of the program."""

    rank: int
    size: int
    encrypt: bool
    spans: bool
    controlled: bool
    silence: float  # seconds


class Peer(NamedTuple):
    """Where another rank listens. An empty address: where the notebook is."""

    name: str
    address: str
    port: int
    public: bytes


def packed(value) -> bytes:
    """Plain values as bytes, by the house's wire format."""
    frame = wire.pack([value])
    return frame.header + b"".join(frame.buffers)


def unpacked(data: bytes):
    return wire.unpack(data[:9], data[9:])[0]


def with_program(order: Order, program: bytes) -> bytes:
    told = packed(tuple(order))
    return len(told).to_bytes(4, "little") + told + program


def without_program(data: bytes) -> tuple[Order, memoryview]:
    """The two again."""
    end = 4 + int.from_bytes(data[:4], "little")
    return Order(*unpacked(data[4:end])), memoryview(data)[end:]
