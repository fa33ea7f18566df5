"""`dlmini grade`, `dlmini check`, `dlmini gradescope-zip`: for those who grade and those who are graded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from dlmini.commands.progress import refuse_ignored
from dlmini.terminal import console, display, say

OF_A_CLASS = ("resume", "again", "roster", "due", "late", "late_most", "take", "secret", "gradescope")  # not of --demo
ASKED = ("roster", "due", "late", "late_most", "take")  # which stay when somebody goes on
SANDBOX = "auto, strict (refuses to go on with anything open), bwrap, rlimit or none"


def grade(
    context: typer.Context,
    lesson: Annotated[str | None, typer.Argument(help="its number, such as 04")] = None,
    submissions: Annotated[
        list[Path] | None,
        typer.Argument(help="folders or zips: folders, zips, exports of Gradescope, Moodle or Canvas"),
    ] = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="folder for grades and reports")] = Path("grades"),
    jobs: Annotated[int, typer.Option(min=1, help="submissions at a time")] = max(1, (os.cpu_count() or 2) // 2),
    resume: Annotated[bool, typer.Option(help="go on with what is in the folder")] = False,
    again: Annotated[
        list[str] | None, typer.Option(help="grade again: a student, a function or a test; all else stays")
    ] = None,
    roster: Annotated[Path | None, typer.Option(help="a CSV of all students; who has not handed in is absent")] = None,
    due: Annotated[str | None, typer.Option(help="the deadline, as 2026-11-20 23:59")] = None,
    late: Annotated[float, typer.Option(help="per cent of the points lost for each day that has begun")] = 10.0,
    late_most: Annotated[float, typer.Option(help="the most that is lost, in per cent")] = 100.0,
    take: Annotated[str, typer.Option(help="of several hand-ins: latest or best")] = "latest",
    secret: Annotated[Path | None, typer.Option(help="the secret.txt of another run, to draw the same inputs")] = None,
    sandbox: Annotated[str, typer.Option(help=SANDBOX)] = "auto",
    gradescope: Annotated[Path | None, typer.Option(help="write a single submission's results.json here")] = None,
    demo: Annotated[bool, typer.Option(help="make a class of thirty and grade it, to see what comes of it")] = False,
    i_trust_submissions: Annotated[bool, typer.Option(help="grade even where nothing holds them")] = False,
) -> None:
    """Grade all submissions of a lesson. A student's code runs in processes of its own, held by the sandbox."""
    from dlmini.grade.class_run import Wishes
    from dlmini.grade.folders import GRADES, refuse_mixing
    from dlmini.grade.gradebook.deadline import deadline
    from dlmini.grade.lesson import find_lesson

    if demo:
        refuse_with_demo(context, lesson)
        return show_demo(out, jobs, sandbox, i_trust_submissions)
    if not lesson or not submissions:
        raise ValueError("name a lesson and a folder or zip: dlmini grade 04 submissions/; or try dlmini grade --demo")
    refuse_mixing(out, [] if gradescope else submissions, GRADES)  # of a single submission all files are its student's
    asked = {"roster": roster and str(roster.absolute()), "due": due, "late": late}
    asked |= {"late_most": late_most, "take": take}
    if resume or again:
        asked |= as_before(context, out)
    if asked["due"] is None:
        refuse_ignored(context, ("late", "late_most"), "nobody is late without a deadline, so {}; add --due")
    task = find_lesson(lesson)
    wishes = Wishes(
        *(jobs, resume, secret, given(task.file), gradescope is not None, asked["roster"] and Path(asked["roster"])),
        *(deadline(asked["due"], asked["late"], asked["late_most"]), asked["take"], tuple(again or ()), asked),
    )
    class_ = graded(task, submissions, out, wishes, *holding(task, sandbox, i_trust_submissions))
    if gradescope is not None:
        write_results(gradescope, class_)
    return None


def as_before(context: typer.Context, out: Path) -> dict:
    """Options of this folder's last run that are not given now. They are said."""
    from dlmini.grade.gradebook.options import options_before

    found = {
        name: value
        for name, value in options_before(out).items()
        if name in ASKED and value is not None and context.get_parameter_source(name).name != "COMMANDLINE"
    }
    if "due" not in found and context.get_parameter_source("due").name != "COMMANDLINE":
        found = {name: value for name, value in found.items() if name not in ("late", "late_most")}
    if found:
        said = " ".join(f"--{name.replace('_', '-')} {value!r}" for name, value in found.items())
        console.print(f"as before: {said}", markup=False, highlight=False)
    return found


def holding(task, sandbox: str, trusted: bool) -> tuple:
    """What holds submissions, tried out and said: a level of the sandbox, and what is closed."""
    from dlmini.grade.protections import demand, protections
    from dlmini.grade.sandbox import levels
    from dlmini.grade.sandbox.child_processes import be_private

    level = levels.choose(sandbox)
    if level.name == "none" and not trusted:
        raise ValueError(f"{level.warning} Add --i-trust-submissions to go on nevertheless.")
    be_private()
    say(f"sandbox: {level.name}" + (f" [yellow]warning: {level.warning}[/]" if level.warning else ""))
    held = protections(level, task.limits)
    say(f"{held}")
    if sandbox == "strict":
        demand(held, level.name)
    return level, held


def graded(task, roots: list[Path], out: Path, wishes, level, held) -> list:
    """Grade submissions, and show what came of it."""
    from dlmini.grade.class_run import grade_class

    doubts = []
    with display() as progress:

        def begun(total: int):
            bar = progress.add_task(task.name, total=total)
            return lambda graded, verdict: progress.advance(bar)

        class_ = grade_class(task, roots, out, level, wishes, begun, str(held), doubts.append)
    shown(class_, task)
    for sentence in doubts:
        console.print(f"warning: {sentence}", markup=False, style="yellow", highlight=False)
    say(f"reports in {out}: index.html, grades.csv, tests.csv, junit.xml; grader/ for you, students/ to hand out,")
    places = "uploads/ and gradescope/" if (out / "uploads").exists() else "gradescope/"
    say(f"{places} to upload; marks.csv for marks and comments by hand (then --resume)")
    return class_


def refuse_with_demo(context: typer.Context, lesson: str | None) -> None:
    """The demonstration brings its lesson, its class and its deadline."""
    why = "--demo grades a class and a lesson of its own, so {}; leave --demo out to grade yours"
    if lesson is not None:
        raise ValueError(why.format(f"{lesson} would have no effect"))
    refuse_ignored(context, OF_A_CLASS, why)


def show_demo(out: Path, jobs: int, sandbox: str, trusted: bool = False) -> None:
    """Make a class, and grade it as any other."""
    from dlmini.grade.demo.class_of_thirty import make_class
    from dlmini.grade.demo.lesson import lesson

    out = Path("grades-demo") if out == Path("grades") else out
    folder, held = out / "class", holding(lesson, sandbox, trusted)
    wishes = make_class(folder, jobs)
    say(f"a class of thirty is in {folder}, its roster in {wishes.roster}")
    graded(lesson, [folder], out, wishes, *held)


def write_results(file: Path, class_: list) -> None:
    """results.json of the only submission there is."""
    from dlmini.grade.reports import gradescope
    from dlmini.grade.reports.atomic import write

    if len(class_) != 1:
        raise ValueError(f"--gradescope is for one submission, and there are {len(class_)}")
    write(file, gradescope.text(class_[0]))


def shown(class_: list, task) -> None:
    """Scores on the screen; and what is not final."""
    for graded in class_[:40]:
        late = "" if graded.complete else "   [yellow]not final: the grader failed; run again with --resume[/]"
        late = "   [dim]absent[/]" if graded.absent else late
        console.print(f"{graded.score:6g} of {task.points:g}  ", end="", highlight=False)
        console.print(graded.name, markup=False, highlight=False, end="")
        say(late)
    if len(class_) > 40:
        say(f"... and {len(class_) - 40} more")


def given(file: str) -> str:
    """The exercise as students got it, so that it does not count as similarity."""
    import dlmini
    from dlmini.grade.reading.source_text import text_of

    house = Path(dlmini.__file__).resolve().parent
    for folder in (house.parent / "exercises", house / "course" / "carried" / "exercises"):
        if (folder / file).is_file():
            return text_of((folder / file).read_bytes(), file)
    return ""


def check(
    exercise: Annotated[str, typer.Argument(help="04, or one function of it: 04.ring_allgather")],
    seed: Annotated[int, typer.Option(help="replays a failure")] = 0,
    folder: Annotated[Path | None, typer.Option(help="where your exercises are")] = None,
) -> None:
    """Check your own exercise with the public tests. Exit code 1 if something is missing."""
    from dlmini.course.check import check as look

    report = look(exercise, seed, folder)
    console.print(repr(report), markup=False, highlight=False, soft_wrap=True)
    if not report:
        raise typer.Exit(1)


def gradescope_zip(
    lesson: Annotated[str, typer.Argument(help="its number, such as 04")],
    out: Annotated[Path | None, typer.Option("-o", "--out", help="the zip; by default autograder_NN.zip")] = None,
    secret: Annotated[Path | None, typer.Option(help="the secret.txt of another run, to draw the same inputs")] = None,
) -> None:
    """Make the autograder bundle of a lesson for Gradescope. It holds a secret: keep it from students."""
    from dlmini.grade.gradescope_bundle import make
    from dlmini.grade.lesson import find_lesson

    task = find_lesson(lesson)
    say(f"written: {make(task, out or Path(f'autograder_{task.number}.zip'), secret)}")
