"""The short cut for arrays: the same bytes as the wire, the same arrays back, and nothing that it should not take."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dlmini.comm import arrays, wire

ANY = hnp.arrays(
    st.sampled_from(["?", "i1", "<i4", ">i4", "u8", "f2", "f4", ">f8", "c8", "g", "S3", "U2", "M8[s]", "f4,i2"]),
    hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
    fill=st.nothing(),
    elements=None,
)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(ANY, st.sampled_from(["C", "F", "strided"]))
def test_what_it_takes_is_what_the_wire_would_have_sent(x, order):
    x = x[..., ::2] if order == "strided" and x.ndim else np.asarray(x, order=order if order in "CF" else "C")
    header, frame = arrays.header_of(x), wire.pack(x)
    if header is None:
        assert not x.flags.c_contiguous or x.dtype.kind not in arrays.NUMBERS or not x.size
        return
    assert header == frame.header
    assert x.tobytes() == frame.payload()
    shape, dtype = arrays.read(header)
    back = np.ndarray(shape, dtype, frame.payload())
    assert (back.shape, back.dtype.str, back.tobytes()) == (x.shape, x.dtype.str, x.tobytes())


@pytest.mark.parametrize(
    "message", [None, 3, "a", np.float32(1), np.array(["o"], object), np.ma.ones(3), [np.ones(2)], np.empty((0, 3))]
)
def test_everything_else_is_left_to_the_wire(message):
    assert arrays.header_of(message) is None


def test_headers_of_other_messages_are_not_taken_for_arrays():
    for message in (None, "a", np.float32(1), [np.ones(2)], np.array(["a"]), np.empty((0, 3))):
        assert arrays.read(wire.pack(message).header) is None
