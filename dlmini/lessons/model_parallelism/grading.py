"""What exercise 12 is tested for."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from dlmini.comm.network import Link, Switch
from dlmini.comm.schedules import cut
from dlmini.grade.expect import close, named, number, short
from dlmini.grade.lesson import Call, Lesson, World, Wrong
from dlmini.lessons.model_parallelism.mistakes import bad_bytes, bad_orders, bad_pairs, bad_sums, most_kept
from dlmini.sim.cluster import Cluster

lesson = Lesson("12_model_parallelism")
PAIR, PIPE, ORDER, ZERO = "column_row_linear", "gpipe", "one_f_one_b", "zero_memory"
NAMES = ("z", "dx", "dA", "da", "dB", "db")
FREE = Link(0.0, float("inf"))


# ---- column_row_linear: the truth is the whole pair of layers on one rank, in whole numbers ----


def whole_pair(x, A, a, B, b, dz) -> tuple:
    """(z, dx, dA, da, dB, db) by sums over single units, not by matrix products."""
    y = np.maximum(np.einsum("ni,ij->nj", x, A) + a, 0)
    dy = np.einsum("nk,jk->nj", dz, B) * (y > 0)
    back = np.einsum("nj,ij->ni", dy, A), np.einsum("ni,nj->ij", x, dy), dy.sum(0)
    return np.einsum("nj,jk->nk", y, B) + b, *back, np.einsum("nj,nk->jk", y, dz), dz.sum(0)


def shared_pair(coin, ranks: int, units: int, dtype="f8", repeat: int = 1, rows: int = 4) -> World:
    def draw(*shape):
        return coin.integers(-4, 5, shape).astype(dtype)

    x, A, a, B, b, dz = draw(rows, 3), draw(3, units), draw(units), draw(units, 2), draw(2), draw(rows, 2)
    edges = cut(units, ranks).tolist()
    mine = [slice(low, high) for low, high in pairwise(edges)]
    args = [(x, A[:, m].copy(), a[m].copy(), B[m].copy(), b, dz) for m in mine]
    z, dx, dA, da, dB, db = whole_pair(x, A, a, B, b, dz)
    truth = [(z, dx, dA[:, m], da[m], dB[m], db) for m in mine]
    on = Cluster(Switch(Link(10 ** coin.uniform(-5, -3), 10 ** coin.uniform(6, 9))))
    return World(ranks, args, truth=truth, on=on, seed=int(coin.integers(2**31)), repeat=repeat)


def right_pair(case, found) -> None:
    for rank, value in enumerate(found.values):
        who = f"rank {rank % case.size} of {case.size}"
        if not isinstance(value, tuple | list) or len(value) != len(NAMES):
            raise Wrong(f"{who}: found {short(value)}, expected ({', '.join(NAMES)}).")
        truth = case.truth[rank % case.size]
        for name, one, right in zip(NAMES, value, truth, strict=True):
            named(one, right, f"{who}: {name}", bad_pairs(case, rank % case.size, name))
        for name, one, right in zip(NAMES, value, truth, strict=True):
            close(one, right, f"{who}: {name}")


def pairs(*ways, **more):
    def cases(coin):
        for ranks, units, dtype in ways:
            yield shared_pair(coin, ranks, units, dtype, **more)

    return cases


@lesson.test(PAIR, points=2, cases=pairs((3, 6, "f8"), (2, 8, "f4"), repeat=2), collectives=True)
def a_shared_pair_is_the_whole_pair(case, found):
    """Forward and back as one rank with the whole layers would; no argument is changed."""
    right_pair(case, found)


@lesson.test(PAIR, points=1, cases=pairs((4, 8, "f8"), (3, 9, "f8")), collectives=True)
def one_sum_forward_and_one_back(case, found):
    """The bytes of two all-reduces, of z and of dx, and nothing more."""
    right_pair(case, found)
    x, *_, dz = case.args[0]
    wanted = 2 * (case.size - 1) * (x.nbytes + dz.nbytes)
    if (sent := found.books.total().nbytes) != wanted:
        raise Wrong(
            f"{sent} bytes were sent by {case.size} ranks; one sum of z and one of dx are {wanted}. Everything else "
            "can be computed from what is here."
        )


@lesson.test(PAIR, points=1, cases=pairs((1, 4, "f8"), (5, 7, "f4"), (4, 3, "f8")), hidden=True, collectives=True)
def any_number_of_ranks(case, found):
    """One rank; columns that cannot be dealt out evenly; ranks without any."""
    right_pair(case, found)


# ---- gpipe: the truth is the product of all layers on one rank ----


def pipeline(coin, ranks: int, micros: int, dtype="f8", times=(1.0, 2.0), repeat: int = 1) -> World:
    widths = [int(coin.integers(2, 5)) for _ in range(ranks + 1)]
    layers = [coin.integers(-2, 3, shape).astype(dtype) for shape in pairwise(widths)]
    xs = [coin.integers(-3, 4, (2, widths[0])).astype(dtype) for _ in range(micros)]
    slopes = [coin.integers(-3, 4, (2, widths[-1])).astype(dtype) for _ in range(micros)]
    args = [(W, micros, xs if rank == 0 else [], slopes if rank == ranks - 1 else []) for rank, W in enumerate(layers)]
    on = Cluster(Switch(FREE), seconds=dict(zip(("forward", "backward"), times, strict=True)))
    return World(ranks, args, truth=gradients(layers, xs, slopes), on=on, seed=int(coin.integers(2**31)), repeat=repeat)


def gradients(layers, xs, slopes) -> list[np.ndarray]:
    """Of the whole batch at once: the network is one product."""
    x, dy, found = np.concatenate(xs), np.concatenate(slopes), []
    for r, W in enumerate(layers):
        before = np.linalg.multi_dot([x, *layers[:r]]) if r else x
        behind = layers[r + 1 :]
        after = np.linalg.multi_dot([dy, *[one.T for one in reversed(behind)]]) if behind else dy
        found.append((before.T @ after).astype(W.dtype))
    return found


def right_sums(case, found) -> None:
    for rank, value in enumerate(found.values):
        truth = case.truth[rank % case.size]
        who = f"rank {rank % case.size} of {case.size}, {case.args[0][1]} micro-batches"
        named(value, truth, who, bad_sums(case, rank % case.size))
        close(value, truth, who)


def flowing(*ways, **more):
    def cases(coin):
        for ranks, micros in ways:
            yield pipeline(coin, ranks, micros, **more)

    return cases


@lesson.test(PIPE, points=2, cases=flowing((3, 4), (2, 3), repeat=2))
def all_micro_batches_count(case, found):
    """dW is that of the whole batch, on every rank; no argument is changed."""
    right_sums(case, found)


@lesson.test(PIPE, points=2, cases=flowing((3, 4), (4, 6)))
def the_pipeline_is_filled(case, found):
    """(m + p - 1) forwards and as many backwards of time: nobody waits for one who need not be waited for."""
    right_sums(case, found)
    in_time(case, found)


def in_time(case, found) -> None:
    (p, m), (f, b) = (case.size, case.args[0][1]), (case.on.seconds[k] for k in ("forward", "backward"))
    for kind in ("forward", "backward"):
        if (done := found.work.get(kind, 0)) != p * m:
            raise Wrong(f'comm.compute("{kind}", ...) was called {done} times; {p} ranks do it {m} times each.')
    wanted, alone = (m + p - 1) * (f + b), p * m * (f + b)
    if found.seconds > wanted * (1 + 1e-9):
        why = ": each micro-batch has come back before the next one left" if found.seconds >= alone * 0.999 else ""
        raise Wrong(f"it took {found.seconds:g} s; filled, {p} stages and {m} micro-batches take {wanted:g} s{why}.")


@lesson.test(PIPE, points=1, cases=flowing((1, 3), (5, 1), (4, 2), (2, 7), times=(2.0, 3.0)), hidden=True)
def any_pipeline(case, found):
    """One stage, one micro-batch, fewer micro-batches than stages."""
    right_sums(case, found)
    in_time(case, found)


@lesson.test(PIPE, points=1, cases=lambda coin: (pipeline(coin, n, 3, "f4") for n in (2, 3)), hidden=True)
def numbers_keep_their_type(case, found):
    """float32 stays float32."""
    right_sums(case, found)


# ---- one_f_one_b: the truth is played, job by job, by ranks that are greedy and keep no more than they may ----


def greedy(ranks: int, micros: int) -> list[list[tuple[str, int]]]:
    """In every beat of time each rank goes back if it can, else forward if it may: it keeps at most ranks - r."""
    rows = [[] for _ in range(ranks)]
    done = {}  # (kind, rank, micro-batch) -> the beat after which it is there
    beat, there, back = 0, [0] * ranks, [0] * ranks
    while min(back) < micros:
        for r in range(ranks):
            i, j = there[r], back[r]
            before = done.get(("backward", r + 1, j), beat + 1) if r < ranks - 1 else 0
            if j < i and before <= beat and done["forward", r, j] <= beat:
                rows[r].append(("backward", j))
                done["backward", r, j], back[r] = beat + 1, j + 1
            elif i < micros and i - j < ranks - r and (r == 0 or done.get(("forward", r - 1, i), beat + 1) <= beat):
                rows[r].append(("forward", i))
                done["forward", r, i], there[r] = beat + 1, i + 1
        beat += 1
    return rows


def orders(*ways):
    def cases(coin):
        for ranks, micros in ways:
            for rank, row in enumerate(greedy(ranks, micros)):
                yield Call((rank, ranks, micros), truth=row)

    return cases


def right_order(case, found) -> None:
    rank, ranks, micros = case.args
    who, value = f"rank {rank} of {ranks}, {micros} micro-batches", found.value
    good = isinstance(value, list | tuple) and all(
        isinstance(job, list | tuple) and len(job) == 2 and job[0] in ("forward", "backward") for job in value
    )
    if not good:
        raise Wrong(f'{who}: found {short(value)}, expected a list of ("forward", i) and ("backward", i).')
    jobs = [(str(kind), int(i)) for kind, i in value]
    made = [sentence for sentence, wrong in bad_orders(rank, ranks, micros).items() if jobs == wrong != case.truth]
    if made:
        raise Wrong(f"{who}: {'; or '.join(made)}.", mistakes=tuple(made))
    if sorted(jobs) != sorted(case.truth):
        raise Wrong(f"{who}: every micro-batch goes forward once and back once; those are {2 * micros} jobs.")
    if jobs != case.truth:
        at = next(i for i, (a, b) in enumerate(zip(jobs, case.truth, strict=True)) if a != b)
        kept = f" (kept at one time: {most_kept(jobs)}, allowed {min(micros, ranks - rank)})"
        raise Wrong(f"{who}: job {at} is {jobs[at]}, expected {case.truth[at]}{kept}.")


@lesson.test(ORDER, points=2, cases=orders((4, 8), (3, 5)))
def back_as_soon_as_one_can(case, found):
    """The jobs of every rank of a pipeline, in their order."""
    right_order(case, found)


@lesson.test(ORDER, points=2, cases=orders((1, 4), (5, 1), (6, 3), (2, 2), (7, 9)), hidden=True)
def any_schedule(case, found):
    """One stage, one micro-batch, fewer micro-batches than stages."""
    right_order(case, found)


# ---- zero_memory: the truth is counted array by array ----


def counted(numbers: int, ranks: int, stage: int, each: tuple) -> tuple[float, float]:
    held = 0.0
    for kind, nbytes in enumerate(each):  # weights, gradients, what the optimiser remembers
        shared_out = stage + kind >= 3
        held += numbers * nbytes / ranks if shared_out else numbers * nbytes
    rounds = ["scatter the gradient", "gather"] + ["gather on the way back"] * (stage > 2)
    return held, sum(numbers - numbers / ranks for _ in rounds)


def zero(coin, stage: int, ranks: int | None = None, each=None) -> Call:
    ranks = int(coin.integers(2, 65)) if ranks is None else ranks
    numbers = int(coin.integers(10, 10**9))
    given = {} if each is None else dict(zip(("weights", "gradients", "optimiser"), each, strict=True))
    return Call((numbers, ranks, stage), given, truth=counted(numbers, ranks, stage, each or (2, 2, 12)))


def right_bytes(case, found) -> None:
    _, ranks, stage = case.args
    who, value = f"stage {stage}, {ranks} ranks", found.value
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise Wrong(f"{who}: found {short(value)}, expected (bytes held, numbers sent).")
    for i, (what, one, truth) in enumerate(zip(("bytes held", "numbers sent"), value, case.truth, strict=True)):
        named(one, truth, f"{who}: {what}", bad_bytes(case)[i])
        number(one, truth, f"{who}: {what}")


@lesson.test(ZERO, points=2, cases=lambda coin: (zero(coin, stage) for stage in (0, 1, 2, 3)))
def what_every_stage_holds_and_sends(case, found):
    """Half precision and Adam: 2, 2 and 12 bytes for each weight."""
    right_bytes(case, found)


def other_bytes(coin):
    for stage in (0, 1, 2, 3):
        yield zero(coin, stage, each=(4, 4, 8))
        yield zero(coin, stage, each=(4, 2, 0))
        yield zero(coin, stage, ranks=1)


@lesson.test(ZERO, points=1, cases=other_bytes, hidden=True)
def other_optimisers_and_one_rank(case, found):
    """float32, an optimiser that remembers nothing, one rank: then nothing is shared out, and nothing sent."""
    right_bytes(case, found)
