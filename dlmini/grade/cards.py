"""A verdict as a person reads it: a card in a notebook or on a page, a few lines in a terminal."""

from __future__ import annotations

from html import escape
from math import cos, pi, sin

from dlmini.grade.lesson import VISIBLE
from dlmini.grade.verdict import FAILED, INFRA, NOT_DONE, PASSED, TIMED_OUT, Verdict

RIGHT, WRONG, LINE = "#0072b2", "#d55e00", "#767676"  # Okabe and Ito's colours, told apart by everybody
SIGNS = {PASSED: "✓", FAILED: "✗", NOT_DONE: "…", TIMED_OUT: "⏱", INFRA: "!"}
WORDS = {
    PASSED: "passed",
    FAILED: "not yet",
    NOT_DONE: "not done yet",
    TIMED_OUT: "out of time",
    INFRA: "grader failed",
}
COLOURS = {PASSED: RIGHT, NOT_DONE: LINE}
MOST = 1000  # characters of what was printed
FOLDED = (
    '<details style="margin:2px 0 2px 15px"><summary style="cursor:pointer">it printed</summary>'
    '<pre style="margin:4px 0;white-space:pre-wrap">{}</pre></details>'
)


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
    elif printed(verdict):
        parts.append(FOLDED.format(escape(printed(verdict).partition("\n")[2])))
    style = f"border-left:5px solid {colour};padding:4px 10px;margin:6px 0"
    return f'<div style="{style}">{"".join(parts)}</div>'


def lines(verdict: Verdict, replay: str = "") -> str:
    """The same as text."""
    rows = [f"{SIGNS[verdict.status]} {WORDS[verdict.status]:12} {verdict.sentence}"]
    if verdict.status not in (PASSED, NOT_DONE):
        said = verdict.detail, verdict.where, verdict.picture, printed(verdict), replay
    else:
        said = (printed(verdict),)
    rows += ["    " + row for text in filter(None, said) for row in text.split("\n")]
    return "\n".join(rows)


def printed(verdict: Verdict) -> str:
    """The beginning of what the program printed. Of a hidden test that was passed nothing: it would tell the input."""
    said = verdict.printed.strip("\n").rstrip()
    if not said or (verdict.status == PASSED and verdict.visibility != VISIBLE):
        return ""
    return f"it printed:\n{said[:MOST]}{' ...' if len(said) > MOST else ''}"


# ---- small pictures, as SVG: which chunks are wrong, and who waits for whom ----


def chunk_strip(cells: list[bool]) -> str:
    """A vector cut into chunks: right ones blue, wrong ones orange with a cross."""
    wide = max(14, min(40, 480 // len(cells)))
    boxes = []
    for c, ok in enumerate(cells):
        x, colour = c * wide, RIGHT if ok else WRONG
        boxes.append(f'<rect x="{x + 1}" y="1" width="{wide - 2}" height="26" rx="3" fill="{colour}"/>')
        boxes.append(f'<text x="{x + wide / 2}" y="19" text-anchor="middle" fill="white">{c if ok else "✗"}</text>')
    wrong = ", ".join(str(c) for c, ok in enumerate(cells) if not ok)
    return svg(wide * len(cells), 28, boxes, f"{len(cells)} chunks, wrong: {wrong or 'none'}")


def wait_graph(waits: list[list]) -> str:
    """Ranks on a circle, an arrow from each that waits to whom it waits for. waits: [rank, on, what, where]."""
    ranks = sorted({rank for rank, *_ in waits} | {other for _, on, *_ in waits for other in on})[:24]
    place = {rank: _on_circle(i, len(ranks)) for i, rank in enumerate(ranks)}
    parts = [ARROW]
    for rank, on, what, where in waits:
        for other in on:
            if rank in place and other in place and rank != other:
                parts.append(_arrow(place[rank], place[other], f"rank {rank} {what} at {where}"))
    for rank, (x, y) in place.items():
        parts.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="15" fill="{RIGHT}"/>')
        parts.append(f'<text x="{x:.0f}" y="{y + 5:.0f}" text-anchor="middle" fill="white">{rank}</text>')
    said = "; ".join(f"rank {rank} waits for {', '.join(map(str, on))}" for rank, on, *_ in waits)
    return svg(240, 240, parts, said)


ARROW = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    f'<path d="M0 0L8 4L0 8z" fill="{WRONG}"/></marker></defs>'
)


def _on_circle(i: int, n: int) -> tuple[float, float]:
    angle = 2 * pi * i / n - pi / 2
    return 120 + 95 * cos(angle), 120 + 95 * sin(angle)


def _arrow(start: tuple[float, float], end: tuple[float, float], title: str) -> str:
    """From rim to rim of two circles, bent a little, so that arrows both ways are seen."""
    (a, b), (c, d) = start, end
    length = ((c - a) ** 2 + (d - b) ** 2) ** 0.5
    u, v = (c - a) / length, (d - b) / length
    bend = f"{(a + c) / 2 - 18 * v:.0f} {(b + d) / 2 + 18 * u:.0f}"
    path = f"M{a + 15 * u:.0f} {b + 15 * v:.0f} Q{bend} {c - 17 * u:.0f} {d - 17 * v:.0f}"
    stroke = f'fill="none" stroke="{WRONG}" stroke-width="2" marker-end="url(#tip)"'
    return f'<path d="{path}" {stroke}><title>{escape(title)}</title></path>'


def svg(width: float, height: float, parts: list[str], said: str) -> str:
    """said: the picture in words."""
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    head = f'<svg role="img" aria-label="{escape(said)}" {size} xmlns="http://www.w3.org/2000/svg"'
    return f'{head} font-family="sans-serif" font-size="13">{"".join(parts)}</svg>'
