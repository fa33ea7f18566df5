"""Wrong answers to exercise 01: (function, what is wrong, this of the solution, that in its place, what check says)."""

LINEAR, RELU, SOFTMAX = "linear_backward", "relu_backward", "softmax_cross_entropy"
NETWORK = "network_backward"
SLOPES = "return dy @ w.T, x.T @ dy, dy.sum(axis=0)"
GATE = "return np.where(x > 0, dy, dy.dtype.type(0))"
SHIFT = "shifted = scores - scores.max(axis=1, keepdims=True)"
LOSS = "(np.log(total[:, 0]) - shifted[rows, labels]).mean()"
RIGHT = "slope[rows, labels] -= 1"
FORWARD, BACK = "h = np.maximum(z, 0)", "dz = relu_backward(z, dh)"
SCORES = "loss, dscores = softmax_cross_entropy(h @ w2 + b2, labels)"
GIVEN = "return loss, (dw1, db1, dw2, db2)"


def slopes(dx="dy @ w.T", dw="x.T @ dy", db="dy.sum(axis=0)"):
    return f"return {dx}, {dw}, {db}"


MUTANTS = [
    (
        LINEAR,
        "dw is a mean over the batch",
        SLOPES,
        slopes(dw="x.T @ dy / len(x)"),
        "dw: this is the mean over the batch",
    ),
    (
        LINEAR,
        "db is a mean over the batch",
        SLOPES,
        slopes(db="dy.mean(axis=0)"),
        "db: this is the mean over the batch",
    ),
    (LINEAR, "the bias learns from one example only", SLOPES, slopes(db="dy[0]"), "this is the slope of one example"),
    (LINEAR, "the bias does not learn", SLOPES, slopes(db="0 * dy[0]"), "the biases' slope is forgotten"),
    (LINEAR, "rows and columns confused in db", SLOPES, slopes(db="dy.sum(axis=1)"), "this is a sum over the outputs"),
    (
        LINEAR,
        "w not transposed, where its shape allows it",
        SLOPES,
        slopes(dx="dy @ (w if w.shape[0] == w.shape[1] else w.T)"),
        "w was not transposed",
    ),
    (LINEAR, "dw transposed", SLOPES, slopes(dw="dy.T @ x"), "dw: it is transposed"),
    (
        LINEAR,
        "dx and dw exchanged",
        SLOPES,
        "return x.T @ dy, dy @ w.T, dy.sum(axis=0)",
        "dx and dw have changed places",
    ),
    (
        LINEAR,
        "double precision whatever comes",
        SLOPES,
        slopes(dw="x.T @ dy.astype('f8')"),
        "dw: the array holds float64",
    ),
    (
        LINEAR,
        "the input is changed",
        SLOPES,
        "dw = x.T @ dy\n    x *= 2\n    return dy @ w.T, dw, dy.sum(axis=0)",
        "Your input was changed: x",
    ),
    (LINEAR, "db is a matrix of one row where there is one example", SLOPES, slopes(db="dy.sum(axis=0).squeeze()")),
    (LINEAR, "the last of many examples is forgotten", SLOPES, slopes(dw="x[:30].T @ dy[:30]")),
    (RELU, "the gate is open at zero", GATE, GATE.replace("x > 0", "x >= 0"), "the gate is open at x = 0"),
    (RELU, "the gate is forgotten", GATE, "return dy.copy()", "the gate is forgotten"),
    (RELU, "the gate is turned round", GATE, GATE.replace("x > 0", "x < 0"), "the gate is turned round"),
    (RELU, "slopes, not inputs, go through the ReLU", GATE, GATE.replace("x > 0", "dy > 0"), "the sign of dy"),
    (RELU, "the slope of the output is forgotten", GATE, "return (x > 0).astype(dy.dtype)", "multiplies it by dy"),
    (RELU, "the way forward", GATE, "return np.maximum(x, dy.dtype.type(0))", "the way forward"),
    (RELU, "zeros are written into dy", GATE, "dy[x <= 0] = 0; return dy", "Your input was changed: dy"),
    (RELU, "double precision whatever comes", GATE, "return np.where(x > 0, dy, np.float64(0))", "holds float64"),
    (RELU, "half a slope at zero", GATE, "return dy * ((x > 0) + (x == 0) / 2).astype(dy.dtype)"),
    (RELU, "a slope leaks through", GATE, "return np.where(x > 0, dy, dy.dtype.type(0.01) * dy)"),
    (
        RELU,
        "matrices only",
        GATE,
        "return np.stack([np.where(a > 0, g, g.dtype.type(0)) for a, g in zip(x, dy)]).reshape(len(x), -1)",
    ),
    (SOFTMAX, "nothing is subtracted", SHIFT, "shifted = scores - 0", "exp of a large score overflows"),
    (SOFTMAX, "one maximum for all examples", SHIFT, "shifted = scores - scores.max()", "each row's own largest score"),
    (
        SOFTMAX,
        "the logarithm of a vanished probability",
        LOSS,
        "-np.log((raised / total)[rows, labels]).mean()",
        "log 0",
    ),
    (SOFTMAX, "the loss is the sum", LOSS, LOSS.replace("mean", "sum"), "the loss: this is the sum over the batch"),
    (SOFTMAX, "the slope is of the sum", "slope /= len(labels)", "slope /= 1", "B times too large"),
    (SOFTMAX, "the right class is pushed down", RIGHT, RIGHT.replace("-=", "+="), "y was added"),
    (SOFTMAX, "uphill", "return float(loss), slope", "return float(loss), -slope", "this is y - p"),
    (SOFTMAX, "the slope is p", RIGHT, "pass", "this is p: 1 is still to be subtracted"),
    (
        SOFTMAX,
        "rows and columns confused",
        "    raised = np.exp(shifted)\n    total = raised.sum(axis=1, keepdims=True)\n",
        "    raised = np.exp(scores - scores.max(axis=0))\n    total = raised.sum(axis=0) + 0 * raised[:, :1]\n",
        "softmax was taken along columns",
    ),
    (SOFTMAX, "scores are shifted in place", SHIFT, f"{SHIFT}; scores[:] = shifted", "Your input was changed: scores"),
    (SOFTMAX, "probabilities are cut off", LOSS, "-np.log(np.maximum(1e-30, (raised / total)[rows, labels])).mean()"),
    (SOFTMAX, "one label in a batch of one is a number", "rows = np", "labels = np.squeeze(labels); rows = np"),
    (NETWORK, "the gate is forgotten", BACK, "dz = dh", "the gate of the ReLU is forgotten"),
    (NETWORK, "z in the place of h", "linear_backward(h, w2", "linear_backward(z, w2", "dw2 was made with z"),
    (NETWORK, "no ReLU on the way forward", FORWARD, "h = z", "the ReLU is forgotten on the way forward"),
    (
        NETWORK,
        "the biases are forgotten",
        f"z = x @ w1 + b1\n    {FORWARD}\n    {SCORES}",
        f"z = x @ w1\n    {FORWARD}\n    {SCORES.replace(' + b2', '')}",
        "the biases are forgotten on the way forward",
    ),
    (
        NETWORK,
        "a ReLU behind the second layer",
        SCORES,
        "s = h @ w2 + b2\n    loss, dscores = softmax_cross_entropy(np.maximum(s, 0), labels)\n"
        "    dscores = relu_backward(s, dscores)",
        "there is a ReLU behind the second layer",
    ),
    (NETWORK, "divided by B twice", SCORES, f"{SCORES}\n    dscores = dscores / len(x)", "divided by B twice"),
    (NETWORK, "the order of the layers", GIVEN, "return loss, (dw2, db2, dw1, db1)", "the layers have changed places"),
    (NETWORK, "the input is changed", "z = x @ w1 + b1", "z = x @ w1 + b1\n    b1 *= 2", "Your input was changed: b1"),
    (NETWORK, "the gate is open at zero", BACK, "dz = np.where(z >= 0, dh, dh.dtype.type(0))"),
    (NETWORK, "one example is no matrix", GIVEN, "return loss, (dw1, db1, dw2, db2.squeeze() if len(w1) > 1 else db1)"),
    (NETWORK, "scores are cut off", SCORES, SCORES.replace("h @ w2 + b2", "np.clip(h @ w2 + b2, -80, 80)")),
]
