"""`dlmini course build | check | strip | record | book | slides`: for those who write lessons, and give them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from dlmini.course import folder
from dlmini.terminal import say

course = typer.Typer(no_args_is_help=True, help="For authors: notebooks from lessons, exercises from solutions.")


@course.command("build")
def build_command() -> None:
    """Make all notebooks from course/*.md."""
    from dlmini.course.build import build

    report(build(clone()), "notebooks")


@course.command("strip")
def strip_command(force: Annotated[bool, typer.Option(help="overwrite work done in exercises")] = False) -> None:
    """Make all exercises from solutions/*.py by cutting the marked regions."""
    from dlmini.course.build import cut

    report(cut(clone(), force), "exercises")


@course.command("check")
def check_command() -> None:
    """Are notebooks and exercises what their sources make of them, without outputs? Exit code 1 if not."""
    from dlmini.course.build import problems

    found = problems(clone())
    for sentence in found:
        say(sentence)
    if found:
        raise typer.Exit(1)
    say("notebooks and exercises are what their sources make of them")


@course.command("record")
def record_command(
    lessons: Annotated[list[str] | None, typer.Argument(help="such as 03 06; all by default")] = None,
    into: Annotated[Path | None, typer.Option(help="a folder of your own, in the place of the package's")] = None,
) -> None:
    """Make the recordings of the lessons' live experiments again. Those of 03 and 06 show the machine they ran on."""
    from dlmini.show.recordings.files import ENDING
    from dlmini.show.recordings.making import meant, record
    from dlmini.show.recordings.shipped import shipped_file

    names = meant(lessons)
    if into is None:
        clone()  # nobody writes into an installed package
    else:
        into.mkdir(parents=True, exist_ok=True)
    for name in names:
        place = into / f"{name}{ENDING}" if into else shipped_file(name)
        file = record(name, place, lambda run: say(f"{run.label}: {run.end[1]}"))
        say(f"written: {file.name}, {file.stat().st_size:,} bytes")


@course.command("book")
def book_command(
    into: Annotated[Path, typer.Argument(metavar="FOLDER", help="where the pages go")] = Path("build/book"),
    run: Annotated[bool, typer.Option(help="with what every cell leaves; kept in FOLDER for the next time")] = True,
    profile: Annotated[str, typer.Option(help="fast, or normal: experiments as large as in class")] = "fast",
    one_file: Annotated[bool, typer.Option(help="book.html too: all lessons in one, to print")] = False,
) -> None:
    """The whole course as HTML pages, to read and print without network or kernel."""
    from dlmini.course.book.bind import bind

    check_profile(profile)
    failures = bind(folder.texts(), into, run, profile, one_file, lambda said: say(escape(said)))
    say(f"open {into / 'index.html'}")
    if failures:
        say(f"{len(failures)} of the lessons did not reach their end: {escape('; '.join(failures))}")
        raise typer.Exit(1)


@course.command("slides")
def slides_command(
    only: Annotated[list[str], typer.Argument(metavar="LESSON...", help="such as 04, or 03 04; all for all of them")],
    into: Annotated[Path, typer.Option(metavar="FOLDER", help="where the pages go")] = Path("build/slides"),
    profile: Annotated[str, typer.Option(help="normal: experiments as large as in class, or fast")] = "normal",
) -> None:
    """A lesson's questions and figures as slides: one page of plain HTML, for a browser without network."""
    from dlmini.course import lessons
    from dlmini.course.book.bind import slides

    check_profile(profile)
    known = [it.name for it in lessons.written(folder.texts() / "course")]
    names = known if only == ["all"] else [called(word, known) for word in only]
    failures = slides(folder.texts(), into, names, profile, lambda said: say(escape(said)))
    if failures:
        say(f"{len(failures)} of the lessons did not reach their end: {escape('; '.join(failures))}")
        raise typer.Exit(1)


def called(word: str, known: list[str]) -> str:
    """The lesson of that number or name."""
    found = [name for name in known if word in (name, name[:2])]
    if not found:
        raise ValueError(
            f"there is no lesson {word!r}; give numbers such as 04: here are {known[0][:2]} to {known[-1][:2]}"
        )
    return found[0]


def check_profile(profile: str) -> None:
    from dlmini.profile import PROFILES

    if profile not in PROFILES:
        raise ValueError(f"--profile={profile!r} is unknown; use one of {', '.join(PROFILES)}")


def clone() -> Path:
    root = folder.clone()
    if root is None:
        raise FileNotFoundError("this is an installed package, without course/ and solutions/; work in a clone instead")
    return root


def report(changed: list[Path], what: str) -> None:
    for file in changed:
        say(f"written: {file.parent.name}/{file.name}")
    if not changed:
        say(f"all {what} were up to date")
