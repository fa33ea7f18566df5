"""Deep Gradient Compression: top-k that remembers, with momentum where it belongs."""

from dataclasses import dataclass

import numpy as np

from dlmini.checks import real, refuse, remembered, settle, truth, whole
from dlmini.compression.compressor import Compressor, check_finite, check_share, check_update
from dlmini.compression.ops import ops
from dlmini.compression.top_k import TopK


@dataclass(frozen=True, repr=False)
class DGC(Compressor):
    """Send one number in a thousand, and lose nothing.

        u = momentum u + g;   v = v + u;   send the largest of v;   where sent, v = 0 and u = 0
    Momentum correction: the velocity u, not the gradient, is gathered, so a number that waits grows as it would have
    moved; nobody else may apply momentum (outer = SGD). Factor masking: u = 0 where sent, else stale momentum pushes
    on; masking=False leaves it out. Nesterov: u = momentum (u + g), v = v + u + g. Clipping comes before gathering, to
    norm clip / sqrt(workers): the sum of so many independent gradients then has norm clip. Warm-up: the first rounds
    send more, `rounds` at each share of `warm_up` (an epoch each in the paper), then `keep`.
    The gradient is one worker's share: mean over all workers = sum / workers. Wire: that of TopK.
    Lin et al., Deep gradient compression: reducing the communication bandwidth for distributed training, ICLR 2018.
    """

    word = "dgc"
    tried = ({"keep": 0.2},)
    remembers = True
    keep: float = 0.001
    momentum: float = 0.9
    nesterov: bool = False
    clip: float | None = None
    masking: bool = True
    warm_up: tuple[float, ...] = (0.25, 0.0625, 0.015625, 0.004)
    rounds: int = 1

    def __post_init__(self):
        if not isinstance(self.warm_up, list | tuple):
            refuse(TypeError, "warm_up", self.warm_up, "a row of shares such as (0.25, 0.0625); () for none")
        shares = tuple(check_share(part, "a share of warm_up") for part in self.warm_up)
        settle(self, keep=check_share(self.keep, "keep"), warm_up=shares, rounds=whole(self.rounds, "rounds", 1))
        settle(self, momentum=real(self.momentum, "momentum", least=0, below=1))
        settle(self, nesterov=truth(self.nesterov, "nesterov"), masking=truth(self.masking, "masking"))
        if np.float32(self.momentum) == 1:
            refuse(ValueError, "momentum", self.momentum, "below 1 in float32 too")
        if self.clip is not None:
            settle(self, clip=real(self.clip, "clip", above=0, infinite=True, hint="a gradient's norm, or None"))

    def start(self, size: int, workers: int = 1):
        return Accumulator(self, size, workers)

    def share_at(self, t: int) -> float:
        """The share that is sent in round t."""
        stage = t // self.rounds
        return self.warm_up[stage] if stage < len(self.warm_up) else self.keep


class Accumulator:
    """DGC's memory for one worker: the velocity u, what is unsaid v, and the number t of the round.

    Conservation: all sent + unsaid = the sum of all velocities that were added.
    """

    def __init__(self, method: DGC, size: int, workers: int = 1):
        workers, size = whole(workers, "workers", 1), whole(size, "size", 0)
        self.method, self.workers, self.t = method, workers, 0
        self.velocity, self.unsaid = np.zeros(size, np.float32), np.zeros(size, np.float32)

    def encode(self, update, coin=None):
        check_update(update)
        if update.shape != self.unsaid.shape:
            raise ValueError(
                f"the update has {update.size} numbers, but this memory was started for {self.unsaid.size}"
            )
        m = self.method
        check_finite(update)
        shrink, momentum = self.shrinkage(update), np.float32(m.momentum)
        ops().accelerate(update, shrink, momentum, m.nesterov, self.velocity, self.unsaid)
        packet = TopK(m.share_at(self.t)).encode(self.unsaid)
        self.unsaid[packet.index] = 0
        if m.masking:
            self.velocity[packet.index] = 0
        self.t += 1
        return packet

    def shrinkage(self, update) -> np.float32:
        if self.method.clip is None or not update.size:
            return np.float32(1)
        norm = np.empty(1, np.float32)
        ops().scales_of(update, update.size, True, norm)
        most = self.method.clip / np.sqrt(self.workers)
        return np.float32(most / norm[0] if norm[0] > most else 1)

    def memory(self) -> dict[str, np.ndarray | int]:
        """All that is remembered, copied."""
        return {"t": self.t, "velocity": self.velocity.copy(), "unsaid": self.unsaid.copy()}

    def restore(self, memory) -> None:
        """Go on from what `memory()` gave, to the bit."""
        memory = remembered(memory, {"t": self.t, "velocity": self.velocity, "unsaid": self.unsaid}, repr(self.method))
        self.t = int(memory["t"])
        self.velocity[:], self.unsaid[:] = memory["velocity"], memory["unsaid"]
