"""Pages for people: one per student, and one for the class. One file each, no scripts, nothing fetched."""

from __future__ import annotations

from html import escape

from dlmini.grade.cards import card
from dlmini.grade.lesson import Lesson
from dlmini.grade.submissions.similarity import Pair
from dlmini.grade.verdict import PASSED, Graded

STYLE = (
    "body{font:16px/1.45 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse}td,th{padding:.25rem .7rem;border-bottom:1px solid #ddd;text-align:left}"
    "td.n{text-align:right}pre{background:#f5f5f5;padding:.5rem;overflow:auto}"
    ".bar{display:inline-block;height:.8em;background:#0072b2}.warn{background:#fff3cd;padding:.5rem 1rem}"
)


def student(lesson: Lesson, graded: Graded) -> str:
    name = graded.submission.name
    parts = [f"<h1>{escape(name)}</h1><p>{lesson.name}: <b>{graded.score:g}</b> of {lesson.points:g} points</p>"]
    if not graded.complete:
        parts.append('<p class="warn">The grader itself failed in some tests: this score is not final.</p>')
    if graded.submission.problem:
        parts.append(f'<p class="warn">{escape(graded.submission.problem)}</p>')
    for task in lesson.tasks():
        mine = [v for v in graded.verdicts if v.task == task]
        parts.append(f"<h2>{task}</h2><p>{sum(v.score for v in mine):g} of {sum(v.points for v in mine):g} points</p>")
        parts += [card(v, f"seed {v.seed}") for v in mine]
    return page(f"{name}: {lesson.name}", parts)


def class_page(lesson: Lesson, class_: list[Graded], pairs: list[Pair], sandbox) -> str:
    scores = sorted(g.score for g in class_)
    parts = [
        f"<h1>{lesson.name}</h1><p>{len(class_)} submissions, median {scores[len(scores) // 2]:g} of {lesson.points:g}."
    ]
    parts.append(f" Sandbox: {sandbox.name}.</p>")
    parts += [f'<p class="warn">{escape(sandbox.warning)}</p>'] if sandbox.warning else []
    parts += ["<h2>Tests</h2>", table(("test", "", "points", "passed", ""), pass_rates(lesson, class_))]
    parts += ["<h2>Submissions</h2>", table(("student", "points", ""), [_line(g) for g in class_])]
    if pairs:
        parts.append("<h2>Similar programs</h2><p>A hint to read both, no proof of anything.</p>")
        rows = [(escape(p.one), escape(p.other), f"{p.share:.0%}") for p in pairs]
        parts.append(table(("one", "other", "in common"), rows))
    return page(lesson.name, parts)


def pass_rates(lesson: Lesson, class_: list[Graded]) -> list[tuple]:
    rows = []
    for test in lesson.tests:
        found = [v.status for g in class_ for v in g.verdicts if v.test == test.name]
        rate = sum(s == PASSED for s in found) / max(1, len(found))
        bar = f'<span class="bar" style="width:{8 * rate:.1f}rem"></span>'
        rows.append((f"{test.task}: {escape(test.sentence)}", test.visibility, f"{test.points:g}", f"{rate:.0%}", bar))
    return rows


def _line(graded: Graded) -> tuple[str, str, str]:
    name = escape(graded.submission.name)
    link = f'<a href="students/{escape(graded.submission.slug)}.html">{name}</a>'
    return link, f"{graded.score:g}", "" if graded.complete else "not final: the grader failed"


def table(head: tuple, rows: list[tuple]) -> str:
    """Runners are HTML already."""
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return "<table><tr>" + "".join(f"<th>{name}</th>" for name in head) + f"</tr>{body}</table>"


def page(title: str, parts: list[str]) -> str:
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'
