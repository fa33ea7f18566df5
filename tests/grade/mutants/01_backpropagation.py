"""Wrong answers to exercise 01: (function, what is wrong, this of the solution, that in its place)."""

LINEAR, RELU, SOFTMAX = "linear_backward", "relu_backward", "softmax_cross_entropy"
SLOPES = "return dy @ w.T, x.T @ dy, dy.sum(axis=0)"
GATE = "return np.where(x > 0, dy, dy.dtype.type(0))"

MUTANTS = [
    (LINEAR, "the mean over the batch", SLOPES, "return dy @ w.T, x.T @ dy / len(x), dy.mean(axis=0)"),
    (LINEAR, "the bias learns from the first example only", SLOPES, "return dy @ w.T, x.T @ dy, dy[0]"),
    (LINEAR, "w not transposed", SLOPES, "return dy @ w, x.T @ dy, dy.sum(axis=0)"),
    (LINEAR, "double precision whatever comes", SLOPES, "return dy @ w.T, x.T @ dy.astype('f8'), dy.sum(axis=0)"),
    (LINEAR, "the input is changed", SLOPES, "dw = x.T @ dy\n    x *= 2\n    return dy @ w.T, dw, dy.sum(axis=0)"),
    (RELU, "the gate is open at zero", GATE, "return np.where(x >= 0, dy, dy.dtype.type(0))"),
    (RELU, "the gate is turned round", GATE, "return np.where(x < 0, dy, dy.dtype.type(0))"),
    (RELU, "slopes, not inputs, go through the ReLU", GATE, "return np.where(dy > 0, dy, dy.dtype.type(0))"),
    (RELU, "the slope of the output is forgotten", GATE, "return (x > 0).astype(dy.dtype)"),
    (
        RELU,
        "zeros are made of the input",
        GATE,
        "dx = np.where(x > 0, dy, dy.dtype.type(0))\n    x *= -1\n    return dx",
    ),
    (SOFTMAX, "nothing is subtracted", "scores - scores.max(axis=1, keepdims=True)", "scores - 0"),
    (SOFTMAX, "one maximum for all examples", "scores - scores.max(axis=1, keepdims=True)", "scores - scores.max()"),
    (SOFTMAX, "the slope is of the sum", "slope /= len(labels)", "slope /= 1"),
    (SOFTMAX, "the loss is the sum", "shifted[rows, labels]).mean()", "shifted[rows, labels]).sum()"),
    (SOFTMAX, "the right class is pushed down", "slope[rows, labels] -= 1", "slope[rows, labels] += 1"),
    (
        SOFTMAX,
        "the logarithm of a vanished probability",
        "(np.log(total[:, 0]) - shifted[rows, labels]).mean()",
        "-np.log((raised / total)[rows, labels]).mean()",
    ),
]
