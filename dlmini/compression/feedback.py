"""Error feedback: what a packet leaves unsaid is added to the next update."""

import numpy as np

from dlmini.checks import piece, remembered, whole
from dlmini.compression.compressor import Compressor, check_update


class Feedback:
    """A compressor with the memory of what it has not said yet: for a worker, or for a server's way back.

        p = unsaid + update;   packet = C(p);   unsaid = p - packet

    Conservation: all sent + unsaid = all produced. A round keeps this in float32 but for two roundings of each number:
    of p, and of p - packet. The second is exact where the packet says the number as it is or leaves it out (sparse
    packets) and where it lies within a factor of 2 (Sterbenz). So the two sides differ by at most
    2^-24 times the sum over all rounds of |p| + |unsaid|; without rounding of p, sparse packets lose nothing at all.
    The memory is in the update's own units: where these contain the learning rate and it changes, scale `unsaid` too.
    Seide et al. 2014; Karimireddy et al. 2019.
    """

    def __init__(self, compressor: Compressor, size: int):
        piece(compressor, "compressor", ("fit", "remembers"), "a compressor, for example TopK(0.01)")
        if compressor.remembers:
            raise ValueError(f"{compressor!r} keeps what it left unsaid by itself; use its own start(size)")
        self.compressor = compressor
        self.unsaid = np.zeros(whole(size, "size", 0), np.float32)

    def encode(self, update, coin=None):
        check_update(update)
        if update.shape != self.unsaid.shape:
            raise ValueError(f"the update has {update.size} numbers, but this memory was made for {self.unsaid.size}")
        self.unsaid += update
        packet = self.compressor.encode(self.unsaid, coin)
        packet.add_to(self.unsaid, -1.0)
        return packet

    def memory(self) -> dict[str, np.ndarray]:
        """All that is remembered, copied."""
        return {"unsaid": self.unsaid.copy()}

    def restore(self, memory) -> None:
        """Go on from what `memory()` gave, to the bit."""
        self.unsaid[:] = remembered(memory, {"unsaid": self.unsaid}, f"Feedback({self.compressor!r})")["unsaid"]
