"""Every letter that formulas of the lessons use for a quantity is explained in the glossary, for that very lesson."""

import re
from pathlib import Path

from dlmini.course.lessons import NAME

COURSE = Path(__file__).parents[2] / "course"
ROW = re.compile(r"^\| \$([^$]+)\$ \| (.+) \|$", re.M)
TEX = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", re.S)
WORDS = re.compile(r"\\(?:text|mathrm|operatorname|underbrace|begin|end)\s*\{[^{}]*\}")
GREEK = "alpha beta gamma Delta delta epsilon varepsilon eta lambda mu pi sigma Sigma tau varphi ell theta omega Omega"
EVERYWHERE = "everywhere"


def symbols(text: str) -> set[str]:
    """The letters of a lesson's formulas, Latin and Greek."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)
    found = set()
    for formula in (one or other for one, other in TEX.findall(text)):
        bare = WORDS.sub("", formula)
        found |= {f"\\{name}" for name in re.findall(r"\\([A-Za-z]+)", bare) if name in GREEK.split()}
        found |= set(re.findall(r"[A-Za-z]", re.sub(r"\\[A-Za-z]+", " ", bare)))
    return found


def used() -> dict[str, set[str]]:
    """Lesson number -> its symbols."""
    files = [file for file in sorted(COURSE.glob("*.md")) if NAME.fullmatch(file.stem)]
    return {file.stem[:2]: symbols(file.read_text(encoding="utf-8")) for file in files}


def explained() -> dict[str, str]:
    return dict(ROW.findall((COURSE / "glossary.md").read_text(encoding="utf-8").partition("## Symbols")[2]))


def test_every_letter_is_explained_for_the_lessons_that_use_it():
    said = explained()
    for lesson, letters in used().items():
        for letter in letters:
            assert letter in said, f"lesson {lesson} uses {letter}"
            assert EVERYWHERE in said[letter] or lesson in said[letter], f"{letter} in lesson {lesson}"


def test_no_explanation_names_a_lesson_that_does_not_use_the_letter():
    letters = used()
    for letter, text in explained().items():
        named = re.findall(r"\b[01]\d\b", text)
        assert EVERYWHERE in text or named, letter
        assert [lesson for lesson in named if letter not in letters[lesson]] == [], letter


def test_what_stands_for_the_same_everywhere_is_written_alike():
    """The number of workers is N, seconds are T, and lengths have single bars, in every lesson."""
    for file in COURSE.glob("[0-9][0-9]_*.md"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"\\l?r?Vert|\\\||\^T\b", text), file.stem
