"""`dlmini update`, `dlmini changes`: a student's own folder, brought up to date; and what they have written in it."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from pathlib import Path

import typer

from dlmini.course import folder
from dlmini.course.updating import BEFORE, Update, changes
from dlmini.course.work import current
from dlmini.terminal import console, say


def update() -> None:
    """Make your own folder of the course, or bring it up to date. Nothing that you wrote is lost."""
    course = brought()
    if course.update == Update():
        say(f"{course.root} is up to date.")
    if course.update.refused:
        raise typer.Exit(1)


def brought() -> folder.Course:
    """The course folder; says what became of its files."""
    course = folder.opened(current())
    for sentence in told(course):
        say(sentence)
    return course


def told(course: folder.Course):
    """What an update did, in sentences."""
    done, private = course.update, Path(".dlmini") / BEFORE
    if done.new:
        yield f"{files(done.new)} of the course are now in {course.root}: this folder is yours."
    if done.updated:
        yield f"{files(done.updated)} that you had not changed are now as new: {listed(done.updated)}."
    if done.merged:
        yield (
            f"{files(done.merged)} that you had changed now have what is new as well: {listed(done.merged)}. Yours, as "
            f"before, in {course.root / private}."
        )
    for name, new in done.beside.items():
        yield f"{name} was changed by you and by the course in one place: yours stays, the new one is {new.name}."
    if done.kept:
        yield f"{files(done.kept)} were there already, and were left as they are: {listed(done.kept)}."

    if done.refused:
        yield (
            f"{files(done.refused)} could not be brought up to date, and yours stayed as they are: "
            f"{listed(done.refused)}. {next(iter(done.refused.values()))}"
        )


def files(names: Collection[Path]) -> str:
    return f"{len(names)} file" + "s" * (len(names) != 1)


def listed(names: Collection[Path]) -> str:
    """The first few."""
    return ", ".join(name.name for name in islice(names, 6)) + (" ..." if len(names) > 6 else "")


def show_changes() -> None:
    """Show what you have changed in your folder since its files were handed out to you."""
    root = folder.chosen(current())
    if not folder.is_course(root):
        raise FileNotFoundError(f"{root} is no course folder; `dlmini update` makes one")
    found = changes(root)
    for name, lines in found.items():
        console.print(f"[bold]{name}[/bold]", highlight=False)
        for line in lines:
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    if not found:
        say(f"Nothing in {root} differs from what was handed out.")
