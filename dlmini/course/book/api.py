"""Every public name, from its docstring: what it takes, what it does, what it costs, where it comes from."""

from __future__ import annotations

import inspect
from html import escape

import dlmini
from dlmini.course.book.cells import code
from dlmini.course.book.exercises import described
from dlmini.course.book.prose import Heading
from dlmini.course.book.signatures import called

ROOMS = {  # first part of a module's name: what is found there, in the order of a reader
    "nn": "Networks",
    "optim": "Optimisers and schedules",
    "data": "Data",
    "task": "Tasks: what is to be learned",
    "segment": "Tasks: what is to be learned",
    "recipe": "Training together",
    "run": "Training together",
    "outcome": "Training together",
    "alone": "Training together",
    "sandblaster": "Training together",
    "sync": "When to talk",
    "topology": "With whom to talk",
    "compression": "How briefly to talk",
    "parallel": "One network on several ranks",
    "comm": "Ranks, messages and networks",
    "sim": "Virtual time",
    "volunteer": "Volunteers",
    "show": "Pictures",
    "course": "The course",
}


def sections() -> dict[str, list[str]]:
    """Title -> public names, each under what it belongs to."""
    found: dict[str, list[str]] = {title: [] for title in (*ROOMS.values(), "Others")}
    for name in dlmini.__all__:
        found[ROOMS.get(home(name), "Others")].append(name)
    return {title: names for title, names in found.items() if names}


def home(name: str) -> str:
    """The room of a public name."""
    return dlmini._homes()[name].split(".")[0]


def body() -> tuple[str, list[Heading]]:
    """The page's HTML, and its headings."""
    parts, headings = (
        ['<h1 id="api-every-public-name">Every public name</h1><p>From the docstrings of the library itself.</p>'],
        [],
    )
    headings.append(Heading(1, "api-every-public-name", "Every public name"))
    for title, names in sections().items():
        headings.append(Heading(2, f"api-{title.lower().replace(' ', '-').replace(':', '')}", escape(title)))
        parts.append(f'<h2 id="{headings[-1].place}">{escape(title)}</h2>')
        parts += [entry(name) for name in sorted(names, key=str.lower)]
    return "".join(parts), headings


def entry(name: str) -> str:
    """One name: how it is called, and its docstring."""
    thing = getattr(dlmini, name)
    documented = inspect.isclass(thing) or inspect.isroutine(thing)
    text = listed(thing) if isinstance(thing, dict) else inspect.getdoc(thing if documented else type(thing)) or ""
    return f'<h3 id="api-{name}"><code>{name}</code></h3>{code(called(name, thing))}{described(text)}'


def listed(table: dict) -> str:
    """What a table holds: Python's own words about dicts say nothing of it."""
    return f"A table of {len(table)}: {', '.join(map(str, table))}."
