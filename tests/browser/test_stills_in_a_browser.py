"""Live cells leave a still picture: after a restart of the kernel and a reload there is no word of a missing model."""

import json

import pytest
from lab import missing, page, ready, run_all, show_cell, write_notebook
from test_looks_in_a_browser import lit
from visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=f"browser tests: {missing()}")]

BOOK = "stills.ipynb"
CELLS = (
    'from dlmini import guess\nfrom dlmini.show import dashboard\ndashboard(recording="03", speed="at once")',
    "from dlmini.lessons.gossip.explorer import desk\ndesk()",
    'guess("07.a", "How much is it?", unit="ms", between=(0, 30))',
)
STILL = ".jp-OutputArea [class^='dlmini-still']"
PALE = """(name) => {
    const image = [...document.querySelectorAll(name + ' img')].find((one) => one.offsetWidth);
    return image && image.complete && image.naturalWidth > 100
}"""
RENEWED = "() => document.querySelector('[class^=dlmini-still] img').alt.includes('training loss')"
SAVED = "() => window.jupyterapp.commands.execute('docmanager:save')"
RESTART = """() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"""


def told(view) -> str:
    return view.evaluate("() => document.querySelector('.jp-Notebook').innerText")


def test_after_a_restart_and_a_reload_a_live_cell_is_a_picture(lab, shots):
    folder, url, token = lab
    write_notebook(folder / BOOK, *CELLS)
    with page(url, token, BOOK, height=1600) as view:
        lit(view, "Light")
        run_all(view)
        show_cell(view, "dashboard(")
        visitor = Visitor(view)
        visitor.sees("idle")
        assert view.locator(STILL).locator("visible=true").count() == 0  # the widgets are alive
        visitor.press("Start")
        visitor.sees("ended")
        view.wait_for_function(
            "() => document.querySelector('[class^=dlmini-still] img').alt.includes('training loss')"
        )
        view.evaluate(SAVED)
        kept = json.loads((folder / BOOK).read_text("utf-8"))["cells"]
        assert all([left["metadata"].get("dlmini") for left in cell["outputs"]] == [None, "still"] for cell in kept)
        view.screenshot(path=shots / "alive.png")
        view.reload()  # the kernel lives: so do the widgets
        ready(view)
        show_cell(view, "dashboard(")
        visitor.sees("ended")
        assert view.locator(STILL).locator("visible=true").count() == 0
        view.evaluate(RESTART)
        ready(view)
        assert "model not found" not in told(view)
        view.reload()
        ready(view)
        for text in ("dashboard(", "desk()", "How much"):
            show_cell(view, text)
            visitor.expect(view.locator(STILL).locator("visible=true").first).to_be_visible()
            assert "model not found" not in told(view)
            assert "Loading widget" not in told(view)
        show_cell(view, "dashboard(")
        view.wait_for_function(PALE, arg=".dlmini-figure")
        view.screenshot(path=shots / "still.png")
        lit(view, "Dark")
        view.screenshot(path=shots / "still_dark.png")
