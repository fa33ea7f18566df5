"""Compressors against PyTorch and against memcpy: encoding 2 M numbers on one thread, in GB/s of float32 read.

What only rounds (None_, Half, BFloat16) runs at the speed of the memory in both, so its ratio is about 1.
"""

import sys
import zlib

import numpy as np

from benchmarks.peers import installed
from benchmarks.timing import interleaved
from dlmini.compression import (
    DGC,
    QSGD,
    BFloat16,
    Deflate,
    EFSign,
    Half,
    Int8,
    None_,
    OneBit,
    RandomK,
    Sign,
    Strom,
    TernGrad,
    Threshold,
    TopK,
)

SIZE = 2**21
FLOOR, AIM = 1.0, 2.0
KEEP, TAU = 0.01, 17.0  # one number in a hundred of these is larger
CASES = [  # ours, and the method of InTorch
    (None_(), "clone"),
    (Half(), "half"),
    (BFloat16(), "bfloat16"),
    (Int8(), "int8"),
    (Int8(stochastic=True), "int8_at_random"),
    (Deflate(Int8()), "deflated"),
    (QSGD(), "qsgd"),
    (TernGrad(), "terngrad"),
    (OneBit(), "one_bit"),
    (Sign(), "sign"),
    (EFSign(), "scaled_sign"),
    (Threshold(TAU), "threshold"),
    (Threshold(keep=KEEP), "sampled_threshold"),
    (TopK(KEEP), "top_k"),
    (RandomK(KEEP), "random_k"),
    (Strom(TAU), "strom"),
    (DGC(KEEP, warm_up=()), "dgc"),
]


def heavy_tailed() -> np.ndarray:
    """Gradient-like numbers: most small, a few large."""
    return (np.random.default_rng(0).standard_normal(SIZE) ** 3).astype(np.float32)


class InTorch:
    """What one would write in PyTorch, bits packed where ours are."""

    def __init__(self, x: np.ndarray):
        import torch

        torch.set_num_threads(1)
        self.torch, self.t = torch, torch.from_numpy(x)
        self.clone, self.half, self.bfloat16 = self.t.clone, self.t.half, self.t.bfloat16
        self.shifts = torch.arange(8, dtype=torch.uint8)
        self.velocity, self.unsaid = torch.zeros(SIZE), torch.zeros(SIZE)
        self.k = round(KEEP * SIZE)

    def int8(self):
        return (self.t * (127 / self.t.abs().max())).round_().to(self.torch.int8)

    def int8_at_random(self):
        scaled = self.t * (127 / self.t.abs().max())
        return scaled.add_(self.torch.rand(SIZE)).floor_().to(self.torch.int8)

    def deflated(self):
        return zlib.compress(self.int8().numpy(), 1)

    def qsgd(self):
        rows = self.t.view(-1, 512)
        m = rows.abs().amax(1, keepdim=True).clamp_(min=1e-30)
        codes = (rows * (7 / m)).add_(self.torch.rand_like(rows)).floor_().add_(7).to(self.torch.uint8)
        return m, codes[:, ::2] | (codes[:, 1::2] << 4)

    def terngrad(self):
        t = self.t
        m = self.torch.minimum(t.abs().max(), 2.5 * t.pow(2).mean().sqrt())
        ternary = t.clamp(-m, m).div_(m).add_(self.torch.rand_like(t)).floor_().add_(1)
        a, b, c, d = ternary.to(self.torch.uint8).view(-1, 4).T
        return m, a | (b << 2) | (c << 4) | (d << 6)

    def sign(self):
        return ((self.t >= 0).view(-1, 8).view(self.torch.uint8) << self.shifts).sum(1, dtype=self.torch.uint8)

    def scaled_sign(self):
        return self.t.abs().mean(), self.sign()

    def one_bit(self):
        up = self.t >= 0
        return self.t[up].mean(), self.t[~up].mean(), self.sign()

    def threshold(self, tau=TAU):
        index = (self.t.abs() >= tau).nonzero().view(-1)
        return index, self.t[index]

    def sampled_threshold(self):
        seen = self.t[self.torch.randint(SIZE, (16384,))].abs()
        return self.threshold(seen.topk(round(KEEP * 16384)).values[-1])

    def top_k(self):
        index = self.t.abs().topk(self.k, sorted=False).indices
        return index, self.t[index]

    def random_k(self):
        return self.t[self.torch.randperm(SIZE)[: self.k]] * (SIZE / self.k)

    def strom(self):
        return (self.t > TAU).nonzero(), (self.t < -TAU).nonzero()

    def dgc(self):
        self.velocity.mul_(0.9).add_(self.t)
        self.unsaid.add_(self.velocity)
        index = self.unsaid.abs().topk(self.k, sorted=False).indices
        values = self.unsaid[index]
        self.unsaid[index] = self.velocity[index] = 0
        return values


def row(compressor, rival: str, times: dict[str, float]) -> dict:
    def speed(name):
        return f"{4 * SIZE / times[name] / 1e9:.2f} GB/s"

    goals = {"floor": FLOOR, "aim": AIM} if rival == "PyTorch" else {"floor": None, "aim": None}
    ratio = times[rival] / times["ours"]
    return {"name": f"{compressor!r} vs {rival}", "ours": speed("ours"), "peer": speed(rival), "ratio": ratio, **goals}


def rows() -> list[dict]:
    x, table = heavy_tailed(), []
    peer, there = InTorch(x) if installed("torch") else None, np.empty_like(x)
    if peer is None:
        print("not installed, left out: torch (pip install torch==2.13.0)", file=sys.stderr)
    for compressor, name in CASES:
        codec, coin = compressor.start(SIZE), np.random.default_rng(0)
        calls = {"ours": lambda codec=codec, coin=coin: codec.encode(x, coin), "memcpy": lambda: np.copyto(there, x)}
        times = interleaved(calls | ({"PyTorch": getattr(peer, name)} if peer else {}))
        table += [row(compressor, rival, times) for rival in ("PyTorch", "memcpy") if rival in times]
    return table
