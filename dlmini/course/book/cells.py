"""Code with its colours, and what it left behind: printed text, figures, cards, or a sentence."""

from __future__ import annotations

import base64
import os
import re
from functools import cache
from html import escape
from itertools import groupby
from pathlib import Path

import dlmini
from dlmini.course.book.prose import markdown
from dlmini.files import CELL_FILE

WIDGET = "application/vnd.jupyter.widget-view+json"
LIVE = '<p class="live">Live in the notebook{}.</p>'
STILL = "; this is its first picture"
FOLLOWS = "Live in the notebook; a still picture of it follows."  # said by a widget whose picture is the next output
DRAWN = "what the cell above has drawn"
CHECK = re.compile(r"check\(")  # a cell that looks at somebody's own functions
CHECKED = '<p class="live">In the notebook this says what your function does right, and what not yet.</p>'
COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
HOME = str(Path(dlmini.__file__).parents[1]) + os.sep  # where dlmini lies on the machine that made the book
WHOSE = re.compile(
    r" ?(?:This was your [^\n]+?|Every piece was yours)\.(?=\s|$)"
)  # of who made the book, not of who reads it
NO_GUESS = re.compile(r"<br>\s*<span[^>]*>no guess this time</span>")
FIRST_FRAME = re.compile(r'<img[^>]*src="(data:image/[^"]+)"')
IMAGES = ("image/svg+xml", "image/png", "image/jpeg")


def code(source: str) -> str:
    from pygments import highlight

    return f'<div class="code">{highlight(source, *painter())}</div>'


@cache
def painter():
    """Who reads Python, and who paints it."""
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    return PythonLexer(), HtmlFormatter(style="tango", cssclass="source")


def colours() -> str:
    """The rules of style for painted code."""
    return painter()[1].get_style_defs(".code")


def outputs(all_of_them) -> str:
    """What a cell left, as HTML; text that was printed bit by bit is one text."""
    parts = []
    for printing, group in groupby(all_of_them, key=is_printed):
        some = list(group)
        parts += [printed("".join(one["text"] for one in some))] if printing else map(output, some)
    return "".join(parts)


def is_printed(left) -> bool:
    return left["output_type"] == "stream" and left["name"] == "stdout"


def output(left) -> str:
    """One output that is not printed text; warnings, which belong to a machine, are not shown."""
    if left["output_type"] == "stream":
        return ""
    if left["output_type"] == "error":
        said = escape(COLOURS.sub("", f"{left['ename']}: {left['evalue']}"))
        return f'<p class="failed">This cell ended with {said}. The cells after it were not run.</p>'
    return displayed(left["data"], left.get("metadata", {}))


def displayed(data, facts=None) -> str:
    """The best of what an output offers to paper: a widget's picture, a card, a figure, text. facts: its metadata."""
    words = "".join(data.get("text/plain", ""))  # of a still picture: what is on it
    known = words if words.startswith("Figure. ") else DRAWN
    said = {kind: (facts or {}).get(kind, {}).get("alt", known) for kind in IMAGES}
    still = next((picture(kind, data[kind], said[kind]) for kind in IMAGES if kind in data), "")
    if WIDGET in data and not still and "text/html" not in data:
        return "" if data.get("text/plain") == FOLLOWS else LIVE.format("")
    if still and (WIDGET in data or (facts or {}).get("dlmini") == "still"):
        return still + LIVE.format(STILL)
    if still:
        return still
    if "<script" in data.get("text/html", ""):
        frame = FIRST_FRAME.search(data["text/html"])
        return (shown(frame[1]) + LIVE.format(STILL)) if frame else LIVE.format("")
    if "text/html" in data:  # a card; or a question: paper has room for the answer
        return f'<div class="card">{NO_GUESS.sub("", data["text/html"])}</div>'
    if "text/markdown" in data:  # tables and words that a cell has made
        return f'<div class="made">{markdown().render("".join(data["text/markdown"]))}</div>'
    return printed(data.get("text/plain", ""))


def picture(kind: str, content: str, said: str = DRAWN) -> str:
    if kind == "image/svg+xml":
        content = base64.b64encode(content.encode()).decode()
    return shown(f"data:{kind};base64,{''.join(content.split())}", said)


def shown(address: str, said: str = DRAWN) -> str:
    """said: what is on the picture, for who cannot see it."""
    return f'<p class="figure"><img src="{address}" alt="{escape(said)}"></p>'


def printed(text: str) -> str:
    text = CELL_FILE.sub("cell", COLOURS.sub("", text)).replace(HOME, "")
    lines = ((line, WHOSE.sub("", line)) for line in text.split("\n"))
    text = "\n".join(left for line, left in lines if left.strip() or not line.strip()).rstrip()
    return f'<pre class="printed">{escape(text)}</pre>' if text else ""
