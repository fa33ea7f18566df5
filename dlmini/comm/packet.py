"""Packets: objects that know their own bytes. The wire asks two things of a packet and one of its class.

packet.wire() -> bytes or memoryview           all it has to say
packet.nbytes == len(packet.wire())            what it weighs
Class.from_wire(buffer) -> packet              the way back; `buffer` is a writable memoryview it may keep
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Protocol, runtime_checkable


@runtime_checkable
class Packet(Protocol):
    nbytes: int

    def wire(self) -> bytes | memoryview: ...


_known: dict[str, type] = {}


def register(cls: type) -> type:
    """Make a packet class known to this process (a decorator), so that such packets can arrive here.

    Classes of an imported module are found without it, and so is a class whose packets this process has sent.
    """
    if not callable(getattr(cls, "from_wire", None)):
        raise TypeError(f"a {cls.__name__} could be sent but not received: give it a class method from_wire(buffer)")
    _known[f"{cls.__module__}:{cls.__qualname__}"] = cls
    return cls


def name_of(packet: Packet) -> str:
    return _name_of(type(packet))


@cache
def _name_of(cls: type) -> str:
    return f"{register(cls).__module__}:{cls.__qualname__}"


def class_named(name: str) -> type:
    """The class, from the registry or from a module that is already imported: bytes never cause an import."""
    if name in _known:
        return _known[name]
    module, _, path = name.partition(":")
    found = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise TypeError(
            f"a packet of class {name} arrived, which this process does not know: import or register it first"
        )
    return register(found)
