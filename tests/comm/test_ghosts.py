"""Ghosts have the shapes and dtypes that NumPy would give, and never any numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dlmini.comm import Ghost, Hierarchical, doubling, halving_doubling, launch, naive, ring, tree
from dlmini.sim import Cluster, Simulated

dtypes = st.sampled_from(["f4", "f8", "i4", "u1"])
OPERATIONS = [
    lambda x, y: x + y,
    lambda x, y: x * 2 - y,
    lambda x, y: x / 3,
    lambda x, y: 1.5 * x,
    lambda x, y: x > y,
    lambda x, y: np.maximum(x, 0),
    lambda x, y: np.sqrt(abs(x)),
    lambda x, y: x.sum(),
    lambda x, y: x.sum(axis=0),
    lambda x, y: x.max(axis=-1, keepdims=True),
    lambda x, y: x.astype("f2"),
    lambda x, y: x.T,
    lambda x, y: x.copy(),
    lambda x, y: x.ravel(),
    lambda x, y: np.zeros_like(x),
    lambda x, y: np.concatenate([x, x], axis=0),
    lambda x, y: x[1:],
    lambda x, y: x[..., 0],
    lambda x, y: x[:, None],
    lambda x, y: x.reshape(-1),
]


def ghost_of(x):
    return Ghost(x.shape, x.dtype)


@given(st.data(), st.sampled_from(OPERATIONS))
def test_shapes_and_dtypes_are_numpy_s(data, operation):
    shapes = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, min_dims=1, max_dims=3, min_side=1, max_side=4))
    x, y = (np.ones(shape, data.draw(dtypes)) for shape in shapes.input_shapes)
    want = np.asarray(operation(x, y))
    found = operation(ghost_of(x), ghost_of(y))
    assert (found.shape, found.dtype, found.nbytes, found.size, found.ndim) == (
        want.shape,
        want.dtype,
        want.nbytes,
        want.size,
        want.ndim,
    )


@pytest.mark.parametrize(
    ("a", "b"), [((2, 3), (3, 4)), ((3,), (3,)), ((5, 2, 3), (3, 4)), ((3,), (3, 2)), ((2, 3), (3,))]
)
def test_matrix_products(a, b):
    assert (Ghost(a) @ Ghost(b)).shape == (np.ones(a) @ np.ones(b)).shape


def test_what_numpy_refuses_is_refused():
    for wrong in (
        lambda: Ghost(3) + Ghost(4),
        lambda: Ghost((2, 3)) @ Ghost((2, 3)),
        lambda: Ghost(3).__setitem__(slice(2), Ghost(3)),
        lambda: Ghost((2, 3)).reshape(4),
    ):
        with pytest.raises(ValueError, match=r"shape|broadcast|multiplied"):
            wrong()
    with pytest.raises(TypeError, match="holds no numbers"):
        np.array(Ghost(3))
    with pytest.raises(TypeError, match="without dimensions"):
        len(Ghost(()))


def test_arithmetic_in_place_keeps_the_ghost():
    x = Ghost(10**12)
    x += 1
    x[5:] = x[:-5] * 2
    x[:3] -= Ghost(3)
    assert x.nbytes == 4 * 10**12


@pytest.mark.parametrize("priced", [True, False])
@pytest.mark.parametrize("how", [ring, tree, doubling, halving_doubling, naive, Hierarchical(2)], ids=repr)
def test_a_program_costs_the_same_with_ghosts_as_with_numbers(how, priced):
    def program(comm, make):
        x = make(1001)
        x = comm.allreduce(x, how=how) / comm.size
        comm.send((comm.rank + 1) % comm.size, (comm.rank, x[:7]))
        _, part = comm.recv((comm.rank - 1) % comm.size)
        return comm.now(), comm.reduce_scatter(x).nbytes, part.nbytes, sum(p.nbytes for p in comm.allgather(part))

    on = Simulated(6, Cluster(priced=priced, gamma=1e-9))
    real, ghost = (launch(program, on, (make,)) for make in (lambda n: np.ones(n, "f4"), Ghost))
    assert list(real) == list(ghost)
    assert real.books == ghost.books
    assert real.seconds == ghost.seconds


def test_a_model_that_fits_nowhere_is_summed_over_a_thousand_ranks():
    results = launch(lambda comm: comm.allreduce(Ghost(175_000_000_000), how=Hierarchical(8)), Simulated(1024))
    assert results[0].nbytes == 700_000_000_000
    assert results.books.total().nbytes > 1024 * 700_000_000_000
