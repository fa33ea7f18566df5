"""Every term is explained once, and linked where a lesson first uses it; nothing else in a lesson changes."""

import re
from pathlib import Path

import pytest

from dlmini.course import glossary
from dlmini.course.lessons import NAME

COURSE = Path(__file__).parents[2] / "course"
TEXT = (COURSE / "glossary.md").read_text(encoding="utf-8")
KNOWN = glossary.terms(TEXT)
LESSONS = sorted(file.stem for file in COURSE.glob("*.md") if NAME.fullmatch(file.stem))
LINK = re.compile(r"\[([^\]]+)\]\(glossary\.md#[^)]+\)")
SMALL = glossary.terms("### rank\n\nOne of them.\n\n### ring all-reduce\n(ring)\nA sum.\n\n### all-reduce\n\nA sum.\n")


def of(body: str) -> str:
    """A lesson with this body, its links made."""
    return glossary.linked(f"# 99 · Ranks\n\nWhat is a rank?\n\n{body}", SMALL).split("\n\n", 2)[2]


def test_every_entry_is_read_and_names_a_lesson():
    assert len(KNOWN) == TEXT.count("\n### ")
    assert all(re.search(r"Lessons? \d\d", term.text) for term in KNOWN)


def test_every_entry_names_lessons_whose_text_uses_the_term():
    for term in KNOWN:
        for number in re.findall(r"\b[01]\d\b", term.text.partition("Lesson")[2]):
            (name,) = (it for it in LESSONS if it.startswith(number))
            text = re.sub(r"```.*?```", "", (COURSE / f"{name}.md").read_text(encoding="utf-8"), flags=re.S)
            assert term.pattern.search(text), f"{term.name}: lesson {number} does not use it"


def test_entries_stand_in_the_order_of_the_alphabet():
    names = re.findall(r"^### (.+)$", TEXT, re.M)
    assert names == sorted(names, key=str.lower)
    said = [word.lower() for term in KNOWN for word in term.words]
    assert len(set(said)) == len(said)


@pytest.mark.parametrize("name", LESSONS)
def test_a_word_that_means_something_else_is_not_linked(name):
    """A round trip, the other way round, to round a number, the loss of something: authors say it in other words."""
    linked = glossary.linked((COURSE / f"{name}.md").read_text(encoding="utf-8"), KNOWN)
    other = r"(?:ways? to|way|go|goes|may|processors|and) \[rounds?\]\(|\[rounds?\]\([^)]+\) (?:trips?|it|up|down|to)\b"
    other += r"|without (?:any )?\[loss\]\(|\[loss\]\([^)]+\) of (?:quality|accuracy|information)"
    assert re.findall(f".{{20}}(?:{other})", linked) == []


def test_a_term_is_linked_once_and_the_longer_name_wins():
    assert of("Ranks and a rank.") == "[Ranks](glossary.md#rank) and a rank."
    assert of("A ring all-reduce.") == "A [ring all-reduce](glossary.md#ring-all-reduce)."
    assert of("Frank all-reduced it.") == "Frank all-reduced it."


def test_capitals_inside_a_name_count():
    known = glossary.terms("### ZeRO\nShares. Lesson 12.\n")
    text = "# 99 · A\n\nB?\n\nZero and zeros are no ZeRO."
    assert glossary.linked(text, known).endswith("Zero and zeros are no [ZeRO](glossary.md#ZeRO).")


@pytest.mark.parametrize(
    "body",
    [
        "```python\nrank = 1\n```",
        "    `rank` and $rank$ and [a rank](x.md)",
        "### A rank",
        "| rank | ring |",
        "<b>a rank</b>",
        "$$\nrank\n$$",
    ],
)
def test_code_formulas_links_headings_and_tables_stay(body):
    assert of(body) == body


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_changes_in_nothing_but_links(name):
    text = (COURSE / f"{name}.md").read_text(encoding="utf-8")
    linked = glossary.linked(text, KNOWN)
    assert LINK.sub(r"\1", linked) == text
    links = LINK.findall(linked)
    assert links
    targets = re.findall(r"\(glossary\.md#([^)]+)\)", linked)
    assert len(set(targets)) == len(targets)
