"""Exercise 12: one network on several machines. Share a pair of layers, fill a pipeline, share out what is remembered.

Write four functions, then run `check("12.column_row_linear")` and its like in the notebook, or `dlmini check 12` in a
terminal.
"""

import numpy as np

HINTS = {
    "column_row_linear": (
        "Begin with one rank: two dense layers with a ReLU between them, forward and back, as in lesson 01. Then ask "
        "of each array: is it whole here, or mine alone?",
        "y is mine: nobody else needs it. z and dx are sums over all ranks, each of something that every rank can "
        "compute alone. b is whole everywhere: to what is it added, and how often?",
        "Two calls of comm.allreduce, no more: on (my y) B, before b is added; on (my dy) A^T. The gradients of A, a, "
        "B and b need no message: what do they multiply that is not already here?",
    ),
    "gpipe": (
        "Write the forward half first: where does x come from on rank 0, and where on the others? Where does y go?",
        "To go back one needs the x that a micro-batch came with. Keep them in a list. All micro-batches go forward "
        "before the first one comes back.",
        "Two loops over the micro-batches, in the same order, each with one compute; a receive before it unless I "
        "stand at that end, a send behind it unless I stand at the other. dW is a sum: where does it begin?",
    ),
    "one_f_one_b": (
        "How many micro-batches must rank r have sent forward before the first gradient can come back to it? Count for "
        "the last rank, then for the one before.",
        "First the warm-up: min(ranks - rank - 1, micros) forwards. From then on a forward and a backward in turns, "
        "as long as there are forwards left; the last rank has no warm-up.",
        "Let i count backwards, from 0. Before backward i comes forward i + warm-up, if there is one. What is left "
        "when forwards have run out?",
    ),
    "zero_memory": (
        "Three kinds of bytes lie on a rank. From which stage on is each of them shared out among all ranks?",
        "Stage 1 shares out what the optimiser remembers, stage 2 gradients too, stage 3 weights too. What is shared "
        "out counts 1/N.",
        "An all-reduce is a scatter of sums and a gather, each (N - 1)/N of the vector. In stage 3 weights are "
        "gathered on the way there, and dropped: what must happen on the way back?",
    ),
}


def column_row_linear(comm, x, A, a, B, b, dz) -> tuple:
    """(z, dx, dA, da, dB, db): a pair of dense layers, shared by columns and rows; forward and back on one rank.

        y = max(x A + a, 0)        A, a: my columns of the first layer
        z = sum of all ranks' y B, + b        B: my rows of the second; b: its bias, whole on every rank
    x and dz (the gradient of z) are whole on every rank; z and dx must be, too. One comm.allreduce forward and one
    back, and no other message. The gradients dA, da, dB, db are those of A, a, B, b. No argument may be changed.
    """
    raise NotImplementedError("not done yet: column_row_linear")


def gpipe(comm, W: np.ndarray, micros: int, xs: list, slopes: list) -> np.ndarray:
    """dW, the gradient of this rank's layer y = x W, added up over all micro-batches: all there, then all back.

    Rank r is stage r. xs: the micro-batches that come in, on the first rank; slopes: the gradients of what comes out,
    on the last rank; both empty elsewhere. A message is one array. Do each job as local work, which takes its time:
        y  = comm.compute("forward", f, x)       with f(x) = x W
        dx = comm.compute("backward", g, dy)     with g(dy) = dy W^T
    and dW = sum of x^T dy. No argument may be changed.
    """
    raise NotImplementedError("not done yet: gpipe")


def one_f_one_b(rank: int, ranks: int, micros: int) -> list[tuple[str, int]]:
    """The jobs of one rank of a pipeline, in their order: ("forward", i) and ("backward", i) for each micro-batch i.

    Go back as soon as one can: after min(ranks - rank - 1, micros) forwards, one forward and one backward in turns, and
    at last the backwards that are left. So rank r never keeps more than ranks - rank micro-batches.
    """
    raise NotImplementedError("not done yet: one_f_one_b")


def zero_memory(numbers: int, ranks: int, stage: int, weights=2, gradients=2, optimiser=12) -> tuple[float, float]:
    """(bytes that one rank holds, numbers that it sends in a step) with ZeRO's stage 0, 1, 2 or 3.

    weights, gradients, optimiser: bytes for each of the network's `numbers` weights; as they stand, those of training
    with Adam in half precision. Stage 0 is plain data parallelism by ring. What is shared out lies on each rank to one
    part of N = ranks.
    """
    raise NotImplementedError("not done yet: zero_memory")
