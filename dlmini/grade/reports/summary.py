"""How a class went, as one figure: marks, marks by exercise, when it was handed in, and famous mistakes by name.

An SVG of one file, for a page or a slide; nothing is needed to look at it but a browser.
"""

from __future__ import annotations

from collections import Counter
from html import escape

from dlmini.grade.cards import LINE, RIGHT, WRONG
from dlmini.grade.gradebook.deadline import Deadline, clock
from dlmini.grade.gradebook.people import told
from dlmini.grade.lesson import Lesson
from dlmini.grade.verdict import Graded

WIDE, HIGH = 470, 230  # of a panel
BINS = 10
MISTAKES = 7  # that are named
LETTERS = 52  # of a mistake's name


def figure(lesson: Lesson, class_: list[Graded], deadline: Deadline | None = None) -> str:
    came = [graded for graded in class_ if not graded.absent]
    seconds = sum(v.seconds for g in class_ for v in g.verdicts)
    title = f"{lesson.name}: {len(came)} of {len(class_)} handed in; tests took {seconds:.0f} s"
    panels = [marks(lesson, class_), by_exercise(lesson, came), times(lesson, came, deadline), mistakes(came)]
    placed = [
        f'<g transform="translate({20 + (WIDE + 20) * (i % 2)},{50 + (HIGH + 20) * (i // 2)})">{"".join(parts)}</g>'
        for i, parts in enumerate(panels)
    ]
    width, height = 2 * WIDE + 60, 2 * HIGH + 90
    head = f'<svg role="img" aria-label="{escape(title)}" xmlns="http://www.w3.org/2000/svg"'
    size = f' viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    style = ' font-family="sans-serif" font-size="13" fill="#222">'
    ground = f'<rect width="{width}" height="{height}" fill="white"/>'
    return f"{head}{size}{style}{ground}{words(20, 28, title, size=17)}{''.join(placed)}</svg>"


# ---- panels: lists of shapes, the upper left corner at 0, 0 ----


def marks(lesson: Lesson, class_: list[Graded]) -> list[str]:
    """How many have how many points."""
    shares = [graded.score / lesson.points if lesson.points else 0.0 for graded in class_]
    counts = Counter(min(BINS - 1, int(BINS * min(1.0, share))) for share in shares)
    most, wide = max(counts.values(), default=1), (WIDE - 60) / BINS
    parts = [words(0, 14, "Marks: how many have how many points", bold=True), line(40, HIGH - 30, WIDE - 20, HIGH - 30)]
    for bin_ in range(BINS):
        tall, x = (HIGH - 75) * counts[bin_] / most, 40 + bin_ * wide
        parts.append(box(x + 2, HIGH - 30 - tall, wide - 4, tall))
        parts += [words(x + wide / 2, HIGH - 35 - tall, str(counts[bin_]), "middle")] if counts[bin_] else []
    for share in (0, 0.5, 1):
        parts.append(words(40 + share * (WIDE - 60), HIGH - 12, f"{share * lesson.points:g}", "middle"))
    return parts


def by_exercise(lesson: Lesson, came: list[Graded]) -> list[str]:
    """The mean share of the points of each function, and how many have all of them."""
    parts, tasks = [words(0, 14, "By exercise: mean, and who has all points", bold=True)], lesson.tasks()
    step = min(30, (HIGH - 40) / max(1, len(tasks)))
    for row, task in enumerate(tasks):
        whole, y = sum(test.points for test in lesson.of(task)), 30 + row * step
        shares = [sum(v.score for v in graded.of(task)) / whole for graded in came if whole]
        mean, full = sum(shares) / max(1, len(shares)), sum(share > 0.9999 for share in shares)
        parts += [words(0, y + 14, clipped(task, 22)), box(170, y + 2, 200, step - 8, "#e5e5e5")]
        parts += [box(170, y + 2, 200 * mean, step - 8), words(378, y + 14, f"{mean:.0%}, {full} of {len(shares)}")]
    return parts


def times(lesson: Lesson, came: list[Graded], deadline: Deadline | None) -> list[str]:
    """Marks by when they were handed in; what is late is orange."""
    known = [(told(g.submission, g.person), g) for g in came if told(g.submission, g.person) > 0]
    parts = [words(0, 14, "When it was handed in", bold=True)]
    if not known:
        return [*parts, words(0, 40, "no times are known", colour=LINE)]
    due = [deadline.due] if deadline else []
    first, last = min([*(t for t, _ in known), *due]), max([*(t for t, _ in known), *due])
    span, top = (last - first) or 1.0, max(lesson.points, *(g.score for _, g in known), 1e-9)

    def across(time: float) -> float:
        return 45 + (WIDE - 75) * (time - first) / span

    parts += [line(40, HIGH - 30, WIDE - 20, HIGH - 30), line(40, 30, 40, HIGH - 30)]
    parts += [words(36, HIGH - 30, "0", "end"), words(36, 40, f"{top:g}", "end")]
    parts += [words(40, HIGH - 12, clock(first)), words(WIDE - 20, HIGH - 12, clock(last), "end")]
    for time in due:
        parts += [line(across(time), 30, across(time), HIGH - 30, WRONG), words(across(time) + 4, 42, "due")]
    for time, graded in known:
        y, colour = HIGH - 30 - (HIGH - 65) * graded.score / top, WRONG if graded.late else RIGHT
        title = escape(f"{graded.name}: {graded.score:g}, {clock(time)}")
        dot = f'<circle cx="{across(time):.1f}" cy="{y:.1f}" r="4" fill="{colour}" fill-opacity=".6">'
        parts.append(f"{dot}<title>{title}</title></circle>")
    return parts


def mistakes(came: list[Graded]) -> list[str]:
    """Those that tests know by name, and by how many each was made."""
    made = Counter(
        (task, name)
        for graded in came
        for task, name in {(v.task, name) for v in graded.verdicts for name in v.mistakes}
    )
    parts = [words(0, 14, "Famous mistakes, by how many students", bold=True)]
    if not made:
        return [*parts, words(0, 40, "none that has a name", colour=LINE)]
    most = max(made.values())
    for row, ((task, name), count) in enumerate(made.most_common(MISTAKES)):
        y, title = 28 + row * 28, escape(f"{task}: {name}")
        parts.append(box(0, y, 90 * count / most, 18, WRONG) + f"<g><title>{title}</title>")
        parts += [words(96, y + 14, f"{count}  {clipped(name, LETTERS)}"), "</g>"]
    return parts


# ---- shapes ----


def words(x: float, y: float, text: str, anchor: str = "start", bold=False, size: int = 0, colour: str = "") -> str:
    more = (' font-weight="bold"' if bold else "") + (f' font-size="{size}"' if size else "")
    more += f' fill="{colour}"' if colour else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(text)}</text>'


def box(x: float, y: float, wide: float, high: float, colour: str = RIGHT) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="2" fill="{colour}"/>'


def line(x: float, y: float, x2: float, y2: float, colour: str = LINE) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def clipped(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
