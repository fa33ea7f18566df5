"""A dashboard at work: buttons give it orders, a thread looks at the run that goes on, or at the one that is replayed.

The thread looks five times a second. Orders only leave a word somewhere, so none of them ever waits.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Sequence

import ipywidgets

from dlmini import profile
from dlmini.show.dashboard_still import invitation, seen, still_of
from dlmini.show.dashboard_widgets import in_one_queue, leaves
from dlmini.show.live import ENDED, GOING, IDLE, PAUSED, RESTING, RUNNING, STARTING, Live
from dlmini.show.live_run import sentence
from dlmini.show.recordings import Recorded
from dlmini.show.stills import WithStill

PERIOD = 0.18  # seconds between two looks: five in a second and a bit; each costs a browser without a GPU 15 ms
_open: weakref.WeakSet[Dashboard] = weakref.WeakSet()


class Dashboard(WithStill, ipywidgets.VBox):
    """`outcomes` are those of the runs that have ended; `.save(folder)` one to replay it later.

    panel, plan: what can be chosen, and what begins a run of it; a `Panel` and a `Plan`, or those of a recording.
    recorded: runs whose curves stand for it where there are no widgets.
    """

    def __init__(self, panel, plan, large: bool, recorded: Sequence[Recorded] = ()):
        self.panel, self.plan, self.outcomes, self.label = panel, plan, [], ""
        self.live, self.source, self.board, self.doubts, self.recorded = Live(), None, None, [], recorded
        self._wanted, self._tick, self._since = True, threading.Event(), 0.0
        super().__init__([*panel.rows, self.live], layout=ipywidgets.Layout(width="100%"))
        for name in ["dlmini-dashboard"] + ["large"] * large:
            self.add_class(name)
        panel.serve(self)
        in_one_queue(leaves(panel.rows))
        self._turn(IDLE, plan.invitation)
        self._warming = threading.Thread(target=self._warm, daemon=True)
        self._warming.start()
        stop_others()
        _open.add(self)

    def still(self):
        """The runs that it shows; if there are none yet, some that were recorded, or only what it offers."""
        if any(run.board.curves["loss"] for run in self.live.runs):
            return seen(self.live.runs)
        if self.recorded:
            return still_of(self.recorded)
        return invitation([self.panel.label(), self.plan.invitation])

    # ---- orders: each returns at once ----

    def start(self) -> None:
        """A new run with what the drop-downs say, drawn over those before. Runs of other dashboards are stopped."""
        if self.live.state in RESTING:
            stop_others()
            self._wanted = True
            self._turn(STARTING, "Starting ...")
            threading.Thread(target=self._watch, name="dlmini dashboard", daemon=True).start()

    def pause(self) -> None:
        """Hold the run after its round; or, if it is held, let it go on."""
        if self.live.state == RUNNING:
            self.source.pause()
            self._since = time.monotonic()
            self._turn(PAUSED, "Paused: every rank stops at the end of its round. Step makes one round more.")
        elif self.live.state == PAUSED:
            self._skip_pause()
            self.source.resume()
            self._turn(RUNNING, self._training())

    def step(self) -> None:
        if self.live.state == PAUSED:
            self._skip_pause()
            self.source.step()

    def stop(self) -> None:
        self._wanted = False
        if self.source is not None:
            self.source.stop()
        self._tick.set()

    def clear(self) -> None:
        self.live.clear()

    def order(self, do) -> None:
        """do(run): kill a rank, slow it, cut a link ..., while a run goes on."""
        if self.live.state in GOING:
            try:
                do(self.source)
            except (ValueError, RuntimeError) as error:
                self.live.say(sentence(error), "bad")
            self.live.marks = self.source.marks()

    # ---- the thread that looks ----

    def _watch(self) -> None:
        try:
            self._warming.join()
            self._begin()
            self._look()
            kind, text = self.source.verdict()
            self.outcomes += [self.source.outcome] if self.source.outcome is not None else []
            if self._wanted:
                self.panel.turn_over()
        except Exception as error:  # pieces that do not fit together, no room for workers ...: one sentence
            kind, text = "bad", sentence(error)
        self._turn(ENDED, text, kind)
        self.renew()

    def _begin(self) -> None:
        self.label = self.panel.label()
        self.source, self.board, self.doubts = self.plan.begun(**self.panel.chosen())
        self.live.begin(self.board, self.label)
        if self._wanted:
            self._turn(RUNNING, self._training())
        else:
            self.source.stop()

    def _look(self) -> None:
        """Until the run is over: take what has happened since, and show it."""
        place, over = 0, False
        while not over:
            over = self.source.over  # asked first: what came before the end is taken below
            news, place = self.source.since(place)
            self.board.take(news)
            self.live.update(whole=over)
            self._tell()
            if not over:
                self._tick.wait(PERIOD)
                self._tick.clear()

    def _tell(self) -> None:
        """Words that changed: who waits, what was done to whom."""
        marks, trouble = self.source.marks(), self.source.trouble()
        if marks != self.live.marks:
            self.live.marks = marks
        if trouble:
            self.live.say(trouble, "bad")
        elif self.live.state == RUNNING and self.live.message["text"] != self._training():
            self.live.say(self._training())

    def _warm(self) -> None:
        """While somebody reads the cell: let ranks be born, and this process load what it needs."""
        try:
            if not profile.fast():  # there nobody reads, and the kernel may end meanwhile
                self.plan.warm(**self.panel.chosen())
        except Exception as error:  # Start would meet it again
            self.live.say(sentence(error), "bad")

    # ---- words ----

    def _turn(self, state: str, text: str, kind: str = "quiet") -> None:
        self.live.say(text, kind)  # first: who sees the state change finds the words that belong to it
        self.live.state = state
        self.panel.reflect(state)

    def _skip_pause(self) -> None:
        now = time.monotonic()
        if self.source.real_time:
            self.board.skip(now - self._since)
        self._since = now

    def _training(self) -> str:
        if not self.board.curves["loss"]:
            return f"{self.board.ranks} ranks get ready ..."
        doing = " ".join(filter(None, [self.board.missing(), f"{self.plan.doing}: {self.label}."]))
        return " Note: ".join([doing, *self.doubts])


def stop_others() -> None:
    """One machine, one run: those of all dashboards end."""
    for other in list(_open):
        other.stop()
