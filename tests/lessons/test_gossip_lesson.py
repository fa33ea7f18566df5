"""Lesson 08: rumours, spectra, rotating partners, what drives workers apart; pictures."""

import re
from pathlib import Path

import numpy as np
import pytest

from dlmini import Classify, Gossip, gigabit, mlp
from dlmini.data import blobs
from dlmini.lessons.gossip import graphs as gossip_graphs
from dlmini.lessons.gossip import pictures
from dlmini.lessons.gossip import spreading as gossip
from dlmini.lessons.gossip.explorer import desk
from dlmini.lessons.gossip.runs import Mixed, watched
from dlmini.topology.graphs import GRAPHS, contraction, rotating
from dlmini.topology.push_sum import random_push

PNG = b"\x89PNG"
DATA = blobs(240)
TEXT = Path(__file__).parents[2] / "course" / "08_gossip.md"


@pytest.fixture(scope="module")
def task():
    return Classify(mlp((8,), input=(2,), classes=3), DATA, DATA, batch=10)


# ---- rumours and matrices ----


@pytest.mark.parametrize("name", GRAPHS)
def test_a_rumour_never_changes_its_sum_and_shrinks_as_the_spectrum_says(name):
    known = gossip.rumour(name, 8, 6)
    assert known.sum(axis=1) == pytest.approx(np.ones(7))
    left = gossip.left_after(name, 8, 6)
    assert left[-1] == pytest.approx(contraction(GRAPHS[name], 8, 6), abs=1e-14)
    assert (np.linalg.norm(known - 1 / 8, axis=1) <= left * np.linalg.norm(known[0] - 1 / 8) + 1e-12).all()


@pytest.mark.parametrize("size", [8, 12, 16, 32])
def test_a_cycle_of_rotating_partners_leaves_three_to_the_minus_a_quarter_of_the_workers(size):
    for graph in (rotating, gossip_graphs.rotating_once):
        assert gossip.left_after(graph, size, size // 2)[-1] == pytest.approx(3 ** (-size / 4), rel=1e-9)


def test_repaired_partners_count_nobody_twice():
    assert gossip_graphs.rotating_once(2) == pytest.approx(np.full((2, 2), 0.5))
    for size in (1, 4, 5, 6):
        for t in range(4):
            K = gossip_graphs.rotating_once(size, t)
            assert pytest.approx(K.T) == K
            assert K.sum(axis=0) == pytest.approx(np.ones(size))
            assert len(set(K[K > 0].round(12))) == 1


def test_plain_means_count_a_hub_for_more_and_metropolis_does_not():
    edges = gossip_graphs.star_edges(9)
    plain, fair = gossip_graphs.by_degree(edges, 9), gossip_graphs.metropolis(edges, 9)
    assert np.linalg.matrix_power(plain, 100)[:, 0] == pytest.approx(np.full(9, 9 / 25))
    assert np.linalg.matrix_power(fair, 400) == pytest.approx(np.full((9, 9), 1 / 9))
    ring = [(i, (i + 1) % 7) for i in range(7)]
    assert gossip_graphs.metropolis(ring, 7) == pytest.approx(GRAPHS["ring"](7))


def test_partners_make_the_graph_of_equal_shares():
    graph = gossip_graphs.graph_by(lambda rank, t, size: [(rank + 1) % size, (rank - 1) % size])
    assert graph(5, 3) == pytest.approx(GRAPHS["ring"](5))


# ---- bowls ----


def test_a_ring_of_gradients_grows_by_the_law_and_a_ring_of_weights_shrinks():
    grows, dies = (gossip.bowl("ring", what, gossip.zigzag(6), 20, rate=0.3) for what in ("gradients", "weights"))
    assert grows == pytest.approx(1.1 ** np.arange(21))
    assert dies == pytest.approx((0.7 / 3) ** np.arange(21), abs=1e-15)


def test_noise_walks_or_settles_as_computed():
    zeros = np.zeros((8, 3000))
    walk = gossip.bowl("rotating", "gradients", zeros, 30, noise=2.0, curvature=0.0)[-1]
    assert walk == pytest.approx(gossip.walked("rotating", 8, 30, 0.1, 2.0, 3000), rel=4 * np.sqrt(0.5 / 3000))
    rest = gossip.bowl("ring", "weights", zeros, 120, noise=2.0)[-1]
    assert rest == pytest.approx(gossip.settled(GRAPHS["ring"](8), 0.1, 2.0, 3000), rel=4 * np.sqrt(0.5 / 3000))


def test_push_sum_finds_the_mean_and_loses_nothing():
    x, weight = gossip.push(random_push, np.arange(6.0), 60)
    assert x.sum(axis=1) == pytest.approx(np.full(61, 15.0))
    assert weight.sum(axis=1) == pytest.approx(np.full(61, 6.0))
    assert x[-1] / weight[-1] == pytest.approx(np.full(6, 2.5))


# ---- messages ----


@pytest.mark.parametrize("step", [gossip.library_step, gossip.in_order])
@pytest.mark.parametrize("name", ["ring", "exponential", "random"])
def test_a_round_of_messages_is_a_product_with_the_matrix(step, name):
    X, K = np.random.default_rng(0).standard_normal((6, 4)).astype("f4"), GRAPHS[name](6)
    found = np.array(gossip.mixed(step, X, K).values)
    assert found.dtype == np.float32
    assert found == pytest.approx(K @ X, abs=1e-6)


def test_the_order_of_sending_costs_a_vector():
    X, link = np.zeros((8, 5000), "f4"), gigabit.link
    one = X[0].nbytes / link.bandwidth
    for step, vectors in ((gossip.in_order, 3), (gossip.library_step, 2)):
        took = gossip.mixed(step, X, GRAPHS["ring"](8)).seconds
        assert took == pytest.approx(link.latency + vectors * one, rel=1e-12)


# ---- training ----


def test_a_step_of_ones_own_trains_like_the_library(task):
    own = watched(task, Mixed(gossip.library_step, GRAPHS["ring"]), 4, 1, 0.1)
    library = watched(task, Gossip("ring", "weights"), 4, 1, 0.1)
    assert own.last.spread == pytest.approx(library.last.spread, rel=1e-3)
    assert own.nbytes == library.nbytes == own.rounds * 4 * 2 * 4 * task.size
    assert own.bytes_a_round == 2 * 4 * task.size


def test_all_workers_are_seen_and_alike_if_all_hear_all(task):
    run = watched(task, Gossip("complete", "weights"), 3, 1, 0.1, looks=4)
    assert len(run.looks) >= 4
    assert run.last.epochs == pytest.approx(1.0)
    assert run.last.spread < 1e-6
    assert run.last.workers == pytest.approx(np.full(3, run.last.mean))


# ---- pictures ----


def test_every_picture_can_be_drawn(task):
    run = {"ring": watched(task, Gossip("ring", "weights"), 3, 0.5, 0.1, looks=2)}
    drawn = [
        pictures.rumours(["ring", "one_peer"], 8, 4),
        pictures.gaps([4, 8]),
        pictures.differences(["ring", "one_peer"], 8, 6),
        pictures.differences({"repaired": gossip_graphs.rotating_once}, 8, 6),
        pictures.waves("rotating", 8, 4),
        pictures.bowls({"a": np.ones(3)}, {"law": np.ones(3)}),
        pictures.apart(run),
        pictures.one_or_mean(run),
    ]
    assert all(figure._repr_png_().startswith(PNG) for figure in drawn)


def test_the_desk_draws_again_when_something_is_chosen():
    board = desk(graph="ring", workers=6, rounds=3)
    before = board.picture.value
    board.choices["graph"].value = "one_peer"
    assert '<img src="data:image/png' in before
    assert board.picture.value != before
    assert "image/png" in board._repr_mimebundle_()


def test_every_exercise_of_the_lesson_is_introduced_and_checked():
    checked = set(re.findall(r'check\("08\.(\w+)"\)', TEXT.read_text(encoding="utf-8")))
    assert checked == {"mixing_matrix", "spectral_gap", "partners", "gossip_step"}
