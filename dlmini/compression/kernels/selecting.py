"""Twins of plain/selecting.py."""

import numpy as np

from dlmini.compression.kernels.quantising import largest_bits
from dlmini.jit import kernel

SIZE = np.uint32(0x7FFFFFFF)


@kernel(exact=True)
def largest(bits):
    return largest_bits(bits)


@kernel(exact=True)
def collect(bits, bound, index):
    """Every place is written down, and the next one overwrites it unless it counted: no branch to mispredict."""
    count = 0
    for i in range(bits.size):
        index[count] = np.uint32(i)
        count += np.uint32(bits[i] & SIZE) >= bound
    return count


@kernel(exact=True)
def scatter(index, values, weight, out):
    for j in range(index.size):
        out[index[j]] += weight * values[j]


@kernel(exact=True)
def accelerate(grad, shrink, momentum, nesterov, velocity, total):
    for i in range(grad.size):
        g = shrink * grad[i]
        if nesterov:
            velocity[i] = (velocity[i] + g) * momentum
            total[i] += velocity[i] + g
        else:
            velocity[i] = velocity[i] * momentum + g
            total[i] += velocity[i]
