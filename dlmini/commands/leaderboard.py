"""`dlmini leaderboard`: entries of the capstone, judged in sandboxes on worlds that nobody has seen."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dlmini.commands.progress import refuse_ignored
from dlmini.terminal import say

SANDBOX = "auto, strict (refuses to go on with anything open), bwrap, rlimit or none"
EXERCISE = "17_capstone"
PARTS = ("recipe", "say", "hear", "mixing")


def leaderboard(
    context: typer.Context,
    submissions: Annotated[Path | None, typer.Argument(help="a folder or zip of entries, as for grading")] = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="where page and tables go")] = Path("leaderboard"),
    worlds: Annotated[int, typer.Option(min=1, max=24, help="how many; kinds take turns")] = 4,
    secret: Annotated[Path | None, typer.Option(help="the secret.txt of another board, for the same worlds")] = None,
    sandbox: Annotated[str, typer.Option(help=SANDBOX)] = "auto",
    replay: Annotated[str, typer.Option(help="an entry of this board: judge it again, and compare")] = "",
    resume: Annotated[
        bool, typer.Option("--resume", help="go on: who was judged in these worlds is not again")
    ] = False,
) -> None:
    """Race entries of lesson 17 under budgets, and write who is in front. Without submissions: the three references."""
    from dlmini.grade.folders import BOARD, refuse_mixing
    from dlmini.grade.protections import demand, protections
    from dlmini.grade.sandbox.child_processes import be_private
    from dlmini.grade.sandbox.levels import choose
    from dlmini.grade.secret import secret_in
    from dlmini.leaderboard.kept import known
    from dlmini.leaderboard.page import write_board
    from dlmini.leaderboard.race import race, references
    from dlmini.leaderboard.worlds import draw

    if replay and (resume or submissions):
        raise ValueError(
            "--replay judges an entry of the board again, and nothing else; leave submissions and --resume out"
        )
    if replay:
        refuse_ignored(context, ("worlds", "secret"), "--replay takes the worlds of the board, so {}; leave it out")
    refuse_mixing(out, [submissions] if submissions else [], BOARD)
    held = choose(sandbox)
    if sandbox == "strict":
        demand(protections(held), held.name)
    be_private()
    if replay:
        return replayed(out, replay, held)
    if resume and not (out / "secret.txt").is_file():
        raise ValueError(
            f"--resume goes on with the race in {out}, and there is none; leave it out, or name its folder"
        )
    entries = references() + (handed_in(submissions) if submissions else [])
    drawn = draw(secret_in(out, secret), worlds)
    if held.warning:
        say(f"[yellow]{held.warning}[/]")
    before = partial(known, out, drawn) if resume else lambda _: None
    results = race(entries, drawn, held, show, partial(write_board, out), before)
    for place, result in enumerate(results, 1):
        remark = f"  ({plain(result.why)})" if result.why else ""
        say(f"{place:3}  {result.score:.2%}  {plain(result.entry.name)}{remark}")
    say(f"written: {out / 'leaderboard.html'}, leaderboard.csv, entries/; the worlds' secret is {out / 'secret.txt'}")
    return None


def handed_in(folder: Path) -> list:
    from dlmini.grade.submissions.collect import collect
    from dlmini.leaderboard.race import REFERENCES, Entry

    found = collect(folder, EXERCISE, PARTS)
    names = [f"{one.name} (handed in)" if one.name in REFERENCES else one.name for one in found]
    return [Entry(name, one.source, one.problem) for name, one in zip(names, found, strict=True)]


def show(name: str, trial) -> None:
    used = trial.counted
    spent = f"{used.megabytes:7.2f} MB {used.seconds:6.2f} s"
    say(f"  {plain(f'{name:20.20}')}  {trial.world:8} {trial.accuracy:6.1%}  {spent}  {plain(trial.why)}")


def replayed(out: Path, name: str, held) -> None:
    """Judge an entry of a board again: every number must come out as before."""
    import json

    from dlmini.grade.secret import read
    from dlmini.leaderboard.kept import kept_file, read_kept, source_of
    from dlmini.leaderboard.page import made_with
    from dlmini.leaderboard.race import Entry, Result, one_trial
    from dlmini.leaderboard.worlds import draw

    file = kept_file(out, name)
    if not file.is_file():
        raise ValueError(f"{out} holds no entry {name!r}; its entries are in {out / 'entries'}")
    before = read_kept(file)
    source, trials = source_of(file, before), [{"broken": False, **trial} for trial in before["trials"]]
    drawn, entry = draw(read(out / "secret.txt"), len(trials)), Entry(name, source, before["problem"])
    result = Result(entry, tuple(one_trial(entry, world, held) for world in drawn))
    again = json.loads(json.dumps([trial.as_dict() for trial in result.trials]))
    if again != trials:
        now = f"{name} came to {result.score!r} now, and to {before['score']!r} before"
        if before["made_with"] not in (None, made_with()):
            why = f"it was judged with {before['made_with']}, and here is {made_with()}"
            raise ValueError(f"{now}: {why}, whose sums differ in their last digits; replay it where it was judged")
        raise ValueError(f"{now}: it is not repeatable")
    say(f"{plain(name)}: {result.score!r}, as before, in {len(drawn)} worlds")


def plain(text: str) -> str:
    """Without what a terminal would take for marks."""
    from rich.markup import escape

    return escape(text)
