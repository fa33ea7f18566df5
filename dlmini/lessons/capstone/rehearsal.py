"""Lesson 17: worlds to practise on, entries raced in this process, and one's own file among them."""

from __future__ import annotations

from functools import cache
from types import ModuleType

from dlmini import profile
from dlmini.leaderboard.judge import Trial, rehearse
from dlmini.leaderboard.race import references
from dlmini.leaderboard.worlds import World, draw
from dlmini.lessons.student_code import exercise

PUBLIC = b"worlds to practise on, not secret"[:32]
NAME = "17_capstone"


@cache
def practice(count: int = 4) -> list[World]:
    """Worlds of the kinds that the race has; their secret is public, so they are not those of the race."""
    return draw(PUBLIC, count, profile.pick(160, 32))


def reference(name: str) -> ModuleType:
    """A reference entry as a module."""
    (entry,) = (one for one in references() if one.name == name)
    module = ModuleType(name)
    exec(compile(entry.source, f"{name}.py", "exec"), module.__dict__)
    return module


def mine() -> tuple[ModuleType | None, str]:
    """The student's file, and a sentence; None while `recipe` is not written."""
    module = exercise(NAME)
    try:
        module.recipe(practice(1)[0].terms.as_dict())
    except NotImplementedError:
        return None, "exercises/17_capstone.py has no recipe yet: the references race alone"
    return module, "with exercises/17_capstone.py"


def raced(world: World) -> dict[str, Trial]:
    """The references and, if it is written, one's own entry, in one world."""
    entries = {name: reference(name) for name in ("plain", "composed", "ours")}
    own, _ = mine()
    return {name: rehearse(entry, world) for name, entry in (entries | ({"mine": own} if own else {})).items()}


def told(trials: dict[str, Trial]) -> str:
    """A line for each entry: what counts of it, what it used, and what went wrong."""
    lines = []
    for name, trial in trials.items():
        used, terms = trial.counted, trial.terms
        kept = f"{used.seconds:5.2f} of {terms['seconds']:.2f} s, {used.megabytes:5.2f} of {terms['megabytes']:.2f} MB"
        lines.append(f"{name:9} {trial.accuracy:6.1%}   {kept}   {trial.why}".rstrip())
    return "\n".join(lines)
