"""Who has handed in something: the top of a folder or zip, of any of the forms in which classes come.

A folder, zip or program per student, or an export of Moodle, Canvas or Gradescope; all of it perhaps inside one more
folder or zip. Nobody vanishes: what is neither a hand-in nor a known stray file is listed as a hand-in, too.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from dlmini.grade.reading.archive import FILE, FOLDER
from dlmini.grade.reading.exports import GRADESCOPE, METADATA, MOODLE, Sender, gradescope_senders, sender, stamped
from dlmini.grade.reading.names import left_behind
from dlmini.grade.reading.tree import SEEN, Tree
from dlmini.grade.reading.zips import BROKEN

STRAY = (".csv", ".yml", ".yaml", ".json", ".html", ".htm", ".md", ".txt", ".log", ".ini", ".toml", ".cfg")


class Member(NamedTuple):
    """One hand-in: whose, under which id of which system, when, and the places where its files lie.

    again: who bears the same name is the same student; late: whether the system says so, None where it tells times.
    """

    name: str
    id: str
    time: float
    places: list[tuple[str, ...]]
    system: str = ""
    again: bool = False
    late: bool | None = None


class Class(NamedTuple):
    """In which folder or zip the members lie, who they are, and what was left aside."""

    root: Path
    members: list[Member]
    stray: list[str]


def class_of(root: Path, stem: str, one: bool = False, without: tuple[str, ...] = ()) -> Class:
    """The class under a folder or zip.

    one: all of it is one hand-in, whatever it looks like; without: a place that is none, where grades go.
    """
    tree, at = Tree(root), ()
    while True:
        people, stray = told_apart(tree.children(at))
        people = {name: what for name, what in people.items() if (*at, name) != without}
        programs = [name for name in people if name.lower() in wanted(stem)]
        boxes = {name: what for name, what in people.items() if name not in programs}
        if one or (programs and sum(holds(tree, (*at, name), stem) for name in boxes) < 2):
            return Class(root, [Member(at[-1] if at else tree.name, "", tree.latest(at), [at])], [])
        only = next(iter(boxes)) if len(boxes) == 1 else None
        if only and boxes[only] == FOLDER and wraps(tree, (*at, only)):
            at = (*at, only)
        elif only and tree.zipped is None and is_export(root.joinpath(*at, only), stem):
            return class_of(root.joinpath(*at, only), stem)
        else:
            return Class(root, members(tree, at, boxes), [*stray, *programs])


def wanted(stem: str) -> tuple[str, str]:
    return f"{stem}.py", f"{stem}.ipynb"


def told_apart(children: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """Hand-ins; and files that are none: settings of the system, tables and notes of who made the folder."""
    stray = [name for name, what in children.items() if is_stray(name, what == FILE)]
    return {name: what for name, what in children.items() if name not in stray}, stray


def is_stray(name: str, is_file: bool) -> bool:
    if left_behind(name):
        return True
    return is_file and name.lower().endswith(STRAY) and sender(name, is_file) is None


def wraps(tree: Tree, at: tuple[str, ...]) -> bool:
    """Whether a folder holds hand-ins, and is none itself."""
    if MOODLE.fullmatch(at[-1]) or GRADESCOPE.fullmatch(at[-1]):
        return False
    inner, _ = told_apart(tree.children(at))
    folders = [name for name, what in inner.items() if what == FOLDER]
    if inner and len(folders) == len(inner):
        return True
    named = [name for name, what in inner.items() if name.lower().endswith(".zip") or sender(name, what == FILE)]
    return len(inner) > 1 and len({*folders, *named}) == len(inner)


def is_export(place: Path, stem: str) -> bool:
    """Whether this is the zip of a class, and not that of its only member."""
    if not place.name.lower().endswith(".zip"):
        return False
    try:
        tree, found = Tree(place), class_of(place, stem)
    except BROKEN:
        return False
    return sum(bool(m.id) or any(holds(tree, p, stem) for p in m.places if p) for m in found.members) > 1


def holds(tree: Tree, at: tuple[str, ...], stem: str) -> bool:
    """Whether the exercise lies there, by its name, or perhaps in a zip."""
    return at[-1].lower().endswith(".zip") or any(name.lower() in wanted(stem) for name, _ in tree.files(at))


def members(tree: Tree, at: tuple[str, ...], boxes: dict[str, str]) -> list[Member]:
    """One for each hand-in; the files of a flat export are put together by whose they are."""
    has_metadata = tree.children(at).get(METADATA, FOLDER) != FOLDER  # a folder of that name is somebody's
    senders, found = gradescope_senders(tree.text((*at, METADATA))) if has_metadata else {}, {}
    for name, what in boxes.items():
        place, flat = (*at, name), sender(name, what == FILE)
        known = flat or senders.get(name)
        of_export = [member(tree, who, place) for who in (known, *known.others)] if known else []
        for made in of_export or by_name(tree, place, what):
            key = known._replace(late=None) if flat else (made.name, made.id, *made.places[0])
            found[key] = joined(found[key], made) if key in found else made
    return list(found.values())


def member(tree: Tree, who: Sender, place: tuple[str, ...], again: bool = False) -> Member:
    time = tree.latest(place) if who.time is None else who.time
    return Member(who.name, who.id, time, [place], who.system, again, who.late)


def joined(one: Member, other: Member) -> Member:
    late = None if one.late is None else one.late or other.late
    return one._replace(time=max(one.time, other.time), places=[*one.places, *other.places], late=late)


def by_name(tree: Tree, place: tuple[str, ...], what: str) -> list[Member]:
    """A hand-in of no export. With a time in its name, or in those of all it holds, it may be one of several."""
    name = bare(place[-1], what)
    inner = told_apart(tree.children(place, SEEN))[0] if what == FOLDER else {}
    times = {one: stamped(bare(one, kind)) for one, kind in inner.items()}
    if 0 < len(times) < SEEN and all(found and not found[0] for found in times.values()):
        return [member(tree, Sender(name, "", found[1]), (*place, one), True) for one, found in times.items()]
    known = stamped(name)
    if known and known[0]:
        return [member(tree, Sender(known[0], "", known[1]), place, True)]
    return [member(tree, Sender(name), place)]


def bare(name: str, what: str) -> str:
    """Who handed in a file: its name without its ending."""
    stem, _, end = name.rpartition(".")
    return stem if what != FOLDER and stem and len(end) <= 6 else name
