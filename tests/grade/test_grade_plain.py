"""The judge's reader: what is plain comes through unchanged, and no bytes whatever can do more than be refused."""

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from dlmini.comm.wire import pack
from dlmini.grade.runner.values import HEAD, Garbled, frame, lengths, strict
from dlmini.sim.explore import equal

ATOMS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text() | st.binary()
VALUES = st.recursive(
    ATOMS, lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(), v, max_size=3), max_leaves=12
)


def back(value):
    data = frame(value)
    whole, toc = lengths(data[: HEAD.size])
    assert whole == len(data) - HEAD.size
    return strict(bytearray(data[HEAD.size :]), toc)


@examples(200)
@given(st.tuples(VALUES, VALUES))
def test_plain_values_come_through_unchanged(value):
    assert equal(back(value), value)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u8", "c8", "?", ">f4"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3, 4), (0, 5)])
def test_arrays_of_numbers_come_through_to_the_bit(dtype, shape):
    x = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    (found,) = back((x,))
    assert equal(found, x)
    assert type(found) is np.ndarray


@examples(500)
@given(st.binary(max_size=200), st.integers(0, 200))
def test_any_bytes_are_a_plain_value_or_are_refused(body, toc):
    try:
        found = strict(bytearray(body), min(toc, len(body)))
    except Garbled:
        return
    assert type(found) is tuple


@examples(300)
@given(st.tuples(VALUES), st.integers(0, 10_000), st.integers(0, 255))
def test_a_frame_with_one_wrong_byte_is_a_plain_value_or_is_refused(value, at, byte):
    data = bytearray(frame(value))
    data[at % len(data)] = byte
    try:
        whole, toc = lengths(bytes(data[: HEAD.size]))
        strict(data[HEAD.size : HEAD.size + whole], toc)
    except Garbled:
        pass


@pytest.mark.parametrize(
    "value",
    [
        np.empty((0, 10**6), "f4"),
        np.zeros(1, [("secret", "u1")]),
        np.zeros(3, "S5"),
        np.array(["2020-01-01"], "M8[D]"),
    ],
    ids=["a number in the shape of nothing", "names of fields", "texts", "dates"],
)
def test_arrays_that_say_more_than_they_weigh_are_refused(value):
    with pytest.raises(Garbled, match=r"boundary|shape"):
        back((value,))


def test_depth_and_length_are_bounded():
    deep = ()
    for _ in range(20):
        deep = (deep,)
    with pytest.raises(Garbled, match="depth"):
        back((deep,))
    with pytest.raises(Garbled, match="too many to be read"):
        lengths(HEAD.pack(2**60, 5))


def test_packets_never_become_objects_in_the_judge():
    class Packet:
        nbytes = 3

        def wire(self):
            return b"abc"

        @classmethod
        def from_wire(cls, buffer):
            raise AssertionError("the judge has made an object of the student's choice")

    packed = pack((Packet(),))
    body = bytearray().join(packed.buffers)
    with pytest.raises(Garbled, match="do not cross"):
        strict(body, int.from_bytes(packed.header[1:], "little"))
