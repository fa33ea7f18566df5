"""A message through the wire is the same message, and weighs what its bytes weigh."""

from collections import namedtuple
from fractions import Fraction

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dlmini.comm.ghost import Ghost
from dlmini.comm.wire import ENVELOPE, Envelope, copied, pack, unpack

plain = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.binary(max_size=8)
)
arrays = hnp.arrays(
    hnp.scalar_dtypes() | hnp.array_dtypes(max_size=3), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
)
messages = st.recursive(
    plain | arrays,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)


def there_and_back(message):
    frame = pack(message)
    return unpack(frame.header, frame.payload())


def same(a, b):
    if isinstance(a, np.ndarray | np.generic):
        return type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return type(b) is dict and list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b


@given(messages)
@examples(300)
def test_every_message_arrives_as_it_was_sent(message):
    assert same(message, there_and_back(message))


@given(messages)
@examples(100)
def test_the_weight_is_the_length_of_the_payload(message):
    frame = pack(message)
    assert frame.nbytes == len(frame.payload())


@given(messages)
@examples(100)
def test_copying_equals_sending(message):
    copy, nbytes = copied(message)
    assert same(message, copy)
    assert nbytes == pack(message).nbytes


@pytest.mark.parametrize(
    ("message", "nbytes"),
    [
        (np.zeros(1000, np.float32), 4000),
        (np.zeros((3, 5), np.float64), 120),
        (np.zeros(0, np.float32), 0),
        (np.float32(1), 4),
        (None, 0),
        (True, 1),
        (7, 8),
        (0.5, 8),
        ("naïve", 6),
        (b"abc", 3),
        (Ghost(10**12), 4 * 10**12),
    ],
)
def test_a_bare_value_weighs_only_its_data(message, nbytes):
    assert pack(message).nbytes == nbytes
    assert copied(message)[1] == nbytes


def test_a_container_weighs_its_items_and_the_table_that_tells_them_apart():
    nothing, one, two = (pack([0.0] * n).nbytes for n in range(3))
    assert two - one == one - nothing > 8
    assert nothing > 0


def test_the_receiver_may_change_what_it_got_and_the_sender_what_it_sent():
    x = np.arange(6.0).reshape(2, 3)
    for y in (there_and_back(x), copied(x)[0], there_and_back(["odd", x])[1], copied((x,))[0][0]):
        y += 1
        assert x[0, 0] == 0
        assert y[0, 0] == 1


def test_views_arrive_as_plain_arrays_in_c_order():
    x = np.arange(24.0).reshape(4, 6)
    for view in (x[::2, ::-1], x.T, np.asfortranarray(x), np.broadcast_to(x[0], (3, 6))):
        for y in (there_and_back(view), copied(view)[0]):
            assert np.array_equal(y, view)
            assert y.flags.c_contiguous
            assert y.flags.writeable


def test_arrays_inside_containers_are_aligned():
    parts = there_and_back([b"x", np.ones(3), b"yz", np.ones(2, np.float32)])
    assert parts[1].flags.aligned
    assert parts[3].flags.aligned


def test_memmaps_and_byte_arrays_travel(tmp_path):
    mapped = np.memmap(tmp_path / "x", np.float32, "w+", shape=(4,))
    mapped[:] = 3
    assert np.array_equal(there_and_back(mapped), [3, 3, 3, 3])
    assert there_and_back(bytearray(b"ab")) == b"ab"


class Doubled:
    """A packet for the tests."""

    def __init__(self, values):
        self.values = values

    nbytes = property(lambda self: 2 * len(self.values))

    def wire(self):
        return bytes(self.values) * 2

    @classmethod
    def from_wire(cls, buffer):
        return cls(bytes(buffer[: len(buffer) // 2]))


class Liar(Doubled):
    nbytes = 1


class OneWay:
    nbytes = 0

    def wire(self):
        return b""


def test_packets_travel_as_their_own_bytes():
    packet = there_and_back(Doubled(b"hey"))
    assert type(packet) is Doubled
    assert packet.values == b"hey"
    assert pack(Doubled(b"hey")).nbytes == 6
    assert there_and_back((1, Doubled(b"hey")))[1].values == b"hey"


def test_a_packet_that_misstates_its_weight_is_refused():
    with pytest.raises(ValueError, match=r"nbytes is 1, but its wire\(\) has 6 bytes"):
        pack(Liar(b"hey"))


def test_a_packet_that_cannot_be_received_is_refused_when_sent():
    with pytest.raises(TypeError, match="from_wire"):
        pack(OneWay())


def test_bytes_never_cause_an_import():
    frame = pack(Doubled(b"hey"))
    with pytest.raises(TypeError, match=r"antigravity.*does not know"):
        unpack(frame.header.replace(b"test_wire:Doubled", b"antigravity:Flyin"), frame.payload())


@pytest.mark.parametrize(
    "message", [object(), {1, 2}, 1j, Fraction(1, 2), namedtuple("Pair", "a b")(1, 2), [np.ma.masked_array([1])]]
)
def test_what_has_no_bytes_of_its_own_is_refused_with_a_list_of_what_has(message):
    with pytest.raises(TypeError, match="cannot be sent; a message is None, bool, int"):
        pack(message)


def test_object_arrays_are_refused():
    with pytest.raises(TypeError, match="holds Python objects"):
        copied(np.array([None, "x"], dtype=object))


def test_a_truncated_payload_is_an_error_not_a_wrong_array():
    frame = pack(np.arange(4.0))
    with pytest.raises(ValueError, match="ends after 24 bytes"):
        unpack(frame.header, frame.payload()[:-8])


def test_ghosts_weigh_but_carry_nothing():
    frame = pack(Ghost((10**6, 10**6)))
    assert frame.nbytes == 4 * 10**12
    assert frame.payload() == b""
    assert repr(unpack(frame.header, b"")) == "Ghost((1000000, 1000000), '<f4')"


@given(st.integers(-(2**95), 2**95), st.floats(allow_nan=False), st.integers(0, 2**60), st.integers(0, 2**60))
def test_an_envelope_is_read_back(channel, sent, header, payload):
    envelope = Envelope(channel, sent, header, payload, 0.5, 0.75)
    assert len(envelope.to_bytes()) == ENVELOPE
    assert Envelope.from_bytes(envelope.to_bytes()) == envelope
