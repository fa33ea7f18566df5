"""How large a lesson's experiments are: DLMINI_PROFILE=fast runs every notebook to its end in little time.

rounds = profile.pick(400, 20)          400 for a person who watches, 20 for a test of the lesson
"""

import os
from typing import TypeVar

PROFILES = ("normal", "fast")
T = TypeVar("T")


def chosen() -> str:
    """The profile in force: normal, or fast."""
    name = os.environ.get("DLMINI_PROFILE") or "normal"
    if name not in PROFILES:
        raise ValueError(f"DLMINI_PROFILE={name!r} is unknown; use one of {', '.join(PROFILES)}")
    return name


def fast() -> bool:
    """Is this a quick run, in which only the way matters and not the picture at its end?"""
    return chosen() == "fast"


def pick(normal: T, fast: T) -> T:
    """`normal` for people, `fast` for tests."""
    return fast if chosen() == "fast" else normal
