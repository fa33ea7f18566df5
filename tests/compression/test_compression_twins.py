"""Every compiled function gives the bits of the plain NumPy function of its name; and so do whole compressors."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from compression_zoo import ALL, coin, heavy, layered
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from dlmini.compression import ops

PLAIN, COMPILED = ops.plain(), ops.compiled()
KEY = np.uint32(0xDEADBEEF), np.uint32(12345)
sizes = st.integers(0, 300)
seeds = st.integers(0, 99)


def same(name, *args, outputs):
    """Call both twins; the arrays at places `outputs` must end up equal, and so must what they return."""
    results = []
    for room in (PLAIN, COMPILED):
        own = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        results.append((getattr(room, name)(*own), [own[i] for i in outputs]))
    (returned, truth), (ours, found) = results
    assert returned == ours
    for a, b in zip(truth, found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_both_rooms_offer_the_same_functions():
    assert vars(PLAIN).keys() == vars(COMPILED).keys()


@examples(50)
@given(count=st.integers(1, 100), wide=st.integers(1, 10**7), start=st.integers(0, 99))
def test_strata(count, wide, start):
    start = min(start, count)
    same("strata", start, count * wide + 7, count, *KEY, np.empty(count - start, np.uint32), outputs=[5])


def odd_numbers(size, seed):
    """Random bits: every exponent, infinities and NaNs included."""
    return np.random.default_rng(seed).integers(2**32, size=size, dtype=np.uint32).view(np.float32)


@pytest.mark.filterwarnings("ignore:invalid value")
@examples(50)
@given(size=sizes, seed=seeds)
def test_halves(size, seed):
    x = odd_numbers(size, seed)
    odd = np.float32([np.nan, np.inf, -np.inf, 0, -0.0, 65519.996, 65520, -1e9, 6e-8, 3e-8, 6.1e-5])
    x = np.concatenate([x, np.float32(3e-5) * heavy(size, seed), odd])
    same("add_dense", heavy(size, seed), np.float32(0.3), heavy(size, seed + 1), outputs=[2])
    for narrow, add in (("to_half", "add_half"), ("to_brain", "add_brain")):
        halves = [np.empty(x.size, np.uint16) for _ in range(2)]
        for room, out in zip((PLAIN, COMPILED), halves, strict=True):
            getattr(room, narrow)(x, out)
        number = ~np.isnan(x)
        np.testing.assert_array_equal(halves[0][number], halves[1][number])
        same(add, halves[0], np.float32(0.3), np.ones(x.size, np.float32), outputs=[2])
        same(add, halves[1], np.float32(1), np.zeros(x.size, np.float32), outputs=[2])


def test_the_portable_and_the_hardware_way_to_float16_agree():
    from dlmini.compression.kernels import halves

    x = odd_numbers(2**16, 1)
    x = x[~np.isnan(x)][: 2**15]
    found = [np.empty(x.size, np.uint16) for _ in range(2)]
    halves.portable_half(x.view(np.uint32), found[0])
    halves.to_half(x, found[1])
    np.testing.assert_array_equal(*found)


@examples(100)
@given(size=sizes, seed=seeds, bits=st.integers(1, 8), lo=st.integers(0, 300))
def test_packing_and_unpacking_from_anywhere(size, seed, bits, lo):
    codes = np.random.default_rng(seed).integers(2**bits, size=size).astype(np.uint8)
    out = np.zeros(-(-size * bits // 8), np.uint8)
    same("pack", codes, bits, out, outputs=[2])
    PLAIN.pack(codes, bits, out)
    lo = min(lo, size)
    found = np.empty(size - lo, np.uint8)
    same("unpack", out[lo * bits // 8 :], lo % 8, bits, found, outputs=[3])
    COMPILED.unpack(out[lo * bits // 8 :].copy(), lo % 8, bits, found)
    np.testing.assert_array_equal(found, codes[lo:])


@examples(50)
@given(
    size=sizes, seed=seeds, bucket=st.integers(1, 320), levels=st.sampled_from([1, 7, 127]), stochastic=st.booleans()
)
def test_quantising(size, seed, bucket, levels, stochastic):
    x = heavy(size, seed)
    scales = np.empty(-(-size // bucket), np.float32)
    for l2 in (False, True):
        same("scales_of", x, bucket, l2, scales, outputs=[3])
    PLAIN.scales_of(x, bucket, False, scales)
    scales[:1] /= 2  # then some numbers are clipped
    codes = np.empty(size, np.uint8)
    same("quantise", x, bucket, scales, levels, stochastic, *KEY, codes, outputs=[7])
    PLAIN.quantise(x, bucket, scales, levels, stochastic, *KEY, codes)
    phase = seed % bucket
    scales = np.abs(heavy((phase + size + bucket - 1) // bucket, seed))
    same("unquantise", codes, phase, bucket, scales, levels, np.float32(0.3), x, outputs=[6])


@examples(50)
@given(size=sizes, seed=seeds, bound=st.sampled_from([0.0, 1e-3, 1.0, 100.0]))
def test_selecting(size, seed, bound):
    x = heavy(size, seed)
    bits = x.view(np.uint32)
    same("largest", bits, outputs=[])
    index = np.zeros(size, np.uint32)
    count = PLAIN.collect(bits, np.float32(bound).view(np.uint32), index)
    found = np.zeros(size, np.uint32)
    assert COMPILED.collect(bits, np.float32(bound).view(np.uint32), found) == count
    np.testing.assert_array_equal(found[:count], index[:count])
    same("scatter", index[:count], x[index[:count]], np.float32(0.3), x, outputs=[3])
    for nesterov in (False, True):
        numbers = np.float32(0.7), np.float32(0.9), nesterov
        same("accelerate", x, *numbers, heavy(size, seed + 1), heavy(size, seed + 2), outputs=[4, 5])


@examples(50)
@given(rows=st.integers(0, 40), columns=st.integers(1, 9), seed=seeds)
def test_signs(rows, columns, seed):
    x = heavy(rows * columns, seed)
    x[::5] = 0
    codes = np.empty(x.size, np.uint8)
    same("mark", x, codes, outputs=[1])
    sums, counts = np.empty((2, columns)), np.empty(columns, np.int64)
    for room in (PLAIN, COMPILED):
        room.split_sums(x, columns, sums, counts)
        table = x.reshape(rows, columns).astype(np.float64)
        np.testing.assert_allclose(sums, [np.minimum(table, 0).sum(0), np.maximum(table, 0).sum(0)], rtol=1e-12)
        np.testing.assert_array_equal(counts, (table >= 0).sum(0))
    PLAIN.mark(x, codes)
    values = heavy(columns, seed), heavy(columns, seed + 1)
    same("unmark", codes, seed % columns, *values, np.float32(0.3), x, outputs=[5])


@examples(50)
@given(size=sizes, seed=seeds, levels=st.sampled_from([1, 7, 127]), density=st.sampled_from([0.0, 0.02, 0.5, 1.0]))
def test_elias(size, seed, levels, density):
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random(size) < density, rng.integers(2 * levels + 1, size=size), levels).astype(np.uint8)
    stream = np.zeros(8 * size + 8, np.uint8)
    same("write_elias", codes, levels, stream, outputs=[2])
    stream = stream[: PLAIN.write_elias(codes, levels, stream)]
    count, found = int(np.count_nonzero(codes != levels)), np.full(size, levels, np.uint8)
    same("read_elias", stream, count, levels, found, outputs=[3])
    assert COMPILED.read_elias(stream, count, levels, found) == stream.size
    np.testing.assert_array_equal(found, codes)


@examples(50)
@given(seed=seeds, size=st.integers(0, 40))
def test_random_bytes_never_lead_elias_out_of_bounds(seed, size):
    stream = np.random.default_rng(seed).integers(256, size=size).astype(np.uint8)
    codes = np.full(50, 7, np.uint8)
    same("read_elias", stream, 20, 7, codes, outputs=[])


@pytest.mark.parametrize("compressor", [*ALL, *layered(1000)], ids=repr)
def test_compressors_send_the_same_bytes_with_either(compressor, monkeypatch):
    update, wires = heavy(1000), []
    for mode in ("numba", "numpy"):
        monkeypatch.setenv("DLMINI_KERNELS", mode)
        packet = compressor.start(1000).encode(update, coin())
        wires.append((bytes(packet.wire()), packet.dense().tobytes()))
    assert wires[0] == wires[1]


COMPARE = """
    import sys
    import numpy as np
    from compression_zoo import ALL, coin, heavy
    for size in (0, 1, 67):
        for compressor in ALL:
            packet = compressor.start(size).encode(heavy(size), coin())
            parts = [packet.part(0, size // 3), packet.part(size // 3, size)]
            again = [type(p).from_wire(bytearray(p.wire())).dense() for p in parts]
            assert np.array_equal(np.concatenate(again), packet.dense()), compressor
            print(compressor, bytes(packet.wire()).hex())
    print("numba" in sys.modules, file=sys.stderr)
"""


def run(mode: str) -> subprocess.CompletedProcess:
    here = os.path.dirname(__file__)
    env = {**os.environ, "DLMINI_KERNELS": mode, "PYTHONPATH": here, "PYTHONWARNINGS": "error"}
    code = textwrap.dedent(COMPARE)
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=240)


def test_debug_mode_stays_inside_every_array_and_sends_the_same_bytes():
    plain, debug = run("numpy"), run("debug")
    assert plain.returncode == debug.returncode == 0, plain.stderr + debug.stderr
    assert plain.stdout == debug.stdout
    assert plain.stderr.strip() == "False"  # the NumPy switch leaves Numba alone


def test_warming_up_leaves_no_kernel_uncompiled():
    code = """
        from dlmini.compression.ops import compiled
        from dlmini.compression.warm_compression import warm
        warm()
        for name, fn in vars(compiled()).items():
            assert not hasattr(fn, "signatures") or len(fn.signatures) == 1, (name, fn.signatures)
    """
    env = {**os.environ, "DLMINI_KERNELS": "numba"}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
