"""What a dashboard knows of one run: events go in, a few hundred points and some totals come out. No widgets here.

A run may say thousands of things a second, and nobody can see more than a few hundred points in a curve: so losses are
averaged over `every` rounds of all workers, at first one; whenever a curve has become too long, it is halved and
`every` doubled. What a picture needs besides are totals.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence

import numpy as np

from dlmini.events import PHASES, Event, Fault, Measured, Portion, Round, Served, Spread

POINTS = 300  # in a curve of losses at least, once there are as many; twice as many at most
WINDOW = 12  # looks over which the bars show where time goes now
CURVES = ("loss", "accuracy", "spread")
FATES = ("handed", "copied", "counted", "dropped", "lost")  # of a portion of Sandblaster
Row = tuple[float, float, float, float]  # rounds, seconds and megabytes so far, and the value


class Board:
    """One run as it is drawn. `take` events; `news` are the points that came since it was asked last.

    others: what ranks are called that are no workers; servers, if nobody says. teller: the rank that alone tells the
    loss of a round, where there is one (a coordinator).
    """

    def __init__(self, ranks: int, workers: int, rounds: int, others: Sequence[str] = (), teller: int | None = None):
        self.ranks, self.workers, self.rounds, self.teller = ranks, workers, rounds, teller
        self.others = list(others) or [f"server {rank}" for rank in range(workers, ranks)]
        self.every = 1  # rounds of a point
        self.curves: dict[str, list[Row]] = {name: [] for name in CURVES}
        self.phases = np.zeros((ranks, len(PHASES) + 1))  # seconds so far, by name; the last are those without one
        self.sent, self.messages = np.zeros(ranks, np.int64), np.zeros(ranks, np.int64)
        self.done = np.zeros(ranks, np.int64)  # rounds that each worker has ended
        self.alive = np.ones(workers, bool)  # workers that have not died
        self.seconds, self.staleness, self.portions, self.faults = 0.0, Counter(), Counter(), []
        self.zero: float | None = None  # when the first rank began its first round: getting ready is not training
        self._ready: dict[int, float] = {}  # when each rank began; seconds for which somebody held the run do not count
        self._held = 0.0
        self._heard: list[Round] = []
        self._told = dict.fromkeys(CURVES, 0)
        self._before: deque[np.ndarray] = deque([self.phases.copy()], WINDOW)

    # ---- events go in ----

    def take(self, events: Iterable[Event]) -> None:
        for event in sorted(events, key=lambda event: event.at):  # ranks tell theirs in parcels
            if self.zero is None and isinstance(event, Round):
                self.zero = event.at - spent(event)
            self.seconds = max(self.seconds, event.at - (self.zero or 0.0))
            if isinstance(event, Round | Served) and event.phases is not None:
                self._book(event)
            if isinstance(event, Round):
                self._learn(event)
            elif isinstance(event, Measured):
                self._point("accuracy", event.t + 1, event.accuracy)
            elif isinstance(event, Spread):
                self._point("spread", event.t + 1, event.distance)
            elif isinstance(event, Served):
                self.staleness[event.staleness] += 1
            elif isinstance(event, Portion):
                self.portions[event.what] += 1
            elif isinstance(event, Fault):
                self._break(event)
        if not np.array_equal(self._before[-1], self.phases):
            self._before.append(self.phases.copy())

    def _break(self, event: Fault) -> None:
        self.faults.append(event)
        if event.fateful and event.rank < self.workers:
            self.alive[event.rank] = not event.deadly

    def _book(self, event: Round | Served) -> None:
        """Seconds add up: what is neither work nor messages (batches, steps, showing weights) is the rest."""
        named, now = spent(event), event.at - self._held
        rest = now - self._ready.setdefault(event.rank, now - named) - named
        self.phases[event.rank] = [*(getattr(event.phases, phase) for phase in PHASES), max(0.0, rest)]
        self.sent[event.rank], self.messages[event.rank] = event.sent, event.messages

    def _learn(self, event: Round) -> None:
        """A point for `every` rounds of all workers, in the order in which they come."""
        self.done[event.rank] = event.t + 1
        if self.teller is not None:
            if event.rank == self.teller:
                self._point("loss", event.t + 1, event.loss)
            return
        self._heard.append(event)
        done = self.living
        if len(self._heard) >= len(done) * self.every or done.min(initial=self.rounds) >= self.rounds:
            known = [heard.loss for heard in self._heard if not np.isnan(heard.loss)]
            if known:  # a pipeline that is never flushed tells no loss while it fills
                self._point("loss", done.mean(), float(np.mean(known)))
            self._heard = []

    @property
    def living(self) -> np.ndarray:
        """Rounds that each worker has ended, of those who live; if none does, of all."""
        done = self.done[: self.workers]
        return done[self.alive] if self.alive.any() else done

    @property
    def gone(self) -> list[int]:
        """Workers that have died."""
        return np.flatnonzero(~self.alive).tolist()

    def missing(self) -> str:
        """Who is gone, and how many go on, as a sentence; empty if all live."""
        if not self.gone:
            return ""
        names, left = " and ".join(f"rank {rank}" for rank in self.gone), int(self.alive.sum())
        rest = "nobody goes on" if not left else "1 worker goes on" if left == 1 else f"{left} workers go on"
        return f"{names.capitalize()} {'is' if len(self.gone) == 1 else 'are'} gone; {rest}."

    def _point(self, curve: str, rounds: float, value: float) -> None:
        self.curves[curve].append((rounds, self.seconds, self.nbytes / 1e6, value))

    def skip(self, seconds: float) -> None:
        """So long nothing happened, because somebody held the run: what follows is drawn as if no time had passed."""
        self.zero = (self.zero or 0.0) + seconds
        self._held += seconds

    # ---- pictures come out ----

    @property
    def nbytes(self) -> int:
        return int(self.sent.sum())

    def news(self) -> dict[str, np.ndarray]:
        """The points of each curve that were not told yet."""
        found = {name: np.array(rows[self._told[name] :], np.float32) for name, rows in self.curves.items()}
        if len(self.curves["loss"]) >= 2 * POINTS:
            self._thin()
        self._told = {name: len(rows) for name, rows in self.curves.items()}
        return {name: rows for name, rows in found.items() if len(rows)}

    def _thin(self) -> None:
        """Half as many points: the means of two."""
        rows = self.curves["loss"]
        pairs = np.array(rows[: len(rows) // 2 * 2]).reshape(-1, 2, 4).mean(1)
        self.curves["loss"] = [*map(tuple, pairs.tolist()), *rows[len(rows) // 2 * 2 :]]
        self.every *= 2

    def everything(self) -> dict[str, np.ndarray]:
        """All points, for a page that is new or was reloaded."""
        return {name: np.array(rows, np.float32) for name, rows in self.curves.items() if rows}

    def shares(self, whole: bool = False) -> np.ndarray:
        """Seconds per rank and phase, and without a name: of the last looks, or of the whole run."""
        return self.phases if whole else np.maximum(0.0, self.phases - self._before[0])

    def facts(self, whole: bool = False) -> dict:
        """All that is not a curve, as plain numbers."""
        return {
            "phases": self.shares(whole).tolist(),
            "round": int(self.done.max()),
            "slowest": int(self.living.min()),
            "rounds": self.rounds,
            "workers": self.workers,
            "seconds": self.seconds,
            "nbytes": self.nbytes,
            "messages": int(self.messages.sum()),
            "staleness": sorted(self.staleness.items()),
            "portions": {what: self.portions[what] for what in FATES if self.portions[what]},
            "others": self.others,
            "teller": self.teller,
            "accuracy": self.curves["accuracy"][-1][3] if self.curves["accuracy"] else None,
            "gone": self.gone,
        }


def spent(event: Round | Served) -> float:
    """Seconds that a rank has been at it, as far as its books say."""
    return sum(getattr(event.phases, phase) for phase in PHASES) if event.phases is not None else 0.0
