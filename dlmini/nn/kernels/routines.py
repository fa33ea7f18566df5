"""The table of routines: compiled once, called through pointers by every driver.

A routine is a function of 64-bit integers (addresses, strides, counts), written either in vector instructions (see
vector.py) or as a plain Python loop. Drivers are ordinary Numba loops that call `run(table, ROUTINE, ...)`. Because no
routine is copied into the drivers, the whole engine room compiles in seconds. In debug mode `run` calls the
routine's NumPy emulation instead, which checks every address.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from dlmini import jit
from dlmini.nn.kernels import memory
from dlmini.nn.kernels.vector import INT

# A tile of P rows and V vectors is routine 16 V + P, below 80. Those with an R in their name: plus the filter's size.
POOL, UNPOOL, COPY, CLEAR, SUMS, MULTIPLY = range(80, 86)
INPUT_R, BACK_R, GRADIENT_R, OUTPUT_R, OUTPUT_POOL_R, SEEN_R = range(86, 122, 6)
MARK, MASK, SILENCE, MOMENTS, NORM, NORM_SUMS, NORM_BACK, MAXIMUM = range(122, 130)
FILTER_R, TAPS_R, SUM, SUM_BACK = 130, 136, 142, 143
SLOTS = 144
MAKERS = (
    "tile",
    "transforms",
    "pools",
    "rows",
    "panels",
    "zeros",
    "channels",
)  # the modules of this room that register routines


class Routine(NamedTuple):
    arity: int
    emit: Callable  # (context, builder, *arguments): writes the LLVM code
    emulate: Callable  # (*arguments): does the same in NumPy


ROUTINES: dict[int, Routine] = {}
TABLES: list[np.ndarray] = []  # kept here for their memory


def register(slot: int, arity: int, emit: Callable, emulate: Callable) -> None:
    """A routine in vector instructions: emit(builder, *arguments), and its emulation."""
    ROUTINES[slot] = Routine(arity, lambda context, builder, *args: emit(builder, *args), emulate)


def register_python(slot: int, fn: Callable) -> None:
    """A routine written as a Python function of ints that returns nothing: its own emulation."""
    signature = types.void(*[types.int64] * fn.__code__.co_argcount)

    def emit(context, builder, *args):
        compiled = context.compile_subroutine(builder, fn, signature)
        context.call_internal_no_propagate(builder, compiled.fndesc, signature, args)

    ROUTINES[slot] = Routine(len(signature.args), emit, fn)


def _function(context, module, slot):
    """The LLVM function of a routine, built in `module`."""
    arity, emit, _ = ROUTINES[slot]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [INT] * arity), f"dlmini_routine_{slot}")
    function.linkage = "internal"
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    emit(context, builder, *function.args)
    builder.ret_void()
    return function


@intrinsic
def _fill_table(typingctx, start):
    def codegen(context, builder, signature, args):
        for slot in sorted(ROUTINES):
            entry = builder.add(args[0], INT(8 * slot))
            pointer = builder.ptrtoint(_function(context, builder.module, slot), INT)
            builder.store(pointer, builder.inttoptr(entry, INT.as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64), codegen


@jit.kernel
def fill_table(start):
    _fill_table(start)


@intrinsic
def _run(typingctx, table, slot, *args):
    def codegen(context, builder, signature, values):
        given = _flat(builder, zip(signature.args, values, strict=True))
        table, slot, *rest = [context.cast(builder, x, kind, types.int64) for kind, x in given]
        function = ir.FunctionType(ir.VoidType(), [INT] * len(rest))
        entry = builder.inttoptr(builder.add(table, builder.shl(slot, INT(3))), INT.as_pointer())
        builder.call(builder.inttoptr(builder.load(entry), function.as_pointer()), rest)
        return context.get_dummy_value()

    return types.void(table, slot, types.StarArgTuple(args)), codegen


def _flat(builder, given):
    for kind, value in given:
        if isinstance(kind, types.BaseTuple):
            yield from zip(kind, cgutils.unpack_tuple(builder, value), strict=True)
        else:
            yield kind, value


def _emulated_run(table, slot, *args):
    arity, _, emulate = ROUTINES[slot]
    if len(args) != arity:
        raise TypeError(f"routine {slot} takes {arity} arguments, not {len(args)}")
    emulate(*args)


run = _emulated_run if memory.DEBUG else _run


@cache
def table() -> int:
    """The address of the table; the first call compiles the routines or loads them from the cache."""
    for name in MAKERS:
        import_module(f"dlmini.nn.kernels.{name}")
    slots = np.zeros(SLOTS, np.int64)
    if not memory.DEBUG:
        fill_table(slots.ctypes.data)
    TABLES.append(slots)  # it lives as long as the process; threads that come at once make one each
    return slots.ctypes.data
