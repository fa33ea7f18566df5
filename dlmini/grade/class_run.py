"""A whole class: collect what was handed in, grade what counts, settle the marks, write the reports."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dlmini import checks
from dlmini.grade.batch import Grading, grade_all
from dlmini.grade.gradebook.deadline import Deadline
from dlmini.grade.gradebook.marks import Mark, keep_rows, read_marks
from dlmini.grade.gradebook.options import keep_options
from dlmini.grade.gradebook.people import Person, claimed, people, told
from dlmini.grade.gradebook.roster import read_roster
from dlmini.grade.gradebook.tables import is_number
from dlmini.grade.journal import Journal, terms_of
from dlmini.grade.lesson import Lesson
from dlmini.grade.reports.all import write_all
from dlmini.grade.secret import secret_in
from dlmini.grade.submissions.collect import collect_class
from dlmini.grade.verdict import Graded

LATEST, BEST = "latest", "best"
MARKS = "marks.csv"


@dataclass(frozen=True)
class Wishes:
    """How a class is to be graded.

    secret: a file with the secret to draw inputs from, if it is not to be a new one; given: the exercise as handed out,
    which does not count as similarity; one: whatever is there is one submission; roster: a CSV of all students;
    take: which of several hand-ins counts, the latest or the best; again: names of students, functions or tests that
    are to be graded again; asked: the options that whoever goes on with the folder need not give again.
    """

    jobs: int = 1
    resume: bool = False
    secret: Path | None = None
    given: str = ""
    one: bool = False
    roster: Path | None = None
    deadline: Deadline | None = None
    take: str = LATEST
    again: tuple[str, ...] = ()
    asked: dict | None = None

    def __post_init__(self):
        checks.word(self.take, "take", (LATEST, BEST))


def grade_class(
    lesson: Lesson,
    roots: list[Path],
    out: Path,
    sandbox,
    wishes: Wishes | None = None,
    begun: Callable[[int], Callable] | None = None,
    held: str = "",
    warn: Callable[[str], None] = lambda sentence: None,
) -> list[Graded]:
    """Grade all submissions under the roots into `out`.

    begun: is told how many tests come, and what it returns is told of each; held: a sentence about what holds
    submissions, for the reports; warn: is told what a person should look at, which is in the reports, too.
    """
    wishes = wishes or Wishes()
    marks = read_marks(out / MARKS)  # before the work: what is wrong in it can be mended now
    roster = read_roster(wishes.roster) if wishes.roster else None
    submissions, stray = collect_class(roots, lesson.name, lesson.tasks(), wishes.one, wishes.jobs, out)
    persons = people(submissions, roster)
    marks, nobodys = claimed(marks, persons)
    chosen = [one for person in persons for one in counting(person, wishes.take)]
    secret = secret_in(out, wishes.secret)
    journal = Journal(out / "journal.jsonl", terms_of(lesson, secret), wishes.resume or bool(wishes.again))
    try:
        refuse_others(journal, chosen, out)
        forget(journal, wishes.again, lesson, persons)
        if wishes.asked is not None:
            keep_options(out, wishes.asked)
        told = begun(len(chosen) * len(lesson.tests)) if begun else None
        found = grade_all(Grading(lesson, sandbox, secret, journal), chosen, wishes.jobs, told)
        class_ = settled(persons, found, wishes, marks)
        keep_rows(out / MARKS, [graded.name for graded in class_])
        doubts = [*doubtful(nobodys, class_, lesson.points), *overlooked(class_, lesson.points, wishes.deadline)]
        for sentence in doubts:
            warn(sentence)
        write_all(out, lesson, class_, sandbox, wishes, stray, held, doubts)
    finally:
        journal.close()  # and with it the folder, for other runs
    return class_


def refuse_others(journal: Journal, chosen: list, out: Path) -> None:
    """Going on in the folder of another class would replace its grades. A number behind a name may be another one."""

    def bare(name: str) -> str:
        return re.sub(r"(_\d+| \(.*\))$", "", name)

    known = {bare(name): name for name, _, _ in journal.known}
    if known and not known.keys() & {bare(one.name) for one in chosen}:
        some = ", ".join(sorted(known.values())[:3])
        raise ValueError(
            f"{out} holds grades of others ({some}), and of nobody who has handed in here; name another folder"
        )


def doubtful(nobodys: list[str], class_: list[Graded], most: float) -> list[str]:
    """Marks by hand that are perhaps not what was meant."""
    found = [f"{MARKS} says something about {name}, who is not in this class: nobody has it" for name in nobodys]
    many = [graded for graded in class_ if graded.score > most and graded.mark != Mark()]
    return found + [f"{g.name} has {g.score:g} of {most:g} points by what {MARKS} says" for g in many]


def overlooked(class_: list[Graded], most: float, deadline: Deadline | None) -> list[str]:
    """What the roster says and grading does not follow."""
    students = [graded.person.student for graded in class_ if graded.person.student]
    late = deadline is None and any(student.due is not None for student in students)
    found = ["the roster has deadlines, but without --due nobody is late"] if late else []
    marked = [g.name for g in class_ if g.submission.late and not told(g.submission, g.person)]
    if marked:
        cost = "nobody is late without --due" if deadline is None else "each has lost what one day costs"
        found.append(
            f"Canvas says of {some_of(marked)} that they came late, and not by how much: {cost}; "
            "write times into a column `submitted` of the roster"
        )
    unknown = [graded.name for graded in class_ if graded.person.listed and not graded.person.student]
    if unknown:
        found.append(f"on the roster is nobody, or more than one, by whose name or id these came: {some_of(unknown)}")
    others = {float(text) for s in students if is_number(text := s.row.get("Maximum Grade") or "")} - {most}
    return found + [
        f"in Moodle {other:g} points can be had, here {most:g}, and uploads/moodle.csv has the points of here: "
        f"set the maximum grade to {most:g} in Moodle before you upload it"
        for other in sorted(others)
    ]


def some_of(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def counting(person: Person, take: str) -> list:
    """The hand-ins that are graded: all, if the best counts."""
    return person.handed_in() if take == BEST else person.handed_in()[-1:]


def settled(persons: list[Person], found: list[Graded], wishes: Wishes, marks: dict[str, Mark]) -> list[Graded]:
    """One result for each person: of the hand-in that counts, less what being late costs, with marks by hand."""
    by_name = {graded.submission.name: graded for graded in found}
    class_ = []
    for person in persons:
        tried = [by_name[one.name] for one in counting(person, wishes.take)]
        for graded in tried:
            graded.person = person
            graded.late = lateness(graded, person, wishes.deadline)
        best = max(tried, key=lambda graded: (graded.raw - graded.penalty, tried.index(graded)))
        best.mark = marks.get(person.name, Mark())
        class_.append(best)
    return class_


def lateness(graded: Graded, person: Person, deadline: Deadline | None) -> float:
    if deadline is None or graded.absent:
        return 0.0
    came, late = told(graded.submission, person), graded.submission.late
    if late and not came:  # and nobody says by how much
        return deadline.share(deadline.due + 1.0)
    return deadline.share(came, person.student.due if person.student else None)


def forget(journal: Journal, again: tuple[str, ...], lesson: Lesson, persons: list[Person]) -> None:
    """Strike out what is to be graded again: all tests of a student, or all students' tests of a function."""
    for word in again:
        tests = [t.name for t in lesson.tests if word in (t.task, t.name)]
        names = [a.name for p in persons for a in p.handed_in() if word in (p.name, p.id, a.name, a.person)]
        if not tests and not names:
            raise ValueError(f"--again {word}: there is no student, function or test of that name")
        journal.strike(names, tests)
