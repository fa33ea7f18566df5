"""What travels: packets know their bytes, and how to be added. See packet.py for what each of them can do."""

from dlmini.compression.packets.dense import BrainHalves, Dense, Halves
from dlmini.compression.packets.joined import Joined
from dlmini.compression.packets.packet import Packet
from dlmini.compression.packets.quantized import Quantized
from dlmini.compression.packets.recoded import Deflated, Elias
from dlmini.compression.packets.sampled import Sampled
from dlmini.compression.packets.signs import Signs
from dlmini.compression.packets.sparse import Sparse, Spikes

__all__ = [
    "BrainHalves",
    "Deflated",
    "Dense",
    "Elias",
    "Halves",
    "Joined",
    "Packet",
    "Quantized",
    "Sampled",
    "Signs",
    "Sparse",
    "Spikes",
]
