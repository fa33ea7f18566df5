"""Exercise 01: backpropagation by hand.

Write the four functions, then run `check("01.linear_backward")` and its like in the notebook, or `dlmini check 01` in
a terminal. None of them changes its arguments.
"""

import numpy as np

HINTS = {
    "linear_backward": (
        "Write y[i, j] = sum over k of x[i, k] w[k, j] + b[j]. Which outputs does the number w[k, j] touch?",
        "dw[k, j] = sum over i of x[i, k] dy[i, j]: a sum over a shared index is a matrix product. Of what with what?",
        "Write the shapes of x, w and dy beside those of dx, dw and db: with a transpose here and there, one product "
        "fits each. And which numbers of y does b[j] touch? Over those its slope is a sum.",
    ),
    "relu_backward": (
        "max(x, 0) is a straight line on each side of zero. What are the two slopes?",
        "The chain rule multiplies dy by that slope, number by number. A comparison gives an array of True and False.",
        "np.where chooses between two arrays, number by number. Which comparison is False at x = 0, too? Look whether "
        "the type of dy has survived.",
    ),
    "softmax_cross_entropy": (
        "-log p[label] = log(sum of exp(s)) - s[label]. Take the derivative along s[k]: what is exp(s[k]) / sum?",
        "Subtracting the largest score of each row changes no probability, and then nothing overflows.",
        "An array of row numbers and an array of labels, as two indices, pick one number of each row: there t has its "
        "1. For the loss, which of the two forms in the first hint needs no probability that may have become 0?",
    ),
    "network_backward": (
        "Write the way forward in three lines and give everything in between a name: z, h, scores. Each backward "
        "function asks for some of them.",
        "Back from the end: the slope of the scores is the second layer's dy. What was that layer's x? The dx that it "
        "gives belongs to h: it goes through the ReLU, and is then the first layer's dy.",
        "Three calls on the way back: linear_backward with h and w2, relu_backward with z, linear_backward with x and "
        "w1. The slope of the scores is divided by B already, and nobody needs the slope along x.",
    ),
}


def linear_backward(x: np.ndarray, w: np.ndarray, dy: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The slopes (dx, dw, db) of a dense layer y = x w + b, from the slopes dy of its outputs.

    x: [B, n], one example in each row; w: [n, m]; dy: [B, m]. dx is shaped like x, dw like w, and db is [m]; all have
    the type of x, w and dy.
    """
    ### BEGIN SOLUTION
    return dy @ w.T, x.T @ dy, dy.sum(axis=0)
    ### END SOLUTION


def relu_backward(x: np.ndarray, dy: np.ndarray) -> np.ndarray:
    """The slope dx of y = max(x, 0), from the slope dy of its output: arrays of any one shape. At x = 0 it is 0.

    dx has the type of dy.
    """
    ### BEGIN SOLUTION
    return np.where(x > 0, dy, dy.dtype.type(0))
    ### END SOLUTION


def softmax_cross_entropy(scores: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """The mean loss of a batch, and its slope along every score.

        p[i, k] = exp(s[i, k]) / sum_j exp(s[i, j])        loss = mean over i of -log p[i, labels[i]]
    scores: [B, K] floats of any size, also 1000 or -1000; labels: [B] whole numbers from 0 to K - 1.
    The slope has the shape and the type of the scores; it is (p - t) / B, where row i of t has a 1 at labels[i].
    """
    ### BEGIN SOLUTION
    rows = np.arange(len(labels))
    shifted = scores - scores.max(axis=1, keepdims=True)
    raised = np.exp(shifted)
    total = raised.sum(axis=1, keepdims=True)
    loss = (np.log(total[:, 0]) - shifted[rows, labels]).mean()
    slope = raised / total
    slope[rows, labels] -= 1
    slope /= len(labels)
    return float(loss), slope
    ### END SOLUTION


def network_backward(
    x: np.ndarray, labels: np.ndarray, w1: np.ndarray, b1: np.ndarray, w2: np.ndarray, b2: np.ndarray
) -> tuple[float, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """The mean loss of a batch in a network of two layers, and its slopes (dw1, db1, dw2, db2): by your functions.

        z = x w1 + b1        h = max(z, 0)        scores = h w2 + b2        loss: softmax and cross-entropy
    x: [B, n], labels: [B]; w1: [n, m], b1: [m]; w2: [m, K], b2: [K]. Returns (loss, (dw1, db1, dw2, db2)), each slope
    with the shape and the type of its array. The loss is finite for scores of any size; no slope passes where z = 0.
    """
    ### BEGIN SOLUTION
    z = x @ w1 + b1
    h = np.maximum(z, 0)
    loss, dscores = softmax_cross_entropy(h @ w2 + b2, labels)
    dh, dw2, db2 = linear_backward(h, w2, dscores)
    dz = relu_backward(z, dh)
    _, dw1, db1 = linear_backward(x, w1, dz)
    return loss, (dw1, db1, dw2, db2)
    ### END SOLUTION
