"""Wrong answers to exercise 02: (function, what is wrong, this of the solution, that in its place, what check says)."""

FORWARD, BACKWARD, POOL = "conv_forward", "conv_backward", "maxpool_backward"
SEEN = "seen = slice(None), slice(a, a + H * stride, stride), slice(c, c + W * stride, stride)"
READ = "y += x[:, a : a + H * stride : stride, c : c + W * stride : stride] @ w[a, c]"
PUT = "dx[:, a : a + H * stride : stride, c : c + W * stride : stride] += dy * (which == place)"
WINNER = "dy * (which == place)"
BACK = "dx[seen] += dy @ w[a, c].T"
SIZES = "H, W = (Hx - KH) // stride + 1, (Wx - KW) // stride + 1"
STARTED = "y = np.zeros((N, H, W, Co), x.dtype) + b"
ENDED = "return dx, dw, dy.sum(axis=(0, 1, 2))"

MUTANTS = [
    (FORWARD, "the filter is turned round", READ, READ.replace("w[a, c]", "w[-a - 1, -c - 1]"), "turned round"),
    (FORWARD, "the filter is transposed", READ, READ.replace("w[a, c]", "w[c % KH, a % KW]"), "rows and columns"),
    (FORWARD, "the bias is forgotten", STARTED, "y = np.zeros((N, H, W, Co), x.dtype)", "the bias was forgotten"),
    (FORWARD, "the stride is forgotten", READ, "y += x[:, a : a + H, c : c + W] @ w[a, c]", "the stride was ignored"),
    (
        FORWARD,
        "windows at every pixel whatever the stride",
        SIZES,
        "stride = 1; H, W = Hx - KH + 1, Wx - KW + 1",
        "the stride was ignored: the window has moved by one pixel",
    ),
    (
        FORWARD,
        "a window too few",
        SIZES,
        "H, W = (Hx - KH + 1) // stride, (Wx - KW + 1) // stride",
        "there are too few windows",
    ),
    (
        FORWARD,
        "the image is padded",
        "(N, Hx, Wx, _), (KH",
        "x = np.pad(x, ((0, 0), *[(k // 2, k // 2) for k in w.shape[:2]], (0, 0))); (N, Hx, Wx, _), (KH",
        "the image was padded",
    ),
    (FORWARD, "double precision whatever comes", STARTED, "y = np.zeros((N, H, W, Co)) + b", "holds float64"),
    (FORWARD, "the image is used up", "    return y\n", "    x[:, 0] = 0\n    return y\n", "Your input was changed: x"),
    (FORWARD, "square filters are assumed", "for c in range(KW):", "for c in range(KH):"),
    (FORWARD, "half precision on the way", READ, READ.replace("@ w[a, c]", "@ w[a, c].astype('f2').astype(w.dtype)")),
    (BACKWARD, "slopes overwrite each other", BACK, BACK.replace("+=", "="), "slopes overwrite each other"),
    (
        BACKWARD,
        "the stride is forgotten",
        SEEN,
        "seen = slice(None), slice(a, a + H), slice(c, c + W)",
        "the stride was ignored",
    ),
    (BACKWARD, "the filter's slope is transposed", "dw[a, c] = x", "dw[c % KH, a % KW] = x", "rows and columns of the"),
    (
        BACKWARD,
        "the mean over images",
        "x[seen].reshape(-1, Ci).T",
        "x[seen].reshape(-1, Ci).T / len(x)",
        "dw: this is a mean over the images",
    ),
    (BACKWARD, "the bias gets a mean", ENDED, ENDED.replace("sum", "mean"), "db: this is a mean, a sum was asked for"),
    (BACKWARD, "through the wrong taps", BACK, "dx[seen] += dy @ w[-a - 1, -c - 1].T", "through the wrong taps"),
    (
        BACKWARD,
        "double precision whatever comes",
        "np.zeros_like(w)",
        "np.zeros(w.shape)",
        "dw: the array holds float64",
    ),
    (BACKWARD, "the image is used up", ENDED, f"x[:] = dx; {ENDED}", "Your input was changed: x"),
    (BACKWARD, "square filters are assumed", "for c in range(KW):", "for c in range(KH):"),
    (BACKWARD, "half precision on the way", BACK, BACK.replace(".T", ".T.astype('f2').astype(w.dtype)")),
    (POOL, "the later window wins", PUT, PUT.replace("+=", "="), "a slope overwrites another"),
    (
        POOL,
        "the later winner wins",
        PUT,
        "(dx[:, a:, c:][:, : H * stride : stride, : W * stride : stride])[which == place] = dy[which == place]",
        "a slope overwrites another",
    ),
    (
        POOL,
        "rows and columns exchanged",
        "a, c = divmod(place, size)",
        "c, a = divmod(place, size)",
        "rows and columns",
    ),
    (POOL, "everyone gets a share", WINNER, "dy / dy.dtype.type(size * size)", "everybody in the window got a share"),
    (POOL, "everyone gets the slope", WINNER, "dy", "everybody in the window got the slope"),
    (
        POOL,
        "windows side by side whatever the stride",
        "for place in range(size * size):",
        """wide = np.zeros((shape[0], H * size, W * size, shape[3]), dy.dtype)
    for place in range(size * size):
        a, c = divmod(place, size)
        wide[:, a::size, c::size] += dy * (which == place)
    wide = np.pad(wide, ((0, 0), (0, shape[1]), (0, shape[2]), (0, 0)))
    return wide[:, : shape[1], : shape[2]].copy()
    for place in []:""",
        "the stride was ignored",
    ),
    (POOL, "double precision whatever comes", "np.zeros(shape, dy.dtype)", "np.zeros(shape)", "holds float64"),
    (
        POOL,
        "the winners are used up",
        "    return dx\n",
        "    which[:] = 0\n    return dx\n",
        "Your input was changed: which",
    ),
    (
        POOL,
        "windows of two are assumed",
        "a, c = divmod(place, size)",
        "a, c = divmod(place, size if stride == 2 else 2)",
    ),
    (POOL, "rows left over are cut off", "    return dx\n", "    return dx[:, : H * stride, : W * stride]\n"),
    (POOL, "windows overlap or touch", PUT, f"if a < stride + size % 2 and c < stride + size % 2: {PUT}"),
]
