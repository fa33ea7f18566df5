"""Compile every kernel of compression once, or load them from the cache: before workers start, before a lecture."""

import numpy as np

from dlmini.compression.half import BFloat16
from dlmini.compression.int8 import Int8
from dlmini.compression.one_bit import OneBit
from dlmini.pieces import tried


def warm() -> None:
    """A round trip of every compressor, on numbers that no shortcut is right for."""
    update = np.ones(64, np.float32)
    BFloat16().encode(np.float32([np.inf]))
    for compressor in (*tried("compression"), Int8(stochastic=True), OneBit(2)):
        packet = compressor.fit((update.shape,)).start(update.size).encode(update, np.random.default_rng(0))
        type(packet).from_wire(bytearray(packet.wire())).add_to(np.zeros_like(update))
