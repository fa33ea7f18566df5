"""Whoever does not see a picture is told what is on it: in pages, lessons and reports."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md")), *sorted((PROJECT / "course").glob("*.md"))]
HOUSE = PROJECT / "dlmini"
SHORT = 15  # letters: less is a name, not a description


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_picture_of_a_page_is_described(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    assert [alt for alt, _ in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", text) if len(alt) < SHORT] == []
    assert not re.search(r"<img(?![^>]*\balt=\"[^\"]+\")", text)


def test_every_drawing_and_every_sheet_that_code_writes_has_a_name():
    """In HTML and SVG made by hand: <img> has alt, <canvas> and <svg> have a role or a label near by."""
    for file in sorted(HOUSE.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        for tag in re.findall(r"<img [^>]*src=[^>]*", text):
            assert "alt=" in tag, f"{file.relative_to(HOUSE)}: {tag[:60]}"
        for tag in re.findall(r"<svg [^>]*", text):
            assert "aria-" in tag or "role=" in tag, f"{file.relative_to(HOUSE)}: {tag[:60]}"
