"""Packets: their bytes are true, they come back from them, can be added, and can be cut anywhere."""

from itertools import pairwise

import numpy as np
import pytest
from compression_zoo import PURE, coin, heavy, layered, updates
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from dlmini.comm.wire import pack, unpack
from dlmini.compression import (
    DGC,
    QSGD,
    BFloat16,
    Deflate,
    EFSign,
    Half,
    Int8,
    None_,
    OneBit,
    PerLayer,
    RandomK,
    Sign,
    Strom,
    TernGrad,
    Threshold,
    TopK,
)
from dlmini.compression.packets import Dense, Packet, Quantized, Signs, Sparse

SIZES = (0, 1, 2, 7, 8, 9, 64, 65, 1000)


def packets(update):
    for compressor in (*PURE, *layered(update.size)):
        yield compressor, compressor.encode(update, coin())


@examples(40)
@given(update=updates)
def test_a_packet_comes_back_from_its_bytes(update):
    for compressor, packet in packets(update):
        wire = bytes(packet.wire())
        again = type(packet).from_wire(bytearray(wire))
        assert len(wire) == packet.nbytes == again.nbytes, compressor
        assert bytes(again.wire()) == wire, compressor
        assert again.size == packet.size == update.size
        np.testing.assert_array_equal(again.dense(), packet.dense(), repr(compressor))


@examples(40)
@given(update=updates, cuts=st.lists(st.integers(0, 70), max_size=4))
def test_the_parts_of_a_packet_are_the_packet(update, cuts):
    borders = sorted({0, update.size, *(min(c, update.size) for c in cuts)})
    for compressor, packet in packets(update):
        parts = [packet.part(lo, hi) for lo, hi in pairwise(borders)]
        parts = [type(p).from_wire(bytearray(p.wire())) for p in parts]
        together = np.concatenate([p.dense() for p in parts]) if parts else np.empty(0, np.float32)
        np.testing.assert_array_equal(together, packet.dense(), repr(compressor))


@examples(40)
@given(update=updates, cuts=st.tuples(*[st.integers(0, 70)] * 4))
def test_a_part_of_a_part_is_a_part(update, cuts):
    a, d = sorted(min(c, update.size) for c in cuts[:2])
    b, c = sorted(min(c, d - a) for c in cuts[2:])
    for compressor, packet in packets(update):
        inner = packet.part(a, d).part(b, c)
        assert inner.size == c - b
        assert inner.nbytes == len(inner.wire())
        np.testing.assert_array_equal(inner.dense(), packet.dense()[a + b : a + c], repr(compressor))


@examples(40)
@given(update=updates, weight=st.sampled_from([1.0, -1.0, 0.25, 1 / 3]))
def test_adding_a_packet_is_adding_its_vector_to_the_bit(update, weight):
    start = np.linspace(-1, 1, update.size, dtype=np.float32)
    for compressor, packet in packets(update):
        out = start.copy()
        packet.add_to(out, weight)
        np.testing.assert_array_equal(out, start + np.float32(weight) * packet.dense(), repr(compressor))


def test_a_sparse_packet_touches_only_what_it_holds():
    """Adding works on what was sent alone: a NaN elsewhere in the sum stays where it is, and so does a zero's sign."""
    packet = TopK(0.01).encode(heavy(1000))
    out = np.full(1000, -0.0, np.float32)
    packet.add_to(out)
    untouched = np.setdiff1d(np.arange(1000), packet.index)
    assert np.signbit(out[untouched]).all()


@pytest.mark.parametrize("size", SIZES)
def test_the_bytes_are_those_the_docstrings_state(size):
    x = heavy(size)

    def nbytes(compressor):
        return compressor.encode(x, coin()).nbytes

    some = min(size, 1)
    assert nbytes(None_()) == 4 * size
    assert nbytes(Half()) == nbytes(BFloat16()) == 2 * size
    assert nbytes(Int8()) == 16 + size + 4 * some
    assert nbytes(Int8(bucket=8)) == 16 + size + 4 * -(-size // 8)
    for bits in range(2, 9):
        assert nbytes(QSGD(bits, bucket=64)) == 16 + -(-size * bits // 8) + 4 * -(-size // 64)
    assert nbytes(TernGrad()) == 16 + -(-size // 4) + 4 * some
    assert nbytes(Sign()) == nbytes(EFSign()) == nbytes(OneBit()) == 12 + 8 + -(-size // 8)
    if size % 8 == 0:
        assert nbytes(OneBit(8)) == 12 + 8 * 8 + size // 8
    assert nbytes(Threshold(1.0)) == 4 + 8 * np.count_nonzero(np.abs(x) >= 1)
    assert nbytes(Strom(1.0)) == 8 + 4 * np.count_nonzero(np.abs(x) > 1)
    assert nbytes(TopK(0.1)) == 4 + 8 * min(size, max(1, round(0.1 * size)))
    assert nbytes(RandomK(0.1)) == 28 + 4 * min(size, max(1, round(0.1 * size)))
    inner = Int8().encode(x)
    assert nbytes(PerLayer(Int8(), ((size,),))) == 4 + 5 + inner.nbytes


def test_a_cut_bucket_and_a_cut_byte_cost_no_more_than_themselves():
    x = heavy(1000)
    part = QSGD(3, bucket=100).encode(x, coin()).part(333, 555)
    buckets, data = 3, -(-555 * 3 // 8) - 333 * 3 // 8
    assert part.nbytes == 16 + 4 * buckets + data


def test_a_packet_travels_as_a_message_and_weighs_its_bytes():
    x = heavy(300)
    for compressor in (*PURE, *layered(300)):
        packet = compressor.encode(x, coin())
        frame = pack(packet)
        assert frame.nbytes == packet.nbytes
        arrived = unpack(frame.header, frame.payload())
        assert type(arrived) is type(packet)
        np.testing.assert_array_equal(arrived.dense(), packet.dense())


def test_a_packet_in_a_tuple_arrives_though_its_bytes_are_not_aligned():
    for compressor in PURE:
        packet = compressor.encode(heavy(301), coin())
        frame = pack((b"odd", packet))
        _, arrived = unpack(frame.header, frame.payload())
        np.testing.assert_array_equal(arrived.dense(), packet.dense())


def test_summable_packets_add_on_the_way():
    for compressor in (None_(), RandomK(0.2), Half()):
        assert compressor.summable
        all_packets = [compressor.encode(heavy(500, seed), coin()) for seed in range(5)]  # one coin: it is shared
        total = sum(p.summand for p in all_packets)
        truth = sum(p.dense().astype(np.float64) for p in all_packets)
        tolerance = 2e-3 if isinstance(compressor, Half) else 1e-6
        found = all_packets[0].replaced(total).dense()
        np.testing.assert_allclose(found, truth, rtol=0, atol=tolerance * np.abs(truth).max())


def test_a_student_can_add_a_kind_of_packet_and_wrap_it():
    class Ones(Packet):
        letter = b"1"

        def __init__(self, size):
            self.size = size

        def pieces(self):
            return (self.size.to_bytes(4, "little"),)

        @classmethod
        def from_wire(cls, buffer):
            return cls(int.from_bytes(buffer, "little"))

        def add_to(self, out, weight=1.0):
            out += np.float32(weight)

    from dlmini.compression.packets import Deflated

    packet = Deflated.of(Ones(5))
    assert Deflated.from_wire(packet.wire()).dense().tolist() == [1, 1, 1, 1, 1]
    del Packet.kinds[b"1"]


def test_two_kinds_of_packets_cannot_share_a_letter():
    with pytest.raises(TypeError, match="belongs to Dense"):
        type("Mine", (Packet,), {"letter": Dense.letter})


def broken(wire: bytes):
    yield wire[:-1]
    yield wire + b"\x00"
    yield wire[:1]


def test_bytes_that_are_not_a_packet_are_refused():
    x = heavy(100)
    for compressor in (*PURE, *layered(100)):
        packet = compressor.encode(x, coin())
        for wire in broken(bytes(packet.wire())):
            with pytest.raises(ValueError, match=r"not a \w+ packet"):
                type(packet).from_wire(wire)


def test_places_outside_the_vector_are_refused():
    wire = bytearray(Sparse(10, np.array([3, 9], np.uint32), np.ones(2, np.float32)).wire())
    wire[8] = 10
    with pytest.raises(ValueError, match="places"):
        Sparse.from_wire(wire)
    sampled = bytearray(RandomK(0.5).encode(heavy(10), coin()).wire())
    sampled[0] = 2
    with pytest.raises(ValueError, match="outside"):
        RandomK(0.5).encode(heavy(10), coin()).from_wire(sampled)


def test_a_wrong_sum_vector_or_cut_is_refused():
    packet = Int8().encode(heavy(10))
    for out in (np.zeros(9, np.float32), np.zeros(10), [0.0] * 10, np.zeros(20, np.float32)[::2]):
        with pytest.raises(ValueError, match="out"):
            packet.add_to(out)
    for lo, hi in ((-1, 3), (5, 4), (0, 11)):
        with pytest.raises(ValueError, match="are asked of a packet of 10"):
            packet.part(lo, hi)


def test_packets_expose_what_lessons_look_at():
    x = np.array([-1, -0.5, 0, 0.25, 1], np.float32)
    assert Int8(4).encode(x).integers().tolist() == [-4, -2, 0, 1, 4]
    assert isinstance(QSGD().encode(x, coin()), Quantized)
    assert Sign().encode(x).codes().tolist() == [0, 0, 1, 1, 1]
    assert isinstance(EFSign().encode(x), Signs)
    assert Deflate(TopK(0.4)).encode(x).inner.index.tolist() == [0, 4]
    assert DGC().start(5).encode(x).index.tolist() == [0]
