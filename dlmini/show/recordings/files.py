"""A recording as a file: JSON lines under gzip. The first line says what it is, each further one is a run.

Nothing in it is ever executed, and it may not unfold to more than LIMIT bytes: a file from anywhere can be opened.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Sequence
from pathlib import Path

from dlmini.events import Round
from dlmini.files import write_bytes
from dlmini.show.recordings.columns import packed, unpacked
from dlmini.show.recordings.recorded import Recorded

FORMAT, VERSION, ENDING = "dlmini recording", 1, ".jsonl.gz"
LIMIT = 20_000_000  # bytes; the shipped ones have a few hundred thousand


def write(file: Path, runs: Sequence[Recorded]) -> Path:
    """The same runs give the same bytes."""
    rows = [{"format": FORMAT, "version": VERSION}, *map(row_of, runs)]
    lines = (json.dumps(row, separators=(",", ":"), ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    return write_bytes(file, gzip.compress("".join(lines).encode(), 9, mtime=0))


def row_of(run: Recorded) -> dict:
    """`facts` in full: they are what a replay has to come to."""
    said = {"label": run.label, "end": run.end, "doubts": list(run.doubts), "facts": run.facts}
    return {**said, "marks": [[round(at, 6), words] for at, words in run.marks], **packed(run.events)}


def read_runs(file: Path) -> list[Recorded]:
    """The runs of a file, or a sentence about what is wrong with it."""
    try:
        head, *rows = map(json.loads, unfolded(file).decode().splitlines())
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise ValueError(f"{file.name} is no recording, or not all of it is here ({error}); copy it again") from error
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise ValueError(f"{file.name} is no recording of dlmini: its first line does not say {FORMAT!r}")
    if head.get("version") != VERSION:
        raise ValueError(f"{file.name} has version {head.get('version')}, this dlmini reads {VERSION}; update dlmini")
    try:
        runs = [run_of(row) for row in rows]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ValueError(f"{file.name} is damaged: a run in it cannot be read ({error!r}); copy it again") from error
    if not runs:
        raise ValueError(f"{file.name} holds no run; `dlmini course record` makes recordings")
    return runs


def unfolded(file: Path) -> bytes:
    with gzip.open(file) as stream:
        found = stream.read(LIMIT + 1)
    if len(found) > LIMIT:
        raise ValueError(f"it unfolds to more than {LIMIT:,} bytes")
    return found


def run_of(row: dict) -> Recorded:
    events = unpacked(row)
    if not any(isinstance(event, Round) for event in events):
        raise ValueError("no round was recorded")
    marks = [(float(at), {str(rank): str(word) for rank, word in words.items()}) for at, words in row["marks"]]
    kind, text = row["end"]
    facts = {**row["facts"], "staleness": [tuple(pair) for pair in row["facts"]["staleness"]]}
    run = Recorded(str(row["label"]), events, marks, list(map(str, row["doubts"])), (str(kind), str(text)), facts)
    run.board().take(events)  # better now than when somebody has pressed Start
    return run
