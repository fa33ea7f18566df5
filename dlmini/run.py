"""`train`: a task, a recipe and a place to run it. The run goes on in the background; iterate it to watch.

run = train(task, Recipe(sync=LocalSGD(4)), on=Simulated(16, gigabit))
for event in run:
    print(event)
run.result().accuracy
"""

from __future__ import annotations

import json
import queue
import threading
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dlmini.comm.launch import launch
from dlmini.events import Event, Measured, Snapshot, as_dict
from dlmini.loop import program
from dlmini.recipe import Recipe


class Stopped(Exception):
    """Raised inside the transport's ear, so that it ends the ranks as it does when somebody interrupts it."""


@dataclass
class Outcome:
    """What a run came to. `seconds` and `phases` are in the transport's own time, virtual or real."""

    recipe: Recipe
    weights: np.ndarray
    measured: list[Measured]
    events: list[Event] = field(repr=False)
    seconds: float = float("nan")  # not known of a run that was stopped
    nbytes: int = 0
    messages: int = 0
    phases: list = field(default_factory=list, repr=False)
    stopped: str = ""  # why it ended early; empty if it did not

    @property
    def accuracy(self) -> float:
        """On the test set, at the last look."""
        return self.measured[-1].accuracy if self.measured else float("nan")

    def save(self, folder) -> Path:
        """events.jsonl, summary.json and weights.npy in `folder`, which must not exist yet."""
        folder = Path(folder)
        folder.mkdir(parents=True)
        rows = (as_dict(e) for e in self.events if not isinstance(e, Snapshot))
        (folder / "events.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        summary = {"recipe": repr(self.recipe), "accuracy": self.accuracy, "seconds": self.seconds}
        summary |= {"bytes": self.nbytes, "messages": self.messages, "stopped": self.stopped}
        (folder / "summary.json").write_text(json.dumps(summary, indent=1), encoding="utf-8")
        np.save(folder / "weights.npy", self.weights)
        return folder


class Run:
    """A training in the background: iterate it for its events, `stop()` it, ask for its `result()`."""

    def __init__(self, task, recipe: Recipe, on, until: float | None = None, patience: int = 0):
        recipe.check(on.size)
        self.task, self.recipe, self.on = task, recipe, on
        self.until, self.patience = until, patience
        self.events, self.measured, self.why, self.weights = [], [], "", task.initial(recipe.seed)
        self._news, self._stop, self._outcome, self._error = queue.SimpleQueue(), threading.Event(), None, None
        self._thread = threading.Thread(target=self._go, name="dlmini run", daemon=True)
        self._thread.start()

    def _go(self) -> None:
        try:
            results = launch(program, on=self.on, args=(self.task, self.recipe), listen=self._hear)
            traffic = results.books.total()
            self._outcome = self._ended(results.seconds, traffic.nbytes, traffic.messages, results.phases)
        except Stopped:
            self._outcome = self._ended()
        except BaseException as error:  # handed to whoever asks for the result
            self._error = error
        finally:
            self._news.put(None)

    def _ended(self, *facts) -> Outcome:
        names = ("seconds", "nbytes", "messages", "phases")
        known = dict(zip(names, facts, strict=False))
        return Outcome(self.recipe, self.weights, self.measured, self.events, stopped=self.why, **known)

    def _hear(self, event: Event) -> None:
        """Every event passes here, in the background; snapshots are tried on the test set."""
        self._keep(event)
        if isinstance(event, Snapshot):
            self.weights = event.weights
            found = self.task.evaluate(event.weights)
            self._keep(Measured(event.t, found["loss"], found["accuracy"], rank=event.rank, at=event.at))
            self.why = self.why or self._enough()
        if self.why or self._stop.is_set():
            self.why = self.why or "somebody stopped it"
            if not (isinstance(event, Snapshot) and event.t == self.recipe.rounds - 1):
                raise Stopped

    def _keep(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, Measured):
            self.measured.append(event)
        self._news.put(event)

    def _enough(self) -> str:
        """Why training may end here, or nothing."""
        last = self.measured[-1]
        if self.until is not None and last.accuracy >= self.until:
            return f"accuracy {self.until:.1%} reached in round {last.t + 1}"
        best = min(range(len(self.measured)), key=lambda i: self.measured[i].loss)
        if self.patience and len(self.measured) - 1 - best >= self.patience:
            return f"the test error has been rising since round {self.measured[best].t + 1}"
        return ""

    def __iter__(self):
        """Events as they come, until the run has ended. Ctrl-C stops the run."""
        try:
            while (event := self._news.get()) is not None:
                yield event
        except KeyboardInterrupt:
            self.stop()
            raise
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """End the run at its next event; what it has learned until its last look is the result."""
        self._stop.set()

    def result(self, timeout: float | None = None) -> Outcome:
        """Wait for the end."""
        try:
            self._thread.join(timeout)
        except KeyboardInterrupt:
            self.stop()
            raise
        if self._thread.is_alive():
            raise TimeoutError(f"the run has not ended within {timeout} s; wait longer, or stop() it")
        if self._error is not None:
            raise self._error
        return self._outcome


def train(task, recipe: Recipe, on, *, until: float | None = None, patience: int = 0) -> Run:
    """Start training `task` by `recipe` on the ranks of `on`.

    It ends after recipe.rounds; or, at a look (recipe.look), when the test accuracy has reached `until`; or when the
    test loss has not fallen for `patience` looks.
    """
    return Run(task, recipe, on, until, patience)
