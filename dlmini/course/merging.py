"""Two people changed one file: the student, and who writes the course. What both did, together, or that it clashes.

    merged(base, mine, theirs) -> (what comes of it, whether a place was changed by both)
Between places that are the same in all three, who changed something is right. Where both did, and differently, mine is
kept: a student's line is never lost. Texts are merged line by line, notebooks cell by cell; that a cell was run is no
change. This is diff3 (Khanna, Kunal, Pierce: A formal investigation of diff3, 2007) on Python's difflib.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import count

MARK = "\ufeff"  # what some editors put before a text


def merged(base: list, mine: list, theirs: list, singly: bool = False) -> tuple[list, bool]:
    """Of three lists; singly: in a stretch of as many items in all three, they are looked at one by one."""
    found, clash, begin = [], False, (0, 0, 0)
    for place in [*common(base, mine, theirs), (len(base), len(mine), len(theirs))]:
        parts = [one[a:b] for one, a, b in zip((base, mine, theirs), begin, place, strict=True)]
        for part in one_by_one(parts) if singly else [parts]:
            chosen, both = settled(*part)
            found, clash = found + chosen, clash or both
        found += mine[place[1] : place[1] + 1]  # the same in all three; a student's cell has its outputs
        begin = tuple(at + 1 for at in place)
    return found, clash


def common(base: list, mine: list, theirs: list) -> list[tuple[int, int, int]]:
    """Where the three have the same item, in order."""
    here, there = matches(base, mine), matches(base, theirs)
    return [(at, here[at], there[at]) for at in here if at in there]


def matches(base: list, other: list) -> dict[int, int]:
    blocks = SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()
    return {a + i: b + i for a, b, size in blocks for i in range(size)}


def one_by_one(parts: list[list]) -> list:
    alike = len(set(map(len, parts))) == 1
    return [[[item] for item in items] for items in zip(*parts, strict=True)] if alike else [parts]


def settled(base: list, mine: list, theirs: list) -> tuple[list, bool]:
    """One stretch: (what it becomes, whether both changed it)."""
    if mine == base:
        return theirs, False
    return mine, theirs not in (base, mine)


def merged_text(base: str, mine: str, theirs: str) -> tuple[str, bool]:
    """Line by line; line ends and a mark at the beginning (MARK) are the student's."""
    end, begin = "\r\n" if "\r\n" in mine else "\n", MARK * mine.startswith(MARK)
    lines, clash = merged(*map(lines_of, (base, mine, theirs)))
    return begin + "".join(line + end for line in lines), clash


def lines_of(text: str) -> list[str]:
    """As editors count them. str.splitlines would also break them at form feeds and at separators inside of strings."""
    found = re.split(r"\r\n|\r|\n", text.removeprefix(MARK))
    return found if found[-1] else found[:-1]


@dataclass(frozen=True)
class Cell:
    """A cell is its kind and its source; what it printed is not compared."""

    kind: str
    source: str
    whole: dict = field(compare=False, repr=False)


def cells(notebook: str) -> list[Cell]:
    """Raises ValueError if it is no notebook."""
    try:
        found = json.loads(notebook.removeprefix(MARK))["cells"]
        return [Cell(cell["cell_type"], "\n".join(lines_of("".join(cell["source"]))), cell) for cell in found]
    except (LookupError, TypeError, RecursionError) as error:
        raise ValueError(f"this is no notebook ({type(error).__name__})") from error


def merged_notebook(base: str, mine: str, theirs: str) -> tuple[str, bool]:
    """Cell by cell; raises ValueError if one of them is no notebook."""
    found, clash = merged(*map(cells, (base, mine, theirs)), singly=True)
    whole = json.loads(theirs) | {"cells": with_own_names([cell.whole for cell in found])}
    return half_letters_escaped(json.dumps(whole, indent=1, ensure_ascii=False)) + "\n", clash


def half_letters_escaped(text: str) -> str:
    """Output that was cut inside a letter of two halves: JSON may hold one, a file only as its number."""
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text)


def with_own_names(all_cells: list[dict]) -> list[dict]:
    """A notebook's cells have different ids; one that has none (other editors), or that of another, gets one."""
    used, seen = {cell["id"] for cell in all_cells if is_id(cell.get("id"))}, set()
    free = (name for name in map("own-{}".format, count(1)) if name not in used)
    for cell in all_cells:
        if not is_id(cell.get("id")) or cell["id"] in seen:
            cell["id"] = next(free)
        seen.add(cell["id"])
    return all_cells


def is_id(name: object) -> bool:
    """As the format of notebooks has it."""
    return isinstance(name, str) and re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) is not None
