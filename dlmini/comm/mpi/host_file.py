"""Host files: the machines of a room or cluster, one on a line, as Open MPI has them.

# name or address    how many ranks
pc-1                 slots=2
pc-2:2
pc-3
"""

from __future__ import annotations

import re
from pathlib import Path

LINE = re.compile(r"(?P<name>[\w][\w.-]*)(?::(?P<ranks>\d+))?(?P<words>(?:\s+\w+=\S+)*)")


def read_hosts(file: str | Path) -> tuple[str, ...]:
    """`name` or `name:ranks` of each, as `Mpi(hosts=...)` wants them. A ValueError says which line is no host."""
    found: dict[str, str] = {}
    for number, line in enumerate(Path(file).read_text(encoding="utf-8").splitlines(), 1):
        text = line.split("#")[0].strip()
        if not text:
            continue
        match = LINE.fullmatch(text)
        if match is None:
            raise ValueError(f"{file}, line {number}: {text!r} is no host; write `name`, `name:4` or `name slots=4`")
        if match["name"] in found:
            raise ValueError(f"{file}, line {number}: {match['name']} stands there twice; write {match['name']}:2")
        slots = re.search(r"\bslots=(\d+)", match["words"])
        ranks = match["ranks"] or (slots and slots[1])
        found[match["name"]] = f"{match['name']}:{ranks}" if ranks else match["name"]
    if not found:
        raise ValueError(f"{file} names no host; write one on each line: a name or an address")
    return tuple(found.values())
