"""A dashboard in the dark, on narrow pages, at 200 %, and with the keyboard alone; figures that say what they show."""

import pytest
from lab import missing, page, ready, run_all, show_cell, write_notebook
from visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=f"browser tests: {missing()}")]

BOOK = "looks.ipynb"
CELLS = (
    'from dlmini.show import dashboard, law_card\ndashboard(recording="03", speed="at once")',
    'law_card("a law", 1.0, 1.0)',
)
CONTRAST = """(element) => {
    const numbers = (text) => text.match(/[0-9.]+/g).map(Number);
    const linear = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
    const clear = (one) => numbers(getComputedStyle(one).backgroundColor)[3] === 0;
    let behind = element;
    while (behind.parentElement && clear(behind)) behind = behind.parentElement;
    const [a, b] = [getComputedStyle(element).color, getComputedStyle(behind).backgroundColor].map(numbers).map(light);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}"""
WORDS = (".dlmini-status", ".dlmini-tile-name", ".dlmini-tile-value", ".dlmini-card-title", ".dlmini-keys span")
WORDS += (".dlmini-dashboard select", ".dlmini-clear", ".dlmini-legend-item span:last-child")
CARD = ("b:has-text('✓ a law')", "span:has-text('allowed')")
CLIPPED = """() => [...document.querySelectorAll('.dlmini-dashboard select')].filter((select) => {
    const pen = document.createElement('canvas').getContext('2d');
    pen.font = getComputedStyle(select).font;
    return select.offsetWidth && pen.measureText(select.selectedOptions[0]?.text ?? '').width > select.clientWidth - 20
}).map((select) => select.selectedOptions[0].text)"""
CUT_OFF = """() => [...document.querySelectorAll('.dlmini-tile-value, .dlmini-card-title')].filter(
    (words) => words.scrollWidth > words.clientWidth).map((words) => words.textContent)"""
STOPS = """() => [...document.querySelectorAll('.dlmini-dashboard :is(select, button, input)')]
    .filter((one) => !one.disabled && one.offsetParent).map((one, i) => (one.dataset.stop = i)).length"""
STOP = "() => [document.activeElement.dataset.stop, getComputedStyle(document.activeElement).outlineStyle]"
AT_START = "() => document.activeElement.classList.contains('dlmini-start')"
TOO_WIDE = "() => { const box = document.querySelector('.dlmini-dashboard'); return box.scrollWidth - box.clientWidth }"


@pytest.fixture
def book(lab):
    folder, url, token = lab
    write_notebook(folder / BOOK, *CELLS)
    return url, token


def lit(view, theme: str) -> None:
    """In this theme, Dark or Light: the server remembers the one of the test before."""
    ready(view)
    view.evaluate(
        f"() => window.jupyterapp.commands.execute('apputils:change-theme', {{ theme: 'JupyterLab {theme}' }})"
    )
    view.locator(f"body[data-jp-theme-name='JupyterLab {theme}']").wait_for(state="attached")


def played(view) -> Visitor:
    """The notebook is run, and the recording played to its end."""
    run_all(view)
    show_cell(view, "dashboard(")
    visitor = Visitor(view)
    visitor.sees("idle")
    visitor.press("Start")
    visitor.sees("ended")
    return visitor


def test_in_the_dark_every_word_can_be_read(book, shots):
    with page(*book, BOOK) as view:
        lit(view, "Dark")
        played(view)
        view.screenshot(path=shots / "dark.png")
        for what in WORDS:
            assert view.locator(what).first.evaluate(CONTRAST) >= 4.5, what
        show_cell(view, "law_card(")
        view.screenshot(path=shots / "dark_card.png")
        for what in CARD:
            assert view.locator(".jp-OutputArea-output").locator(what).last.evaluate(CONTRAST) >= 4.5, what


@pytest.mark.parametrize(
    ("width", "height", "scale"), [(900, 900, 1), (700, 500, 2)], ids=["900 px", "1400 px at 200 %"]
)
def test_on_a_narrow_page_nothing_is_clipped_and_the_legend_stands_above_the_curves(book, shots, width, height, scale):
    with page(*book, BOOK, width, height, scale) as view:
        lit(view, "Light")
        view.evaluate("() => window.jupyterapp.shell.collapseLeft()")  # a phone's width has done so already
        played(view)
        view.screenshot(path=shots / f"wide_{width}.png")
        assert view.evaluate(TOO_WIDE) <= 1
        assert view.evaluate(CLIPPED) == []
        assert view.evaluate(CUT_OFF) == []
        legend, curves = (view.locator(what).first.bounding_box() for what in (".dlmini-legend", ".dlmini-grid"))
        assert legend["y"] + legend["height"] <= curves["y"] + 1
        assert legend["height"] > 10


def test_every_menu_of_a_dashboard_says_its_name(lab):
    """As the browser tells it to a screen reader."""
    _, url, token = lab
    with page(url, token, "live.ipynb") as view:
        visitor = Visitor(view)
        visitor.opens_the_dashboard()
        for name in ("when to talk", "with whom", "how briefly", "workers", "where", "network", "slow", "rank", "link"):
            menu = view.get_by_role("combobox", name=name, exact=True)
            visitor.expect(menu).to_have_count(1)
            assert view.locator(f".dlmini-field span[title]:text-is('{name}')").count() == 1, name
        assert view.locator(".dlmini-field .widget-dropdown > label").first.bounding_box()["width"] <= 1  # it is above


def every_control_is_reached(view) -> int:
    """By Tab alone, from the first on, and each shows that it is."""
    count, reached = view.evaluate(STOPS), {}
    view.locator(".dlmini-dashboard [data-stop='0']").focus()
    for _ in range(count):
        place, ring = view.evaluate(STOP)
        reached[place] = ring
        view.keyboard.press("Tab")
    assert set(reached) == {str(place) for place in range(count)}
    assert "none" not in reached.values(), reached
    return count


def test_with_the_keyboard_alone_a_run_is_started_and_seen(book, shots):
    with page(*book, BOOK) as view:
        run_all(view)
        show_cell(view, "dashboard(")
        visitor = Visitor(view)
        visitor.sees("idle")
        view.locator(".dlmini-dashboard select").first.focus()
        for _ in range(8):
            view.keyboard.press("Tab")
            if view.evaluate(AT_START):
                break
        assert view.evaluate(AT_START)
        assert view.evaluate("() => getComputedStyle(document.activeElement).outlineStyle") != "none"
        view.screenshot(path=shots / "focus.png")
        view.keyboard.press("Enter")
        visitor.sees("ended")
        assert every_control_is_reached(view) >= 5
        label = view.locator(".dlmini-card canvas").nth(1).get_attribute("aria-label")
        assert label.startswith("test accuracy of ")
        assert "%" in label
