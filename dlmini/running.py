"""A run in the background: its thread, what it hears, how it ends."""

from __future__ import annotations

import atexit
import threading
import weakref

from dlmini.background import Background, Job
from dlmini.checkpoints import Checkpoints, memories
from dlmini.comm.errors import CommError, Deadlock
from dlmini.comm.launch import launch, takes
from dlmini.events import Checkpoint, Event, Fault, Snapshot
from dlmini.history import History
from dlmini.looks import Looks, nbytes
from dlmini.loop import program as training
from dlmini.outcome import Outcome
from dlmini.recipe import Recipe
from dlmini.task import peers

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
        self.peers = peers(task, on.size)
        recipe.check(self.peers)
        self.task, self.recipe, self.on, self.control = task, recipe, on, control
        self.slices = None
        if hasattr(task, "assembly"):  # one network on several ranks, each of which shows a slice
            task.check(recipe)
            self.slices = task.assembly(recipe)
        self.before = memories(resume, self.peers, recipe, task) if resume else None
        self.checkpoints = Checkpoints(folder, self.peers, recipe, task) if folder else None
        self.history, self._background = History(remember), Background(at_once=getattr(on, "virtual", False))
        self.looks = Looks(task, recipe, self.peers, until, patience, self.history, self._background)
        self.gone = self.looks.gone  # ranks that have died
        self._stop, self._outcome, self._error = threading.Event(), None, None
        self._thread = threading.Thread(target=self._go, name="dlmini run", daemon=True)
        _going.add(self)
        self._thread.start()

    @property
    def events(self) -> list[Event]:
        """What has happened so far; of a long run `remember` rounds, pushes and spans (history.py)."""
        return self.history.since(0)[0]

    def _go(self) -> None:
        recipe, facts, error = self.recipe if self.before is None else self.recipe.resumed(), (), None
        try:
            args = self.task, recipe, self.before
            program = getattr(recipe, "program", training)
            mortals = self._mortals()
            returning = mortals if getattr(recipe, "takes_back", False) else ()
            results = launch(program, self.on, args, self._hear, self.control, mortals, returning)
            self.looks.look_at_last(results)
            self.looks.why = self.looks.why or recipe.why_ended(results)
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
        stopped = isinstance(error, Stopped) or self.looks.enough.is_set()
        if isinstance(error, CommError) and self._stop.is_set():
            stopped = True  # somebody who stops a run may find its ranks waiting for each other
            self.looks.why = self.looks.why or STOPPED
        if error is None or stopped:
            self._outcome = self._ended(*(() if stopped else facts))
        else:
            self._error = error
            if sentence := self.lesson(error):
                error.add_note(sentence)

    def _mortals(self) -> range:
        """The workers that may die."""
        able = self.recipe.survives and takes(self.on, "may_die") and self.peers == self.on.size
        return range(self.recipe.workers(self.peers) if able else 0)

    def lesson(self, error: BaseException) -> str:
        """Of a run that a death has ended: why it could not go on, and which could."""
        if not getattr(error, "died", isinstance(error, Deadlock) and bool(self.gone)):
            return ""
        dead = getattr(error, "rank", max(self.gone, default=0))  # servers come last, and without them nobody goes on
        if self.peers < self.on.size:
            return f"rank {dead} was {self.task.say(dead)}: the others cannot go on without that part of the network"
        if dead >= self.recipe.workers(self.peers):
            return f"rank {dead} is a server, and the weights that it kept are lost with it"
        if self.recipe.survives:
            return "" if self._mortals() else f"{self.recipe} goes on without a dead worker on Processes and Simulated"
        return WAITS.format(dead)

    def _ended(self, *facts) -> Outcome:
        names = ("seconds", "nbytes", "messages", "phases")
        known = dict(zip(names, facts, strict=False))
        return Outcome(
            self.recipe, self.looks.weights, self.looks.measured, self.events, stopped=self.looks.why, **known
        )

    def _hear(self, event: Event) -> None:
        """Every event passes here, in the background. Nothing here takes long."""
        if isinstance(event, Checkpoint | Snapshot):
            for whole in [event] if self.slices is None else self.slices.hear(event):
                self._keep(whole) if isinstance(whole, Checkpoint) else self.looks.hear(whole)
        else:
            self.history.add(event)
            if isinstance(event, Fault) and event.deadly:
                self._go_on_without(event)
            elif isinstance(event, Fault) and event.kind == "returned":
                self.gone.discard(event.rank)
        last = isinstance(event, Snapshot) and event.t == self.recipe.rounds - 1  # all is done anyway
        if self.looks.enough.is_set() or self._background.error or (self._stop.is_set() and not last):
            self.looks.why = self.looks.why or STOPPED
            raise Stopped

    def _keep(self, event: Checkpoint) -> None:
        if self.checkpoints is not None and self.gone.isdisjoint(self.recipe.keepers(self.on.size)):
            self._background.give(Job(lambda: self.checkpoints.hear(event), nbytes(event.memory.values())))

    def _go_on_without(self, fault: Fault) -> None:
        """A rank has died: whoever wants checkpoints hears that there will be no more."""
        keepers = self.recipe.keepers(self.on.size)
        if self.checkpoints is not None and fault.rank in keepers and self.gone.isdisjoint(keepers):
            self.history.add(Fault("unkept", UNKEPT.format(fault.rank), rank=fault.rank, at=fault.at))
        self.looks.go_on_without(fault.rank)

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
