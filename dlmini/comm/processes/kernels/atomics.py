"""Atomic words of shared memory, and calls into the system: the instructions that Numba has no name for.

In debug mode they are plain Python functions: a word of an array is then read and written as NumPy does it.
"""

import time

import numpy as np

from dlmini import jit
from dlmini.comm.processes.kernels.layout import ARM, X86

DEBUG = jit.mode() == "debug"

if DEBUG:

    def load(words, i):
        return int(words[i])

    def store(words, i, value):
        words[i] = value

    def add(words, i, amount):
        words[i] += amount

    def enter(words, i, head, busy):
        clocks = words.view(np.float64)
        start = max(head, clocks[i])
        clocks[i] = start + busy
        return start

    def fence():
        pass

    def pause():
        time.sleep(0)

    def call(function, a, b, c, d, e):
        time.sleep(1e-4)

    def address(words, i):
        return 0

else:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    INT = ir.IntType(64)

    def pointer(context, builder, signature, args):
        """Where word args[1] of the array args[0] lies."""
        array = context.make_array(signature.args[0])(context, builder, args[0])
        index = context.cast(builder, args[1], signature.args[1], types.int64)
        return builder.gep(array.data, [index])

    @intrinsic
    def load(typingctx, words, i):
        """The word, and everything its writer wrote before it."""

        def emit(context, builder, signature, args):
            return builder.load_atomic(pointer(context, builder, signature, args), "acquire", 8)

        return types.int64(words, i), emit

    @intrinsic
    def store(typingctx, words, i, value):
        """Set the word, after everything written before it."""

        def emit(context, builder, signature, args):
            new = context.cast(builder, args[2], signature.args[2], types.int64)
            builder.store_atomic(new, pointer(context, builder, signature, args), "release", 8)
            return context.get_dummy_value()

        return types.void(words, i, value), emit

    @intrinsic
    def add(typingctx, words, i, amount):
        """Add to a word that several may write."""

        def emit(context, builder, signature, args):
            more = context.cast(builder, args[2], signature.args[2], types.int64)
            builder.atomic_rmw("add", pointer(context, builder, signature, args), more, "seq_cst")
            return context.get_dummy_value()

        return types.void(words, i, amount), emit

    @intrinsic
    def enter(typingctx, words, i, head, busy):
        """start = max(head, word); word = start + busy, as floats: again, if somebody else did so in between."""

        def emit(context, builder, signature, args):
            word, real = pointer(context, builder, signature, args), ir.DoubleType()
            again = builder.append_basic_block("again")
            done = builder.append_basic_block("done")
            builder.branch(again)
            builder.position_at_end(again)
            old = builder.load_atomic(word, "acquire", 8)
            free = builder.bitcast(old, real)
            start = builder.select(builder.fcmp_ordered(">", free, args[2]), free, args[2])
            new = builder.bitcast(builder.fadd(start, args[3]), INT)
            swapped = builder.extract_value(builder.cmpxchg(word, old, new, "seq_cst"), 1)
            builder.cbranch(swapped, done, again)
            builder.position_at_end(done)
            return start

        return types.float64(words, i, types.float64, types.float64), emit

    @intrinsic
    def fence(typingctx):
        """What I wrote before is visible to all, before I read anything more."""

        def emit(context, builder, signature, args):
            builder.fence("seq_cst")
            return context.get_dummy_value()

        return types.void(), emit

    @intrinsic
    def pause(typingctx):
        """A breath between two looks at a word: saves power, and lets the other thread of this core run."""

        def emit(context, builder, signature, args):
            if X86:
                kind, name, values = ir.FunctionType(ir.VoidType(), []), "llvm.x86.sse2.pause", []
            elif ARM:
                number = ir.IntType(32)
                kind, name, values = ir.FunctionType(ir.VoidType(), [number]), "llvm.aarch64.hint", [number(1)]
            else:
                return context.get_dummy_value()
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), values)
            return context.get_dummy_value()

        return types.void(), emit

    @intrinsic
    def call(typingctx, function, a, b, c, d, e):
        """Call a function of the system by its address: function(a, b, c, d, e, 0, 0), all of them integers."""

        def emit(context, builder, signature, args):
            numbers = [context.cast(builder, v, t, types.int64) for v, t in zip(args, signature.args, strict=True)]
            kind = ir.FunctionType(INT, [INT] * 7).as_pointer()
            builder.call(builder.inttoptr(numbers[0], kind), [*numbers[1:], INT(0), INT(0)])
            return context.get_dummy_value()

        return types.void(function, a, b, c, d, e), emit

    @intrinsic
    def address(typingctx, words, i):
        """Where a word lies in memory."""

        def emit(context, builder, signature, args):
            return builder.ptrtoint(pointer(context, builder, signature, args), INT)

        return types.int64(words, i), emit
