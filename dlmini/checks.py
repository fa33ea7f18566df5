"""What an argument must be like. A refusal is one sentence: which argument, what was given, what is wanted.

    rate is 'fast'; it must be a finite number of at least 0
The wrong kind of thing is a TypeError, the wrong number a ValueError. Numbers come back as Python's own, so that a
recipe reads the same whoever computed it: np.int64(4) becomes 4. True is not 1 here, and 2.0 is not a count.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite, isnan
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from reprlib import Repr

import numpy as np

LARGEST = 2**63 - 1  # what an index can count
_short = Repr()
_short.maxstring = _short.maxother = 60


def shown(value) -> str:
    """A value in one short line."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    return " ".join(_short.repr(value).split())


def refuse(kind: type[Exception], name: str, value, wanted: str):
    raise kind(f"{name} is {shown(value)}; it must be {wanted}")


def whole(value, name: str, least: int | None = None, most: int | None = None, hint: str = "") -> int:
    """A whole number from `least` to `most`, as an int. `hint` ends the sentence."""
    bounds = f" from {least} to {most}" if most is not None else "" if least is None else f" of at least {least}"
    wanted = f"a whole number{bounds}{hint and f': {hint}'}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        refuse(TypeError, name, value, wanted)
    if (least is not None and value < least) or not -LARGEST <= value <= (LARGEST if most is None else most):
        refuse(ValueError, name, value, wanted if abs(int(value)) <= LARGEST else f"{wanted}, below 2^63")
    return int(value)


def real(value, name: str, least=None, above=None, most=None, below=None, infinite=False, hint: str = "") -> float:
    """A number within the bounds, finite unless said otherwise; an int stays one."""
    kinds = {"of at least": least, "above": above, "at most": most, "below": below}
    bounds = " and ".join(f"{words} {bound}" for words, bound in kinds.items() if bound is not None)
    wanted = f"a {'' if infinite else 'finite '}number {bounds}".rstrip() + (hint and f": {hint}")
    if isinstance(value, bool) or not isinstance(value, Real):
        refuse(TypeError, name, value, wanted)
    try:
        number = float(value)
    except OverflowError:
        refuse(ValueError, name, value, f"{wanted}, below 1e308")
    low = (least is None or number >= least) and (above is None or number > above)
    high = (most is None or number <= most) and (below is None or number < below)
    if not (low and high) or isnan(number) or not (infinite or isfinite(number)):
        refuse(ValueError, name, value, wanted)
    return int(value) if isinstance(value, Integral) else number


def fraction(value, name: str, hint: str = "") -> float:
    """A part of the whole: above 0, at most 1."""
    return real(value, name, above=0, most=1, hint=hint)


def truth(value, name: str) -> bool:
    """Yes or no, and nothing that merely looks like it: "no" is true, to Python."""
    if not isinstance(value, bool | np.bool_):
        refuse(TypeError, name, value, "True or False")
    return bool(value)


def text(value, name: str) -> str:
    """Any words."""
    return value if isinstance(value, str) else refuse(TypeError, name, value, "a text")


def word(value, name: str, words, hint: str = "") -> str:
    """One of some words."""
    if not isinstance(value, str) or value not in words:
        wanted = " or ".join(map(repr, words)) + (hint and f", {hint}")
        refuse(ValueError if isinstance(value, str) else TypeError, name, value, wanted)
    return value


def path(value, name: str, wanted: str = "the name of a file or folder") -> Path:
    """Where something lies, or shall lie."""
    if not isinstance(value, str | PathLike) or not str(value):
        refuse(TypeError, name, value, wanted)
    return Path(value)


def array(value, name: str, example: str) -> np.ndarray:
    """An array, and not a list of numbers, which would be copied at every call."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biufc":
        refuse(TypeError, name, value, f"a NumPy array of numbers: {example}")
    return value


def numbers(value, name: str, axes: int, wanted: str) -> np.ndarray:
    """Finite numbers as a float64 array of so many axes, not empty; lists will do."""
    try:
        found = np.asarray(value)
    except ValueError:  # rows of different lengths
        found = np.empty(0, object)
    if found.dtype.kind not in "iuf":
        refuse(TypeError, name, value, wanted)
    if found.ndim != axes or not found.size:
        refuse(ValueError, name, value, wanted)
    if not np.isfinite(found).all():
        raise ValueError(f"{name} holds NaN or infinity; it must be {wanted}, every number finite")
    return found.astype(np.float64)


def float_type(value, name: str = "dtype") -> np.dtype:
    """Single or double precision."""
    try:
        found = None if value is None or isinstance(value, np.generic | np.ndarray) else np.dtype(value)
    except TypeError:  # NumPy knows none of this name
        found = None
    if found not in (np.float32, np.float64):
        refuse(ValueError, name, value, "np.float32 or np.float64")
    return found


def lengths(value, name: str) -> tuple[int, ...]:
    """The shape of one array: a row of whole numbers."""
    if not isinstance(value, list | tuple):
        refuse(TypeError, name, value, "a row of whole numbers, such as (28, 28, 1)")
    return tuple(whole(length, f"a length in {name}", 0) for length in value)


def shapes_of(value, name: str) -> tuple[tuple[int, ...], ...]:
    """The shapes of several arrays."""
    if not isinstance(value, list | tuple):
        refuse(TypeError, name, value, "a row of shapes, such as ((784, 10), (10,))")
    return tuple(lengths(one, name) for one in value)


def remembered(value, own: dict, who: str) -> dict:
    """What `memory()` gave, or a file of it: the same names as one's own memory has, with arrays of the same shapes."""
    if not hasattr(value, "keys"):
        refuse(TypeError, "memory", value, "what memory() gave: a dict of arrays, or an open np.load(file)")
    if set(value.keys()) != set(own):
        raise ValueError(
            f"the memory holds {sorted(map(str, value.keys()))}, but {who} remembers {sorted(own)}; restore it into "
            "one that was made as the saved one was"
        )
    found = {name: value[name] for name in own}
    for name, one in found.items():
        if not isinstance(one, np.ndarray | np.generic | int | float) or kind_of(one) != kind_of(own[name]):
            refuse(TypeError, f"{name} of the memory", one, f"what memory() of {who} gave")
        if np.shape(one) != np.shape(own[name]):
            raise ValueError(
                f"{name} of the memory has shape {np.shape(one)}, but {who} needs {np.shape(own[name])}; restore it "
                "into one that was made for as many numbers"
            )
    return found


def kind_of(value) -> str:
    """What numbers they are; whole ones with and without a sign are of one kind."""
    kind = np.asarray(value).dtype.kind
    return "i" if kind == "u" else kind


def piece(value, name: str, verbs: tuple[str, ...], what: str):
    """An object that has these attributes; not the class of such objects."""
    if isinstance(value, type):
        raise TypeError(f"{name} is the class {value.__name__}; make one of it: {value.__name__}(...)")
    if not all(hasattr(value, verb) for verb in verbs):
        refuse(TypeError, name, value, what)
    return value


def row_of(value, name: str, signs: tuple[str, ...], what: str) -> list:
    """Several objects that all have these attributes, as a list."""
    if isinstance(value, str | bytes | dict | np.ndarray | type) or not isinstance(value, Iterable):
        refuse(TypeError, name, value, what)
    found = list(value)
    if not all(hasattr(one, sign) for one in found for sign in signs):
        refuse(TypeError, name, value, f"{what}, each with {', '.join(signs)}")
    return found


def settle(described, **values) -> None:
    """Set fields of a frozen dataclass, in its __post_init__."""
    for name, value in values.items():
        object.__setattr__(described, name, value)
