"""Looks at the test set: which weights are tried, when, and whether what they reach is enough."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np

from dlmini.background import ROOM, Background, Job
from dlmini.events import Measured, Snapshot, Spread
from dlmini.history import History
from dlmini.recipe import Recipe
from dlmini.topology import consensus_distance


class Looks:
    """What workers show is tried, in the background; where everyone shows, the mean of all, once the last has come.

    gone        ranks that have died: nobody waits for what they would have shown
    shown       round -> what workers have shown, by rank; `latest` is the last round that was seen
    pieces      round -> what has come of a vector that several ranks show together
    measured    what was found, look after look; `weights` are those of the last one
    why, enough the reason for which training may end, and that it should
    Weights are forgotten as soon as they were tried. On real machines ranks go on meanwhile; in virtual time a look
    takes no time.
    """

    def __init__(self, task, recipe: Recipe, size: int, until, patience: int, history: History, background: Background):
        self.task, self.recipe, self.workers = task, recipe, recipe.workers(size)
        self.until, self.patience = until, patience
        self.history, self.background = history, background
        self.gone: set[int] = set()
        self.shown: dict[int, dict[int, Snapshot]] = {}
        self.pieces: dict[int, dict[int, np.ndarray]] = {}
        self.latest, self.best = -1, 0  # best: the number of the look with the lowest loss
        self.measured, self.weights = [], task.initial(recipe.seed)
        self.why, self.enough = "", threading.Event()

    def hear(self, event: Snapshot) -> None:
        """Let what the first worker shows be tried; where everyone does, the mean of all, once the last has come."""
        if event.part is not None:
            event = self._joined(event)
            if event is None:
                return
        if event.t > self.latest or self.recipe.all_workers:  # who takes over from a dead one may be behind it
            self.shown.setdefault(event.t, {})[event.rank] = event
            self._try_shown(event.t)

    def _joined(self, event: Snapshot) -> Snapshot | None:
        """The whole vector, once the last of its pieces has come; until then nothing."""
        number, count = event.part
        pieces = self.pieces.setdefault(event.t, {})
        pieces[number] = event.weights
        if len(pieces) < count:
            return None
        del self.pieces[event.t]
        return replace(event, weights=np.concatenate([pieces[number] for number in range(count)]), part=None)

    def go_on_without(self, rank: int) -> None:
        """A rank has died. What the others have shown may now be all that will be."""
        self.gone.add(rank)
        for t in sorted(self.shown):
            self._try_shown(t)

    def go_back(self, done: int) -> None:
        """All begin again after so many rounds: what was shown beyond them will be shown again."""
        self.latest = min(self.latest, done - 1)
        self.shown.clear()
        self.pieces.clear()

    def look_at_last(self, results) -> None:
        """If who should have shown the final weights died before: what the first of the others came to."""
        first = min(set(range(self.workers)) - self.gone, default=None)
        if self.gone and self.latest < self.recipe.rounds - 1 and first is not None and results[first] is not None:
            self.hear(Snapshot(self.recipe.rounds - 1, results[first], rank=first, at=results.seconds))

    def _try_shown(self, t: int) -> None:
        found = self.shown[t]
        if not self.recipe.all_workers or self.gone.union(found).issuperset(range(self.workers)):
            del self.shown[t]
            *_, event = found.values()
            shown = [found[rank].weights for rank in sorted(found)]  # whoever came last: the same mean, to the bit
            place, self.latest = self.history.reserve(), max(t, self.latest)
            self.background.give(
                Job(lambda: self._try(shown, event, place), nbytes(shown), lambda: self.history.fill(place))
            )
        elif len(self.shown) > 1 and sum(held(found) for found in self.shown.values()) > ROOM:
            del self.shown[min(self.shown)]  # somebody is far behind

    def _try(self, shown: list[np.ndarray], event: Snapshot, place: int) -> None:
        """A look at the test set: is it enough?"""
        if self.enough.is_set():
            return
        stamp = {"rank": event.rank, "at": event.at}
        news = [Spread(event.t, consensus_distance(shown), **stamp)] if self.recipe.all_workers else []
        weights = np.mean(shown, axis=0) if self.recipe.all_workers else shown[0]
        found = self.task.evaluate(weights)
        self.weights = weights
        self.measured.append(Measured(event.t, found["loss"], found["accuracy"], **stamp))
        reason = self._reason()
        last = bool(reason) and not self.why and event.t < self.recipe.rounds - 1
        self.why = self.why or reason
        self.history.fill(place, [*news, self.measured[-1]], last)
        if last:
            self.enough.set()

    def _reason(self) -> str:
        """Why training may end here, or nothing."""
        last, number = self.measured[-1], len(self.measured) - 1
        if last.loss < self.measured[self.best].loss:
            self.best = number
        if self.until is not None and last.accuracy >= self.until:
            return f"accuracy {self.until:.1%} reached in round {last.t + 1}"
        if self.patience and number - self.best >= self.patience:
            return f"the test error has been rising since round {self.measured[self.best].t + 1}"
        return ""


def nbytes(arrays) -> int:
    return sum(array.nbytes for array in arrays)


def held(found: dict[int, Snapshot]) -> int:
    return nbytes(event.weights for event in found.values())
