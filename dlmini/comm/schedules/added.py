"""`added`: the reader of a plan that only adds, for all ranks at once: the same bits as `play`, without a message."""

from __future__ import annotations

import numpy as np

from dlmini.comm.schedules.step import NOBODY, Plan, cut


def added(plan: Plan, xs: list[np.ndarray]) -> np.ndarray:
    """The sum of the vectors, every number added in the plan's own order. Costs N - 1 additions per number.

    Steps that only pass on what is already added are skipped: they change nobody's bits.
    """
    places = chunk_places(plan, len(xs[0]))
    table = np.zeros((plan.size, len(xs[0]) + 1), xs[0].dtype)  # one number more: where short chunks are padded from
    table[:, :-1] = xs
    table = table[:, places]
    for step in plan.steps(np.arange(plan.size)):
        if step.add:
            _add_step(table, step)
    total = np.empty(len(xs[0]) + 1, xs[0].dtype)
    total[places] = table[plan.home, np.arange(plan.chunks)]
    return total[:-1]


def chunk_places(plan: Plan, length: int) -> np.ndarray:
    """Row c: the places of chunk c's numbers in the vector, padded to equal length with the place behind its end."""
    edges = cut(length, plan.chunks)
    part = np.arange(plan.chunks) if plan.owner is None else plan.owner
    begin, end = edges[part, None], edges[part + 1, None]
    places = begin + np.arange(max(1, (end - begin).max(initial=0)))
    return np.where(places < end, places, length)


def _add_step(table: np.ndarray, step) -> None:
    """All that is sent in a step is sent before anything is added."""
    who = np.flatnonzero(step.source != NOBODY)
    source, into, count = step.source[who], step.into[who], (step.end - step.into)[who]
    moves = []
    for n in np.unique(count):
        j = np.flatnonzero(count == n)[:, None]
        chunks = into[j] + np.arange(n)
        moves.append((who[j], chunks, table[source[j], chunks]))
    for ranks, chunks, parts in moves:
        table[ranks, chunks] += parts
