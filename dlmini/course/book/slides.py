"""Slides of a lesson: its questions, what to guess, and every figure, one on a screen; a page of plain HTML.

It needs no network, no kernel, only a browser: keys that scroll turn the slides, printing gives one a page.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import NamedTuple

from dlmini.course import lessons
from dlmini.course.book import cells
from dlmini.course.book.prose import markdown, prose
from dlmini.course.build import read

HERE = Path(__file__).parent
SECTION = re.compile(r"(?m)^## +(?P<title>.+)$")
ASKED = re.compile(r"(?m)^> \*\*(?:The question|Before you [\w ]+)\.\*\*.*(?:\n>.*)*")
LINK = re.compile(r"</?a\b[^>]*>")


class Slide(NamedTuple):
    title: str  # of its section
    body: str


def deck(it: lessons.Lesson, notebook: dict, course: Path) -> list[Slide]:
    """All slides of a lesson that was run: the title with its question first."""
    found, section = [Slide(it.title, words(it.question, it, course))], it.title
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            for part in re.split(r"(?m)^(?=## )", source):
                heading = SECTION.match(part)
                section = heading["title"] if heading else section
                found += [Slide(section, words(asked, it, course)) for asked in ASKED.findall(part)]
        else:
            found += [Slide(section, drawn) for drawn in map(cells.output, cell["outputs"]) if is_picture(drawn)]
    return found


def words(text: str, it: lessons.Lesson, course: Path) -> str:
    """As HTML, without links: the pages that they lead to do not lie beside the slides."""
    return LINK.sub("", prose(text, it.name, course)[0])


def is_picture(html: str) -> bool:
    return 'class="figure"' in html


def page(it: lessons.Lesson, slides: list[Slide]) -> str:
    """The slides as one file."""
    rows = []
    for number, slide in enumerate(slides, 1):
        title = markdown().renderInline(slide.title)
        foot = f"<footer>{escape(it.title)} · {number} of {len(slides)}</footer>"
        level = "h1" if number == 1 else "h2"
        rows.append(f'<section id="slide-{number}"><{level}>{title}</{level}>{slide.body}{foot}</section>')
    style = read(HERE / "slides.css")
    head = f'<meta charset="utf-8"><title>{escape(it.title)}</title><style>{style}</style>'
    return f'<!DOCTYPE html><html lang="en"><head>{head}</head><body>{"".join(rows)}</body></html>'
