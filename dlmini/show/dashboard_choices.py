"""What the drop-downs of a dashboard offer: plain words for the lecture hall, and the object that each
stands for. What a piece offers here, it says itself (pieces.py)."""

from __future__ import annotations

from dlmini import command_words as words
from dlmini.comm.network import PRESETS
from dlmini.pieces import shown

WHEN = shown("sync", ("bsp", "local", "ssp", "async"))
WITH_WHOM = shown("topology", ("allreduce", "server", "gossip"))
HOW_BRIEFLY = shown("compression", ("none", "half", "int8", "one_bit", "topk", "threshold"))
NETWORK = {"as it is": None, **{name.replace("_", " "): link for name, link in PRESETS.items()}}
WHERE = {"processes": "processes", "simulated": "simulated"}
WORKERS = (1, 2, 4, 8, 16)
PORTIONS, SHARDS = (8, 16, 32, 64), (1, 2, 4)
COPIES = {"late ones copied": True, "late ones waited for": False}
SLOWER = 5.0  # times: what `slow` means


def offered(table: dict[str, object], given, read=None) -> tuple[dict[str, object], str]:
    """The table, with `given` in it (an object, its label, or a word that `read` understands); and its label."""
    if isinstance(given, str) and given in table:
        return table, given
    wanted = read(given) if isinstance(given, str) and read else given
    for label, thing in table.items():
        if thing == wanted:
            return table, label
    label = given if isinstance(given, str) else repr(wanted)  # the word as it was given: "local:50"
    return {label: wanted, **table}, label


def levels(when, whom, briefly):
    """The three levels: (table, label) each."""
    return (
        offered(WHEN, when, words.read_sync),
        offered(WITH_WHOM, whom, words.read_topology),
        offered(HOW_BRIEFLY, briefly, words.read_compression),
    )


def sandblaster(method) -> tuple:
    """(table, label) of portions, copies and shards, with those of a Sandblaster among them."""
    many = {f"{n} portions": n for n in PORTIONS} | {"a portion a mini-batch": None}
    if method.portions not in many.values():
        many = {f"{method.portions} portions": method.portions, **many}
    shards = {"1 shard": 1} | {f"{n} shards": n for n in sorted({*SHARDS, method.shards} - {1})}
    return offered(many, method.portions), offered(COPIES, method.backup), offered(shards, method.shards)


def networks(given):
    return offered(NETWORK, given, lambda name: words.choose("network", name, PRESETS))


def known_place(where: str) -> str:
    if where not in WHERE:
        raise ValueError(f"a dashboard runs on {' or '.join(map(repr, WHERE))}, not on {where!r}")
    return where


def slow_ranks(workers: int, given: dict[int, float] | None = None) -> tuple[dict[str, dict], str]:
    """Who may be slow."""
    table = {"nobody": {}} | {f"rank {rank}, {SLOWER:g} ×": {rank: SLOWER} for rank in range(workers)}
    if not given:
        return table, "nobody"
    given = dict(given)
    label = " and ".join(f"rank {rank}, {factor:g} ×" for rank, factor in given.items())
    return {**table, label: given}, label


def links(ranks: int) -> dict[str, tuple[int, int]]:
    """Pairs of ranks that may be cut apart; of many ranks only neighbours on the ring."""
    if ranks <= 6:
        pairs = [(a, b) for a in range(ranks) for b in range(a + 1, ranks)]
    else:
        pairs = [(a, (a + 1) % ranks) for a in range(ranks)]
    return {f"{a} – {b}": (a, b) for a, b in pairs}
