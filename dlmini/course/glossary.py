"""The glossary: a term is explained once, in course/glossary.md, and linked where a lesson first uses it.

A heading of the third level is a term; what lessons call it besides stands in the line below it, in brackets. Links are
made when notebooks are: authors write plain words. Headings, code, formulas, links, tables and a lesson's question stay
as they are.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

PAGE = "glossary"
ENTRY = re.compile(r"^### (?P<term>.+)\n+(?:\((?P<also>[^)\n]+)\)\n+)?(?P<text>[^\n]+)", re.M)
FENCED = re.compile(r"(^```.*?^```[^\S\n]*$|^\$\$.*?\$\$[^\S\n]*$|^<details>.*?^</details>)", re.M | re.S)
LEFT_ALONE = re.compile(r"(`[^`]*`|\$[^$]*\$|!?\[[^\]]*\]\([^)]*\)|<[^>]*>)")
OTHER_LINE = ("#", "|", "<", "!")


class Term(NamedTuple):
    name: str
    words: tuple[str, ...]  # what it is called in lessons
    text: str

    @property
    def link(self) -> str:
        return f"{PAGE}.md#{self.name.replace(' ', '-')}"

    @property
    def pattern(self) -> re.Pattern:
        return re.compile(rf"(?<![\w-])(?:{'|'.join(map(spelled, self.words))})(?:e?s)?(?![\w-])")


def spelled(word: str) -> str:
    """As a pattern. Where a name has capitals inside, they count: a zero is no ZeRO."""
    return re.escape(word) if word[1:] != word[1:].lower() else f"(?i:{re.escape(word)})"


def terms(text: str) -> list[Term]:
    """What the glossary explains, the longest names first: `ring all-reduce` is not `all-reduce`."""
    found = [Term(it["term"], words(it["term"], it["also"]), it["text"]) for it in ENTRY.finditer(text)]
    return sorted(found, key=lambda it: -len(it.name))


def words(term: str, also: str | None) -> tuple[str, ...]:
    return (term, *(word.strip() for word in (also or "").split(",") if word.strip()))


def terms_of(course: Path) -> list[Term]:
    file = course / f"{PAGE}.md"
    return terms(file.read_text(encoding="utf-8")) if file.is_file() else []


def linked(lesson: str, known: list[Term]) -> str:
    """A lesson's text, every term of the glossary linked once, where it is first used."""
    title, question, *rest = re.split(r"(?<=\n)\n+", lesson, maxsplit=2)
    left = list(known)
    parts = [part if FENCED.fullmatch(part) else prose(part, left) for part in FENCED.split("".join(rest))]
    return f"{title}\n{question}\n" + "".join(parts)


def prose(text: str, left: list[Term]) -> str:
    """Lines between code; terms that were linked are taken out of `left`."""
    lines = text.split("\n")
    return "\n".join(line if line.lstrip().startswith(OTHER_LINE) else with_links(line, left) for line in lines)


def with_links(line: str, left: list[Term]) -> str:
    for term in list(left):
        parts = LEFT_ALONE.split(line)
        for place in range(0, len(parts), 2):  # between what is left alone
            parts[place], count = term.pattern.subn(lambda it, to=term.link: f"[{it[0]}]({to})", parts[place], count=1)
            if count:
                left.remove(term)
                line = "".join(parts)
                break
    return line
