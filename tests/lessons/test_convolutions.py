"""Lesson 02: its laws hold, its ways to convolve agree, its pictures draw, and its live desk runs and stops."""

import threading
import time

import numpy as np
import pytest

from dlmini.data import load
from dlmini.lessons import timing
from dlmini.lessons.convolutions import by_hand as lesson
from dlmini.lessons.convolutions import kernels, speed
from dlmini.lessons.student_code import mine
from dlmini.nn import Model, ops

TINY = speed.Layer(images=3, side=7, kernel=3, inputs=8, outputs=8)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_way_back_is_the_adjoint_of_the_way_there(seed, stride):
    for left, right in lesson.adjoints(seed, stride).values():
        assert left == pytest.approx(right, rel=1e-10)


def test_the_matrix_of_a_convolution_computes_it():
    draw = np.random.default_rng(3)
    w, x = draw.standard_normal((2, 3, 2, 3)), draw.standard_normal((1, 4, 5, 2))
    A = lesson.as_matrix(w, (4, 5, 2))
    assert A @ x.ravel() == pytest.approx(lesson.convolve(x, w).ravel(), rel=1e-12)


def test_shifting_and_filtering_commute():
    assert lesson.shifted_apart() == 0


@pytest.mark.parametrize(("taps", "few", "all_of_them"), [(3, 36, 144), (5, 64, 400)])
def test_winograd_needs_fewer_products_for_the_same_outputs(taps, few, all_of_them):
    outputs, products, definition = lesson.winograd_tile(taps=taps)
    assert (products, definition) == (few, all_of_them)
    assert outputs.left == pytest.approx(outputs.right, rel=1e-5)


@pytest.mark.parametrize("name", speed.ways())
def test_every_way_computes_the_same(name):
    x, w, b, y = TINY.arrays()
    b += np.arange(len(b))
    truth = np.empty_like(y)
    ops.plain().conv_forward(x, w, b, truth)
    speed.ways()[name](x, w, b, y)
    np.testing.assert_allclose(y, truth, rtol=0, atol=5e-5 * np.abs(truth).max())


@pytest.mark.parametrize("way", [kernels.conv_forward, kernels.conv_forward_by_channels])
@pytest.mark.parametrize("stride", [1, 2])
def test_compiled_loops_are_twins_of_the_plain_function(way, stride):
    draw = np.random.default_rng([7, stride])
    x, w = draw.standard_normal((2, 7, 6, 3)).astype("f4"), draw.standard_normal((3, 2, 3, 5)).astype("f4")
    b, y = draw.standard_normal(5).astype("f4"), np.empty((2, 4 // stride + 1, 4 // stride + 1, 5), "f4")
    truth = np.empty_like(y)
    ops.plain().conv_forward(x, w, b, truth, stride)
    way(x, w, b, y, stride)
    np.testing.assert_allclose(y, truth, atol=1e-5)


def test_the_bytes_of_im2col_are_those_of_its_matrix():
    x, *_ = TINY.arrays()
    assert speed.windows(x, TINY).nbytes == TINY.images * TINY.patch_bytes
    assert TINY.flops == 2 * 25 * 9 * 8 * 8


def test_speeds_and_peak_are_measured():
    found = speed.speeds(TINY, reps=1)
    assert [row.label for row in found] == list(speed.ways())
    assert all(row.gflops > 0 for row in found)
    assert speed.peak(reps=1) > 0
    assert min(speed.im2col_split(TINY, reps=1).values()) > 0


def test_the_roofline_has_a_point_for_each_way_whose_traffic_is_known():
    pytest.importorskip("matplotlib")
    from dlmini.lessons.convolutions import pictures as show

    rows = [
        speed.Speed("seven loops in Python", 1.0),
        speed.Speed("NumPy, im2col", 5.0),
        speed.Speed("dlmini, direct", 50.0),
    ]
    ax = show.roofline(TINY, rows, 90.0, 20.0).axes[0]
    points = {tuple(line.get_xydata()[0]) for line in ax.lines[1:]}
    assert points == {(TINY.flops / TINY.im2col_bytes, 5.0), (TINY.flops / TINY.least_bytes, 50.0)}
    roof = ax.lines[0].get_xydata()
    assert roof[-1, 1] == 90.0
    assert roof[0, 1] == pytest.approx(20.0 * roof[0, 0])
    assert speed.memory_speed(1, 1) > 0


def test_twins_agree():
    assert lesson.twins_apart(*TINY.arrays()) < 5e-5


def test_another_thread_counts_while_a_call_sleeps():
    """For as long as it takes the thread to have had 20 ms of some core: this machine may have other things to do."""

    def sleep():
        enough = time.process_time() + 0.02
        while time.process_time() < enough:
            time.sleep(0.001)

    assert timing.counted_meanwhile(sleep) > 100


def test_pooling_gives_the_slope_to_the_first_of_several_winners():
    y, which, dx = lesson.max_pooled(np.array([[2.0, 2], [1, 2]]), np.array([[5.0]]))
    assert (y.item(), which.item()) == (2, 0)
    assert dx.tolist() == [[5, 0], [0, 0]]


# ---- a network that learns ----


@pytest.fixture(scope="module")
def clothes():
    train, test = load("fashion-mnist")
    return train.subset(np.arange(400)), test.subset(np.arange(60))


def test_looks_come_at_the_asked_steps_and_the_loss_falls(clothes):
    seen = list(lesson.glimpses(lesson.small_net(), *clothes, steps=25, every=10, batch=20))
    assert [look.step for look in seen] == [0, 10, 20, 25]
    assert seen[-1].loss < seen[0].loss


def test_frozen_parameters_stay_and_the_others_move(clothes):
    net = lesson.small_net()
    front = Model(net.layers[:6], net.input).size
    first, last = lesson.glimpses(net, *clothes, steps=3, every=3, batch=20, frozen=front)
    moved = list(lesson.moved(net, first.w, last.w).values())
    assert moved[:2] == [0, 0]
    assert moved[2] > 0


def test_maps_of_the_first_layers_are_those_of_the_whole_network(clothes):
    net, images = lesson.small_net(), clothes[1].scaled().x[:2]
    w = net.initial(1)
    filters, bias = net.views(w)[0]
    truth = np.maximum(lesson.convolve(images, filters) + bias, 0)
    np.testing.assert_allclose(lesson.feature_maps(net, w, images), truth, atol=1e-5)


def test_a_students_convolution_trains_like_the_librarys(clothes, tmp_path):
    (tmp_path / "own.py").write_text(
        "import numpy as np\n"
        "def conv_forward(x, w, b, stride=1):\n"
        "    view = np.lib.stride_tricks.sliding_window_view(x, w.shape[:2], (1, 2))[:, ::stride, ::stride]\n"
        "    return np.einsum('nijkac,acko->nijo', view, w, optimize=True) + b\n"
        "def maxpool_backward(dy, which, shape, size=2, stride=2):\n"
        "    raise NotImplementedError\n"
    )
    net = lesson.small_net()
    model, undone = mine(net, "own", tmp_path)
    *_, own = lesson.glimpses(model, *clothes, steps=5, every=5, batch=20)
    *_, library = lesson.glimpses(net, *clothes, steps=5, every=5, batch=20)
    assert undone == {"maxpool_backward"}
    assert own.loss == pytest.approx(library.loss, rel=1e-4)


# ---- pictures ----


def test_every_picture_draws(clothes):
    pytest.importorskip("matplotlib")
    from dlmini.lessons.convolutions import pictures as show

    net, image = lesson.small_net(), clothes[1].scaled().x[:1]
    w = net.initial(0)
    x, dy = np.arange(16.0).reshape(4, 4), np.ones((2, 2))
    figures = [
        show.one_window(x, np.eye(3), 0, 1),
        show.pooled(x, dy, lesson.max_pooled(x, dy)[2]),
        show.by_hand(image[0, :, :, 0], lesson.filtered(image[0, :, :, 0])),
        show.matrix(lesson.as_matrix(np.ones((2, 2, 1, 1)), (3, 3, 1))),
        show.speeds([speed.Speed("slow", 0.01), speed.Speed("fast", 200.0)], 90.0),
        show.filters_and_maps({"now": (net.views(w)[0][0], lesson.feature_maps(net, w, image)[0])}, image[0, :, :, 0]),
    ]
    assert all(figure._repr_png_().startswith(b"\x89PNG") for figure in figures)


def test_tiles_lie_side_by_side():
    pytest.importorskip("anywidget")
    from dlmini.lessons.convolutions.live_filters import tiled

    board = tiled(np.zeros((3, 5, 6)), "gray", 0, 1)
    assert board.shape == (2 * 3 + 1, 4 * 5 + 3, 3)
    assert (board[3] == 255).all()
    assert (board[:3, :5] == 0).all()


def test_the_live_desk_learns_and_stops():
    pytest.importorskip("anywidget")
    from dlmini.lessons.convolutions.live_filters import filters_desk

    desk = filters_desk(longest=4)
    desk.choices["every"].value = 1
    desk.start()
    desk.thread.join(120)
    assert [x for x, _ in desk.stage.curves[0]] == [0, 1, 2, 3, 4]
    assert {picture.name.split(":")[0] for picture in desk.stage.pictures} == {
        "filters",
        "test image",
        "what they make of it",
    }
    desk.start()
    desk.stop()
    assert desk.stage.state == "stopped"
    assert not [t for t in threading.enumerate() if t.name == "lesson"]
