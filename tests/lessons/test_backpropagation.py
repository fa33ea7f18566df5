"""Lesson 01: its experiments say what is true, its pictures draw, its live desk starts, follows and stops."""

import threading

import numpy as np
import pytest

from dlmini.comm.network import gigabit
from dlmini.data import Dataset
from dlmini.grade.lesson import Found, find_lesson
from dlmini.lessons.backpropagation import batches, descent, differences
from dlmini.lessons.backpropagation.descent import Settings, descend, plane_net, points, territory
from dlmini.lessons.backpropagation.neuron import Neuron, largest_exponent, naive_softmax, seconds_to_sum
from dlmini.lessons.backpropagation.two_layers import library_backward
from dlmini.lessons.student_code import mine, who
from dlmini.nn import lenet

SPIRALS = points("spirals")


@pytest.mark.parametrize(
    "neuron", [Neuron(2.0, 0.5, -0.2, 2.0), Neuron(-1.5, 0.7, 3.0, -1.0), Neuron(1.0, -2.0, 0.5, 1.0)]
)
@pytest.mark.parametrize("name", ["x", "w", "b"])
def test_a_neurons_slopes_are_those_that_nudging_finds(neuron, name):
    assert neuron.nudged(name, 1e-4) == pytest.approx(neuron.slopes[name], rel=1e-9, abs=1e-9)


def test_central_differences_fall_with_the_square_of_the_step_and_one_sided_ones_with_the_step():
    exact, steps = differences.smooth_net(np.float64), np.array([1e-2, 1e-3])
    central = differences.difference_errors(exact, SPIRALS, steps)
    one_sided = differences.difference_errors(exact, SPIRALS, steps, central=False)
    assert central[0] / central[1] == pytest.approx(100, rel=0.05)
    assert one_sided[0] / one_sided[1] == pytest.approx(10, rel=0.05)


def test_the_check_tells_right_gradients_from_wrong_ones():
    models = differences.mistaken(plane_net(SPIRALS, (6, 6), dtype=np.float64))
    errors = {name: differences.largest_error(model, SPIRALS) for name, model in models.items()}
    assert errors.pop("right") < 1e-6
    assert errors
    assert min(errors.values()) > 0.1


def test_mistakes_do_not_show_on_easy_points():
    clouds = points("blobs")
    for model in differences.mistaken(plane_net(clouds)).values():
        *_, last = descend(model, clouds, Settings(0.1, 20), 15)
        assert last.accuracy > 0.95


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_largest_exponent_is_the_last_finite_one(dtype):
    found = dtype(largest_exponent(dtype))
    with np.errstate(over="ignore"):
        assert np.isfinite(np.exp(found))
        assert np.isinf(np.exp(np.nextafter(found, dtype(np.inf))))


def test_softmax_of_the_books_breaks_where_the_shifted_one_does_not():
    scores = np.array([[101, 100, 99]], np.float32)
    assert np.isnan(naive_softmax(scores)).all()
    assert descent.softmax(scores) == pytest.approx(descent.softmax(scores - 100), rel=1e-6)


@pytest.mark.parametrize("workers", [2, 5])
def test_array_by_array_costs_only_latencies_more(workers):
    whole, apart = (seconds_to_sum(lenet(), workers, gigabit, one) for one in (True, False))
    assert apart - whole == pytest.approx(7 * 2 * (workers - 1) * gigabit.link.latency, rel=1e-3)


def test_noise_follows_its_law_and_vanishes_when_all_examples_are_drawn():
    model = plane_net(SPIRALS, (8,))
    some, every = (batches.gradient_noise(model, SPIRALS, size, draws=150) for size in (10, len(SPIRALS)))
    assert abs(some.measured - some.formula) < 5 * some.error
    assert every.formula == 0
    assert every.measured < 1e-10


def test_equal_shards_have_the_gradient_of_the_whole_as_their_mean():
    assert batches.shards_apart(plane_net(SPIRALS), SPIRALS, 3) < 1e-6
    with pytest.raises(ValueError, match="no 7 equal shards"):
        batches.shards_apart(plane_net(SPIRALS), SPIRALS, 7)


def test_the_largest_stable_rate_is_two_over_the_largest_eigenvalue():
    x = np.random.default_rng(5).standard_normal((40, 2)).astype(np.float32) * [1, 2]
    data = Dataset("cloud", x.astype(np.float32), np.arange(40) % 2, ("a", "b"))
    assert batches.largest_stable_rate(data) == pytest.approx(2 / batches.steepest_curvature(data.x), rel=2e-3)


def test_a_look_comes_after_every_pass_and_updates_are_counted():
    looks = list(descend(plane_net(SPIRALS), SPIRALS, Settings(0.1, 80), 3))
    assert [(look.passes, look.updates) for look in looks] == [(0, 0), (1, 4), (2, 8), (3, 12)]


def test_settings_may_change_between_passes():
    chosen = iter([Settings(0.1, 300), Settings(0.1, 1)])
    assert [look.updates for look in descend(plane_net(SPIRALS), SPIRALS, lambda: next(chosen), 2)] == [0, 1, 301]


def test_a_run_that_diverges_ends_early_and_quietly(recwarn):
    looks = list(descend(plane_net(SPIRALS), SPIRALS, Settings(1e6, 30), 50))
    assert len(looks) < 51
    assert not [w for w in recwarn if issubclass(w.category, RuntimeWarning)]


def test_territory_is_made_of_probabilities():
    model = plane_net(SPIRALS)
    sure = territory(model, model.initial(0), descent.window(SPIRALS), side=7)
    assert sure.shape == (7, 7, 2)
    assert sure.sum(axis=-1) == pytest.approx(np.ones((7, 7)), rel=1e-5)


# ---- with a student's own functions ----

OWN = "def relu_backward(x, dy):\n    return dy * (x > 0)\n"
STUB = "def linear_backward(x, w, dy):\n    raise NotImplementedError('not done yet: linear_backward')\n"


def test_a_students_function_is_used_and_an_unwritten_one_is_named(tmp_path):
    (tmp_path / "some.py").write_text(OWN + STUB)
    model, undone = mine(plane_net(SPIRALS), "some", tmp_path)
    *_, last = descend(model, SPIRALS, Settings(0.1, 20), 2)
    *_, truth = descend(plane_net(SPIRALS, kernels="numpy"), SPIRALS, Settings(0.1, 20), 2)
    assert undone == {"linear_backward"}
    assert "linear_backward" in who(undone)
    assert last.loss == pytest.approx(truth.loss, rel=1e-5)


def test_a_wrong_function_of_a_student_is_not_replaced(tmp_path):
    (tmp_path / "some.py").write_text("def relu_backward(x, dy):\n    return 0 * dy\n")
    model, undone = mine(plane_net(SPIRALS), "some", tmp_path)
    _, after = descend(model, SPIRALS, Settings(0.1, 300), 1)
    first = model.views(after.w)[1][0]
    assert np.array_equal(first, model.views(model.initial(0))[1][0])
    assert who(undone) == "Every piece was yours."


def test_a_missing_exercise_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"99_none\.py"):
        mine(plane_net(SPIRALS), "99_none", tmp_path)


@pytest.mark.parametrize("judged", find_lesson("01").of("network_backward"), ids=lambda judged: judged.name)
def test_a_right_backward_pass_is_taken_whatever_the_seed(judged):
    """Also where the loss is tiny, and where large slopes cancel: both are right up to rounding only."""
    for seed in range(100, 220):
        for case in judged.drawn(seed):
            judged.judge(case, Found([library_backward(*case.args)]))


# ---- pictures ----


def test_every_picture_draws():
    pytest.importorskip("matplotlib")
    pytest.importorskip("anywidget")
    from dlmini.lessons.backpropagation import pictures as show
    from dlmini.lessons.backpropagation.boundary import boundaries

    model = plane_net(SPIRALS, (8,))
    runs = {"one": list(descend(model, SPIRALS, Settings(0.1, 100), 2))}
    rows = [batches.Noise(1, 2.0, 2.1, 0.1), batches.Noise(10, 0.2, 0.19, 0.01)]
    figures = [
        show.chain(Neuron(2.0, 0.5, -0.2, 2.0)),
        show.one_vector(model, model.initial(0), model.initial(1)),
        show.step_sizes([1e-2, 1e-3], {"central": np.array([1e-4, 1e-6])}),
        show.descents(runs),
        show.noise(rows),
        boundaries(model, SPIRALS, {"end": runs["one"][-1]}),
    ]
    assert all(figure._repr_png_().startswith(b"\x89PNG") for figure in figures)


def test_what_is_certain_is_coloured_and_what_is_not_is_white():
    pytest.importorskip("anywidget")
    from dlmini.lessons.backpropagation.boundary import paint

    pixels = paint(np.array([[[1.0, 0.0], [0.5, 0.5]]]))
    assert (pixels[0, 1] == 255).all()
    assert (pixels[0, 0] < 255).any()


@pytest.fixture
def desk():
    pytest.importorskip("anywidget")
    from dlmini.lessons.backpropagation.boundary import boundary_desk

    made = boundary_desk("blobs", longest=4)
    made.choices["speed"].value = 30
    yield made
    made.stop()


def test_the_live_desk_runs_to_its_end_by_itself(desk):
    desk.start()
    desk.thread.join(240)
    assert not desk.thread.is_alive()
    assert desk.stage.state == "ended"
    assert [x for x, _ in desk.stage.curves[0]] == [0, 1, 2, 3, 4]


def test_stop_ends_the_thread_and_start_draws_a_second_curve(desk):
    desk.choices["speed"].value = 1
    desk.start()
    desk.stop()
    assert desk.stage.state == "stopped"
    assert len(desk.stage.curves[0]) <= 2
    desk.choices["speed"].value = 30
    desk.start()
    desk.thread.join(240)
    assert [len(curve) for curve in desk.stage.curves][1] == 5
    assert not [t for t in threading.enumerate() if t.name == "lesson"]


def test_a_page_that_was_reloaded_is_told_everything(desk):
    desk.start()
    desk.thread.join(240)
    said = []
    desk.stage.send = lambda content, buffers=None: said.append(content)
    desk.stage.say_everything()
    assert [content["kind"] for content in said] == ["clear", "begin", "points", "show"]
    assert len(said[2]["points"]) == 5


def test_a_loss_that_is_infinite_is_sent_as_nothing():
    pytest.importorskip("anywidget")
    from dlmini.lessons.canvas import Stage

    stage = Stage()
    stage.begin("one")
    stage.show([], (1.0, float("nan")))
    assert stage.curves == [[(1.0, None)]]


def test_an_error_in_a_run_is_told_and_ends_it(desk):
    def broken():
        raise ValueError("no such points")
        yield

    desk.play = broken
    desk.start()
    desk.thread.join(240)
    assert "no such points" in desk.stage.text
