"""Wrong answers to exercise 14: (function, what is wrong, this of the solution, that in its place).

A fifth entry is what `check` says of a mistake that the lesson's text, docstrings or hints warn of.
"""

BUDGET, INT8, MEAN = "budget", "int8", "fix_the_mean"
FACTOR = "factor = 2 * (ranks - 1)"
GIVEN = "return max(0, int((seconds - fixed) * bandwidth / factor))"
WHOLE = "p = grad + old"
ROUNDED = "q = np.rint(127 * (p / m)) if m else np.zeros_like(p)"
LEFT = "left.append((p - m * q / 127).astype(np.float32))"
ADDED = "mean += np.float32(m / 127) * q"
DIVIDED = "return [mean / np.float32(len(packets)) for mean in total]"
LOOP = "    for levels, scales in packets:\n"

MUTANTS = [
    (BUDGET, "the fixed part added", GIVEN, GIVEN.replace("seconds - fixed", "seconds + fixed"), "fixed part is added"),
    (BUDGET, "bits", GIVEN, GIVEN.replace("/ factor", "/ factor / 8"), "in bits"),
    (INT8, "rounded down", ROUNDED, ROUNDED.replace("rint", "floor"), "rounded down"),
    (INT8, "the scale of a level", "scales.append(m)", "scales.append(m / 127)", "the scale is that of one level"),
    (INT8, "taken off", WHOLE, "p = grad - old", "what was unsaid is taken off"),
    (INT8, "the wrong sign", LEFT, LEFT.replace("p - m * q / 127", "m * q / 127 - p"), "has the wrong sign"),
    (BUDGET, "the fixed part is not paid", "(seconds - fixed)", "seconds", "the fixed part is not paid"),
    (BUDGET, "one way only", FACTOR, "factor = ranks - 1", "the way back is forgotten"),
    (BUDGET, "the server's own packet too", FACTOR, "factor = 2 * ranks", "the server's own packet passes no cable"),
    (BUDGET, "a ring whatever is asked", 'if how == "ring":', "if True:", "this is the other way"),
    (BUDGET, "a star whatever is asked", 'if how == "ring":', "if False:", "this is the other way"),
    (
        BUDGET,
        "rounded up",
        GIVEN,
        "return max(0, -int(-(seconds - fixed) * bandwidth // factor))",
        "one byte too many",
    ),
    (BUDGET, "less than nothing", GIVEN, "return int((seconds - fixed) * bandwidth // factor)", "less than nothing"),
    (
        BUDGET,
        "no whole number",
        GIVEN,
        "return max(0, (seconds - fixed) * bandwidth / factor)",
        "is not a whole number",
    ),
    (BUDGET, "of at most six computers", FACTOR, "factor = 2 * (min(ranks, 6) - 1)"),
    (
        INT8,
        "21 values, as published",
        "q = np.rint(127 * (p / m)) if m else np.zeros_like(p)\n"
        "        levels.append(q.astype(np.int8))\n"
        "        scales.append(m)\n"
        "        left.append((p - m * q / 127).astype(np.float32))",
        "q = np.rint(10 * (p / m)) if m else np.zeros_like(p)\n"
        "        levels.append(q.astype(np.int8))\n"
        "        scales.append(m)\n"
        "        left.append((p - m * q / 10).astype(np.float32))",
        "21 values, as the published program has them",
    ),
    (
        INT8,
        "one scale for the whole network",
        "m = float(np.abs(p).max(initial=0))",
        "m = max(float(np.abs(g + u).max(initial=0)) for g, u in zip(layers, unsaid))",
        "one scale for all layers: each has its own",
    ),
    (INT8, "what was unsaid is forgotten", WHOLE, "p = grad + 0 * old", "what was unsaid is forgotten"),
    (INT8, "cut off, not rounded", ROUNDED, ROUNDED.replace("rint", "trunc"), "cut off, expected the nearest level"),
    (
        INT8,
        "the new unsaid forgets what was carried",
        LEFT,
        LEFT.replace("(p - m", "(grad - m"),
        "which forgets what was carried",
    ),
    (INT8, "nothing is remembered", LEFT, "left.append(np.zeros_like(old))", "nothing is remembered"),
    (
        INT8,
        "what is read is returned",
        LEFT,
        "left.append((m * q / 127).astype(np.float32))",
        "what the other side reads is returned",
    ),
    (
        INT8,
        "the gradient collects what is unsaid",
        WHOLE,
        "grad += old\n        p = grad",
        "Your input was changed: layers",
    ),
    (INT8, "a layer of zeros is divided by", ROUNDED, "q = np.rint(127 * (p / m))", "a layer of zeros"),
    (INT8, "a layer without numbers has no largest", "max(initial=0)", "max()"),
    (INT8, "the scale of the gradient alone", "np.abs(p).max(initial=0)", "np.abs(grad).max(initial=0)"),
    (INT8, "what is unsaid in double precision", LEFT, LEFT.replace("np.float32", "np.float64")),
    (
        MEAN,
        "divided once for every computer",
        "    for levels, scales in packets:\n"
        "        for mean, q, m in zip(total, levels, scales, strict=True):\n"
        "            mean += np.float32(m / 127) * q\n"
        "    return [mean / np.float32(len(packets)) for mean in total]",
        "    for i, (levels, scales) in enumerate(packets):\n"
        "        for mean, q, m in zip(total, levels, scales, strict=True):\n"
        "            mean += np.float32(m / 127) * q\n"
        "            if i: mean /= np.float32(len(packets))\n"
        "    return total",
        "divided once for every computer, as the published program does",
    ),
    (
        MEAN,
        "halved after every computer",
        "    for levels, scales in packets:\n"
        "        for mean, q, m in zip(total, levels, scales, strict=True):\n"
        "            mean += np.float32(m / 127) * q\n"
        "    return [mean / np.float32(len(packets)) for mean in total]",
        "    for i, (levels, scales) in enumerate(packets):\n"
        "        for mean, q, m in zip(total, levels, scales, strict=True):\n"
        "            mean += np.float32(m / 127) * q\n"
        "            if i: mean /= np.float32(2)\n"
        "    return total",
        "halved after every computer",
    ),
    (MEAN, "the sum", DIVIDED, "return total", "this is the sum, not the mean"),
    (
        MEAN,
        "divided by the others alone",
        DIVIDED,
        DIVIDED.replace("len(packets)", "max(1, len(packets) - 1)"),
        "divided by N - 1",
    ),
    (
        MEAN,
        "divided by the scale, as the text says",
        ADDED,
        "mean += q / np.float32(127) / np.float32(m or 1)",
        "divided by the scale, as the document's text says",
    ),
    (
        MEAN,
        "everybody has the first one's scales",
        "zip(total, levels, scales, strict=True)",
        "zip(total, levels, packets[0][1], strict=True)",
        "all packets are read with the first one's scales",
    ),
    (MEAN, "127 is forgotten", ADDED, "mean += np.float32(m) * q", "127 is forgotten"),
    (MEAN, "levels of another grid", ADDED, ADDED.replace("127", "10"), "as if there were 10 of them"),
    (
        MEAN,
        "the server forgets itself",
        LOOP,
        LOOP.replace("in packets", "in packets[1:] or packets"),
        "own gradient is missing",
    ),
    (MEAN, "double precision", "np.float32) for q", "np.float64) for q"),
    (
        MEAN,
        "those who say nothing do not count",
        DIVIDED,
        DIVIDED.replace("len(packets)", "sum(any(s) for _, s in packets)"),
    ),
]
