"""Gossip of weights in few bytes: send how far the picture that others have of you is from what you are."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dlmini.checks import fraction, piece, settle
from dlmini.topology.graphs import graph_of, heard, is_fixed, matrix_of
from dlmini.topology.topology import Topology
from dlmini.topology.turn import Turn

SPEAK, EVERYBODY = 14, 2**31  # the purpose of the compressor's coin, and the rank in its key where all share one


@dataclass(frozen=True)
class Choco(Topology):
    """CHOCO-SGD: every worker has a public picture, xhat, that all its neighbours know.

        x~_i = start_i - outer(packet_i)                   learn
        q_i = C(x~_i - xhat_i),   xhat_i += q_i            correct the picture by what fits into a packet
        s_i += sum_j K_ij q_j                              the mean of the pictures that reach me
        x_i = x~_i + gamma (s_i - xhat_i)                  go towards it
    The picture lags, but it is the same on both sides, so the mean of all x_i never changes. What C leaves out is still
    missing next time: no other error feedback. All begin with the same weights, so pictures do too, and need not be
    sent; the paper begins with zeros, and spends the first rounds on telling the weights.

    C must be a contraction, |C(v) - v|^2 <= (1 - delta) |v|^2: unbiased compressors with a large error make pictures
    explode. Neighbours must stay the same, for who misses one q misses it for ever. The smaller delta, the smaller
    gamma must be. Cost: a packet to each neighbour; two vectors of memory.
    Koloskova et al., Decentralized stochastic optimization and gossip algorithms with compressed communication, 2019.
    """

    word = "choco"
    tried = ()  # needs a compressor
    compressor: object
    graph: object = "ring"
    gamma: float = 0.5
    owns_codec: ClassVar[bool] = True

    def __post_init__(self):
        object.__setattr__(self, "graph", graph_of(self.graph))
        if not is_fixed(self.graph):
            raise ValueError(
                f"neighbours in {self.graph!r} change, but Choco's must hear every correction; "
                "use ring, torus, exponential, complete or Own(K)"
            )
        example = "a compressor, for example Choco(TopK(0.01))"
        piece(self.compressor, "compressor", ("fit", "remembers"), example)
        if self.compressor.remembers:
            raise ValueError(f"{self.compressor!r} remembers what it left unsaid, and so does Choco; use another")
        settle(self, gamma=fraction(self.gamma, "gamma", hint="how far to go towards the others"))

    def doubts(self, size: int) -> str:
        """Tried on a thousand small random numbers: is C(v) nearer to v than silence would be?"""
        v = np.random.default_rng(SPEAK).normal(0, 1e-3, 1000).astype(np.float32)
        said = self.compressor.fit((v.shape,)).encode(v, np.random.default_rng(SPEAK)).dense()
        error = float(np.sum((said - v) ** 2) / np.sum(v**2))
        if error <= 1:
            return ""
        return (
            f"{self.compressor!r} is no contraction: its error is {error:.3g} times what it should say. The pictures "
            "that workers have of one another will explode; use a biased one, such as TopK, EFSign or OneBit"
        )

    def matrix(self, size: int, t: int) -> np.ndarray:
        return matrix_of(self.graph, size, t)

    def start(self, comm, w, recipe, shapes):
        return Pictures(self, w, recipe.seed, self.compressor.fit(shapes).start(w.size, comm.size))


class Pictures:
    """One worker's own picture, `xhat`, and the mean of those that reach it, `s`."""

    def __init__(self, topology: Choco, w: np.ndarray, seed: int, codec):
        self.topology, self.seed, self.codec = topology, seed, codec
        self.xhat, self.s = w.copy(), w.copy()

    def exchange(self, comm, turn: Turn, outer) -> np.ndarray:
        room = turn.mixed
        room[:] = 0
        turn.packet.add_to(room)
        mine = turn.step(outer)
        q = self.correction(comm, np.subtract(mine, self.xhat, out=room), turn.t)
        q.add_to(self.xhat)
        for packet, share in heard(comm, self.topology.matrix(comm.size, turn.t), q):
            packet.add_to(self.s, share)
        np.subtract(self.s, self.xhat, out=room)
        room *= np.float32(self.topology.gamma)
        mine += room
        return mine

    def correction(self, comm, lack: np.ndarray, t: int):
        who = EVERYBODY if self.topology.compressor.shared_coin else comm.rank
        coin = np.random.default_rng([self.seed, who, t, SPEAK])
        return comm.compute("encode", self.codec.encode, lack, coin)

    def memory(self) -> dict:
        return {"xhat": self.xhat.copy(), "s": self.s.copy()}

    def restore(self, memory: dict) -> None:
        self.xhat[:], self.s[:] = memory["xhat"], memory["s"]
