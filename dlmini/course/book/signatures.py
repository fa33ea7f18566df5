"""How a public name is called, as a reader would type it: no addresses, no modules, defaults by their names."""

from __future__ import annotations

import dataclasses
import inspect
import re

import dlmini

MODULE = re.compile(r"\b(?:[a-z_]+\.)+(?=\w)")  # dlmini.nn.model.Model -> Model
EMPTY = inspect.Parameter.empty
SIMPLE = (int, float, str, tuple, list, dict)


def called(name: str, thing) -> str:
    """With its arguments and their defaults; of a value, what it is."""
    if not callable(thing) or isinstance(thing, dict):
        return f"{name}  # {type(thing).__name__}"
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return f"{name}(...)"
    made = factories(thing)
    given = [plain(it, made) for it in signature.parameters.values()]
    back = EMPTY if inspect.isclass(thing) else signature.return_annotation  # a class makes one of itself
    parts = signature.replace(parameters=given, return_annotation=EMPTY)
    said = "" if back in (EMPTY, None, "None") else f" -> {kind(back)}"
    return f"{name}{parts}{said}"


class Word:
    """Printed as it is."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text


def plain(it: inspect.Parameter, made: dict) -> inspect.Parameter:
    """Without quotes around what it is, and with a default that can be read."""
    what = EMPTY if it.annotation is EMPTY else Word(kind(it.annotation))
    default = EMPTY if it.default is EMPTY else Word(value(made.get(it.name, it.default)))
    return it.replace(annotation=what, default=default)


def kind(annotation) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return MODULE.sub("", text)


def value(default) -> str:
    """A public one by its public name, functions and classes by theirs."""
    if inspect.isroutine(default) or inspect.isclass(default):
        return default.__name__
    if default is None or isinstance(default, SIMPLE):
        return repr(default)
    return next((name for name in dlmini.__all__ if getattr(dlmini, name) is default), repr(default))


def factories(thing) -> dict:
    """Of a dataclass: what stands for an argument that is not given, where it is made anew each time."""
    if not (inspect.isclass(thing) and dataclasses.is_dataclass(thing)):
        return {}
    fields = (it for it in dataclasses.fields(thing) if it.default_factory is not dataclasses.MISSING)
    return {it.name: it.default_factory() for it in fields}
