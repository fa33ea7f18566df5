"""Words of the command line become the objects of a recipe, here and nowhere else.

    local:16    gossip:ring,what=weights    threshold:keep=0.05    deflate:int8    allreduce:ring    server:2
    choco:topk(0.01),gamma=0.3    allreduce:hierarchical(4)    allreduce:back=topk(0.05)    deflate:qsgd(bits=4)
A word is a name, and after a colon what one would write between the brackets. A value may be a word itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import signature
from itertools import accumulate
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
    demand_brackets(kind, text)
    bracketed = re.fullmatch(r"([\w-]+)\((.*)\)", text)  # topk(0.01) is meant as topk:0.01
    name, colon, rest = (bracketed[1], "(", bracketed[2]) if bracketed else text.partition(":")
    make = choose(kind, name, table)
    given, named = [], {}
    for word in words(kind, text, rest) if rest or colon == ":" else ():
        key, equals, value = word.partition("=") if re.match(r"\w+=", word) else ("", "", word)
        if equals and key in named:
            raise ValueError(f"{kind} {text!r}: {key} is given twice")
        if equals:
            named[key] = plain(value, inner)
        else:
            given.append(plain(word, inner))
    if not isinstance(make, type):  # a schedule that is always the same
        if given or named:
            raise ValueError(f"{kind} {text!r}: nothing follows {name}; write it alone")
        return make
    try:
        bound = signature(make).bind(*given, **named).arguments
    except TypeError:
        raise ValueError(f"{kind} {text!r}: {how_written(name, make)}") from None
    for key in INNER.keys() & bound.keys():
        if isinstance(bound[key], str) and inner:
            choose(INNER[key], bound[key], pieces_inside(INNER[key], inner))
    try:
        return make(*given, **named)
    except TypeError as error:
        raise ValueError(f"{kind} {text!r}: {error}") from error


def demand_brackets(kind: str, text: str) -> None:
    depths = [0, *depths_of(text)]
    if depths[-1] or min(depths) < 0:
        raise ValueError(f"{kind} {text!r}: its brackets do not match; write them as in deflate:topk(0.01)")


def depths_of(text: str) -> Iterator[int]:
    """How many brackets are open after each letter."""
    return accumulate((letter == "(") - (letter == ")") for letter in text)


def words(kind: str, text: str, rest: str) -> list[str]:
    """What stands between commas, outside of brackets. Nobody means nothing."""
    found = "".join(
        "\0" if (letter, depth) == (",", 0) else letter for letter, depth in zip(rest, depths_of(rest), strict=True)
    )
    if not all(found.split("\0")):
        raise ValueError(
            f"{kind} {text!r}: something is missing beside a colon or comma; write it, or leave the colon or comma out"
        )
    return found.split("\0")


def pieces_inside(kind: str, inner: dict) -> dict:
    """The schedules among pieces inside of others, or the compressors."""
    return {name: piece for name, piece in inner.items() if (name in SCHEDULES) == (kind == "schedule")}


def how_written(name: str, make) -> str:
    """What may follow a name, as a sentence."""
    known = [p.name for p in signature(make).parameters.values() if p.kind is not p.VAR_KEYWORD]
    if not known:
        return f"nothing follows {name}; write it without a colon"
    example = f"{name}:{known[0]}=..."
    return f"after {name}: come {', '.join(known)}, in this order or by name, such as {example}"


def plain(text: str, inner: dict | None):
    """A number, a truth value, a word of `inner` with or without brackets, or the text itself."""
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    if text in ("true", "false"):
        return text == "true"
    word = re.fullmatch(r"([\w-]+)(\(.*\))?", text)
    if inner and word and (word[2] or word[1].replace("-", "_") in inner):
        return read(kind_inside(word[1], inner), text, inner, inner)
    return text


def kind_inside(name: str, inner: dict) -> str:
    """What a word inside another is called."""
    if name.replace("-", "_") in inner:
        return "schedule" if name.replace("-", "_") in SCHEDULES else "compression"
    return " or ".join(kind for kind in ("schedule", "compression") if pieces_inside(kind, inner))


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
    link = None if network_name is None else choose("network", network_name, NETWORKS)
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
    if text == "mpi:":
        raise ValueError("--on mpi: lacks the file that lists the hosts after its colon; name it, or write mpi alone")
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
        raise ValueError(
            f"--on {':'.join(filter(None, ('classroom', port)))}: say at which port PCs join, such as classroom:5555"
        )
    return Classroom(ranks, int(port))


def picked(table: dict[int, object], only: str) -> dict[int, object]:
    """The entries whose numbers stand in `only`, such as 1,9; all if it is empty."""
    if not only:
        return table
    try:
        numbers = [int(word) for word in only.split(",")]
        if len({*numbers}) == len(numbers):
            return {number: table[number] for number in numbers}
        raise ValueError("one stands there twice")
    except (KeyError, ValueError):
        raise ValueError(
            f"--only {only}: give numbers from {min(table)} to {max(table)}, such as 1,9, each once"
        ) from None
