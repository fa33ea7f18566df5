"""The leaderboard as a page and as tables: nothing is fetched, everything that came from outside is escaped."""

from __future__ import annotations

import csv
import json
import platform
from hashlib import sha256
from html import escape
from importlib.metadata import version
from io import StringIO
from pathlib import Path

from dlmini.files import write_text
from dlmini.grade.gradebook.tables import safe
from dlmini.grade.reading.names import slug
from dlmini.grade.reports.pages import page
from dlmini.jit import cpu, mode
from dlmini.leaderboard.race import Result, front

WIDE, HIGH, EDGE = 520, 300, 48
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
BUDGETS = {"megabytes": "MB sent by all", "seconds": "virtual seconds"}


def write_board(out: Path, results: list[Result]) -> None:
    """leaderboard.html, leaderboard.csv, and for each entry its text and all its looks, to be replayed."""
    (out / "entries").mkdir(parents=True, exist_ok=True)
    for result in results:
        name = slug(result.entry.name)
        looks = [trial.as_dict() for trial in result.trials]
        told = {
            "score": result.score,
            "problem": result.entry.problem,
            "text": digest(result.entry.source),
            "trials": looks,
            "made_with": made_with(),
        }
        write_text(out / "entries" / f"{name}.json", json.dumps(told, indent=1))
        write_text(out / "entries" / f"{name}.py", result.entry.source or "")
    write_text(out / "leaderboard.csv", table_of(results))
    write_text(out / "leaderboard.html", page_of(results))


def made_with() -> str:
    """What computes scores here. Another NumPy, processor or kernel adds in another order: the last digit of a slope is
    another one, and after some hundred steps so is an accuracy."""
    versions = (f"{package} {version(package)}" for package in ("numpy", "numba"))
    return f"Python {platform.python_version()}, {', '.join(versions)}, processor {cpu()}, kernels {mode()}"


def digest(source: str | None) -> str:
    """By which one knows an entry's text again; empty if there is none."""
    return "" if source is None else sha256(source.encode("utf-8", "backslashreplace")).hexdigest()


def table_of(results: list[Result]) -> str:
    text = StringIO(newline="")
    rows = csv.writer(text)
    worlds = [trial.world for trial in results[0].trials] if results else []
    rows.writerow(["place", "name", "score", *worlds, "remark"])
    for place, result in enumerate(results, 1):
        each = [f"{trial.accuracy:.6f}" for trial in result.trials]
        rows.writerow([place, safe(result.entry.name), f"{result.score:.6f}", *each, safe(result.why)])
    return text.getvalue()


def page_of(results: list[Result]) -> str:
    worlds = [trial.world for trial in results[0].trials] if results else []
    parts = ["<h1>Leaderboard</h1>", "<p>Score: the accuracy that counts, averaged over all worlds. It is that of the "]
    parts.append("last look at the test set before bytes, seconds or money were used up.</p>")
    head = "".join(f"<th>{escape(word)}</th>" for word in ("", "entry", "score", *worlds, "remark"))
    parts.append(f"<table><tr>{head}</tr>{''.join(row(i, r) for i, r in enumerate(results, 1))}</table>")
    for number, kind in enumerate(worlds):
        parts.append(f"<h2>World {number + 1}: {escape(kind)}</h2>{about(results[0].trials[number].terms)}")
        parts += [picture(results, number, cost) for cost in BUDGETS]
    return page("Leaderboard", parts)


def row(place: int, result: Result) -> str:
    name = escape(result.entry.name) + (" <i>(reference)</i>" if result.entry.reference else "")
    cells = [str(place), name, f"<b>{result.score:.2%}</b>", *(f"{t.accuracy:.1%}" for t in result.trials)]
    return f"<tr>{''.join(f'<td>{c}</td>' for c in cells)}<td>{escape(result.why[:200])}</td></tr>"


def about(terms: dict) -> str:
    wire = "one shared channel" if terms["shared"] else "a cable each"
    up = "" if terms["upload"] == terms["bandwidth"] else f", {terms['upload'] / 1e6:.1f} up"
    fails = " Machines fail." if terms["failures"] else ""
    return (
        f"<p>{terms['workers']} workers, {terms['numbers']:,} numbers, {wire} of "
        f"{terms['bandwidth'] / 1e6:.1f} MB/s{up}, "
        f"{terms['latency'] * 1e3:.2g} ms. Budget: {terms['seconds']:.2f} s, {terms['megabytes']:.1f} MB, "
        f"{terms['money']:.4f} of money.{fails}</p>"
    )


def picture(results: list[Result], number: int, cost: str) -> str:
    """Accuracy against a cost, a point for each entry; those that nobody beats in both are joined."""
    trials = [result.trials[number] for result in results]
    points = [(getattr(trial.counted, cost), trial.accuracy) for trial in trials]
    most = max([x for x, _ in points] + [trials[0].terms[cost]]) or 1.0

    def at(x: float, y: float) -> tuple[float, float]:
        return EDGE + x / most * (WIDE - 2 * EDGE), HIGH - EDGE - y * (HIGH - 2 * EDGE)

    best = front(points)
    line = " ".join("{:.1f},{:.1f}".format(*at(*points[i])) for i in best)
    names = ", ".join(results[i].entry.name for i in best)
    text = f"Accuracy against {BUDGETS[cost]} in this world. In front: {names or 'nobody'}."
    marks = "".join(mark(i, results[i].entry.name, *at(*points[i])) for i in range(len(points)))
    limit = at(trials[0].terms[cost], 0)[0]
    return (
        f'<svg role="img" aria-label="{escape(text)}" viewBox="0 0 {WIDE} {HIGH}" width="{WIDE}">'
        f'<title>{escape(text)}</title><polyline points="{line}" fill="none" stroke="#888"/>{axes(most, cost)}'
        f'<path d="M{limit:.1f} {EDGE}V{HIGH - EDGE}" stroke="#d55e00" stroke-dasharray="4"/>'
        f"{marks}</svg>"
    )


def mark(number: int, name: str, x: float, y: float) -> str:
    colour, label = COLOURS[number % len(COLOURS)], escape(name[:16])
    dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>'
    return f'{dot}<text x="{x + 8:.1f}" y="{y + 4:.1f}" font-size="12">{label}</text>'


def axes(most: float, cost: str) -> str:
    floor, deep = HIGH - EDGE, HIGH - 2 * EDGE
    lines = f'<path d="M{EDGE} {EDGE}V{floor}H{WIDE - EDGE}" fill="none" stroke="#222"/>'
    ticks = "".join(label(EDGE - 6, floor - y * deep + 4, f"{y:.0%}", "end") for y in (0, 0.5, 1))
    ends = label(WIDE - EDGE, floor + 16, f"{most:.3g}", "end")
    return lines + ticks + ends + label(WIDE / 2, floor + 32, f"{BUDGETS[cost]}; dashed: the budget", "middle")


def label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="12" text-anchor="{anchor}">{text}</text>'
