"""Which functions a model computes with: the plain NumPy truth, or its compiled twins of the same names."""

from functools import cache
from types import SimpleNamespace

NAMES = (
    *("conv_forward", "conv_backward", "conv_pool_forward", "unpool"),
    *("maxpool_forward", "maxpool_backward", "avgpool_forward", "avgpool_backward"),
    *("dense_forward", "dense_backward", "relu_forward", "relu_backward", "tanh_forward", "tanh_backward"),
    *("up_forward", "up_backward", "moments", "normalise", "normalise_backward"),
    *("image_mean_forward", "image_mean_backward", "sum_forward", "sum_backward"),
    *("dropout_forward", "dropout_backward", "softmax_cross_entropy", "mean_squares"),
)


def collect(*modules):
    """The functions of NAMES, wherever among the modules they are."""
    return SimpleNamespace(**{name: next(getattr(m, name) for m in modules if hasattr(m, name)) for name in NAMES})


@cache
def plain():
    """NumPy: readable, any float type."""
    from dlmini.nn import branches, conv, layers, losses, norm, pool, up

    return collect(conv, pool, up, norm, branches, layers, losses)


@cache
def compiled():
    """Numba: float32, no allocation once warm."""
    from dlmini.nn.kernels import convolution, elementwise, normalisation, pooling, upsampling

    return collect(convolution, pooling, upsampling, normalisation, elementwise)
