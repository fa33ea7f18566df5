"""What well-known mistakes answer in exercise 12: a sentence for each, so that `check` can call it by its name."""

from __future__ import annotations

import numpy as np


def parts(case) -> list[tuple]:
    """By rank, what it can compute alone: (y B, dx's share, dA, da, dB, db), and b."""
    found = []
    for x, A, a, B, _b, dz in case.args:
        y = np.maximum(x @ A + a, 0)
        dy = (dz @ B.T) * (y > 0)
        found.append((y @ B, dy @ A.T, x.T @ dy, dy.sum(0), y.T @ dz, dz.sum(0)))
    return found


def bad_pairs(case, rank: int, name: str) -> dict:
    each, (x, A, a, B, b, dz) = parts(case), case.args[rank]
    n, y = case.size, np.maximum(x @ A + a, 0)
    z, open_dy = sum(one[0] for one in each), dz @ B.T
    return {
        "z": {
            "the bias is added by every rank before the sum, N times in all; add it once, behind the sum": z + n * b,
            "this is my share of z; all ranks' shares must be added up": each[rank][0] + b,
            "the bias b is missing": z,
            "this is the mean of all ranks' shares; they are added up": z / n + b,
            "the ReLU is missing: y = max(x A + a, 0)": sum((x @ A_ + a_) @ B_ for _, A_, a_, B_, _, _ in case.args)
            + b,
        },
        "dx": {
            "this is my share of dx; all ranks' shares must be added up on the way back": each[rank][1],
            "the ReLU is not looked at on the way back": sum((d @ B_.T) @ A_.T for _, A_, _, B_, _, d in case.args),
            "dz is added up over ranks first; it is whole on every rank": n * sum(one[1] for one in each),
        },
        "dA": {"the ReLU is not looked at on the way back": x.T @ open_dy, **gathered(dA_sum(each, 2), n)},
        "da": {"the ReLU is not looked at on the way back": open_dy.sum(0), **gathered(dA_sum(each, 3), n)},
        "dB": {
            "this is x^T dz; what comes into the second layer is y": x.T @ dz,
            "y is needed, not y > 0": (y > 0).T @ dz,
        },
        "db": {
            "db is summed over ranks, N times too large: dz is whole on every rank": n * dz.sum(0),
            "this is the mean over rows; db is their sum": dz.mean(0),
        },
    }[name]


def dA_sum(each, i: int):
    shapes = {one[i].shape for one in each}
    return sum(one[i] for one in each) if len(shapes) == 1 else None


def gathered(total, ranks: int) -> dict:
    if total is None or ranks == 1:
        return {}
    return {"gradients of different columns are summed over ranks: mine are mine alone": total}


def bad_sums(case, rank: int) -> dict:
    micros = case.args[0][1]
    layers, xs, slopes = [one[0] for one in case.args], case.args[0][2], case.args[-1][3]
    each = []
    for x, dy in zip(xs, slopes, strict=True):
        for layer in layers[:rank]:
            x = x @ layer
        for layer in reversed(layers[rank + 1 :]):
            dy = dy @ layer.T
        each.append((x, dy))
    return {
        "this is the gradient of the last micro-batch alone; add them up": each[-1][0].T @ each[-1][1],
        "this is the gradient of the first micro-batch alone; add them up": each[0][0].T @ each[0][1],
        "the x of the last micro-batch is used for all of them; keep every one": sum(
            each[-1][0].T @ dy for _, dy in each
        ),
        "this is the mean over micro-batches; their gradients are added up": sum(x.T @ dy for x, dy in each) / micros,
        "gradients came back in another order than micro-batches went: x and dy belong to different ones": sum(
            x.T @ dy for (x, _), (_, dy) in zip(each, reversed(each), strict=True)
        ),
        "this is the transpose of dW": sum(dy.T @ x for x, dy in each),
    }


def in_turns(ahead: int, micros: int) -> list[tuple[str, int]]:
    jobs = [("forward", i) for i in range(ahead)]
    for i in range(micros):
        jobs += [("forward", i + ahead)] * (i + ahead < micros) + [("backward", i)]
    return jobs


def bad_orders(rank: int, ranks: int, micros: int) -> dict:
    there, back = ([(kind, i) for i in range(micros)] for kind in ("forward", "backward"))
    ahead = min(ranks - rank - 1, micros)
    return {
        "this is GPipe's order: all there, and all back": there + back,
        "the warm-up is one forward too long, so one micro-batch more is kept": in_turns(
            min(ahead + 1, micros), micros
        ),
        "the warm-up is one forward too short, so others wait": in_turns(max(ahead - 1, 0), micros),
        "the warm-up is that of the other end: the first rank has the longest": in_turns(min(rank, micros), micros),
        "all ranks have the first one's warm-up": in_turns(min(ranks - 1, micros), micros),
        "without a warm-up each micro-batch comes back before the next one leaves": in_turns(0, micros),
        "backwards are in the opposite order; the first micro-batch is the first that comes back": [
            (kind, micros - 1 - i if kind == "backward" else i) for kind, i in in_turns(ahead, micros)
        ],
        "the backwards that are left at the end are missing": in_turns(ahead, micros)[: 2 * micros - ahead],
        "in turns, the forward before backward i is that of micro-batch i + warm-up, not i": [
            ("forward", i - ahead) if kind == "forward" and n >= ahead else (kind, i)
            for n, (kind, i) in enumerate(in_turns(ahead, micros))
        ],
    }


def most_kept(jobs) -> int:
    """The most micro-batches that have gone forward and not back, at one time."""
    now, most = 0, 0
    for kind, _ in jobs:
        now += 1 if kind == "forward" else -1
        most = max(most, now)
    return most


def bad_bytes(case) -> tuple[dict, dict]:
    numbers, ranks, stage = case.args
    w, g, o = (case.kwargs.get(name, usual) for name, usual in (("weights", 2), ("gradients", 2), ("optimiser", 12)))
    part = numbers / ranks
    all_of, other = {0: w + g + o, 1: w + g, 2: w, 3: 0}[stage], {0: 0, 1: o, 2: g + o, 3: w + g + o}[stage]
    held = {
        "nothing is shared out": numbers * (w + g + o),
        "everything is shared out; that is stage 3": part * (w + g + o),
        "stage 1 shares out what the optimiser remembers, not the weights": numbers * (o + g) + part * w,
        "gradients are shared out from stage 2 on": numbers * w + part * (g + o),
        "in stage 2 what the optimiser remembers is shared out, too": numbers * (w + o) + part * g,
        "these are bytes of all ranks together": ranks * (numbers * all_of + part * other),
        "the two answers are exchanged: bytes held come first": (3 if stage == 3 else 2) * (ranks - 1) * part,
    }
    once = (ranks - 1) * part
    sent = {
        "one half of an all-reduce is missing: sums are scattered, and then gathered": once,
        "stage 3 gathers weights twice, on the way there and on the way back": 2 * once if stage == 3 else None,
        "only stage 3 sends more than an all-reduce": 3 * once if stage < 3 else None,
        "in stage 3 gradients are scattered and not gathered: three halves, not four": 4 * once if stage == 3 else None,
        "a rank's own part is not sent: (N - 1)/N": (3 if stage == 3 else 2) * numbers,
        "these are numbers of all ranks together": ranks * (3 if stage == 3 else 2) * once,
        "these are bytes; numbers were asked for": w * (3 if stage == 3 else 2) * once,
    }
    return held, {sentence: value for sentence, value in sent.items() if value is not None}
