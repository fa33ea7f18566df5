"""How Moodle, Canvas and Gradescope name what they export.

Moodle      Anna Li_17_assignsubmission_file_ is a folder, or the beginning of a file's name; 17 is the participant
Canvas      doejane_123_456_work.py, or doejane_LATE_123_456_work.py: user and submission
Gradescope  submission_12, and submission_metadata.yml, which says whose that is and when it came
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

MOODLE = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_(file|onlinetext)_?(?P<file>.*)")
CANVAS = re.compile(r"(?P<name>[^_]+)_(LATE_)?(?P<id>\d+)_\d+_(?P<file>.+)")
GRADESCOPE = re.compile(r"submission_\d+")
METADATA = "submission_metadata.yml"
FIELD = re.compile(r":(sid|name|created_at):[ ]*['\"]?([^'\"\n]+)")


class Sender(NamedTuple):
    """Whose a hand-in is, under which id, and when it came (None: look at its files)."""

    name: str
    id: str = ""
    time: float | None = None


def sender(name: str, is_file: bool) -> Sender | None:
    """What a name says that an export has given; None of other names."""
    found = MOODLE.fullmatch(name) or (CANVAS.fullmatch(name) if is_file else None)
    return Sender(f"{found['name']}_{found['id']}", found["id"]) if found else None


def gradescope_senders(text: str) -> dict[str, Sender]:
    """submission_123 -> its sender, from the text of submission_metadata.yml."""
    found = {}
    for folder, block in re.findall(r"^(\S+):\n((?:[ ]+.*\n?)+)", text, re.MULTILINE):
        fields = {}
        for field, value in FIELD.findall(block):
            fields.setdefault(field, value.strip())  # the first submitter; and not what came before, the history
        name = fields.get("name") or fields.get("sid") or folder
        found[folder] = Sender(name, fields.get("sid", ""), seconds(fields.get("created_at", "")))
    return found


def seconds(text: str) -> float | None:
    """A date and time, as exports and people write them, in seconds; None if it is none. Without a zone: local time."""
    text = text.strip().removesuffix(" UTC") + "+00:00" * text.strip().endswith(" UTC")
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
