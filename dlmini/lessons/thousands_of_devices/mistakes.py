"""What well-known mistakes answer in exercise 16: a sentence for each, so that `check` can call it by its name."""

from __future__ import annotations

from itertools import pairwise, product

MICROS = (1, 2, 4, 8)


# ---- zero2_traffic ----


def filled(sizes, bucket: float, late: bool = False, rest: bool = True) -> list[int]:
    """Elements of the buckets, of gradients that come in this order. late: the one that overflows still goes along."""
    rows = [[]]
    for size in sizes:
        over = sum(rows[-1]) + size > bucket
        if over and rows[-1] and not late:
            rows.append([])
        rows[-1].append(size)
        if over and late:
            rows.append([])
    rows = [sum(row) for row in rows if row]
    return rows if rest else rows[:-1]


def bad_flushes(case) -> dict:
    sizes, _, bucket = case.args
    each, back = case.kwargs.get("gradient", 2), list(reversed(case.args[0]))

    def sent(*given, **how):
        return [each * n for n in filled(*given, **how)]

    return {
        "tensors are taken in the order of the forward pass; gradients come from the last one": sent(sizes, bucket),
        "the bucket is counted in bytes; it is so many elements": sent(back, bucket / each),
        "a gradient that overflows the bucket must wait for the next one: flush first": sent(back, bucket, late=True),
        "what is left in the bucket at the end was never sent": sent(back, bucket, rest=False),
        "these are elements; bytes were asked for": filled(back, bucket),
        "every tensor goes alone": [each * n for n in back],
    }


def bad_traffic(case) -> dict:
    sizes, ranks, _ = case.args
    each, weight = case.kwargs.get("gradient", 2), case.kwargs.get("weight", 2)
    psi, part = sum(sizes), (ranks - 1) / ranks
    return {
        "gradients are scattered here; a flush is an all-reduce: twice as much": part * (each + weight) * psi,
        "the all-gather of weights is missing": 2 * part * each * psi,
        "weights are gathered, not summed: an all-gather is half an all-reduce": 2 * part * (each + weight) * psi,
        "a rank's own part is not sent: (N - 1)/N": (2 * each + weight) * psi,
        "these are bytes of all ranks together": ranks * part * (2 * each + weight) * psi,
    }


# ---- cut_stages ----


def slowest(times, counts) -> float:
    """Of stages of so many layers each."""
    edges = [sum(counts[:i]) for i in range(len(counts) + 1)]
    return max(sum(times[a:b]) for a, b in pairwise(edges))


def equal_counts(layers: int, stages: int) -> list[int]:
    least, more = divmod(layers, stages)
    return [least + (stage < more) for stage in range(stages)]


def greedy_counts(times, stages: int) -> list[int]:
    """Filled to the mean, one after another: the last one gets the rest."""
    counts, mean = [0] * stages, sum(times) / stages
    stage, held = 0, 0.0
    for i, seconds in enumerate(times):
        left = len(times) - i
        if counts[stage] and stage < stages - 1 and (held + seconds > mean or left <= stages - 1 - stage):
            stage, held = stage + 1, 0.0
        counts[stage] += 1
        held += seconds
    return counts


def bad_cuts(times, stages: int) -> dict:
    return {
        "every stage has as many layers, whatever they take": equal_counts(len(times), stages),
        "stages are filled up to the mean, and the last one gets all that is left": greedy_counts(times, stages),
    }


# ---- best_layout ----


def reckoned(case, unhelpful: str = "") -> list[tuple]:
    """(seconds, bytes, layout) of everything possible, with one thing forgotten."""
    devices, per_node, layers, batch, _, cost = case.args
    found = []
    most = devices if unhelpful == "nodes" else per_node
    for t, p, b in product(range(1, most + 1), range(1, layers + 1), MICROS):
        d = devices // (t * p)
        if t * p * d != devices or not d or layers % p or batch % (d * b):
            continue
        m, n = batch // (d if unhelpful == "micro" else d * b), layers / p
        flying = m if unhelpful == "gpipe" else 1 if unhelpful == "one" else min(m, p)
        held = n / (1 if unhelpful == "share" else t) * (cost["state"] + flying * b * cost["kept"])
        start, work = 0.0 if unhelpful == "start" else cost["start"], cost["work"] / (1 if unhelpful == "work" else t)
        talk = 0.0 if unhelpful == "talk" else b * cost["talk"] * (t > 1)
        bubble = 0 if unhelpful == "bubble" else p - 1
        sync = 0.0 if unhelpful == "sync" else 2 * (d - 1) / d * n / t * cost["sync"]
        if b == 1 or unhelpful != "small":
            found.append(((m + bubble) * n * (start + b * work + talk) + sync, held, (t, p, d, b)))
    return found


def chosen(case, unhelpful: str = "") -> tuple | None:
    rows = reckoned(case, unhelpful)
    if unhelpful != "room":
        rows = [row for row in rows if row[1] <= case.args[4]]
    pick = max if unhelpful == "slowest" else min
    return pick(rows)[2] if rows else None


FORGOTTEN = {
    "room": "it does not fit: memory was not looked at",
    "bubble": "the pipeline's filling and emptying, p - 1 micro-batches, is missing",
    "nodes": "tensor parallelism must stay inside a node",
    "gpipe": "a stage keeps at most p micro-batches at one time, however many there are",
    "one": "a stage keeps min(m, p) micro-batches at one time, not one",
    "talk": "sums inside layers take time, too",
    "sync": "gradients must be summed among the copies",
    "start": "what a micro-batch takes whatever its size (start) is missing",
    "work": "the work of a layer is shared by its tensor devices: work / tensor",
    "share": "the bytes of a layer are shared by its tensor devices: n / tensor",
    "micro": "a micro-batch has `micro` sequences, so m = batch / (data x micro)",
    "small": "only micro-batches of 1 are tried; 2, 4 and 8 may be faster",
    "slowest": "this is the slowest of those that fit",
}


def bad_layouts(case) -> dict:
    return {sentence: chosen(case, what) for what, sentence in FORGOTTEN.items()}
