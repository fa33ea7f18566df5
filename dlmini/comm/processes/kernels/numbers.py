"""Copy and add runs of numbers inside flat arrays: loops that LLVM turns into vector instructions.

They take arrays with offsets instead of slices: a slice costs Numba several times the code, and the whole engine room
compiles in a fraction of the time. In debug mode they are NumPy, and every offset is checked.
"""

from dlmini import jit

if jit.mode() == "debug":

    def run(array, start, count):
        if not 0 <= start <= start + count <= array.size:
            raise IndexError(f"a kernel touches numbers {start} to {start + count} of {array.size}")
        return array[start : start + count]

    def copy(out, i, x, j, count):
        """out[i:][:count] = x[j:][:count]"""
        run(out, i, count)[...] = run(x, j, count)

    def add(out, i, x, j, y, k, count):
        """out[i:][:count] = x[j:][:count] + y[k:][:count]"""
        run(out, i, count)[...] = run(x, j, count) + run(y, k, count)

    def accumulate(out, i, x, j, count):
        """out[i:][:count] += x[j:][:count]"""
        run(out, i, count)[...] += run(x, j, count)

else:
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    def start(context, builder, signature, args, which):
        """The address of the number at which a run begins: array args[which], offset args[which + 1]."""
        array = context.make_array(signature.args[which])(context, builder, args[which])
        offset = context.cast(builder, args[which + 1], signature.args[which + 1], types.intp)
        return builder.gep(array.data, [offset])

    def length(context, builder, signature, args):
        return context.cast(builder, args[-1], signature.args[-1], types.intp)

    @intrinsic
    def copy(typingctx, out, i, x, j, count):
        """out[i:][:count] = x[j:][:count]"""

        def emit(context, builder, signature, args):
            to, source = (start(context, builder, signature, args, which) for which in (0, 2))
            width = context.get_abi_sizeof(to.type.pointee)
            cgutils.raw_memcpy(builder, to, source, length(context, builder, signature, args), width)
            return context.get_dummy_value()

        return types.void(out, i, x, j, count), emit

    @intrinsic
    def add(typingctx, out, i, x, j, y, k, count):
        """out[i:][:count] = x[j:][:count] + y[k:][:count]"""

        def emit(context, builder, signature, args):
            to, *terms = (start(context, builder, signature, args, which) for which in (0, 2, 4))
            with cgutils.for_range(builder, length(context, builder, signature, args)) as loop:
                a, b = (builder.load(builder.gep(term, [loop.index])) for term in terms)
                builder.store(builder.fadd(a, b), builder.gep(to, [loop.index]))
            return context.get_dummy_value()

        return types.void(out, i, x, j, y, k, count), emit

    @intrinsic
    def accumulate(typingctx, out, i, x, j, count):
        """out[i:][:count] += x[j:][:count]. Not by `add`: where two of its runs are the same, it is not vectorised."""

        def emit(context, builder, signature, args):
            to, term = (start(context, builder, signature, args, which) for which in (0, 2))
            with cgutils.for_range(builder, length(context, builder, signature, args)) as loop:
                place = builder.gep(to, [loop.index])
                builder.store(builder.fadd(builder.load(place), builder.load(builder.gep(term, [loop.index]))), place)
            return context.get_dummy_value()

        return types.void(out, i, x, j, count), emit
