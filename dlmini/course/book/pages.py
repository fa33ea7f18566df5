"""Pages: a lesson, the index with the syllabus, the lecturer's guide; and all of them in one."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

from dlmini.course import lessons
from dlmini.course.book import api as names
from dlmini.course.book import cells
from dlmini.course.book.exercises import appendix
from dlmini.course.book.prose import Heading, prose
from dlmini.course.build import LESSONS, read

HERE = Path(__file__).parent
LIVE_SECTION = "```{code-cell}"  # a section of the index that has to be run is none for a book
TEACHING = '<p>For those who teach: <a href="lecturers.html">what to click, to ask and to expect</a>.</p>'
OPENING = re.compile(r"\s*<h1.*?</h1>\s*(?:<p>.*?</p>)?", re.S)
TO_PAGE = re.compile(r'href="(?P<page>[a-z0-9_]+)\.html(?:#(?P<place>[^"]+))?"')


class Page(NamedTuple):
    name: str  # 04_allreduce
    title: str
    body: str
    headings: list[Heading]
    note: str = ""  # how its outputs were made

    @property
    def opening(self) -> str:
        """The title and the paragraph below it: a lesson's question."""
        return OPENING.match(self.body)[0]

    @property
    def rest(self) -> str:
        return self.body[len(self.opening) :]

    @property
    def contents(self) -> list[Heading]:
        return [it for it in self.headings if it.level == 2]


def lesson(it: lessons.Lesson, notebook: dict, stub: str, course: Path, note: str = "") -> Page:
    """One lesson: its text, its code, what that left, and what is to be written."""
    parts, headings, used = [], [], Counter()
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            html, found = prose(source, it.name, course, used=used)
            parts, headings = [*parts, html], [*headings, *found]
        else:
            left = cells.CHECKED if cells.CHECK.match(source) else cells.outputs(cell["outputs"])
            parts.append(f'<div class="cell">{cells.code(source)}{left}</div>')
    if stub:
        headings.append(Heading(2, f"{it.name}-exercises", "Exercises"))
        parts.append(
            f'<section class="exercises"><h2 id="{headings[-1].place}">Exercises</h2>{appendix(stub, it.name)}'
        )
        parts.append("</section>")
    return Page(it.name, it.title, "".join(parts), headings, note)


def index(course: Path) -> Page:
    """Where the book begins: the learning path with its goals, and the syllabus."""
    text = read(course / "index.md").replace(LESSONS, lessons.table(lessons.written(course)))
    kept = [part for part in re.split(r"(?m)^(?=## )", text) if LIVE_SECTION not in part]
    body, headings = prose("".join(kept), "index", course)
    syllabus, more = prose(read(course / "SYLLABUS.md"), "syllabus", course, deeper=1)
    body += f'<section id="syllabus">{syllabus}{TEACHING}</section>'
    return Page("index", title(headings), body, [*headings, *more])


def lecturers(course: Path) -> Page:
    body, headings = prose(read(course / "LECTURERS.md"), "lecturers", course)
    return Page("lecturers", title(headings), body, headings)


def glossary(course: Path) -> list[Page]:
    """One page, where a course has a glossary."""
    file = course / "glossary.md"
    if not file.is_file():
        return []
    body, headings = prose(read(file), "glossary", course)
    return [Page("glossary", title(headings), body, headings)]


def api() -> Page:
    """Every public name, from its docstring."""
    body, headings = names.body()
    return Page("api", "Every public name", body, headings)


def title(headings: list[Heading]) -> str:
    return re.sub(r"<[^>]+>", "", headings[0].html)


def written(page: Page, pages: list[Page]) -> str:
    """The page as a file, with the way to its neighbours."""
    place = pages.index(page)
    before = pages[place - 1] if place else None
    after = pages[place + 1] if place + 1 < len(pages) else None
    return template().render(pages=[page], before=before, after=after, style=style(), whole=False)


def together(pages: list[Page]) -> str:
    """All pages as one file: links between pages become links within it."""
    html = template().render(pages=pages, before=None, after=None, style=style(), whole=True)
    return TO_PAGE.sub(lambda link: f'href="#{link["place"] or link["page"]}"', html)


def style() -> str:
    return read(HERE / "book.css") + cells.colours()


@cache
def template():
    from jinja2 import Environment, StrictUndefined

    return Environment(trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined).from_string(
        read(HERE / "page.html")
    )
