"""Figures hold what they were given: bars, curves, labels, numbers. Nothing here looks at pixels."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from dlmini import show
from dlmini.comm.errors import Deadlock
from dlmini.comm.launch import launch
from dlmini.comm.schedules import ring, tree
from dlmini.events import Fault, Measured, Round, Span
from dlmini.show.learning import points, reached
from dlmini.show.palette import PHASE, settings
from dlmini.show.units import BYTES, SECONDS, said
from dlmini.sim import Cluster, Simulated
from dlmini.topology import spectral_gap


def row(number, compute, communication, waiting, accuracy=0.9):
    seconds = compute + communication + waiting
    return SimpleNamespace(**locals(), label=f"way {number}")


ROWS = [row(1, 2.0, 4.0, 1.0, 0.92), row(2, 2.0, 1.0, 0.5, 0.90), row(3, 2.0, 0.1, 0.5, 0.91)]


def texts(figure):
    from matplotlib.text import Text

    return [t.get_text() for t in figure.findobj(Text)]


def working(comm):
    comm.compute("gradient", None, flops=1e6)
    comm.allreduce(np.ones(1000, np.float32), how=ring)


@pytest.fixture(scope="module")
def ran():
    return launch(working, Simulated(4, Cluster(speed={2: 0.5}), spans=True))


@pytest.fixture
def large():
    show.theme(large=True)
    yield
    show.theme()


def test_a_timeline_has_a_bar_for_every_span(ran):
    figure = show.timeline(ran.events)
    drawn = [path for bars in figure.axes[0].collections for path in bars.get_paths()]
    assert len(drawn) == sum(isinstance(e, Span) for e in ran.events)


def test_a_timeline_is_as_long_as_the_phases_it_shows(ran):
    from matplotlib.colors import to_rgba

    figure = show.timeline(ran.events)
    for phase, colour in PHASE.items():
        bars = [c for c in figure.axes[0].collections if tuple(c.get_facecolor()[0]) == to_rgba(colour)]
        drawn = sum(float(np.ptp(path.vertices[:, 0])) for c in bars for path in c.get_paths())
        assert drawn / 1e3 == pytest.approx(sum(getattr(p, phase) for p in ran.phases)), phase  # drawn in ms


def test_a_timeline_marks_faults_and_can_be_cut(ran):
    fault = Fault("crashed", "gone", rank=1, at=0.001)
    figure = show.timeline([*ran.events, fault], end=0.0015)
    assert [line.get_ydata()[0] for line in figure.axes[0].lines] == [1]
    assert max(p.vertices[:, 0].min() for c in figure.axes[0].collections for p in c.get_paths()) < 1.5


def test_a_timeline_without_spans_says_how_to_have_them():
    with pytest.raises(ValueError, match="spans=True"):
        show.timeline([Round(0, 0.5)])


def events(looks=3, shift=0.0):
    for t in range(looks):
        yield from (Round(t, 1.0, 1000, rank=rank, at=float(t)) for rank in (0, 1))
        yield Measured(t, 1.0 / (t + 1), 0.5 + 0.1 * t + shift, rank=0, at=2.0 * (t + 1))


@pytest.mark.parametrize(
    ("by", "x"), [("seconds", [2, 4, 6]), ("rounds", [1, 2, 3]), ("bytes", [2, 4, 6])], ids=lambda v: str(v)
)
def test_curves_show_what_was_measured_over_what_was_spent(by, x):
    figure = show.curves({"one": events(), "two": events(shift=0.1)}, by=by)
    loss, accuracy = figure.axes
    assert [len(ax.lines) for ax in (loss, accuracy)] == [2, 2]
    np.testing.assert_allclose(accuracy.lines[1].get_xdata(), x)
    np.testing.assert_allclose(accuracy.lines[1].get_ydata(), [0.6, 0.7, 0.8])
    np.testing.assert_allclose(loss.lines[0].get_ydata(), [1, 1 / 2, 1 / 3])
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["one", "two"]


def test_bytes_count_what_all_workers_said_until_the_look():
    assert [p.bytes for p in points(events())] == [2000, 4000, 6000]


def test_rows_with_epochs_are_drawn_by_epochs():
    looks = [SimpleNamespace(epochs=e, accuracy=0.5 + e / 10) for e in (1, 2, 3)]
    figure = show.curves({"a": looks}, by="epochs", what=("accuracy",))
    assert figure.axes[0].lines[0].get_xdata().tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("runs", "by", "advice"),
    [
        ({"a": []}, "seconds", "give the recipe a `look`"),
        ({"a": list(events())}, "epochs", "do not know their epochs"),
        ({"a": list(events())}, "years", "it must be 'seconds' or 'bytes' or 'rounds'"),
    ],
)
def test_curves_that_cannot_be_drawn_get_a_sentence(runs, by, advice):
    with pytest.raises(ValueError, match=advice):
        show.curves(runs, by=by)


def test_no_two_of_ten_curves_look_alike():
    figure = show.curves({str(k): events(shift=k / 100) for k in range(10)}, what=("accuracy",), colours=3)
    assert len({(line.get_color(), line.get_linestyle()) for line in figure.axes[0].lines}) == 10


def test_a_target_is_reached_between_two_looks():
    assert reached(events(), 0.65) == pytest.approx(5.0)
    assert reached(events(), 0.4) == 2.0
    assert reached(events(), 0.99) == float("inf")


def test_stacked_bars_add_up_to_the_whole_time():
    axes = show.time_split(ROWS).axes[0]
    assert len(axes.containers) == 3
    ends = [max(c.patches[i].get_x() + c.patches[i].get_width() for c in axes.containers) for i in range(3)]
    np.testing.assert_allclose(ends, [r.seconds for r in ROWS])
    assert [t.get_text() for t in axes.get_yticklabels()] == ["way 1", "way 2", "way 3"]


def test_speed_up_is_the_first_over_each_and_is_written_there():
    figure = show.speed_up(ROWS, claims={2: (2, 5)})
    bars = figure.axes[0].containers[-1]
    np.testing.assert_allclose([bar.get_width() for bar in bars], [1, 4, 40])
    assert {"×1", "×4", "×40"} <= set(texts(figure))
    assert figure.axes[0].containers[0].patches[0].get_x() == 2  # the claimed band begins


def test_several_speed_ups_stand_side_by_side():
    figure = show.speed_up(ROWS, of=("communication", "seconds"))
    assert len(figure.axes[0].containers) == 2
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["communication", "seconds"]


def test_nobody_on_the_frontier_is_beaten():
    from dlmini.show.frontier import frontier

    assert [r.number for r in frontier(ROWS, "communication", "accuracy")] == [3, 1]
    step = show.pareto(ROWS, cost="communication").axes[0].lines[0]
    assert list(step.get_xdata()) == [0.1, 4.0]


def test_points_that_meet_share_one_label():
    rows = [
        SimpleNamespace(number=n, label=str(n), seconds=s, accuracy=0.8) for n, s in ((1, 1.0), (2, 1.01), (3, 2.0))
    ]
    assert [note.get_text() for note in show.pareto(rows).axes[0].texts] == ["1, 2", "3"]


def test_long_names_stand_below_the_curves_and_leave_them_their_room():
    points = [SimpleNamespace(seconds=s, loss=1.0, accuracy=0.5) for s in range(5)]
    beside, below = (show.curves({name: points, "another": points}) for name in ("short", 60 * "x"))
    for figure in (beside, below):
        figure.draw_without_rendering()
    assert below.axes[0].get_position().width > beside.axes[0].get_position().width
    assert below.legends[0].get_window_extent().y1 < below.axes[0].get_window_extent().y0


def test_a_mixing_matrix_tells_its_spectral_gap():
    from dlmini.topology.graphs import ring as ring_matrix

    K = ring_matrix(8)
    figure = show.mixing_matrix(K)
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), K)
    assert f"spectral gap {spectral_gap(K):.3g}" in texts(figure)
    assert texts(figure).count("0.33") == 24
    with pytest.raises(ValueError, match="square"):
        show.mixing_matrix(np.ones((2, 3)))


def test_the_heat_map_holds_the_bytes_of_the_books(ran):
    image = show.link_heatmap(ran.books).axes[0].images[0].get_array()
    sent = {pair: traffic.nbytes for pair, traffic in ran.books.per_pair().items()}
    assert image.shape == (4, 4)
    assert all(1e3 * image[pair] == pytest.approx(nbytes) for pair, nbytes in sent.items())
    assert np.count_nonzero(image) == len(sent) == 4
    np.testing.assert_array_equal(show.link_heatmap(ran.entries).axes[0].images[0].get_array(), image)


def test_a_deadlock_is_drawn_with_its_circle_in_red():
    from dlmini.show.palette import VERMILION

    def program(comm):
        comm.recv((comm.rank + 1) % 2 if comm.rank < 2 else 0)

    with pytest.raises(Deadlock) as caught:
        launch(program, Simulated(3))
    figure = show.wait_graph(caught.value)
    arrows = [t for t in figure.axes[0].texts if getattr(t, "arrow_patch", None)]
    red = [a for a in arrows if a.arrowprops["color"] == VERMILION]
    assert (len(arrows), len(red)) == (3, 2)
    assert {"0", "1", "2"} <= set(texts(figure))
    assert any("receives from rank 1" in text for text in texts(figure))


def test_a_wait_in_a_cell_of_a_notebook_is_not_drawn_with_the_kernel_s_own_file():
    wait = SimpleNamespace(rank=0, on=(1,), what="receives", where="/tmp/ipykernel_12901/15873.py:3: comm.recv(1)")
    assert any("\n      cell:3: comm.recv(1)" in text for text in texts(show.wait_graph([wait])))


@pytest.mark.parametrize("schedule", [ring, tree])
def test_a_film_strip_ends_with_everybody_holding_everything(schedule):
    from dlmini.comm.schedules.draw import draw

    figure = show.film_strip(schedule, 4)
    held = [ax for ax in figure.axes if ax.images]
    assert len(held) == draw(schedule, 4).steps + 1
    assert {t.get_text() for t in held[0].texts} == {"1"}
    assert {t.get_text() for t in held[-1].texts} == {"4"}


def test_an_animation_has_frames_for_every_step_and_needs_no_other_program():
    from dlmini.show.rings import FRAMES

    film = show.ring_animation(ring, 3)
    assert re.search('<img alt="chunks[^"]+" src="data:image/png;base64,', film.html()), (
        "the first frame is there before any script runs"
    )
    page = film._repr_html_()
    assert page.count("data:image/png;base64") == film.drawing.steps * FRAMES + 2  # and the first twice
    assert page is film.html()
    assert not re.search(r"https?://", page), "it fetches nothing"
    assert page.count("</button>") == 9
    assert 'class="fa ' not in page, "every button has a sign that needs no font of its own"


@pytest.mark.parametrize(("measured", "mark"), [(10.05, "✓"), (10.2, "✗")])
def test_a_law_card_is_green_only_within_the_tolerance(measured, mark):
    card = show.law_card("bytes <of a ring>", 10, measured, 0.01)
    assert card.agrees == (mark == "✓")
    assert mark in card._repr_html_()
    assert "bytes &lt;of a ring&gt;" in card._repr_html_()


def test_letters_are_larger_on_a_projector(large):
    size = settings()["font.size"]
    axes = show.time_split(ROWS).axes[0]
    show.theme()
    assert size > 1.5 * settings()["font.size"]
    assert axes.get_yticklabels()[0].get_fontsize() == size


def test_figures_leave_everybody_else_s_settings_alone():
    import matplotlib

    before = dict(matplotlib.rcParams)
    show.time_split(ROWS)
    assert dict(matplotlib.rcParams) == before


def test_a_figure_shows_itself_in_a_notebook_without_pyplot():
    import subprocess
    import sys

    code = (
        "import sys; from types import SimpleNamespace as Row; from dlmini import show\n"
        "picture = show.time_split([Row(number=1, compute=1, communication=1, waiting=1)])._repr_png_()\n"
        "print(picture[:4], 'matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == r"b'\x89PNG' False", done.stderr


def test_a_name_that_is_not_there_lists_those_that_are():
    with pytest.raises(AttributeError, match="timeline"):
        _ = show.nonsense


@pytest.mark.parametrize(
    ("value", "units", "words"),
    [
        (0, BYTES, "0 bytes"),
        (0, SECONDS, "0 s"),
        (12, BYTES, "12 bytes"),
        (2.5e6, BYTES, "2.5 MB"),
        (4e-12, SECONDS, "0.004 ns"),
    ],
)
def test_numbers_come_in_the_unit_that_people_would_use(value, units, words):
    assert said(value, units) == words
