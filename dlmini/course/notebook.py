"""A lesson's text (MyST) becomes a notebook: the same text, the same bytes, on every machine.

Cells are named by what they say, so that editing one cell changes one cell. The kernel is named in the notebook;
otherwise JupyterLab would ask for one. jupytext reads the text; what is written is decided here alone.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
METADATA = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
DIRECTIVE = re.compile(r"^ {0,3}(?:`{3,}|~{3,}|:{3,})\{(?P<name>[^}]+)\}", re.M)
UNDERSTOOD = {"code-cell", "raw-cell"}
LESSON_LINK = re.compile(r"\]\((?P<name>index|glossary|\d\d_[a-z0-9_]+)\.md(?P<place>#[^)]*)?\)")
SOURCE_LINK = re.compile(r"(?<!!)\[(?P<said>[^\]]+)\]\(\.\./(?P<file>(?:docs|dlmini)/[^)#]+)(?:#[^)]*)?\)")


def notebook(text: str, name: str) -> str:
    """The notebook's file, from the text of the lesson `name`."""
    import jupytext

    refuse_directives(text, name)
    cells, used = jupytext.reads(text, fmt="md:myst").cells, Counter()
    whole = {"cells": [plain(cell, used) for cell in cells], "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def refuse_directives(text: str, name: str) -> None:
    """Markdown cells of JupyterLab know no directives: readers would see their source."""
    for found in DIRECTIVE.finditer(text):
        if found["name"] not in UNDERSTOOD:
            line = text.count("\n", 0, found.start()) + 1
            raise ValueError(
                f"{name}.md, line {line}: JupyterLab would show {{{found['name']}}} as it is written; "
                "use plain Markdown, or <details> for what is to be folded"
            )


def plain(cell, used: Counter) -> dict:
    """One cell, with nothing in it that the text does not say."""
    code = cell.cell_type == "code"
    source = cell.source if code else relinked(cell.source)
    made = {
        "cell_type": cell.cell_type,
        "id": identity(cell.cell_type, source, used),
        "metadata": dict(cell.metadata),
        "source": source.splitlines(keepends=True),
    }
    return made | {"execution_count": None, "outputs": []} if code else made


def relinked(text: str) -> str:
    """Links to lessons lead to notebooks. Files of docs/ and dlmini/ are named: a student's own folder has neither."""
    named = SOURCE_LINK.sub(r"\g<said> (`\g<file>` in dlmini's sources)", text)
    return LESSON_LINK.sub(r"](\g<name>.ipynb\g<place>)", named)


def identity(kind: str, source: str, used: Counter) -> str:
    """A name for a cell: what it says, and which one of those that say the same."""
    name = hashlib.sha256(f"{kind}\n{source}".encode()).hexdigest()[:8]
    used[name] += 1
    return name if used[name] == 1 else f"{name}-{used[name]}"
