"""The one LLVM instruction that Numba does not offer: float32 to float16.

x86 has it since 2012 (F16C), ARM always. Without it LLVM would call a library function that is not there, so ask
`SERVED` first.
"""

import platform

from llvmlite import binding, ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from dlmini import jit

LANES = 16
WORD = ir.IntType(32)
FLOATS, HALVES, WORDS = (ir.VectorType(t, LANES) for t in (ir.FloatType(), ir.HalfType(), WORD))
SIZE = ir.Constant(WORDS, [0x7FFFFFFF] * LANES)


def served() -> bool:
    """Does code compiled here have the instruction? Not in debug mode, where nothing is compiled."""
    if jit.mode() == "debug" or config.CPU_NAME or config.CPU_FEATURES:
        return False
    machine = platform.machine().lower()
    return machine in ("arm64", "aarch64") or bool(binding.get_host_cpu_features().get("f16c"))


SERVED = served()


def largest_lane(builder, words):
    name, kind = f"llvm.vector.reduce.umax.v{LANES}i32", ir.FunctionType(WORD, [WORDS])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [words])


@intrinsic
def narrow(typingctx, x, out):
    """Round whole groups of sixteen floats to halves; return the bits of the largest |x|, for what does not fit."""

    def codegen(context, builder, signature, args):
        source, target = (context.make_array(t)(context, builder, a) for t, a in zip(signature.args, args, strict=True))
        lanes = source.nitems.type(LANES)
        most = cgutils.alloca_once_value(builder, ir.Constant(WORDS, [0] * LANES))
        with cgutils.for_range(builder, builder.udiv(source.nitems, lanes)) as loop:
            at = [builder.mul(loop.index, lanes)]
            floats = builder.load(builder.bitcast(builder.gep(source.data, at), FLOATS.as_pointer()), align=4)
            there = builder.bitcast(builder.gep(target.data, at), HALVES.as_pointer())
            builder.store(builder.fptrunc(floats, HALVES), there, align=2)
            size, before = builder.and_(builder.bitcast(floats, WORDS), SIZE), builder.load(most)
            builder.store(builder.select(builder.icmp_unsigned(">", size, before), size, before), most)
        return largest_lane(builder, builder.load(most))

    return types.uint32(x, out), codegen
