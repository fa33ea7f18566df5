"""Exercise 16: thousands of devices on a laptop. Count what ZeRO 2 sends, cut a pipeline, choose a layout.

Write three functions, then run `check("16.zero2_traffic")` and its like in the notebook, or `dlmini check 16` in a
terminal.
"""

HINTS = {
    "zero2_traffic": (
        "Begin with the buckets alone: walk through the tensors in the order in which gradients come, and keep the "
        "elements of the bucket that is being filled.",
        "Before a gradient is put into the bucket: would it be more than full? Then the bucket leaves first, unless "
        "there is nothing in it. What about the bucket that is still there at the end?",
        "A ring's all-reduce of S bytes sends 2 (N - 1) messages of S / N from each rank, its all-gather N - 1. How "
        "many of each are there in an iteration, and of how many bytes?",
    ),
    "cut_stages": (
        "Turn the question round: if no stage may take longer than some limit, how few stages are enough? Fill each "
        "stage as long as the limit allows.",
        "The smallest limit for which `stages` are enough is the answer. Which limits are possible at all? Each is "
        "the time of some row of layers; or halve an interval until only one cut is left.",
        "For every first layer and every last layer there is one candidate, a sum of times. Try them from the "
        "smallest, a hair larger: two ways to add the same times may differ in the last digit. The filling may need "
        "fewer stages than there are: then take a layer from a stage that has two.",
    ),
    "best_layout": (
        "Four loops, or one over itertools.product: tensor, pipe, data, micro. Most combinations fall away by the "
        "first four conditions. Write these down before any formula.",
        "For what is left reckon memory; drop what does not fit. How many micro-batches does the first stage keep at "
        "one time, if there are fewer of them than stages?",
        "The time has three terms: (m + p - 1) times a stage's time for one micro-batch, then the sum among copies. "
        "Keep the best pair (seconds, layout) so far; what do you return if there was none?",
    ),
}


def zero2_traffic(sizes: list[int], ranks: int, bucket: int, gradient: int = 2, weight: int = 2) -> tuple:
    """(bytes of every flush, in the order of leaving; bytes that one rank sends in an iteration), by ZeRO 2.

    sizes: elements of every tensor, in the order of the forward pass; gradients come in the opposite order. They are
    put into a bucket of `bucket` *elements*. One that would make it more than full flushes it first; a tensor larger
    than a bucket goes alone. At the end the rest leaves. A flush is an all-reduce of its gradients (`gradient` bytes
    each), at last one all-gather gives everybody all weights (`weight` bytes each), both by a ring of `ranks`.
    This is DeepSpeed's default.
    """
    raise NotImplementedError("not done yet: zero2_traffic")


def cut_stages(times: list[float], stages: int) -> list[int]:
    """How many layers each stage of a pipeline gets, so that its slowest stage is as fast as can be.

    times: seconds of every layer, in their order; a stage has one layer or more, one after another. len(times) is at
    least `stages`. Of several cuts that are equally good, any will do.
    """
    raise NotImplementedError("not done yet: cut_stages")


def best_layout(devices: int, per_node: int, layers: int, batch: int, room: float, cost: dict) -> tuple | None:
    """(tensor, pipe, data, micro) of the layout that trains fastest and fits; None if none fits.

    A layout is possible if tensor x pipe x data = devices, tensor <= per_node, pipe divides layers, and data x micro
    divides batch; micro is 1, 2, 4 or 8. Then every pipeline has m = batch / (data x micro) micro-batches, and every
    stage n = layers / pipe layers, each shared by `tensor` devices. With cost["..."] of one layer on one device:

        bytes     n / tensor x (state + min(m, pipe) x micro x kept)       at most room
        seconds   (m + pipe - 1) x n x (start + micro x work / tensor + micro x talk if tensor > 1)
                  + 2 (data - 1) / data x n / tensor x sync
    state: weights, gradients, optimiser; kept: activations of a sequence; start: of a micro-batch, whatever its size;
    work, talk: of a sequence; sync: of a layer's gradients.
    """
    raise NotImplementedError("not done yet: best_layout")
