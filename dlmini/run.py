"""`train`: a task, a recipe and a place to run it. The run goes on in the background; iterate it to watch.

run = train(task, Recipe(sync=LocalSGD(4)), on=Simulated(16, gigabit))
for event in run:
    print(event)
run.result().accuracy
"""

from __future__ import annotations

import queue
import threading
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

from dlmini.checkpoints import Checkpoints, memories
from dlmini.checks import piece, real, refuse, whole
from dlmini.comm.errors import CommError
from dlmini.comm.launch import check_transport, launch
from dlmini.events import Checkpoint, Event, Measured, Snapshot, Spread
from dlmini.loop import program
from dlmini.outcome import Outcome
from dlmini.recipe import Recipe
from dlmini.topology import consensus_distance


class Stopped(Exception):
    """Raised inside the transport's ear, so that it ends the ranks as it does when somebody interrupts it."""


class Run:
    """A training in the background: iterate it for its events, `stop()` it, ask for its `result()`."""

    def __init__(self, task, recipe: Recipe, on, until=None, patience=0, folder=None, resume=None, control=None):
        recipe.check(on.size)
        for doubt in recipe.doubts(on.size):
            warnings.warn(doubt, stacklevel=3)
        self.task, self.recipe, self.on = task, recipe, on
        self.until, self.patience, self.control = until, patience, control
        self.before = memories(resume, on.size, recipe, task) if resume else None
        self.checkpoints = Checkpoints(folder, on.size, recipe, task) if folder else None
        self._shown = {}  # round -> the weights that workers have shown
        self.events, self.measured, self.why, self.weights = [], [], "", task.initial(recipe.seed)
        self._news, self._stop, self._outcome, self._error = queue.SimpleQueue(), threading.Event(), None, None
        self._thread = threading.Thread(target=self._go, name="dlmini run", daemon=True)
        self._thread.start()

    def _go(self) -> None:
        recipe = self.recipe if self.before is None else joined(self.recipe)
        try:
            results = launch(program, self.on, (self.task, recipe, self.before), self._hear, self.control)
            traffic = results.books.total()
            self._outcome = self._ended(results.seconds, traffic.nbytes, traffic.messages, results.phases)
        except Stopped:
            self._outcome = self._ended()
        except CommError as error:  # somebody who stops a run may find its ranks waiting for each other
            if self._stop.is_set():
                self.why = self.why or "somebody stopped it"
                self._outcome = self._ended()
            else:
                self._error = error
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
        if isinstance(event, Checkpoint):
            self.checkpoints and self.checkpoints.hear(event)
        elif isinstance(event, Snapshot):
            self._look(event)
        else:
            self._keep(event)
        if self.why or self._stop.is_set():
            self.why = self.why or "somebody stopped it"
            if not (isinstance(event, Snapshot) and event.t == self.recipe.rounds - 1):  # all is done anyway
                raise Stopped

    def _look(self, event: Snapshot) -> None:
        """Try what worker 0 shows; where everyone does, the mean of all, once the last has come."""
        if not self.recipe.everyone:
            self._try(event.weights, event)
            return
        shown = self._shown.setdefault(event.t, [])
        shown.append(event.weights)
        if len(shown) == self.recipe.workers(self.on.size):
            del self._shown[event.t]
            self._keep(Spread(event.t, consensus_distance(shown), rank=event.rank, at=event.at))
            self._try(np.mean(shown, axis=0), event)

    def _try(self, weights: np.ndarray, event: Snapshot) -> None:
        self.weights = weights
        found = self.task.evaluate(weights)
        self._keep(Measured(event.t, found["loss"], found["accuracy"], rank=event.rank, at=event.at))
        self.why = self.why or self._enough()

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
        if self.control is not None:
            self.control.stop()

    @property
    def over(self) -> bool:
        return not self._thread.is_alive()

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


def joined(recipe: Recipe) -> Recipe:
    """The recipe of workers that have all joined already."""
    return replace(recipe, sync=replace(recipe.sync, warm_start=0)) if recipe.sync.warm_start else recipe


def train(
    task, recipe: Recipe, on, *, epochs=None, until=None, patience=0, folder=None, resume=None, control=None
) -> Run:
    """Start training `task` by `recipe` on the ranks of `on`.

    It ends after recipe.rounds, or after so many `epochs`; or, at a look (recipe.look), when the test accuracy has
    reached `until`; or when the test loss has not fallen for `patience` looks.
    With Recipe(keep=k) checkpoints go to `folder` every k rounds; `resume` goes on from one, or from a folder's newest.
    control: a `Control(on.size)` to pause, step, slow, cut and kill while it runs.
    """
    check_asked(task, recipe, on, until, patience, folder, resume)
    if epochs is not None:
        recipe = recipe.lasting(task.steps(epochs, recipe.workers(on.size)))
    return Run(task, recipe, on, until, patience, folder, resume, control)


def check_asked(task, recipe, on, until, patience, folder, resume) -> None:
    """Refuse what `train` cannot do, before anything is started."""
    piece(task, "task", ("loss_and_grad", "initial", "batches"), "a task: Classify(model, train, test)")
    piece(recipe, "recipe", ("sync", "topology", "rounds"), "a Recipe(...)")
    check_transport(on)
    if until is not None:
        real(until, "until", above=0, most=1, hint="a test accuracy")
    whole(patience, "patience", 0, hint="looks at the test set")
    for name, path in (("folder", folder), ("resume", resume)):
        if path is not None and not (isinstance(path, str | Path) and str(path)):
            refuse(TypeError, name, path, "a path, or None")
    if recipe.keep and folder is None and resume is None:
        raise ValueError(f"keep={recipe.keep} makes checkpoints, but there is no place for them; give train a folder=")
    if folder is not None and not recipe.keep:
        raise ValueError(f"folder={str(folder)!r} is for checkpoints, but none are made; give Recipe(keep=...) rounds")
