"""Words of the command line become the objects of a recipe, here and nowhere else.

    local:16    gossip:ring,what=weights    threshold:keep=0.05    deflate:int8    allreduce:ring    server:2
    choco:topk(0.01),gamma=0.3    allreduce:hierarchical(4)    allreduce:back=topk(0.05)    deflate:qsgd(bits=4)
A word is a name, and after a colon what one would write between the brackets. A value may be a word itself.
"""

from __future__ import annotations

import re
from inspect import signature
from pathlib import Path

from dlmini.comm import network, schedules
from dlmini.pieces import in_order

SYNC = in_order("sync", ("bsp", "local", "async", "ssp"))
TOPOLOGY = in_order("topology", ("allreduce", "server", "star", "gossip"))
COMPRESS = in_order("compression", ("none", "half", "int8"))
OPTIMIZERS = in_order("optim", ("sgd", "momentum"))
SCHEDULES = {
    name: getattr(schedules, name) for name in ("native", "ring", "tree", "doubling", "halving_doubling", "naive")
} | {"hierarchical": schedules.Hierarchical}
NETWORKS = network.PRESETS
INNER = dict.fromkeys(("inner", "compressor", "back"), "compression") | {"how": "schedule"}  # pieces in pieces
PLACES = ("simulated", "processes", "mpi", "mpi:HOSTFILE", "classroom:PORT")


def choose(kind: str, name: str, table: dict):
    """The entry called `name`, or a sentence that lists the others."""
    found = table.get(name.replace("-", "_"))
    if found is None:
        raise ValueError(f"there is no {kind} called {name!r}; choose one of {', '.join(table)}")
    return found


def read(kind: str, text: str, table: dict, inner: dict | None = None):
    """The object that `text` describes; values that are names of `inner` become its entries."""
    name, _, rest = text.partition(":")
    make = choose(kind, name, table)
    given, named = [], {}
    for word in filter(None, re.split(r",(?![^()]*\))", rest)):  # at commas outside of brackets
        key, equals, value = word.partition("=") if re.match(r"\w+=", word) else ("", "", word)
        if equals and key in named:
            raise ValueError(f"{kind} {text!r}: {key} is given twice")
        if equals:
            named[key] = plain(kind, value, inner)
        else:
            given.append(plain(kind, word, inner))
    try:
        bound = signature(make).bind(*given, **named).arguments
    except TypeError:
        raise ValueError(f"{kind} {text!r}: {how_written(name, make)}") from None
    for key in INNER.keys() & bound.keys():
        if isinstance(bound[key], str) and inner:
            choose(INNER[key], bound[key], inner)
    try:
        return make(*given, **named)
    except TypeError as error:
        raise ValueError(f"{kind} {text!r}: {error}") from error


def how_written(name: str, make) -> str:
    """What may follow a name, as a sentence."""
    known = [p.name for p in signature(make).parameters.values() if p.kind is not p.VAR_KEYWORD]
    if not known:
        return f"nothing follows {name}; write it without a colon"
    example = f"{name}:{known[0]}=..."
    return f"after {name}: come {', '.join(known)}, in this order or by name, such as {example}"


def plain(kind: str, text: str, inner: dict | None):
    """A number, a truth value, a word of `inner` with or without brackets, or the text itself."""
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    if text in ("true", "false"):
        return text == "true"
    if inner and (call := re.fullmatch(r"(\w+)\((.*)\)", text)):
        return read(kind, f"{call[1]}:{call[2]}", inner, inner)
    found = (inner or {}).get(text)
    return text if found is None else found() if isinstance(found, type) else found


def read_sync(text: str):
    return read("synchronisation", text, SYNC)


def read_topology(text: str):
    briefly = dict.fromkeys(("choco", "server", "star"), COMPRESS)
    inside = {**dict.fromkeys(("low_rank", "zero"), SCHEDULES), "allreduce": SCHEDULES | COMPRESS, **briefly}
    return read("topology", text, TOPOLOGY, inside.get(text.partition(":")[0].replace("-", "_")))


def read_compression(text: str):
    return read("compression", text, COMPRESS, COMPRESS)


def told_place(text: str, network_name: str | None) -> str:
    """Where a run is, for people."""
    return text + (f", network {network_name}" if network_name else "")


def read_place(text: str, ranks: int, network_name: str | None):
    """Where to run: virtual time, processes, MPI ranks, PCs of a room; on a named network where one can choose."""
    link = choose("network", network_name, NETWORKS) if network_name else None
    name, _, more = text.partition(":")
    if name in ("mpi", "classroom") and link is not None:
        raise ValueError(
            f"{name} uses the network that is there, so --network {network_name} has no meaning; leave it out"
        )
    if text == "simulated":
        from dlmini.sim.simulated import Simulated

        return Simulated(ranks, link)
    if text == "processes":
        from dlmini.comm.processes import Processes

        return Processes(ranks, network=link)
    if name == "mpi":
        from dlmini.comm.mpi import Mpi

        return Mpi(ranks, hosts=Path(more) if more else None)
    if name == "classroom":
        return room_at(more, ranks)
    raise ValueError(f"there is no place called {text!r}; choose one of {', '.join(PLACES)}")


def room_at(port: str, ranks: int):
    """The room whose PCs have joined, or will, at this port."""
    from dlmini.comm.classroom import Classroom

    if not port.isdigit() or int(port) > 65535:
        raise ValueError(f"--on classroom:{port}: say at which port PCs join, such as classroom:5555")
    return Classroom(ranks, int(port))


def picked(table: dict[int, object], only: str) -> dict[int, object]:
    """The entries whose numbers stand in `only`, such as 1,9; all if it is empty."""
    if not only:
        return table
    try:
        return {number: table[number] for number in map(int, only.split(","))}
    except (KeyError, ValueError):
        raise ValueError(f"--only {only}: give numbers from {min(table)} to {max(table)}, such as 1,9") from None
