"""In both themes words stand out by 4.5 to 1, and lines, bars, borders, the focus ring by 3 to 1 (WCAG 2.2).

Ratios are reckoned here anew, from the definition.
"""

import re
from itertools import product
from pathlib import Path

import pytest

from dlmini.show import palette

HOUSE = Path(palette.__file__).parents[1]
SHEET = (HOUSE / "show" / "live.css").read_text(encoding="utf-8")
WORDS, GRAPHICS = 4.5, 3.0
FILLS = {"go": "#0072b2", "pressed": "#005f94"}  # behind white words


def light(colour: str) -> float:
    values = [int(colour.lstrip("#")[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]
    return sum(share * value for share, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def ratio(one: str, other: str) -> float:
    dark, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dark + 0.05)


def themes() -> dict[str, dict[str, str]]:
    """The colours of the style sheet by name: those of the light page, and what the dark one puts in their place."""
    blocks = re.findall(r"\{([^{}]*--dl-ink:[^{}]*)\}", SHEET)
    bright, dark = (dict(re.findall(r"--dl-(\w+): (#[0-9a-f]{6})", block)) for block in blocks)
    return {"light": bright, "dark": bright | dark}


THEMES = themes()
PAPERS = {name: theme["paper"] for name, theme in THEMES.items()}


def test_both_themes_name_every_colour():
    assert set(dict(re.findall(r"--dl-(\w+): (#)", SHEET))) == set(THEMES["light"]) == set(THEMES["dark"])
    assert ratio("#000000", "#ffffff") == pytest.approx(21)
    assert ratio("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)  # the grey that just fails


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(
    ("words", "behind"),
    [
        *product(["ink"], ["paper", "button", "hover", "soft", "good", "bad"]),
        *[("quiet", "paper"), ("warn", "paper"), ("warn", "bad")],
    ],
)
def test_words_can_be_read(theme, words, behind):
    assert ratio(THEMES[theme][words], THEMES[theme][behind]) >= WORDS


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("what", ["edge", "focus"])
def test_borders_and_the_focus_ring_are_seen(theme, what):
    assert ratio(THEMES[theme][what], THEMES[theme]["paper"]) >= GRAPHICS


@pytest.mark.parametrize("fill", FILLS.values(), ids=FILLS)
def test_white_words_on_blue_can_be_read(fill):
    assert fill in SHEET
    assert ratio("#ffffff", fill) >= WORDS


@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
@pytest.mark.parametrize("colour", [*palette.CURVES, palette.YELLOW, palette.GREY], ids=str)
def test_every_line_or_its_rim_is_seen(paper, colour):
    """Black is drawn in ink where the page is dark; what is light has a rim."""
    drawn = THEMES["dark"]["ink"] if (colour, paper) == (palette.BLACK, PAPERS["dark"]) else colour
    rim = [palette.RIM] if colour in palette.LIGHT else []
    assert max(ratio(one, paper) for one in (drawn, *rim)) >= GRAPHICS


def test_what_is_called_light_is_what_needs_a_rim():
    every = {*palette.CURVES, palette.YELLOW, palette.GREY, palette.PALE}
    assert {colour for colour in every if ratio(colour, "#ffffff") < GRAPHICS} == set(palette.LIGHT)
    script = (HOUSE / "show" / "live.js").read_text(encoding="utf-8")
    named = set(re.findall(r'"(#[0-9a-f]{6})"', re.search(r"LIGHT = new Set\((.*?)\)", script)[1]))
    assert named == set(palette.LIGHT) - {palette.PALE}


def test_shares_written_on_bars_can_be_read():
    """live.js: white on the bars of computing and of what is left over, dark ink on the two others."""
    script = (HOUSE / "show" / "live.js").read_text(encoding="utf-8")
    ink = re.search(r'DARK_INK = "(#[0-9a-f]{6})"', script)[1]
    bright = re.findall(r'"(\w+)"', re.search(r"BRIGHT_ON = new Set\((.*?)\)", script)[1])
    for phase, colour in (palette.PHASE | {"other": palette.GREY}).items():
        assert ratio("#ffffff" if phase in bright else ink, colour) >= WORDS, phase


@pytest.mark.parametrize("colour", [*palette.CURVES, palette.YELLOW, palette.GREY, palette.PALE], ids=str)
def test_the_ink_that_is_chosen_for_a_colour_can_be_read(colour):
    assert ratio(palette.ink_on(colour), colour) >= WORDS
    assert palette.contrast("#ffffff", colour) == pytest.approx(ratio("#ffffff", colour))


def test_words_on_the_volunteers_page_can_be_read():
    text = (HOUSE / "volunteer" / "page.html").read_text(encoding="utf-8")
    pairs = re.findall(r"background: (#[0-9a-f]{3,6}); color: (#[0-9a-f]{3,6})", text)
    assert len(pairs) >= 4
    for behind, words in pairs:
        assert ratio(*(colour if len(colour) == 7 else "#" + 2 * colour[1] * 3 for colour in (behind, words))) >= WORDS


@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize("kind", ["forward", "backward", "weights"])
def test_names_in_boxes_of_a_pipeline_can_be_read(number, kind):
    """A box is its colour over white, more or less of it."""
    from dlmini.parallel import bubbles

    drawn = bubbles.box(bubbles.Slot(kind, number, 0, 0.0, 9.0, rank=0), 0.0, 20.0)
    inside = "#" + 2 * re.search(r'<text[^>]*fill="#(\w{3})"', drawn)[1]
    colour, strength = re.search(r'fill="(#\w{6})" fill-opacity="([\d.]+)"', drawn).groups()
    share = float(strength)
    mixed = [round(share * int(colour[i : i + 2], 16) + (1 - share) * 255) for i in (1, 3, 5)]
    assert ratio(inside, "#" + "".join(f"{value:02x}" for value in mixed)) >= WORDS


@pytest.mark.parametrize("sheet", ["course/book/book.css", "course/book/slides.css"])
def test_words_of_book_and_slides_can_be_read(sheet):
    text = (HOUSE / sheet).read_text(encoding="utf-8")
    named = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", text))
    for name in {"ink", "soft", "link"} & set(named):
        assert ratio(named[name], "#ffffff") >= WORDS, name
        assert ratio(named[name], named.get("tint", "#ffffff")) >= WORDS, name
