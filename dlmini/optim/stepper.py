"""What an optimiser remembers, and the one thing it does: turn a gradient into a step."""

from functools import cached_property

import numpy as np

from dlmini.checks import remembered
from dlmini.jit import mode
from dlmini.optim import plain

BLOCK = 16384  # numbers per piece for the NumPy formulas: their temporaries fit into the second-level cache


def in_blocks(formula):
    """A NumPy formula, fed piece by piece: no temporary is ever as long as the vector."""

    def run(grad, *rest):
        for lo in range(0, grad.size, BLOCK):
            here = slice(lo, lo + BLOCK)
            formula(grad[here], *(x[here] if isinstance(x, np.ndarray) else x for x in rest))

    return run


def formula_for(name: str, dtype: np.dtype):
    """The compiled kernel, or its NumPy twin: on request, and always for float64."""
    if mode() == "numpy" or dtype != np.float32:
        return in_blocks(getattr(plain, name))
    from dlmini.optim import kernels

    return getattr(kernels, name)


class Stepper:
    """The memory of one optimiser for one vector, or for one shard of it: every weight is treated alone.

        step = stepper(grad)        the vector to subtract from the weights
        stepper.apply(w, grad)      w -= stepper(grad), to the bit, in one pass

    `t` counts the calls; `state` holds one vector per remembered quantity. Nothing is allocated after the first call.
    """

    def __init__(self, optimizer, size: int, dtype=np.float32):
        self.optimizer, self.size, self.dtype = optimizer, size, np.dtype(dtype)
        self.t = 0
        self.state = {name: np.zeros(size, dtype) for name in optimizer.remembers}
        self._formula = formula_for(optimizer.formula, self.dtype)

    def __call__(self, grad, w=None, out=None):
        """The step. It needs `w` only for weight decay; `out` may be `grad`, else a buffer of the stepper is used."""
        self._check("grad", grad)
        if out is None:
            out = self.step
        else:
            self._check("out", out, written=True)
        # A kernel that reads and writes the same place cannot be vectorised; a buffer and a copy are faster.
        into = self.step if np.may_share_memory(grad, out) else out
        self._run(grad, self._pulled(w, into), into, False)
        if into is not out:
            out[:] = into
        return out

    def apply(self, w, grad) -> None:
        """Move the weights: w -= step."""
        self._check("grad", grad)
        self._check("w", w, written=True)
        self._run(grad, w, w, True)

    def memory(self) -> dict[str, np.ndarray | int]:
        """All that is remembered, copied: `np.savez(file, **stepper.memory())` keeps it."""
        return {"t": self.t} | {name: vector.copy() for name, vector in self.state.items()}

    def restore(self, memory) -> None:
        """Go on from what `memory()` gave, to the bit; an open `np.load(file)` will do."""
        memory = remembered(memory, {"t": self.t, **self.state}, repr(self.optimizer))
        for name in self.state:
            self._check(name, memory[name])
        for name, vector in self.state.items():
            vector[:] = memory[name]
        self.t = int(memory["t"])

    @cached_property
    def step(self) -> np.ndarray:
        """Where steps are written by default; the next call overwrites it."""
        return np.empty(self.size, self.dtype)

    def _run(self, grad, w, out, move) -> None:
        numbers = map(self.dtype.type, self.optimizer.numbers(self.t))
        self._formula(grad, w, *self.state.values(), *numbers, out, move)
        self.t += 1

    def _pulled(self, w, unused):
        """The weights that decay pulls on; without decay the formula looks at none."""
        decay = self.optimizer.weight_decay
        if not decay:
            return unused
        if w is None:
            raise ValueError(f"weight_decay={decay} pulls on the weights, so they are needed: call stepper(grad, w)")
        self._check("w", w, written=True)  # the kernels' signature says writable, though only `move` writes
        return w

    def _check(self, name, x, written=False) -> None:
        if not isinstance(x, np.ndarray) or x.dtype != self.dtype:
            found = x.dtype if isinstance(x, np.ndarray) else type(x).__name__
            raise TypeError(f"{name} is {found}, not a vector of {self.dtype}; convert it, or start(size, dtype) anew")
        if x.shape != (self.size,):
            raise ValueError(
                f"{name} has shape {x.shape}, but this stepper was started for {self.size} numbers end to end; "
                "flatten it, or start another stepper of its size"
            )
        if not x.flags.c_contiguous:
            raise ValueError(f"{name} is not contiguous in memory; pass np.ascontiguousarray({name})")
        if written and not x.flags.writeable:
            raise ValueError(f"{name} is read-only; pass a writable vector, for example {name}.copy()")

    def __getstate__(self):
        return {"optimizer": self.optimizer, "size": self.size, "dtype": self.dtype, "memory": self.memory()}

    def __setstate__(self, saved):
        self.__init__(saved["optimizer"], saved["size"], saved["dtype"])
        self.restore(saved["memory"])
