"""A student guesses, runs the experiment, sees both side by side, and finds the guess in the index."""

import pytest
from lab import DONE, READY, missing, page, run_all, show_cell
from visitor import PATIENCE, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=f"browser tests: {missing()}")]
LESSON = "notebooks/04_allreduce.ipynb"
DARK = "() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})"


def runs(visitor, *cells):
    """These cells, each to its end."""
    for text in cells:
        visitor.runs_again(text)
        visitor.view.wait_for_function(DONE, timeout=PATIENCE)


def test_a_guess_stands_beside_the_measurement_and_in_the_index(lab, shots):
    folder, url, token = lab
    with page(url, token, LESSON) as view:
        view.wait_for_function(READY, timeout=PATIENCE)
        visitor = Visitor(view)
        runs(visitor, "import numpy as np", 'guess("04.star"')
        typed = visitor.output('guess("04.star"')
        visitor.expect(typed).to_contain_text("no guess yet", timeout=PATIENCE)
        typed.locator("input").first.fill("0.8")
        typed.locator("input").first.press("Enter")
        visitor.expect(typed).to_contain_text("noted: 0.8 s", timeout=PATIENCE)
        runs(visitor, 'see("04.star"')
        card = visitor.output('see("04.star"').locator(".dlmini-see")
        visitor.expect(card).to_contain_text("you guessed 0.8 s · measured 1.344 s", timeout=PATIENCE)
        visitor.expect(card).to_contain_text("within a factor of two")
        view.screenshot(path=shots / "guess_number.png")

        runs(visitor, 'see("04.chunk"', 'guess("04.most_bytes"')
        chosen = visitor.output('guess("04.most_bytes"')
        chosen.get_by_role("button", name="all the same").click()
        visitor.expect(chosen).to_contain_text("noted: all the same", timeout=PATIENCE)
        runs(visitor, 'see("04.most_bytes"')
        visitor.expect(visitor.output('see("04.most_bytes"')).to_contain_text("● right", timeout=PATIENCE)
        view.evaluate(DARK)
        show_cell(view, 'guess("04.most_bytes"')
        view.screenshot(path=shots / "guess_choice_dark.png")
    assert {file.name for file in (folder / ".dlmini/guesses").iterdir()} == {"04.star.json", "04.most_bytes.json"}
    with page(url, token, "notebooks/index.ipynb") as view:
        run_all(view)
        visitor = Visitor(view)
        show_cell(view, "progress()")
        record = visitor.output("progress()")
        visitor.expect(record).to_contain_text("◐● 2 of 13", timeout=PATIENCE)
        visitor.expect(record.locator("[title*='You guessed 0.8 s, measured 1.344 s']")).to_have_text("◐")
        view.screenshot(path=shots / "guess_index.png")


def test_whoever_slides_guesses_too_and_whoever_runs_on_is_not_held_up(lab, shots):
    _, url, token = lab
    with page(url, token, "notebooks/07_local_sgd.ipynb") as view:
        run_all(view)
        visitor = Visitor(view)
        show_cell(view, 'see("07.rest"')
        visitor.expect(visitor.output('see("07.rest"')).to_contain_text("no guess this time", timeout=PATIENCE)
        show_cell(view, 'guess("07.rest"')
        asked = visitor.output('guess("07.rest"')
        visitor.expect(asked).to_contain_text("no guess yet", timeout=PATIENCE)
        handle = asked.locator(".noUi-handle")
        handle.focus()
        for _ in range(2):
            handle.press("ArrowRight")
        visitor.expect(asked).to_contain_text("noted: -0.", timeout=PATIENCE)
        view.screenshot(path=shots / "guess_slid.png")
