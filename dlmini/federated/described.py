"""A strategy as data, and back: so that a server can tell it to clients elsewhere. Nothing is executed, no pickles.

    plain(FedProx(Krum(2), mu=0.1)) == ["FedProx", {"rule": ["Krum", {"f": 2}], "mu": 0.1}]
    strategy_of(plain(strategy)) == strategy;   strategy_in("FedProx(rule=Krum(f=2), mu=0.1)"), from a command line
Known are the strategies and robust rules of this room; every value is checked by the piece itself, as if it were
written in Python. What was said by others may be anything: it is refused by a sentence.
"""

from __future__ import annotations

import ast
from dataclasses import fields

from dlmini.federated.robust import RULES, Bucketing
from dlmini.federated.strategies import FedAdagrad, FedAdam, FedAsync, FedAvg, FedBuff, FedProx, FedYogi, Scaffold

FAMILY = (FedAvg, FedProx, Scaffold, FedAdam, FedYogi, FedAdagrad, FedAsync, FedBuff)
STRATEGIES = {kind.__name__: kind for kind in FAMILY}
ROBUST = {kind.__name__: kind for kind in (*RULES, Bucketing)}
NUMBERS = (bool, int, float, type(None))
DEEPEST = 3  # a strategy, a rule in it, a rule in that


def plain(piece) -> list:
    """[name, {field: value}]; a piece that is not the library's own is code, and refused."""
    if type(piece) not in (*STRATEGIES.values(), *ROBUST.values()):
        raise ValueError(
            f"{type(piece).__name__} is not one of {', '.join((*STRATEGIES, *ROBUST))}: it would have to travel as code"
        )
    return [type(piece).__name__, {one.name: value_of(getattr(piece, one.name)) for one in fields(piece)}]


def value_of(value):
    return value if isinstance(value, NUMBERS) else plain(value)


def strategy_of(said):
    """The strategy of its description."""
    return made(said, STRATEGIES, "a strategy", DEEPEST)


def strategy_in(text: str):
    """The strategy that a text writes as Python would; what is not said has its default. Nothing is executed."""
    try:
        return strategy_of(read(ast.parse(text, mode="eval").body))
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError(f"{text[:60]!r} is no strategy; write it as FedAvg, or FedAvg(rule=Krum(f=2))") from None


def read(node) -> list:
    """A name, or a call of one with values by name."""
    call = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
    if not isinstance(call.func, ast.Name) or call.args or any(one.arg is None for one in call.keywords):
        raise SyntaxError
    kind = (STRATEGIES | ROBUST).get(call.func.id)
    given = {one.arg: one.value.value if isinstance(one.value, ast.Constant) else read(one.value)
             for one in call.keywords}  # fmt: skip
    return [call.func.id, ({} if kind is None else plain(kind())[1]) | given]


def made(said, kinds: dict, what: str, deep: int):
    if not isinstance(said, list | tuple) or len(said) != 2 or not isinstance(said[1], dict) or not deep:
        raise ValueError(f'{what} must be described as ["FedAvg", {{"rule": null}}]: a name, and its values by name')
    name, values = said
    kind = kinds.get(name) if isinstance(name, str) else None
    if kind is None:
        raise ValueError(f"{what} must be one of {', '.join(kinds)}, not {str(name)[:40]!r}")
    known = {one.name for one in fields(kind)}
    if set(values) != known:
        raise ValueError(f"{name} is described by {', '.join(sorted(known)) or 'nothing'}, and by nothing else")
    return kind(**{key: value if isinstance(value, NUMBERS) else made(value, ROBUST, "a rule", deep - 1)
                   for key, value in values.items()})  # fmt: skip
