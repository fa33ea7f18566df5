"""How Moodle, Canvas and Gradescope name what they export.

Moodle      Anna Li_17_assignsubmission_file_ is a folder, or the beginning of a file's name; 17 is the participant
Canvas      doejane_123_456_work.py, or doejane_LATE_123_456_work.py: user and submission; a typed text or a link is
            doejane_123_text.html, doejane_123_link.html. Its files bear the time of the download
Gradescope  submission_12, and submission_metadata.yml, which says whose that is and when it came
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import NamedTuple

MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(file|onlinetext)_?(?P<file>.*)", re.DOTALL)
MOODLE_FOLDER = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_(file|onlinetext)_?", re.DOTALL)
CANVAS = re.compile(
    r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<id>\d+)_(\d+_(?P<file>.+)|(?P<page>(text|link)\.html))", re.DOTALL
)
GRADESCOPE = re.compile(r"submission_\d+")
METADATA = "submission_metadata.yml"
STAMP = re.compile(
    r"(?P<name>.*?)[ _@-]*(?P<day>\d{4}-\d\d-\d\d)"
    r"([T _-](?P<hour>\d\d)[-:.]?(?P<minute>\d\d)([-:.]?\d\d)?)?(?P<zone>Z?)"
)
FIELD = re.compile(r"^[ -]*:(sid|name|created_at):(.*)$", re.MULTILINE)


SUBMITTERS = re.compile(r"^ *:submitters:\n((?:(?: *- | {4,}).*\n?)+)", re.MULTILINE)


class Sender(NamedTuple):
    """Whose a hand-in is, under which id of which system, and when it came (None: look at its files).

    others: with whom it was handed in; late: whether the system says that it came late, None where it tells times.
    """

    name: str
    id: str = ""
    time: float | None = None
    system: str = ""
    others: tuple[Sender, ...] = ()
    late: bool | None = None


def sender(name: str, is_file: bool) -> Sender | None:
    """What a name says that an export has given; None of other names.

    Students choose what they are called, and how they call their files. So of a folder, behind whose number no name of
    a file stands, the last number counts, and of a file the first.
    """
    of_files, of_folders = (("moodle", MOODLE), ("canvas", CANVAS)), (("moodle", MOODLE_FOLDER), ("moodle", MOODLE))
    for system, form in of_files if is_file else of_folders:
        if found := form.fullmatch(name):
            late = bool(found["late"]) if system == "canvas" else None
            return Sender(f"{found['name']}_{found['id']}", found["id"], None, system, (), late)
    return None


def own_name(file: str) -> str:
    """How its sender called a file of a flat export; any other name as it is."""
    found = MOODLE.fullmatch(file) or CANVAS.fullmatch(file)
    return (found and (found["file"] or found.groupdict().get("page"))) or file


def gradescope_senders(text: str) -> dict[str, Sender]:
    """submission_123 -> its sender, from the text of submission_metadata.yml."""
    found, text = {}, text.replace("\r\n", "\n")
    for folder, block in re.findall(r"^(\S+):\n((?:[ ]+.*\n?)+)", text, re.MULTILINE):
        together = SUBMITTERS.search(block)
        people = re.split(r"^ *- ", together[1], flags=re.MULTILINE)[1:] if together else [block]
        time = seconds(fields_of(block).get("created_at", ""))
        first, *others = (submitter(fields_of(part), folder, time) for part in people or [""])
        found[folder] = first._replace(others=tuple(others))
    return found


def submitter(fields: dict[str, str], folder: str, time: float | None) -> Sender:
    return Sender(fields.get("name") or fields.get("sid") or folder, fields.get("sid", ""), time, "gradescope")


def fields_of(block: str) -> dict[str, str]:
    """The first of each name: what came before, the history, stands behind."""
    return {field: unquoted(value.strip()) for field, value in reversed(FIELD.findall(block))}


def unquoted(text: str) -> str:
    """A value of YAML: bare, or in quotes of either kind. A name may hold quotes, and what looks like a field."""
    if len(text) < 2 or text[0] != text[-1] or text[0] not in "'\"":
        return text
    if text[0] == "'":
        return text[1:-1].replace("''", "'")
    try:
        return str(json.loads(text))
    except ValueError:
        return text[1:-1]


def stamped(name: str) -> tuple[str, float] | None:
    """A name with a time at its end, as several hand-ins of one student have: ann_2026-11-03_18-30 -> ann, and when.

    Without a time of day it is the end of that day; with a Z behind it, universal time.
    """
    found = STAMP.fullmatch(name)
    if not found:
        return None
    zone = found["zone"] if found["hour"] else ""
    time = seconds(f"{found['day']} {found['hour'] or '23'}:{found['minute'] or '59'}{zone}")
    return (found["name"], time) if time is not None else None


def seconds(text: str) -> float | None:
    """A date and time, as exports and people write them, in seconds; None if it is none. Without a zone: local time."""
    text = re.sub(r"\s*(Z|UTC)$", "+00:00", re.sub(r"\s+(?=[+-]\d\d:?\d\d$)", "", text.strip()))
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
