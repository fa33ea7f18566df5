"""Markdown becomes HTML: formulas as MathML, links to lessons as links to pages, headings with places to jump to."""

from __future__ import annotations

import base64
import mimetypes
import re
from collections import Counter
from functools import cache
from html import unescape
from pathlib import Path
from typing import NamedTuple

from dlmini.course.book import formulas

PAGES = {"SYLLABUS.md": "index.html#syllabus", "LECTURERS.md": "lecturers.html", "index.ipynb": "index.html"}
PAGES |= {"glossary.md": "glossary.html", "glossary.ipynb": "glossary.html"}
LESSON = re.compile(r"(?P<name>\d\d_[a-z0-9_]+)\.(?:ipynb|md)(?:#.*)?")
TERM = re.compile(r"glossary\.(?:ipynb|md)#(?P<term>.+)")
AWAY = ("http://", "https://", "mailto:", "#")


class Heading(NamedTuple):
    level: int
    place: str  # the id to jump to
    html: str


def prose(text: str, page: str, pictures: Path, deeper: int = 0, used: Counter | None = None):
    """The HTML of some Markdown on a page, and its headings.

    `deeper` makes h2 of h1, for a text within another; `used` counts headings of a page that is made of several texts.
    """
    reader, used = markdown(), Counter() if used is None else used
    tokens, headings = reader.parse(text), []
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{int(token.tag[1]) + deeper}"
        if token.type == "heading_open":
            said = reader.renderInline(following.content)
            headings.append(Heading(int(token.tag[1]), place(f"{page}-{slug(following.content)}", used), said))
            token.attrSet("id", headings[-1].place)
        for part in token.children or ():
            turn(part, pictures)
    return reader.renderer.render(tokens, reader.options, {}), headings


@cache
def markdown():
    """Tables and formulas beside what CommonMark knows."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    def drawn(tex: str, options: dict) -> str:
        return formulas.alone(tex) if options["display_mode"] else formulas.inline(tex)

    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return reader.use(dollarmath_plugin, renderer=drawn, double_inline=True)


def turn(part, pictures: Path) -> None:
    """A link to a notebook leads to its page; a picture comes along."""
    if part.type == "link_open":
        target = page_of(part.attrGet("href"))
        part.attrs = {"href": target} if target else {}
    elif part.type == "image" and not part.attrGet("src").startswith("data:"):
        part.attrSet("src", data(pictures / part.attrGet("src")))


def page_of(link: str) -> str | None:
    """Where a link of the course leads in the book; nowhere, if what it names is not in it."""
    if link.startswith(AWAY):
        return link
    if term := TERM.fullmatch(link):
        return f"glossary.html#glossary-{slug(term['term'])}"
    lesson = LESSON.fullmatch(link)
    return f"{lesson['name']}.html" if lesson else PAGES.get(link)


def data(file: Path) -> str:
    """A picture as an address that holds it."""
    if not file.is_file():
        raise FileNotFoundError(f"a lesson shows {file.name}, but there is no such picture in {file.parent}")
    kind = mimetypes.guess_type(file.name)[0] or "image/png"
    return f"data:{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"


def place(name: str, used: Counter) -> str:
    """The name, with a number if others on the page have it."""
    used[name] += 1
    return name if used[name] == 1 else f"{name}-{used[name]}"


def slug(heading: str) -> str:
    """A heading as a name: letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", unescape(heading).lower()).strip("-")
