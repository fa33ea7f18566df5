"""How a class was asked to be graded: options.json in the folder of grades, so that going on asks for the same.

Whoever goes on names what changes and nothing else; a deadline or a roster that was not named again must not vanish.
"""

from __future__ import annotations

import json
from pathlib import Path

from dlmini.files import write_text

NAME = "options.json"


def keep_options(out: Path, options: dict) -> None:
    write_text(out / NAME, json.dumps(options, ensure_ascii=False, indent=1) + "\n")


def options_before(out: Path) -> dict:
    """Empty where there are none."""
    file = out / NAME
    if not file.exists():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise ValueError(f"{file} is damaged; remove it, and give --roster, --due and the like anew") from error
    if not isinstance(found, dict):
        raise ValueError(f"{file} is damaged; remove it, and give --roster, --due and the like anew")
    return found
