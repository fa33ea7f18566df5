"""The page of a class: how it went, who has what, and which programs look alike."""

from __future__ import annotations

from html import escape

from dlmini.grade.gradebook.deadline import clock
from dlmini.grade.gradebook.people import told
from dlmini.grade.lesson import Lesson
from dlmini.grade.reports.pages import page
from dlmini.grade.submissions.similarity import Pair
from dlmini.grade.verdict import PASSED, Graded

COLUMNS = ("student", "id", "points", "tests", "late", "by hand", "handed in", "")


def page_of(
    lesson: Lesson,
    class_: list[Graded],
    pairs: list[Pair],
    sandbox,
    figure: str,
    stray: list[str],
    held: str,
    doubts: list[str] = (),
) -> str:
    scores, came = sorted(g.score for g in class_), [g for g in class_ if not g.absent]
    middle = f"median {scores[len(scores) // 2]:g} of {lesson.points:g}" if scores else "nobody"
    absent = f", {len(class_) - len(came)} absent" if len(came) < len(class_) else ""
    parts = [f"<h1>{lesson.name}</h1><p>{len(came)} submissions{absent}, {middle}. Sandbox: {sandbox.name}."]
    parts.append(f" {escape(held)}.</p>" if held else "</p>")
    parts += [f'<p class="warn">{escape(sandbox.warning)}</p>'] if sandbox.warning else []
    parts += [f'<p class="warn">{escape(sentence)}.</p>' for sentence in doubts]
    parts += [f"<p>No hand-ins: {escape(', '.join(stray[:20]))}.</p>"] if stray else []
    parts += [figure, "<h2>Submissions</h2>", table(COLUMNS, [line(g) for g in class_])]
    parts += ["<h2>Tests</h2>", table(("test", "", "points", "passed", ""), pass_rates(lesson, class_))]
    if pairs:
        parts.append("<h2>Similar programs</h2><p>A hint to read both, no proof of anything.</p>")
        rows = [(escape(p.one), escape(p.other), f"{p.share:.0%}") for p in pairs]
        parts.append(table(("one", "other", "in common"), rows))
    return page(lesson.name, parts)


def line(graded: Graded) -> tuple[str, ...]:
    person, mark = graded.person, graded.mark
    slug, name = escape(person.slug), escape(graded.name)
    links = f'<a href="grader/{slug}.html">{name}</a> <a href="students/{slug}.html">(student\'s)</a>'
    by_hand = f"= {mark.given:g}" if mark.given is not None else f"{mark.added:+g}" if mark.added else ""
    by_hand += " " + escape(mark.comment[:60]) if mark.comment else ""
    time = "" if graded.absent else clock(told(graded.submission, person))
    time += f", {len(person.attempts)} times" if len(person.attempts) > 1 else ""
    late = f"-{graded.penalty:g} ({graded.late:.0%})" if graded.late else ""
    score = f"<b>{graded.score:g}</b>"
    return links, escape(person.id), score, f"{graded.raw:g}", late, by_hand, time, remark(graded)


def remark(graded: Graded) -> str:
    """What else is to be known: nobody is left without a word."""
    if not graded.complete:
        return "not final: the grader failed"
    if graded.absent:
        return "absent"
    outside = "" if graded.person.student or not graded.person.listed else "not on the roster"
    return "; ".join(filter(None, (outside, escape(graded.submission.problem[:200]))))


def pass_rates(lesson: Lesson, class_: list[Graded]) -> list[tuple]:
    rows = []
    for test in lesson.tests:
        found = [v.status for g in class_ for v in g.verdicts if v.test == test.name]
        rate = sum(s == PASSED for s in found) / max(1, len(found))
        bar = f'<span class="bar" style="width:{8 * rate:.1f}rem"></span>'
        rows.append((f"{test.task}: {escape(test.sentence)}", test.visibility, f"{test.points:g}", f"{rate:.0%}", bar))
    return rows


def table(head: tuple, rows: list[tuple]) -> str:
    """Cells are HTML already."""
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return "<table><tr>" + "".join(f"<th>{name}</th>" for name in head) + f"</tr>{body}</table>"
