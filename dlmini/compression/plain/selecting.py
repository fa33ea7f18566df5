"""Finding the large numbers, and putting a few numbers into a long vector.

Numbers are given as their bits: those of |x|, as integers, order like |x|, with infinity and NaN on top.
"""

import numpy as np

SIZE = np.uint32(0x7FFFFFFF)


def largest(bits):
    """The bits of the largest |x|."""
    return np.uint32((bits & SIZE).max(initial=0))


def collect(bits, bound, index):
    """Write down the places where the bits of |x| reach the bound, in ascending order; return how many there are."""
    found = np.flatnonzero((bits & SIZE) >= bound)
    index[: found.size] = found
    return found.size


def scatter(index, values, weight, out):
    """Add weighted values at places that are all different."""
    out[index] += weight * values


def accelerate(grad, shrink, momentum, nesterov, velocity, total):
    """Momentum that is added up where it stands (Deep Gradient Compression): u = m u + g, v = v + u.

    Nesterov's form: u = m (u + g), v = v + u + g. `shrink` scales the gradient first.
    """
    g = shrink * grad
    if nesterov:
        velocity += g
        velocity *= momentum
        total += velocity + g
    else:
        velocity *= momentum
        velocity += g
        total += velocity
