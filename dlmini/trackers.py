"""Where analysts look: runs told to a tracker, any object with `log(values, step=...)`; timelines for Perfetto.

    train(task, recipe, on, tracker=TensorBoard("runs/a"))      then  tensorboard --logdir runs
    train(task, recipe, on, tracker=Wandb("runs", "course"))    offline; `wandb sync` uploads it, if you want that
    write_trace(run.events, "trace.json")                       open it at ui.perfetto.dev, or in chrome://tracing
A tracker is told by a thread of its own: ranks never wait for it, the run's end does. One that fails costs what it
would have shown, not the training.
"""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Iterable
from pathlib import Path

from dlmini import files
from dlmini.checks import piece, row_of, text
from dlmini.events import Event, Fault, Measured, Round, Slot, Span


def tracker_of(tracker, name: str = "tracker"):
    """The tracker itself, if it is one."""
    return piece(tracker, name, ("log",), "an object with log(values, step=...): TensorBoard(folder), Wandb(folder)")


def values_of(event: Event) -> tuple[dict[str, float], int] | None:
    """(numbers by name, step) of what a tracker shows: rounds of worker 0, and trials on the test set."""
    if isinstance(event, Measured):
        return {"test/loss": event.loss, "test/accuracy": event.accuracy}, event.t
    if isinstance(event, Round) and event.rank == 0:
        found = {"train/loss": event.loss, "sent/bytes": event.sent, "sent/messages": event.messages}
        if event.phases is not None:
            found |= {
                f"seconds/{name}": getattr(event.phases, name) for name in ("compute", "waiting", "communication")
            }
        return found, event.t
    return None


class Tracking(threading.Thread):
    """Tells a tracker what a history holds, from its first event to its last."""

    def __init__(self, tracker, history: Iterable[Event]):
        super().__init__(name="dlmini tracker", daemon=True)
        self.tracker, self.history = tracker, history
        self.start()

    def run(self) -> None:
        try:
            for event in self.history:
                if (found := values_of(event)) is not None:
                    self.tracker.log(found[0], step=found[1])
        except Exception as error:  # the training is worth more than its picture
            warnings.warn(f"the tracker {self.tracker!r} failed, and is told no more: {files.why(error)}", stacklevel=2)


class TensorBoard:
    """Event files for TensorBoard, by tensorboardX (`pip install dlmini[trackers]`)."""

    def __init__(self, folder):
        try:
            from tensorboardX import SummaryWriter
        except ImportError:
            raise ImportError("TensorBoard files need tensorboardX: pip install dlmini[trackers]") from None
        self.folder = Path(folder)
        self.writer = SummaryWriter(str(self.folder), write_to_disk=True)

    def log(self, values: dict[str, float], step: int) -> None:
        for name, value in values.items():
            self.writer.add_scalar(name, value, step)

    def close(self) -> None:
        self.writer.close()

    def __enter__(self) -> TensorBoard:
        return self

    def __exit__(self, *_) -> None:
        self.close()


class Wandb(TensorBoard):
    """Runs of Weights & Biases in offline mode: nothing leaves the machine (`pip install dlmini[trackers]`).

    A process of wandb's own writes the file: it is whole when Python ends, or after `wandb.teardown()`.
    """

    def __init__(self, folder, project: str = "dlmini"):
        try:
            import wandb
        except ImportError:
            raise ImportError("Wandb needs wandb: pip install dlmini[trackers]") from None
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        settings = wandb.Settings(console="off", silent=True, x_disable_stats=True)
        options = {"dir": str(self.folder), "project": text(project, "project"), "settings": settings}
        self.writer = wandb.init(mode="offline", reinit="create_new", **options)

    def log(self, values: dict[str, float], step: int) -> None:
        self.writer.log({"round": step, **values})  # its own steps may not go back; looks come later than rounds

    def close(self) -> None:
        self.writer.finish()


# ---- timelines ----


def trace_of(events: Iterable[Event]) -> dict:
    """Chrome's trace format: a row for each rank, a box for each Span and Slot, a flag for each Fault; microseconds."""
    found, ranks = [], set()
    for event in events:
        where = {"pid": 0, "tid": event.rank}
        if isinstance(event, Span | Slot):
            slot = isinstance(event, Slot)
            name = f"{event.kind} {event.micro}" if slot else event.label or event.phase
            cat = "pipeline" if slot else event.phase
            lasts = {"ts": 1e6 * event.start, "dur": 1e6 * (event.end - event.start)}
            found.append({"name": name, "cat": cat, "ph": "X", **lasts, **where})
        elif isinstance(event, Fault):
            found.append({"name": event.text, "cat": "fault", "ph": "i", "s": "g", "ts": 1e6 * event.at, **where})
        else:
            continue
        ranks.add(event.rank)
    names = [
        {"name": "thread_name", "ph": "M", "pid": 0, "tid": rank, "args": {"name": f"rank {rank}"}}
        for rank in sorted(ranks)
    ]
    return {"traceEvents": [*names, *found], "displayTimeUnit": "ms"}


def write_trace(events: Iterable[Event], file) -> Path:
    """A timeline as a file. Runs tell spans if their transport is asked: Simulated(4, spans=True)."""
    found = trace_of(row_of(events, "events", ("rank",), "the events of a run: run.events, or outcome.events"))
    if not found["traceEvents"]:
        raise ValueError("these events hold nothing to show: run it on a transport with spans=True")
    return files.write_text(file, json.dumps(found))
