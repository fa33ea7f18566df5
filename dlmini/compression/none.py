"""No compression."""

from dataclasses import dataclass

from dlmini.compression.compressor import Compressor, check_update
from dlmini.compression.packets import Dense


@dataclass(frozen=True, repr=False)
class None_(Compressor):
    """Say everything. Wire: 4 bytes per number."""

    word = "none"
    shown = (("in full (float32)", {}),)
    summable = True
    wants_feedback = False
    everywhere_alike = True

    def encode(self, update, coin=None):
        check_update(update)
        return Dense(update.copy())
