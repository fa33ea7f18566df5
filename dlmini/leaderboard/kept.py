"""What a board has kept of an entry: to go on with a race that was ended, and to judge an entry again."""

from __future__ import annotations

import json
from pathlib import Path

from dlmini.grade.reading.names import slug
from dlmini.leaderboard.judge import Look, Trial
from dlmini.leaderboard.page import digest, made_with
from dlmini.leaderboard.race import Entry, Result
from dlmini.leaderboard.worlds import World


def kept_file(out: Path, name: str) -> Path:
    return out / "entries" / f"{slug(name)}.json"


def read_kept(file: Path) -> dict:
    """score, problem, trials; text: by which its source is known again; made_with: what computed it. None on boards
    that did not write these down."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        for told in found["trials"]:
            trial_of(told, {})
        return {
            "text": None,
            "made_with": None,
            **{name: found[name] for name in ("score", "problem", "trials")},
            **found,
        }
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{file} is damaged, or no entry of a board ({error}); race anew into another folder"
        ) from error


def source_of(file: Path, kept: dict) -> str | None:
    """The text that was judged; a sentence if another one lies there now. None: nothing was handed in."""
    source = file.with_suffix(".py").read_bytes().decode()
    if kept["text"] is None:
        return source or None
    source = source if kept["text"] else None
    if digest(source) != kept["text"]:
        raise ValueError(f"{file.with_suffix('.py')} is not the text that was judged; put that back, or race anew")
    return source


def known(out: Path, worlds: list[World], entry: Entry) -> Result | None:
    """What this very text came to in these very worlds, if all of it was judged, and with what is here now."""
    file = kept_file(out, entry.name)
    if not file.is_file():
        return None
    kept = read_kept(file)
    same = kept["text"] == digest(entry.source) and kept["problem"] == entry.problem
    seeds = [(trial["world"], trial["seed"]) for trial in kept["trials"]]
    if not same or kept["made_with"] != made_with() or seeds != [(world.kind, world.seed) for world in worlds]:
        return None
    trials = tuple(trial_of(told, world.terms.as_dict()) for told, world in zip(kept["trials"], worlds, strict=True))
    return None if any(trial.broken for trial in trials) else Result(entry, trials)


def trial_of(told: dict, terms: dict) -> Trial:
    looks = tuple(Look(**look) for look in told["looks"])
    return Trial(told["world"], told["seed"], told["legend"], looks, told["why"], terms, told.get("broken", False))
