"""`train`: a task, a recipe and a place to run it. The run goes on in the background; iterate it to watch.

run = train(task, Recipe(sync=LocalSGD(4)), on=Simulated(16, gigabit))
for event in run:
    print(event)
run.result().accuracy
"""

from __future__ import annotations

import atexit
import threading
import warnings
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np

from dlmini.background import ROOM, Background, Job
from dlmini.checkpoints import Checkpoints, memories
from dlmini.checks import piece, real, refuse, whole
from dlmini.comm.errors import CommError, Deadlock
from dlmini.comm.launch import check_transport, launch, takes
from dlmini.events import Checkpoint, Event, Fault, Measured, Snapshot, Spread
from dlmini.history import History
from dlmini.loop import program
from dlmini.outcome import Outcome
from dlmini.recipe import Recipe
from dlmini.topology import consensus_distance

REMEMBERED = 50_000  # rounds, pushes and spans, of all ranks together: about 20 MB
STOPPED = "somebody stopped it"
UNKEPT = "rank {} is gone, and no run could go on from a checkpoint without it: no more are made"
WAITS = (
    "rank {} has died, and this recipe waits for everybody; asynchronous, stale-synchronous and Downpour training with "
    "a server, gossip and asynchronous gossip go on without a dead worker"
)
PATIENCE = 30.0  # seconds for runs to end when Python does
_going: weakref.WeakSet[Run] = weakref.WeakSet()


class Stopped(Exception):
    """Raised inside the transport's ear, so that it ends the ranks as it does when somebody interrupts it."""


class Run:
    """A training in the background: iterate it for its events, `stop()` it, ask for its `result()`.

    `events` are those so far, in an order that is the same for all who look, at whatever time (history.py): Measured
    follows what was told before its snapshot, and comes before all that was told after it. Weights are forgotten as
    soon as they were tried. Ranks never wait for that (background.py); so on real machines they may have gone on for a
    while when a look ends the run, and what they told meanwhile is left out. In virtual time a look takes no time.

    Where the recipe survives it, workers that die are `gone`, and the others go on (Mpi alone ends with the first). The
    first of those who live then shows its weights. A checkpoint without the dead could not be resumed, so none is made.
    """

    def __init__(
        self,
        task,
        recipe: Recipe,
        on,
        until=None,
        patience=0,
        folder=None,
        resume=None,
        control=None,
        remember=REMEMBERED,
    ):
        recipe.check(on.size)
        self.task, self.recipe, self.on = task, recipe, on
        self.until, self.patience, self.control = until, patience, control
        self.before = memories(resume, on.size, recipe, task) if resume else None
        self.checkpoints = Checkpoints(folder, on.size, recipe, task) if folder else None
        self.history, self._background = History(remember), Background(at_once=getattr(on, "virtual", False))
        self.gone: set[int] = set()  # ranks that have died
        self._shown, self._latest = {}, -1  # round -> what workers have shown, by rank; the last round that was seen
        self.measured, self.why, self.weights, self._best = [], "", task.initial(recipe.seed), 0
        self._stop, self._enough, self._outcome, self._error = threading.Event(), threading.Event(), None, None
        self._thread = threading.Thread(target=self._go, name="dlmini run", daemon=True)
        _going.add(self)
        self._thread.start()

    @property
    def events(self) -> list[Event]:
        """What has happened so far; of a long run `remember` rounds, pushes and spans (history.py)."""
        return self.history.since(0)[0]

    def _go(self) -> None:
        recipe, facts, error = self.recipe if self.before is None else joined(self.recipe), (), None
        try:
            args = self.task, recipe, self.before
            results = launch(program, self.on, args, self._hear, self.control, self._mortals())
            self._look_at_last(results)
            traffic = results.books.total()
            facts = results.seconds, traffic.nbytes, traffic.messages, results.phases
        except BaseException as raised:  # handed to whoever asks for the result
            error = raised
        try:
            self._background.finish(drop=error is not None)  # who stops a run, or breaks it, does not wait for looks
        except BaseException as raised:
            error = raised
        self.history.close()
        self._end(facts, error)

    def _end(self, facts: tuple, error: BaseException | None) -> None:
        stopped = isinstance(error, Stopped) or self._enough.is_set()
        if isinstance(error, CommError) and self._stop.is_set():
            stopped = True  # somebody who stops a run may find its ranks waiting for each other
            self.why = self.why or STOPPED
        if error is None or stopped:
            self._outcome = self._ended(*(() if stopped else facts))
        else:
            self._error = error
            if sentence := self.lesson(error):
                error.add_note(sentence)

    def _mortals(self) -> range:
        """The workers that may die."""
        able = self.recipe.survives and takes(self.on, "may_die")
        return range(self.recipe.workers(self.on.size) if able else 0)

    def lesson(self, error: BaseException) -> str:
        """Of a run that a death has ended: why it could not go on, and which could."""
        if not getattr(error, "died", isinstance(error, Deadlock) and bool(self.gone)):
            return ""
        dead = getattr(error, "rank", max(self.gone, default=0))  # servers come last, and without them nobody goes on
        if dead >= self.recipe.workers(self.on.size):
            return f"rank {dead} is a server, and the weights that it kept are lost with it"
        if self.recipe.survives:
            return "" if self._mortals() else f"{self.recipe} goes on without a dead worker on Processes and Simulated"
        return WAITS.format(dead)

    def _ended(self, *facts) -> Outcome:
        names = ("seconds", "nbytes", "messages", "phases")
        known = dict(zip(names, facts, strict=False))
        return Outcome(self.recipe, self.weights, self.measured, self.events, stopped=self.why, **known)

    def _hear(self, event: Event) -> None:
        """Every event passes here, in the background. Nothing here takes long."""
        if isinstance(event, Checkpoint):
            self._keep(event)
        elif isinstance(event, Snapshot):
            self._look(event)
        else:
            self.history.add(event)
            if isinstance(event, Fault) and event.deadly:
                self._go_on_without(event)
        last = isinstance(event, Snapshot) and event.t == self.recipe.rounds - 1  # all is done anyway
        if self._enough.is_set() or self._background.error or (self._stop.is_set() and not last):
            self.why = self.why or STOPPED
            raise Stopped

    def _keep(self, event: Checkpoint) -> None:
        if self.checkpoints is not None and not self.gone:
            self._background.give(Job(lambda: self.checkpoints.hear(event), nbytes(event.memory.values())))

    def _go_on_without(self, fault: Fault) -> None:
        """A rank has died. What the others have shown may now be all that will be."""
        self.gone.add(fault.rank)
        if self.checkpoints is not None and len(self.gone) == 1:
            self.history.add(Fault("unkept", UNKEPT.format(fault.rank), rank=fault.rank, at=fault.at))
        for t in sorted(self._shown):
            self._try_shown(t)

    def _look(self, event: Snapshot) -> None:
        """Let what the first worker shows be tried; where everyone does, the mean of all, once the last has come."""
        if event.t > self._latest or self.recipe.all_workers:  # who takes over from a dead one may be behind it
            self._shown.setdefault(event.t, {})[event.rank] = event
            self._try_shown(event.t)

    def _try_shown(self, t: int) -> None:
        found, workers = self._shown[t], self.recipe.workers(self.on.size)
        if not self.recipe.all_workers or self.gone.union(found).issuperset(range(workers)):
            del self._shown[t]
            *_, event = found.values()
            shown = [found[rank].weights for rank in sorted(found)]  # whoever came last: the same mean, to the bit
            place, self._latest = self.history.reserve(), max(t, self._latest)
            self._background.give(
                Job(lambda: self._try(shown, event, place), nbytes(shown), lambda: self.history.fill(place))
            )
        elif len(self._shown) > 1 and sum(held(found) for found in self._shown.values()) > ROOM:
            del self._shown[min(self._shown)]  # somebody is far behind

    def _look_at_last(self, results) -> None:
        """If who should have shown the final weights died before: what the first of the others came to."""
        if self.gone and self._latest < self.recipe.rounds - 1:
            first = min(set(range(self.recipe.workers(self.on.size))) - self.gone)
            self._look(Snapshot(self.recipe.rounds - 1, results[first], rank=first, at=results.seconds))

    def _try(self, shown: list[np.ndarray], event: Snapshot, place: int) -> None:
        """A look at the test set: is it enough?"""
        if self._enough.is_set():
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
            self._enough.set()

    def _reason(self) -> str:
        """Why training may end here, or nothing."""
        last, number = self.measured[-1], len(self.measured) - 1
        if last.loss < self.measured[self._best].loss:
            self._best = number
        if self.until is not None and last.accuracy >= self.until:
            return f"accuracy {self.until:.1%} reached in round {last.t + 1}"
        if self.patience and number - self._best >= self.patience:
            return f"the test error has been rising since round {self.measured[self._best].t + 1}"
        return ""

    def __iter__(self):
        """Events from the first on, waiting for those to come, until the run has ended. Ctrl-C stops the run."""
        try:
            yield from self.history
            self._thread.join()
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


@atexit.register
def end_runs() -> None:
    """When Python ends, so do its runs, before their threads are cut off: greenlets cut off would abort the process."""
    going = [run for run in _going if not run.over]
    for run in going:
        run.stop()
    for run in going:
        run._thread.join(PATIENCE)


def joined(recipe: Recipe) -> Recipe:
    """The recipe of workers that have all joined already."""
    return replace(recipe, sync=replace(recipe.sync, warm_start=0)) if recipe.sync.warm_start else recipe


def nbytes(arrays) -> int:
    return sum(array.nbytes for array in arrays)


def held(found: dict[int, Snapshot]) -> int:
    return nbytes(event.weights for event in found.values())


def train(
    task,
    recipe: Recipe,
    on,
    *,
    epochs=None,
    until=None,
    patience=0,
    folder=None,
    resume=None,
    control=None,
    remember=REMEMBERED,
) -> Run:
    """Start training `task` by `recipe` on the ranks of `on`.

    It ends after recipe.rounds, or after so many `epochs`; or, when weights are tried (recipe.evaluate_every) and the
    test accuracy has reached `until`; or when the test loss has not fallen for `patience` trials. Trials are made in
    order; on real machines some are passed over if ranks are so much faster that 256 MB of weights wait.
    With Recipe(checkpoint_every=k) checkpoints go to `folder` every k rounds; `resume` goes on from one, or from a
    folder's newest.
    control: a `Control(on.size)` to pause, step, slow, cut and kill while it runs.
    remember: of how many rounds, pushes and spans the run keeps the events; older ones are thinned beyond that.
    """
    check_asked(task, recipe, on, until, patience, folder, resume, remember)
    if epochs is not None:
        recipe = recipe.lasting(task.steps(epochs, recipe.workers(on.size)))
    recipe.check(on.size)
    for doubt in recipe.doubts(on.size):
        warnings.warn(doubt, stacklevel=2)
    return Run(task, recipe, on, until, patience, folder, resume, control, remember)


def check_asked(task, recipe, on, until, patience, folder, resume, remember) -> None:
    """Refuse what `train` cannot do, before anything is started."""
    piece(task, "task", ("loss_and_grad", "initial", "batches"), "a task: Classify(model, train, test)")
    piece(recipe, "recipe", ("sync", "topology", "rounds"), "a Recipe(...)")
    check_transport(on)
    if until is not None:
        real(until, "until", above=0, hint="a test accuracy; above 1 it is never reached")
    whole(patience, "patience", 0, hint="looks at the test set")
    whole(remember, "remember", 1, hint="rounds, pushes and spans whose events are kept")
    for name, path in (("folder", folder), ("resume", resume)):
        if path is not None and not (isinstance(path, str | Path) and str(path)):
            refuse(TypeError, name, path, "a path, or None")
    if recipe.checkpoint_every and folder is None and resume is None:
        raise ValueError(
            f"checkpoint_every={recipe.checkpoint_every} makes checkpoints, but there is no place for them; "
            "give train a folder="
        )
    if folder is not None and not recipe.checkpoint_every:
        raise ValueError(
            f"folder={str(folder)!r} is for checkpoints, but none are made; give Recipe(checkpoint_every=...) rounds"
        )
