"""Exercise 14: the classroom as a cluster. Repair what the published program does, and reckon what a ring would cost.

Write three functions, then run `check("14.budget")` and its like in the notebook, or `dlmini check 14` in a terminal.
"""

import numpy as np

HINTS = {
    "budget": (
        "How many seconds are left for bytes, once the fixed part is paid? And how many bytes pass a port in them?",
        "In a star all packets but the server's own pass its port, in and then out. In a ring every port carries twice "
        "the packet, less one part of N each time.",
        "Solve seconds = fixed + factor * packet / bandwidth for the packet, and cut off what is no whole byte. What "
        "comes out if the fixed part alone takes longer than there is time?",
    ),
    "int8": (
        "Do it for one layer first. What is quantised: the gradient, or the gradient and what was not said before?",
        "The largest magnitude of a layer belongs to level 127. Its own largest, not that of another layer. A layer of "
        "zeros has the scale 0, and nothing may be divided by it.",
        "Three lists, filled in one loop over both arguments. The last line of the loop asks: what does the other side "
        "read, and what is therefore still to be said?",
    ),
    "fix_the_mean": (
        "A packet says scale * level / 127 for each number. Each computer's packet has scales of its own.",
        "Add up first, whatever the order of the computers; when does one divide, and by what?",
        "For every layer: begin with zeros of float32, add what each packet says of this layer, divide once. What does "
        "a computer contribute whose scale is 0?",
    ),
}


def budget(seconds: float, ranks: int, fixed: float, bandwidth: float, how: str) -> int:
    """The largest packet, in whole bytes, whose synchronisation takes at most so many seconds; 0 if none does.

        how = "star":    fixed + 2 (N - 1) packet / bandwidth        all packets pass the server's port, in and then out
        how = "ring":    fixed + 2 (N - 1)/N packet / bandwidth      every port carries as much
    ranks: N, at least 2.
    """
    ### BEGIN SOLUTION
    factor = 2 * (ranks - 1)
    if how == "ring":
        factor /= ranks
    return max(0, int((seconds - fixed) * bandwidth / factor))
    ### END SOLUTION


def int8(layers: list[np.ndarray], unsaid: list[np.ndarray]) -> tuple[list, list, list]:
    """(levels, scales, unsaid): each layer's gradient in 255 values, on a scale of its own, with error feedback.

        p = gradient + unsaid;    m = max|p|;    q = round(127 p / m), as int8;    new unsaid = p - m q / 127
    Three lists with an entry for each layer: int8 arrays of the layer's shape, numbers, float32 arrays. A layer of
    zeros, or without numbers, has zeros for levels and the scale 0.0. The arguments must not be changed.
    """
    ### BEGIN SOLUTION
    levels, scales, left = [], [], []
    for grad, old in zip(layers, unsaid, strict=True):
        p = grad + old
        m = float(np.abs(p).max(initial=0))
        q = np.rint(127 * (p / m)) if m else np.zeros_like(p)
        levels.append(q.astype(np.int8))
        scales.append(m)
        left.append((p - m * q / 127).astype(np.float32))
    return levels, scales, left
    ### END SOLUTION


def fix_the_mean(packets: list[tuple[list, list]]) -> list[np.ndarray]:
    """The mean of all computers' gradients, one float32 array for each layer.

    packets[r] is (levels, scales) of computer r, as `int8` gives them: it says scale * level / 127. Every computer
    counts as much as any other.
    """
    ### BEGIN SOLUTION
    total = [np.zeros(q.shape, np.float32) for q in packets[0][0]]
    for levels, scales in packets:
        for mean, q, m in zip(total, levels, scales, strict=True):
            mean += np.float32(m / 127) * q
    return [mean / np.float32(len(packets)) for mean in total]
    ### END SOLUTION
