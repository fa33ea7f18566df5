"""A run in the background: its thread, what it hears, how it ends."""

from __future__ import annotations

import atexit
import threading
import weakref

from dlmini.attempts import Attempts
from dlmini.background import Background, Job
from dlmini.checkpoints import Checkpoints, memories
from dlmini.comm.errors import CommError, Deadlock
from dlmini.comm.launch import launch, takes
from dlmini.events import Checkpoint, Event, Fault, Round, Snapshot
from dlmini.history import History
from dlmini.looks import Looks, nbytes
from dlmini.loop import program as training
from dlmini.outcome import Outcome
from dlmini.recipe import Recipe
from dlmini.task import grouped, peers
from dlmini.trackers import Tracking

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
    Where a rank is lost that the others need, all begin again from the last checkpoint, `restarts` times at most.
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
        restarts=0,
        tracker=None,
    ):
        self.peers = peers(task, on.size, recipe)
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
        self.latest = -1  # the last round that a rank has ended
        self.attempts = Attempts(on, restarts)
        self._tracking = None if tracker is None else Tracking(tracker, self.history)
        self._stop, self._outcome, self._error = threading.Event(), None, None
        self._at_end = threading.Event()
        self._thread = threading.Thread(target=self._live, name="dlmini run", daemon=True)
        _going.add(self)
        self._thread.start()

    @property
    def events(self) -> list[Event]:
        """What has happened so far; of a long run `remember` rounds, pushes and spans (history.py)."""
        return self.history.since(0)[0]

    def _go(self) -> None:
        facts, error = (), None
        try:
            while not facts:
                facts = self._launch()
        except BaseException as raised:  # handed to whoever asks for the result
            error = raised
        try:
            self._background.finish(drop=error is not None)  # who stops a run, or breaks it, does not wait for looks
        except BaseException as raised:
            error = raised
        self.history.close()
        if self._tracking is not None:
            self._tracking.join()
        self._end(facts, error)

    def _launch(self) -> tuple:
        """All ranks, to their end: what it came to. Nothing if they are to begin again, from the last checkpoint."""
        recipe = self.recipe if self.before is None else self.recipe.resumed()
        program, mortals = getattr(recipe, "program", training), self._mortals()
        returning = mortals if getattr(recipe, "takes_back", False) and not grouped(self.task) else ()
        args = self.task, recipe, self.before
        try:
            results = launch(program, self.attempts.place, args, self._hear, self.control, mortals, returning)
        except CommError as error:
            if self._stop.is_set() or not self.attempts.left or not self._lost(error):
                raise
            self._restore(self._lost(error))
            return ()
        self.looks.look_at_last(results)
        self.looks.why = self.looks.why or recipe.why_ended(results)
        traffic = results.books.total()
        return self.attempts.total(results.seconds, traffic.nbytes, traffic.messages, results.phases)

    def _lost(self, error: BaseException) -> list[int]:
        """The ranks whose death has ended a launch."""
        lost = self.gone.difference(self._mortals()) if isinstance(error, Deadlock) else set()
        return sorted(lost | ({error.rank} if getattr(error, "died", False) else set()))

    def _restore(self, lost: list[int]) -> None:
        """Ranks are lost without which the others cannot go on: all do from the last checkpoint, or from the start."""
        self._background.settle()
        kept = self.checkpoints.written
        self.before = kept and memories(kept, self.peers, self.recipe, self.task)
        done = int(self.before[0]["t"]) + 1 if kept else 0
        self.attempts.failed()
        names, rounds = " and ".join(f"rank {rank}" for rank in lost), max(0, self.latest + 1 - done)
        said = f"{names} {'was' if len(lost) == 1 else 'were'} lost: all go on from "
        said += f"the checkpoint after round {done}" if kept else "the first weights, for there is no checkpoint yet"
        said += f"; {rounds} round{'s' * (rounds != 1)} that followed {'is' if rounds == 1 else 'are'} done again"
        self.history.add(Fault("restored", said, rank=lost[0], at=self.attempts.before))
        self.gone.clear()
        self.looks.go_back(done)

    def _end(self, facts: tuple, error: BaseException | None) -> None:
        stopped = isinstance(error, Stopped) or self.looks.enough.is_set()
        if isinstance(error, CommError) and self._stop.is_set():
            stopped = True  # somebody who stops a run may find its ranks waiting for each other
            self.looks.why = self.looks.why or STOPPED
        if error is None or stopped:
            self._outcome = self._ended(*(() if stopped else facts))
        else:
            self._error = error
            for sentence in filter(None, (self.lesson(error), self._lost(error) and self._way_on())):
                error.add_note(sentence)

    def _way_on(self) -> str:
        """What is left of a run that a death has ended."""
        kept = self.checkpoints and self.checkpoints.written
        return f"resume={str(kept)!r} goes on from its last checkpoint" if kept else ""

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
            return self.recipe.lost_with(dead, self.peers)
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
        event = self.attempts.dated(event)
        if isinstance(event, Round):
            self.latest = max(self.latest, event.t)
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
        goes_on = fault.rank in self._mortals()
        if self.checkpoints is not None and goes_on and fault.rank in keepers and self.gone.isdisjoint(keepers):
            self.history.add(Fault("unkept", UNKEPT.format(fault.rank), rank=fault.rank, at=fault.at))
        self.looks.go_on_without(fault.rank)

    def __iter__(self):
        """Events from the first on, waiting for those to come, until the run has ended. Ctrl-C stops the run."""
        try:
            yield from self.history
            self._wait()
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
        return self._at_end.is_set()

    def _live(self) -> None:
        try:
            self._go()
        finally:
            self._at_end.set()

    def _wait(self, timeout: float | None = None) -> bool:
        """Whether it has ended by then. Ctrl-C in a thread's `join` would make Python before 3.13 take the thread for
        ended, and cut it off when the process ends: greenlets cut off are a segmentation fault."""
        return self._at_end.wait(timeout)

    def result(self, timeout: float | None = None) -> Outcome:
        """Wait for the end."""
        try:
            over = self._wait(timeout)
        except KeyboardInterrupt:
            self.stop()
            raise
        if not over:
            raise TimeoutError(f"the run has not ended within {timeout} s; wait longer, or stop() it")
        if self._error is not None:
            raise self._error
        return self._outcome


@atexit.register
def end_runs() -> None:
    """When Python ends, so do its runs, before their threads are cut off: greenlets cut off would abort the process."""
    going = list(_going)
    for run in going:
        run.stop()
    for run in going:
        run._thread.join(PATIENCE)
