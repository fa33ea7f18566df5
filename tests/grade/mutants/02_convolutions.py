"""Wrong answers to exercise 02: (function, what is wrong, this of the solution, that in its place)."""

FORWARD, BACKWARD, POOL = "conv_forward", "conv_backward", "maxpool_backward"
SEEN = "seen = slice(None), slice(a, a + H * stride, stride), slice(c, c + W * stride, stride)"
READ = "y += x[:, a : a + H * stride : stride, c : c + W * stride : stride] @ w[a, c]"
PUT = "dx[:, a : a + H * stride : stride, c : c + W * stride : stride] += dy * (which == place)"

MUTANTS = [
    (FORWARD, "the filter is turned round", READ, READ.replace("w[a, c]", "w[-a - 1, -c - 1]")),
    (FORWARD, "the filter is transposed", READ, READ.replace("w[a, c]", "w[c, a]")),
    (FORWARD, "the bias is forgotten", "x.dtype) + b", "x.dtype) + 0 * b"),
    (FORWARD, "the stride is forgotten", READ, "y += x[:, a : a + H, c : c + W] @ w[a, c]"),
    (FORWARD, "a window too few", "H, W = (Hx - KH) // stride + 1,", "H, W = (Hx - KH + 1) // stride,"),
    (FORWARD, "double precision whatever comes", "np.zeros((N, H, W, Co), x.dtype) + b", "np.zeros((N, H, W, Co)) + b"),
    (BACKWARD, "slopes overwrite each other", "dx[seen] += dy @ w[a, c].T", "dx[seen] = dy @ w[a, c].T"),
    (BACKWARD, "the stride is forgotten", SEEN, "seen = slice(None), slice(a, a + H), slice(c, c + W)"),
    (BACKWARD, "the filter's slope is transposed", "dw[a, c] = x[seen]", "dw[c % KH, a % KW] = x[seen]"),
    (BACKWARD, "the mean over images", "x[seen].reshape(-1, Ci).T", "x[seen].reshape(-1, Ci).T / len(x)"),
    (BACKWARD, "the bias gets a mean", "dy.sum(axis=(0, 1, 2))", "dy.mean(axis=(0, 1, 2))"),
    (BACKWARD, "through the wrong taps", "dx[seen] += dy @ w[a, c].T", "dx[seen] += dy @ w[-a - 1, -c - 1].T"),
    (POOL, "the later window wins", PUT, PUT.replace("+=", "=")),
    (POOL, "rows and columns exchanged", "a, c = divmod(place, size)", "c, a = divmod(place, size)"),
    (POOL, "everyone gets a share", "dy * (which == place)", "dy / (size * size)"),
    (POOL, "windows side by side whatever the stride", PUT, PUT.replace("stride", "size")),
    (POOL, "double precision whatever comes", "np.zeros(shape, dy.dtype)", "np.zeros(shape)"),
]
