"""What a live cell leaves where there are no widgets, and how figures look in the dark and sound to who cannot see."""

import re

import pytest

from dlmini.course.book import cells
from dlmini.show.paper import cut_out, described, page_of, sheet
from dlmini.show.stills import LIVE, MARK, VIEW

pytest.importorskip("anywidget")


@pytest.fixture
def outputs():
    """What is displayed, as a notebook gets it."""
    from IPython.core.displaypub import CapturingDisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    usual, shell.display_pub = shell.display_pub, CapturingDisplayPublisher()
    yield shell.display_pub.outputs
    shell.display_pub = usual
    InteractiveShell.clear_instance()


def desk():
    from dlmini.lessons.picture_desk import PictureDesk

    return PictureDesk({"height": slider()}, line, {})


def slider():
    import ipywidgets

    return ipywidgets.IntSlider(1, 0, 9, description="height")


def line(height: int):
    figure, axes = sheet(3, 2)
    axes.plot([0, height], label=f"up to {height}")
    return figure


def test_a_live_cell_shows_the_widget_and_a_picture_that_hides_while_it_lives(outputs):
    from IPython.display import display

    made = desk()
    display(made)
    live, still = outputs
    assert set(live["data"]) == {VIEW, "text/plain"}
    assert live["data"]["text/plain"] == LIVE == cells.FOLLOWS
    assert still["metadata"] == MARK
    assert still["data"]["image/png"]
    html, name = still["data"]["text/html"], made.model_id
    assert f'<div class="dlmini-still-{name}">' in html
    assert f"body:has(.dlmini-alive-{name}) .dlmini-still-{name}" in html
    assert f"dlmini-alive-{name}" in made._dom_classes
    assert 'alt="Figure. lines: up to 1."' in html


def test_the_picture_is_that_of_the_last_change(outputs):
    from IPython.display import display

    made = desk()
    made.choices["height"].value = 3
    assert not outputs  # nobody has shown it
    display(made)
    made.choices["height"].value = 7
    last = outputs[-1]
    assert last["update"]
    assert last["transient"]["display_id"] == outputs[1]["transient"]["display_id"]
    assert "up to 7" in last["data"]["text/html"]


def test_paper_has_one_picture_of_a_live_cell(outputs):
    from IPython.display import display

    display(desk())
    left = [{"output_type": "display_data", "data": dict(one["data"]), "metadata": one["metadata"]} for one in outputs]
    left[1]["data"]["image/png"] = "aGVsbG8="
    page = cells.outputs(left)
    assert page.count("<img") == 1
    assert page.count("Live in the notebook; this is its first picture.") == 1


def test_a_guess_leaves_its_question(outputs):
    from IPython.display import display

    from dlmini import guess

    display(guess("07.a", "How much?", unit="ms", between=(0, 30)))
    assert "How much?" in outputs[1]["data"]["text/html"]
    assert "____ ms" in outputs[1]["data"]["text/html"]


def test_what_a_dashboard_leaves_are_the_runs_that_it_has_seen(outputs):
    from IPython.display import display

    from dlmini.show import dashboard

    board = dashboard(recording="03", speed="at once")
    display(board)
    assert "A recording of this dashboard" in outputs[1]["data"]["text/plain"]
    board._watch()
    assert "training loss against rounds" in outputs[-1]["data"]["text/plain"]
    assert board.label in outputs[-1]["data"]["text/html"]


# ---- in the dark, and in words ----


def test_in_the_dark_a_figure_is_turned_over_but_not_where_colours_mean_something():
    plain, axes = sheet(4, 3)
    axes.plot([1, 2])
    assert len(cut_out(plain)) == 1
    heat, (a, b) = sheet(8, 3, columns=2)
    heat.colorbar(a.imshow([[0, 1], [1, 0]]), ax=a)
    b.plot([1, 2])
    heat._repr_png_()
    _, *holes = cut_out(heat)
    assert len(holes) == 2  # the image and its scale
    for hole in holes:
        x, y = ([float(number) for number in re.findall(r"([\d.]+)%", hole)][i::2] for i in (0, 1))
        assert 0 < min(x[:5]) < max(x[:5]) < 55
        assert 0 < min(y[:5]) < max(y[:5]) < 100
    assert '[data-jp-theme-light="false"]' in page_of(heat, b"", "words")


def test_words_of_a_figure_hold_what_its_legends_say():
    from matplotlib.patches import Patch

    figure, (a, b) = sheet(8, 3, columns=2)
    a.barh([0], [1])
    a.legend(handles=[Patch(label="at work"), Patch(label="waiting")], title="a rank is")
    b.semilogy([1, 1e9])
    figure.legend(handles=[Patch(label="dashed: published")])
    said = described(figure)
    assert "a rank is: at work, waiting" in said
    assert "Beside: dashed: published." in said
    assert "mathdefault" not in said
