"""Lesson 02: a convolution as one would write it down, in seven loops. The NumPy twin of both is in nn/conv.py.

The library's own kernels (nn/kernels) do the same sums, but so that each number that was loaded is used many times.
"""

from dlmini.jit import kernel


@kernel
def conv_forward(x, w, b, y, stride=1):
    """y[n,i,j,o] = b[o] + sum over a,c,k of x[n, i s + a, j s + c, k] w[a,c,k,o]."""
    for n in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                for o in range(y.shape[3]):
                    total = b[o]
                    for a in range(w.shape[0]):
                        for c in range(w.shape[1]):
                            for k in range(w.shape[2]):
                                total += x[n, i * stride + a, j * stride + c, k] * w[a, c, k, o]
                    y[n, i, j, o] = total


@kernel
def conv_forward_by_channels(x, w, b, y, stride=1):
    """The same sums with the output channel innermost: w and y are read in the order in which they lie in memory."""
    for n in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                for o in range(y.shape[3]):
                    y[n, i, j, o] = b[o]
                for a in range(w.shape[0]):
                    for c in range(w.shape[1]):
                        for k in range(w.shape[2]):
                            pixel = x[n, i * stride + a, j * stride + c, k]
                            for o in range(y.shape[3]):
                                y[n, i, j, o] += pixel * w[a, c, k, o]
