"""Compile every kernel of compression once, or load them from the cache: before workers start, before a lecture."""

import numpy as np

from dlmini.compression.deflate import Deflate
from dlmini.compression.dgc import DGC
from dlmini.compression.half import BFloat16, Half
from dlmini.compression.int8 import Int8
from dlmini.compression.none import None_
from dlmini.compression.one_bit import OneBit
from dlmini.compression.qsgd import QSGD
from dlmini.compression.random_k import RandomK
from dlmini.compression.sign import EFSign, Sign
from dlmini.compression.top_k import TopK

SAMPLER = (
    *(None_(), Half(), BFloat16(), Int8(), Deflate(Int8(stochastic=True)), QSGD(), QSGD(elias=True)),
    *(OneBit(2), Sign(), EFSign(), TopK(), RandomK(), DGC()),
)


def warm() -> None:
    """A round trip of compressors that together use every kernel, on numbers that no shortcut is right for."""
    update = np.ones(64, np.float32)
    BFloat16().encode(np.float32([np.inf]))
    for compressor in SAMPLER:
        packet = compressor.start(update.size).encode(update, np.random.default_rng(0))
        type(packet).from_wire(bytearray(packet.wire())).add_to(np.zeros_like(update))
