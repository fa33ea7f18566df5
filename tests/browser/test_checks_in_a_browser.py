"""A student works: not done, wrong, right; the notebook stays open, and its kernel is never restarted."""

import pytest
from conftest import PROJECT
from lab import missing, page, run_all, show_cell
from visitor import PATIENCE, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=f"browser tests: {missing()}")]
CELL = 'check("03.average_gradients")'


def test_a_check_card_follows_the_file(lab, shots):
    folder, url, token = lab
    exercise = folder / "exercises/03_data_parallelism.py"
    solved = (PROJECT / "solutions/03_data_parallelism.py").read_text(encoding="utf-8")
    wrong = solved.replace("    total /= comm.size\n", "")
    assert wrong != solved
    with page(url, token, "notebooks/03_data_parallelism.ipynb") as view:
        run_all(view)
        visitor = Visitor(view)
        show_cell(view, CELL)
        card = visitor.output(CELL)
        visitor.expect(card).to_contain_text("not done yet", timeout=PATIENCE)
        for state, text, word in (("wrong", wrong, "not yet"), ("right", solved, "passed")):
            exercise.write_text(text, encoding="utf-8")
            visitor.runs_again(CELL)
            visitor.expect(card).to_contain_text(word, timeout=PATIENCE)
            view.screenshot(path=shots / f"check_{state}.png")
        visitor.expect(card).not_to_contain_text("not yet")
