"""`dashboard(task)`: one cell, everything about distributed training to be seen and touched.

The cell returns at once; a run goes on in the background, and a thread looks at it five times a second. Buttons only
give orders, so none of them ever waits. Closing the notebook ends the kernel, and with it the ranks.
"""

from __future__ import annotations

import threading
import time
import weakref

import ipywidgets

from dlmini import profile
from dlmini.optim import SGD
from dlmini.show import dashboard_choices as choices
from dlmini.show.dashboard_panel import Panel
from dlmini.show.live import ENDED, GOING, IDLE, PAUSED, RESTING, RUNNING, STARTING, Live
from dlmini.show.live_run import Plan, sentence
from dlmini.show.replay import recorded, replayed

PERIOD = 0.18  # seconds between two looks: five in a second and a bit; each costs a browser without a GPU 15 ms
_open: weakref.WeakSet[Dashboard] = weakref.WeakSet()


def dashboard(
    task=None,
    sync="bsp",
    topology="allreduce",
    compression="none",
    workers: int = 4,
    network=None,
    on: str = "processes",
    recording=None,
    large: bool = False,
    *,
    slow: dict[int, float] | None = None,
    speed: float = 1.0,
    **plan,
) -> Dashboard:
    """The dashboard of a task, or of a recording; the last line of a cell shows it.

    sync, topology, compression, network: words as on the command line ("local:16", "gossip:ring"), or objects.
    on="processes" or "simulated"; slow={rank: factor}; large=True: for a projector.
    plan: steps (how many each worker makes in a run), looks (at the test set meanwhile), optimizer, seed.
    recording: a folder that `Outcome.save` made, or events; then Start replays it, `speed` times as fast as it was.
    """
    if task is None and recording is None:
        raise ValueError("a dashboard needs a task to train, or a recording to replay")
    menus = *choices.levels(sync, topology, compression), choices.networks(network)
    if recording is None:
        panel = Panel(menus, workers, on, slow)
        return Dashboard(panel, Plan(task, **{"optimizer": SGD(0.05), **plan}), None, large)
    return Dashboard(Panel(menus, workers, on, slow, speed), None, recorded(recording), large)


class Dashboard(ipywidgets.VBox):
    """`outcomes` are those of the runs that have ended; `.save(folder)` one to replay it later."""

    def __init__(self, panel: Panel, plan: Plan | None, recording: list | None, large: bool):
        self.panel, self.plan, self.recording, self.outcomes = panel, plan, recording, []
        self.live, self.source, self.board, self.doubts = Live(), None, None, []
        self._wanted, self._tick, self._since = True, threading.Event(), 0.0
        super().__init__([*panel.rows, self.live], layout=ipywidgets.Layout(width="100%"))
        for name in ["dlmini-dashboard"] + ["large"] * large:
            self.add_class(name)
        panel.serve(self)
        self._turn(IDLE, "Choose, and press Start." if plan else "Start replays the recording.")
        self._warming = threading.Thread(target=self._warm, daemon=True)
        self._warming.start()
        stop_others()
        _open.add(self)

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
        except Exception as error:  # pieces that do not fit together, no room for workers ...: one sentence
            kind, text = "bad", sentence(error)
        self._turn(ENDED, text, kind)

    def _begin(self) -> None:
        if self.plan is None:
            self.source, self.board = replayed(self.recording, self.panel.speed.value)
            label = "recording"
        else:
            self.source, self.board, self.doubts = self.plan.begun(**self.panel.chosen())
            label = self.panel.label()
        self.live.begin(self.board, label)
        if self._wanted:
            self._turn(RUNNING, self._training())
        else:
            self.source.stop()

    def _look(self) -> None:
        """Until the run is over: take what has happened since, and show it."""
        seen, over = 0, False
        while not over:
            over = self.source.over  # asked first: what came before the end is taken below
            news = self.source.events[seen:]
            seen += len(news)
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
            if self.plan is not None and not profile.fast():  # there nobody reads, and the kernel may end meanwhile
                self.plan.warm(**self.panel.chosen())
        except Exception as error:  # Start would meet it again
            self.live.say(sentence(error), "bad")

    # ---- words ----

    def _turn(self, state: str, text: str, kind: str = "quiet") -> None:
        self.live.state = state
        self.live.say(text, kind)
        self.panel.reflect(state)

    def _skip_pause(self) -> None:
        now = time.monotonic()
        if self.source.real_time:
            self.board.skip(now - self._since)
        self._since = now

    def _training(self) -> str:
        if self.plan is None:
            return "Replaying."
        if not self.board.curves["loss"]:
            return f"{self.board.ranks} ranks get ready ..."
        return " Note: ".join([f"Training: {self.panel.label()}.", *self.doubts])


def stop_others() -> None:
    """One machine, one run: those of all dashboards end."""
    for other in list(_open):
        other.stop()
