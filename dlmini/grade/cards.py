"""A verdict as a person reads it: a card in a notebook or on a page, a few lines in a terminal."""

from __future__ import annotations

from html import escape

from dlmini.grade.pictures import LINE, RIGHT, WRONG, chunk_strip, wait_graph
from dlmini.grade.verdict import FAILED, INFRA, NOT_DONE, PASSED, TIMED_OUT, Verdict

SIGNS = {PASSED: "✓", FAILED: "✗", NOT_DONE: "…", TIMED_OUT: "⏱", INFRA: "!"}
WORDS = {
    PASSED: "passed",
    FAILED: "not yet",
    NOT_DONE: "not done yet",
    TIMED_OUT: "out of time",
    INFRA: "grader failed",
}
COLOURS = {PASSED: RIGHT, NOT_DONE: LINE}


def card(verdict: Verdict, replay: str = "") -> str:
    """One property as HTML. Everything a student's program said is escaped."""
    colour = COLOURS.get(verdict.status, WRONG)
    head = f'<b style="color:{colour}">{SIGNS[verdict.status]} {WORDS[verdict.status]}</b> '
    parts = [head + escape(verdict.sentence)]
    if verdict.status not in (PASSED, NOT_DONE):
        parts.append(f"<div>{escape(verdict.detail)}</div>")
        parts += [chunk_strip(verdict.cells)] if verdict.cells else []
        parts += [wait_graph(verdict.waits)] if verdict.waits else []
        drawn = "" if verdict.cells else verdict.picture
        for text in filter(None, (verdict.where, drawn, printed(verdict), replay)):
            parts.append(f'<pre style="margin:4px 0;white-space:pre-wrap">{escape(text)}</pre>')
    style = f"border-left:5px solid {colour};padding:4px 10px;margin:6px 0"
    return f'<div style="{style}">{"".join(parts)}</div>'


def lines(verdict: Verdict, replay: str = "") -> str:
    """The same as text."""
    rows = [f"{SIGNS[verdict.status]} {WORDS[verdict.status]:12} {verdict.sentence}"]
    if verdict.status not in (PASSED, NOT_DONE):
        said = filter(None, (verdict.detail, verdict.where, verdict.picture, printed(verdict), replay))
        rows += ["    " + row for text in said for row in text.splitlines()]
    return "\n".join(rows)


def printed(verdict: Verdict) -> str:
    return f"it printed:\n{verdict.printed.rstrip()[:1000]}" if verdict.printed.strip() else ""
