"""Lesson 10: which numbers travel, what their places cost, how sums fill up, and a student's own memory."""

import re
from math import comb, log2
from pathlib import Path

import numpy as np
import pytest

from dlmini import Classify, RandomK, Threshold, TopK, blobs, mlp
from dlmini.lessons.quantisation.cost import trained
from dlmini.lessons.quantisation.errors import conserved
from dlmini.lessons.sparsification import own_codec as own
from dlmini.lessons.sparsification.largest import (
    density,
    expected_density,
    kept,
    lost,
    place_bits,
    place_bits_about,
    places_of_workers,
    random_places,
    share_sent,
    travelled,
)
from dlmini.lessons.sparsification.pictures import filling, heat, place_costs, ratio_bench, shares

PNG = b"\x89PNG"
TEXT = Path(__file__).parents[2] / "course" / "10_sparsification.md"


@pytest.fixture(scope="module")
def u():
    return np.random.default_rng(10).standard_t(3, 4000).astype(np.float32)


@pytest.fixture(scope="module")
def task():
    data = blobs(200, seed=1)
    return Classify(mlp((8,), input=(2,), classes=3), data, data, batch=10)


@pytest.mark.parametrize("share", [0.001, 0.05, 0.5])
def test_top_k_keeps_the_energy_that_is_said_and_more_than_its_share(u, share):
    energy, k = kept(u), round(share * u.size)
    assert lost(TopK(share), u)[0] == pytest.approx(1 - energy[k - 1], abs=1e-9)
    assert energy[k - 1] >= k / u.size
    assert energy[-1] == pytest.approx(1)


def test_the_lot_has_the_variance_of_the_formula(u):
    tries = lost(RandomK(0.05), u, draws=400)
    assert tries.mean() == pytest.approx(19, abs=4 * tries.std() / 20)


def test_memory_lets_more_weights_travel(task):
    forgetful, remembering = (travelled(task.model, task.train, 0.1, 40, memory, 20) for memory in (False, True))
    assert forgetful.sum() == remembering.sum() == 40 * round(0.1 * task.size)
    assert np.count_nonzero(remembering) > np.count_nonzero(forgetful)


def test_shares_are_read_from_the_bytes_of_packets(task):
    run = trained(task, TopK(0.1), True, workers=2, rounds=5)
    assert share_sent(run, task.size) == pytest.approx([round(0.1 * task.size) / task.size] * 5)
    nothing = trained(task, Threshold(1e6), True, workers=2, rounds=3)
    assert not share_sent(nothing, task.size).any()


@pytest.mark.parametrize(("d", "k"), [(10, 3), (1000, 1), (60, 60)])
def test_places_cost_the_logarithm_of_the_ways_to_choose_them(d, k):
    assert place_bits(d, k) == pytest.approx(log2(comb(d, k)), abs=1e-9)


def test_stirling_is_a_good_guess_for_few_places():
    assert place_bits_about(100_000, 1000) == pytest.approx(log2(comb(100_000, 1000)), rel=0.01)


def test_random_places_fill_up_as_chance_says_and_no_union_exceeds_its_bound():
    found = np.array(density(random_places(20_000, 30, 0.05), 20_000))
    n = np.arange(1, 31)
    miss = 0.95**n
    assert (np.abs(found - expected_density(n, 0.05)) <= 5 * np.sqrt(miss * (1 - miss) / 20_000)).all()
    assert (found <= np.minimum(1, n * 0.05) + 1e-12).all()


def test_workers_with_the_same_weights_choose_similar_places(task):
    places = places_of_workers(task.model, task.train, 8, 0.1, steps=3)
    k = round(0.1 * task.size)
    assert all(len(index) == k for index in places)
    union = density(places, task.size)
    assert union == sorted(union)
    assert union[-1] < expected_density(8, 0.1)


def test_a_sparse_memory_loses_not_one_bit_of_whole_numbers():
    updates = np.random.default_rng(1).integers(-50, 51, (40, 60)).astype(np.float32)
    assert conserved(TopK(0.05), updates).missing == 0


def test_own_memory_trains_like_the_librarys_to_the_byte(task):
    ours = trained(task, own.Written(fraction=0.1), workers=2, rounds=10)
    theirs = trained(task, TopK(0.1), True, workers=2, rounds=10)
    assert ours.nbytes == theirs.nbytes
    assert ours.measured[-1].loss == pytest.approx(theirs.measured[-1].loss, rel=1e-4)


def test_own_memory_is_kept_and_restored():
    u = np.array([1, -2, 3, -4], np.float32)
    first, second = (own.Written(fraction=0.25).start(4) for _ in range(2))
    first.encode(u)
    second.restore(first.memory())
    assert np.array_equal(first.encode(u).dense(), second.encode(u).dense())


@pytest.mark.parametrize(("folder", "whose"), [("solutions", "your ErrorFeedback"), ("exercises", "Not done yet")])
def test_the_students_memory_takes_the_librarys_place(folder, whose, tmp_path, monkeypatch):
    text = (TEXT.parents[1] / folder / "10_sparsification.py").read_text("utf-8")
    (tmp_path / "exercises").mkdir()
    (tmp_path / "exercises" / "10_sparsification.py").write_text(text, encoding="utf-8")
    monkeypatch.setenv("DLMINI_WORK", str(tmp_path))
    written, said = own.mine(0.5)
    codec = written.start(4)
    assert whose in said
    assert codec.encode(np.array([1, -5, 2, 4], np.float32)).dense().tolist() == [0, -5, 0, 4]
    assert codec.encode(np.array([1, 0, 2, 1], np.float32)).dense().tolist() == [2, 0, 4, 0]


def test_the_bench_follows_its_slider(u):
    bench = ratio_bench(u, (10, 10, 4))
    before = bench.picture.value
    bench.share.value = 0.1
    assert bench.picture.value not in ("", before)
    assert "image/png" in bench._repr_mimebundle_()


def test_figures_are_drawn():
    counts = np.arange(64)
    for figure in (
        heat({"a": counts, "b": counts}, (4, 4, 2)),
        shares({"a": np.array([0.1, 0.05])}),
        place_costs(1000),
        filling({"a": [0.1, 0.2]}, 0.1),
    ):
        assert figure._repr_png_().startswith(PNG)


def test_the_lesson_checks_every_exercise_of_its_solution():
    source = (TEXT.parents[1] / "solutions" / "10_sparsification.py").read_text("utf-8")
    tasks = re.findall(r"^def (\w+)\(", source, re.M)
    assert {f'check("10.{task}")' for task in tasks} <= set(TEXT.read_text("utf-8").splitlines())
