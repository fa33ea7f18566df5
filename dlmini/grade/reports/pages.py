"""A page per student, twice: for the student, without hidden tests, and for who grades. No scripts, nothing fetched."""

from __future__ import annotations

from html import escape

from dlmini.grade.cards import card
from dlmini.grade.gradebook.deadline import clock
from dlmini.grade.gradebook.people import told
from dlmini.grade.lesson import VISIBLE, Lesson
from dlmini.grade.verdict import PASSED, Graded, Verdict

STYLE = (
    "body{font:16px/1.45 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse}td,th{padding:.25rem .7rem;border-bottom:1px solid #ddd;text-align:left}"
    "td.n{text-align:right}pre{background:#f5f5f5;padding:.5rem;overflow:auto}svg{max-width:100%;height:auto}"
    ".bar{display:inline-block;height:.8em;background:#0072b2}.warn{background:#fff3cd;padding:.5rem 1rem}"
    ".said{background:#e8f1f8;padding:.5rem 1rem}"
)


def for_student(lesson: Lesson, graded: Graded) -> str:
    """What may be handed out: of hidden tests only how many were passed."""
    parts = head(lesson, graded)
    for task in lesson.tasks():
        mine = graded.of(task)
        parts += [points(task, mine), *(card(v) for v in mine if v.visibility == VISIBLE)]
        hidden = [v for v in mine if v.visibility != VISIBLE]
        if hidden:
            passed, number = sum(v.status == PASSED for v in hidden), len(hidden)
            parts.append(f"<p>Hidden tests: {passed} of {number} passed, {sum(v.score for v in hidden):g} points.</p>")
    return page(f"{graded.name}: {lesson.name}", parts)


def for_grader(lesson: Lesson, graded: Graded) -> str:
    """Everything."""
    parts = head(lesson, graded)
    tried = [f"{escape(a.name)}: {clock(told(a, graded.person))}" for a in graded.person.attempts]
    if len(tried) > 1:
        parts.append(f"<p>{len(tried)} hand-ins ({'; '.join(tried)}); {escape(graded.submission.name)} counts.</p>")
    if graded.submission.file:
        parts.append(
            f"<p>Graded: {escape(graded.submission.file)}, of {clock(graded.submission.time) or 'no date'}.</p>"
        )
    for task in lesson.tasks():
        mine = graded.of(task)
        parts += [points(task, mine), *(card(v, f"{v.visibility}, seed {v.seed}, {v.seconds:g} s") for v in mine)]
    return page(f"{graded.name}: {lesson.name}", parts)


def head(lesson: Lesson, graded: Graded) -> list[str]:
    """Who, how many points, and what else there is to say."""
    number = f" ({escape(graded.person.id)})" if graded.person.id else ""
    parts = [f"<h1>{escape(graded.name)}{number}</h1>"]
    parts.append(f"<p>{lesson.name}: <b>{graded.score:g}</b> of {lesson.points:g} points{sum_of(graded)}</p>")
    if not graded.complete:
        parts.append('<p class="warn">The grader itself failed in some tests: this score is not final.</p>')
    if graded.submission.problem:
        parts.append(f'<p class="warn">{escape(graded.submission.problem)}</p>')
    if graded.mark.comment:
        parts.append(f'<p class="said">{escape(graded.mark.comment)}</p>')
    return parts


def sum_of(graded: Graded) -> str:
    """How the points came about, if not by tests alone."""
    late = f" - {graded.penalty:g} for being late" if graded.late else ""
    by_hand = f" {graded.mark.added:+g} by hand" if graded.mark.added else ""
    if graded.mark.given is not None:
        return f": given by hand; the tests gave {graded.raw:g}{late}"
    return f": {graded.raw:g}{late}{by_hand}" if late or by_hand else ""


def points(task: str, mine: list[Verdict]) -> str:
    return f"<h2>{task}</h2><p>{sum(v.score for v in mine):g} of {sum(v.points for v in mine):g} points</p>"


def page(title: str, parts: list[str]) -> str:
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'
