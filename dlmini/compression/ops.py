"""Which functions this room computes with: the plain NumPy truth, or its compiled twins of the same names."""

from functools import cache
from importlib import import_module
from types import SimpleNamespace

import numpy as np

from dlmini.jit import mode

NAMES = {  # module in `plain` and in `kernels`: what it offers
    "chance": ("strata",),
    "halves": ("add_dense", "to_half", "add_half", "to_brain", "add_brain"),
    "packing": ("pack", "unpack"),
    "quantising": ("scales_of", "quantise", "unquantise"),
    "selecting": ("largest", "collect", "scatter", "accelerate"),
    "signs": ("mark", "split_sums", "unmark"),
    "elias": ("write_elias", "read_elias"),
}


def collect_from(room: str) -> SimpleNamespace:
    found = {}
    for module, names in NAMES.items():
        found |= {name: getattr(import_module(f"dlmini.compression.{room}.{module}"), name) for name in names}
    return SimpleNamespace(**found)


@cache
def plain() -> SimpleNamespace:
    """NumPy: readable."""
    return collect_from("plain")


@cache
def compiled() -> SimpleNamespace:
    """Numba: one pass over the memory each; the same bits. As Python (debug), whole numbers may wrap around too."""
    found = collect_from("kernels")
    if mode() == "debug":
        return SimpleNamespace(**{name: np.errstate(over="ignore")(fn) for name, fn in vars(found).items()})
    return found


def ops() -> SimpleNamespace:
    return plain() if mode() == "numpy" else compiled()
