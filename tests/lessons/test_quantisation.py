"""Lesson 09: grids, entropy, chance, memory, crossovers; and the bytes that a student's own bits make."""

import re
from pathlib import Path

import numpy as np
import pytest

from dlmini import QSGD, SGD, Classify, Int8, OneBit, Simulated, blobs, launch, mlp
from dlmini.comm import Link
from dlmini.lessons.quantisation import own_codec as own
from dlmini.lessons.quantisation.bit_pictures import bits_bench, error_lines
from dlmini.lessons.quantisation.cost import (
    Cost,
    crossing,
    crossover,
    delivered,
    gathered_bytes,
    ring_bytes,
    seconds_of,
    timed,
    trained,
)
from dlmini.lessons.quantisation.errors import conserved, drip, mean_error, spread_of
from dlmini.lessons.quantisation.grids import (
    decoded,
    entropy,
    errors_by_bits,
    facts,
    gradient,
    least_bits,
    levels_of,
    on_grid,
    shuffled,
    silent,
    zeros_for,
)
from dlmini.lessons.quantisation.pictures import averaging, crossovers, dripping, gathering, learning, ratios, silence

PNG = b"\x89PNG"
TEXT = Path(__file__).parents[2] / "course" / "09_quantisation.md"


@pytest.fixture(scope="module")
def u():
    return np.random.default_rng(9).standard_t(3, 4000).astype(np.float32)


@pytest.fixture(scope="module")
def task():
    data = blobs(200, seed=1)
    return Classify(mlp((8,), input=(2,), classes=3), data, data, batch=10)


@pytest.mark.parametrize("levels", [1, 7, 127])
def test_the_grid_is_the_librarys_and_no_error_exceeds_half_a_step(u, levels):
    assert np.array_equal(on_grid(u, levels), Int8(levels).encode(u).integers())
    assert np.abs(decoded(u, levels) - u).max() <= np.abs(u).max() / (2 * levels) * (1 + 1e-12)
    assert not on_grid(np.zeros(3, np.float32), levels).any()


def test_every_bit_quarters_the_error_of_uniform_numbers():
    even = np.random.default_rng(0).uniform(-1, 1, 50_000).astype(np.float32)
    bits = range(3, 13)
    twelfth = [(np.abs(even).max() / levels_of(b)) ** 2 / 12 for b in bits]
    assert errors_by_bits(even, bits) == pytest.approx(twelfth, rel=4 * np.sqrt(0.8 / 50_000))


def test_entropy_is_that_of_the_textbook():
    assert entropy(np.repeat(np.arange(8), 5)) == pytest.approx(3)
    assert entropy(np.zeros(4)) == 0
    z = 0.7
    levels = np.repeat([0, 1, -1], [700, 150, 150])
    assert least_bits(z) == pytest.approx(entropy(levels))


def test_no_code_beats_the_entropy_of_shuffled_levels_and_runs_of_zeros_do_help(u):
    for levels in (127, 10):
        found = facts(u, levels)
        assert found.deflated <= found.bound
    in_rows = np.sort(np.abs(u))
    assert facts(in_rows, 10).deflated > facts(in_rows, 10).bound > facts(shuffled(in_rows), 10).deflated
    assert facts(u, 10).zeros > facts(u, 127).zeros
    assert facts(u, 10).lost > facts(u, 127).lost


def test_a_ratio_tells_the_share_of_zeros():
    assert 8 / least_bits(zeros_for(52)) == pytest.approx(52)
    assert 0.98 < zeros_for(52) < 0.982


def test_one_maximum_silences_the_layer_with_small_gradients(task):
    net = task.model
    grad = gradient(net, task.train, steps=3, batch=20)
    net.views(grad)[1][0][...] *= 1e-4
    first = next(iter(silent(net, grad, 10)))
    assert silent(net, grad, 10)[first] == 1
    assert silent(net, grad, 10, own_scale=True)[first] < 1


@pytest.mark.parametrize("norm", ["max", "l2"])
def test_the_mean_of_packets_has_the_variance_of_the_formula(u, norm):
    scale = np.abs(u).max() if norm == "max" else np.linalg.norm(u.astype(float))
    v = spread_of(u, 7, float(scale))
    slack = 4 * np.sqrt(2 * (v**2).sum() / v.sum() ** 2)
    for draws in (1, 8):
        assert mean_error(QSGD(4, bucket=0, norm=norm), u, draws) == pytest.approx(v.sum() / draws, rel=slack)


def test_rounding_to_nearest_does_not_average_out(u):
    assert mean_error(Int8(7), u, 8) == pytest.approx(mean_error(Int8(7), u, 1))


@pytest.mark.parametrize("compressor", [Int8(10), OneBit()])
def test_sent_and_unsaid_are_all_that_was_produced(compressor):
    updates = np.random.default_rng(1).standard_normal((50, 64)).astype(np.float32)
    books = conserved(compressor, updates)
    assert books.missing <= books.allowed
    assert np.abs(books.produced - books.sent).max() > 1000 * books.allowed


def test_a_small_number_is_heard_only_by_memory():
    sums = drip(0.02, 100)
    assert not sums["sent, nothing remembered"].any()
    assert np.abs(sums["sent, with error feedback"] - sums["produced"]).max() <= 0.05 + 1e-6


def test_the_crossover_is_where_virtual_time_finds_it():
    link = Link(1e-4, 1e8)
    assert delivered(10**6, 0.01, link) == pytest.approx(seconds_of(10**6, 0.01, link), rel=1e-12)
    assert crossing(400_000, 100_000, 0.002) == pytest.approx(crossover(400_000, 100_000, 0.002), rel=1e-9)


def test_gathered_packets_cost_what_a_ring_costs_at_sixty_four_over_bits(task):
    for bits in (1, 4, 8):
        n = 64 / bits
        assert gathered_bytes(n, bits / 8) == pytest.approx(ring_bytes(n, 4))
    run = trained(task, Int8(10), False, workers=3, rounds=4)
    assert run.nbytes == 4 * 3 * gathered_bytes(3, task.size + 20)


def test_costs_are_counted_in_true_bytes(u):
    found = timed("1 bit", OneBit(), u, repeats=1)
    assert found.nbytes == 20 + 500
    assert found.spent > 0


def test_own_bits_train_like_the_librarys(task):
    ours = trained(task, own.Written(), workers=2, rounds=10, optimizer=SGD(0.1))
    theirs = trained(task, OneBit(), True, workers=2, rounds=10, optimizer=SGD(0.1))
    assert ours.nbytes == theirs.nbytes
    assert ours.measured[-1].loss == pytest.approx(theirs.measured[-1].loss, rel=1e-3)


def test_own_memory_is_kept_and_restored():
    u = np.array([1, -2, 3, -4], np.float32)
    first = own.Written().start(4)
    first.encode(u)
    second = own.Written().start(4)
    second.restore(first.memory())
    assert np.array_equal(first.encode(u).dense(), second.encode(u).dense())


@pytest.mark.parametrize(("folder", "whose"), [("solutions", "your one_bit"), ("exercises", "Not done yet")])
def test_the_students_pieces_take_the_librarys_place(folder, whose, tmp_path, monkeypatch):
    text = (TEXT.parents[1] / folder / "09_quantisation.py").read_text("utf-8")
    (tmp_path / "exercises").mkdir()
    (tmp_path / "exercises" / "09_quantisation.py").write_text(text, encoding="utf-8")
    monkeypatch.setenv("DLMINI_WORK", str(tmp_path))
    written, said = own.mine()
    packet = written.start(9).encode(np.arange(-4, 5, dtype=np.float32))
    assert whose in said
    assert packet.dense().tolist() == [-2.5] * 4 + [2.0] * 5


def test_a_packet_is_booked_as_long_as_it_is(u):
    packet = QSGD(4).encode(u, np.random.default_rng(0))
    run = launch(lambda comm: comm.send(1, packet) if comm.rank == 0 else comm.recv(0), on=Simulated(2))
    assert run.books.total().nbytes == packet.nbytes == 16 + 4 * 8 + 2000


def test_the_bench_follows_its_slider(u):
    bench = bits_bench(u)
    before = bench.picture.value
    bench.bits.value = 8
    assert bench.picture.value not in ("", before)
    assert "image/png" in bench._repr_mimebundle_()


def test_figures_are_drawn(u, task):
    run = trained(task, Int8(), workers=2, rounds=4)
    grad = gradient(task.model, task.train, steps=2, batch=20)
    by_one, by_own = (silent(task.model, grad, 10, scale) for scale in (False, True))
    for figure in (
        error_lines(u, range(2, 6)),
        ratios({"21 values": facts(u, 10)}),
        silence(by_one, by_own),
        averaging([1, 2], {"a": [2.0, 1.0]}, 2.0),
        dripping(drip(0.02, 5)),
        crossovers(4000, [Cost("int8", 1020, 1e-5, 1e-5)]),
        gathering(range(2, 20), (8, 1)),
        learning({"a": run}),
    ):
        assert figure._repr_png_().startswith(PNG)


def test_the_lesson_checks_every_exercise_of_its_solution():
    source = (TEXT.parents[1] / "solutions" / "09_quantisation.py").read_text("utf-8")
    tasks = re.findall(r"^def (\w+)\(", source, re.M)
    assert {f'check("09.{task}")' for task in tasks} <= set(TEXT.read_text("utf-8").splitlines())
