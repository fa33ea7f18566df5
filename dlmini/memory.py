"""What a rank remembers, as named arrays: enough to go on later as if nothing had happened.

    saved = arrays({"w": w, "outer": stepper})      {"w": ..., "outer.t": ..., "outer.squares": ...}
    restore({"w": w, "outer": stepper}, saved)      into things that were made as the saved ones were
A thing with memory is an array, a dict of such things, or an object with `memory()` and `restore(memory)`, as steppers
and codecs are; anything else (an immutable description) remembers nothing. No pickles: `np.savez(file, **saved)` keeps
it, and reading it back runs nobody's code.
"""

import numpy as np


def arrays(thing, name: str = "") -> dict[str, np.ndarray]:
    """Copies of all that a thing remembers, by name."""
    if isinstance(thing, dict):
        inside = f"{name}." if name else ""
        return {k: v for key, value in thing.items() for k, v in arrays(value, f"{inside}{key}").items()}
    if hasattr(thing, "memory"):
        return arrays(thing.memory(), name)
    return {name: np.array(thing)} if isinstance(thing, np.ndarray | np.generic | bool | int | float) else {}


def restore(thing, saved: dict[str, np.ndarray], name: str = "") -> None:
    """Put back what `arrays` found."""
    if isinstance(thing, dict):
        inside = f"{name}." if name else ""
        for key, value in thing.items():
            restore(value, saved, f"{inside}{key}")
    elif hasattr(thing, "restore"):
        thing.restore({key: found(saved, f"{name}.{key}", own, grows=True) for key, own in thing.memory().items()})
    elif isinstance(thing, np.ndarray):
        thing[...] = found(saved, name, thing)


def rooms(recipe, w, grad):
    """(start, update, unsaid, late, mixed): vectors where the recipe uses them, elsewhere a single zero.

    Who does not step alone says its gradient, and its weights stay where the round began.
    """
    local, zero = recipe.sync.local, np.zeros((), w.dtype)
    used = local, local, recipe.remembers_unsaid, recipe.sync.late, recipe.topology.mixes
    start, update, *others = (np.zeros_like(w) if use else zero for use in used)
    return (start, update, *others) if local else (w, grad, *others)


def recalled(thing, saved: dict[str, np.ndarray] | None, otherwise: int) -> int:
    """Put back what was saved, if anything was; returns the round to begin with."""
    if saved is None:
        return otherwise
    restore(thing, saved)
    return int(found(saved, "t")) + 1


OTHER = "resume with the task, the recipe and the number of ranks that the checkpoint was made with"


def found(saved: dict[str, np.ndarray], name: str, own=None, grows: bool = False) -> np.ndarray:
    """What was kept by this name; own: what it is here. What grows may be larger, but nothing is spread."""
    if name not in saved:
        raise ValueError(f"the checkpoint holds no {name!r}: {OTHER}")
    other = own is not None and np.shape(saved[name]) != np.shape(own)
    if other and (not grows or np.size(saved[name]) < np.size(own)):
        shapes = f"kept with shape {np.shape(saved[name])}, but has shape {np.shape(own)} here"
        raise ValueError(f"{name} was {shapes}: {OTHER}")
    return saved[name]
