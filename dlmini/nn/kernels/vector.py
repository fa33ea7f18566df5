"""Eight floats at a time: the few LLVM instructions that the routines of this room are made of.

A routine works on raw addresses (64-bit integers) and on strides counted in floats. LLVM serves a vector of
eight floats on every CPU: as one AVX register, as two of SSE or NEON. `fma` is fused where the CPU can.

Where registers hold sixteen floats (AVX-512), tiles and transforms take two neighbouring vectors as one: `runs`,
`across`. Every lane goes through the same operations in the same order, so the numbers are the same to the bit.
NUMBA_CPU_FEATURES=+avx2,+fma,+f16c makes the narrow form on any such machine.
"""

from llvmlite import ir
from numba.core import cgutils
from numba.core.registry import cpu_target

LANES = 8
FLOAT, INT, BYTE = ir.FloatType(), ir.IntType(64), ir.IntType(8)
FAST = ("nsz", "arcp", "contract", "reassoc")
NEEDED = {"+avx512f", "+avx512bw", "+avx512dq", "+avx512vl"}
FEATURES = {*cpu_target.target_context.codegen().magic_tuple()[2].split(",")}  # of the CPU that Numba compiles for
WIDE = FEATURES.issuperset(NEEDED)


def runs(vectors: int) -> list[tuple[int, int]]:
    """Neighbouring vectors of eight as registers: where each begins, and its lanes."""
    pairs = vectors // 2 if WIDE else 0
    return [(16 * i, 16) for i in range(pairs)] + [(8 * i, 8) for i in range(2 * pairs, vectors)]


def across(builder, channels, work):
    """work(v, c) for all channels, a multiple of eight: v has as many lanes as there are channels to take from c on."""
    done = INT(0)
    for lanes in (16, LANES) if WIDE else (LANES,):
        whole = builder.and_(channels, INT(-lanes))
        with cgutils.for_range_slice(builder, done, whole, INT(lanes)) as (c, _):
            work(Vectors(builder, lanes), c)
        done = whole


class Vectors:
    """Emits vector code through one LLVM builder; every method returns an LLVM value."""

    def __init__(self, builder, lanes=LANES):
        self.b, self.lanes = builder, lanes
        self.floats, self.ints, self.bytes = (ir.VectorType(t, lanes) for t in (FLOAT, ir.IntType(32), BYTE))

    def at(self, base, *offsets):
        """The address `base` plus a sum of offsets counted in floats."""
        for offset in offsets:
            base = self.b.add(base, self.b.shl(self.int(offset), INT(2)))
        return base

    def int(self, x):
        return INT(x) if isinstance(x, int) else x

    def times(self, x, y):
        return self.b.mul(self.int(x), self.int(y))

    def load(self, address, kind=None):
        kind = kind or self.floats
        return self.b.load(self.b.inttoptr(address, kind.as_pointer()), align=1 if kind is self.bytes else 4)

    def store(self, value, address, align=4):
        self.b.store(value, self.b.inttoptr(address, value.type.as_pointer()), align=align)

    def broadcast(self, address):
        """One float from memory in all lanes."""
        scalar = self.b.load(self.b.inttoptr(address, FLOAT.as_pointer()), align=4)
        undefined = ir.Constant(self.floats, ir.Undefined)
        first = self.b.insert_element(undefined, scalar, ir.IntType(32)(0))
        return self.b.shuffle_vector(first, undefined, self.fill(0, self.ints))

    def fill(self, x, kind=None):
        return ir.Constant(kind or self.floats, [x] * self.lanes)

    def zero(self, kind=None):
        return kind(0.0) if kind is FLOAT else self.fill(0.0)

    def fma(self, x, y, z):
        """x * y + z, in one rounding where the CPU has such an instruction."""
        return self._intrinsic("fmuladd", x, y, z)

    def add(self, x, y):
        return self.b.fadd(x, y, flags=FAST)

    def sub(self, x, y):
        return self.b.fsub(x, y, flags=FAST)

    def mul(self, x, y):
        return self.b.fmul(x, y, flags=FAST)

    def scale(self, x, c):
        return self.b.fmul(x, self.fill(float(c)), flags=FAST)

    def size(self, x):
        """|x|."""
        return self._intrinsic("fabs", x)

    def _intrinsic(self, name, *values):
        module, name = self.b.module, f"llvm.{name}.v{self.lanes}f32"
        kind = ir.FunctionType(self.floats, [self.floats] * len(values))
        return self.b.call(module.globals.get(name) or ir.Function(module, kind, name), values)

    def above(self, x, y):
        return self.b.fcmp_ordered(">", x, y)

    def at_least(self, floor, x):
        """max(x, floor), and NaN stays NaN: a diverged run must be seen."""
        return self.b.select(self.b.fcmp_ordered("<", x, floor), floor, x)

    def relu(self, x):
        return self.at_least(self.fill(0.0), x)

    def combine(self, coefficients, xs):
        """The linear combination of vectors; None when all coefficients are zero."""
        total = None
        for c, x in zip(coefficients, xs, strict=True):
            if c == 0:
                continue
            if total is None:
                total = x if c == 1 else self.scale(x, c)
            elif abs(c) == 1:
                total = self.add(total, x) if c == 1 else self.sub(total, x)
            else:
                total = self.fma(x, self.fill(float(c)), total)
        return total
