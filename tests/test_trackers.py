"""Trackers: what real libraries wrote in a real run is read back; timelines are what Perfetto reads."""

import json
import struct
import warnings

import pytest

from dlmini import SGD, Classify, Dense, Grid, Model, Recipe, ReLU, Simulated, Split, blobs, train
from dlmini.events import Fault, Measured, Round, Span
from dlmini.plan import Layout, forecast, search, simulate
from dlmini.trackers import TensorBoard, Wandb, trace_of, write_trace

TASK = Classify(Model([Dense(8), ReLU(), Dense(3)], (2,)), blobs(60), blobs(30), 10)
RECIPE = Recipe(optimizer=SGD(0.1), rounds=6, evaluate_every=3)


class Listening:
    def __init__(self):
        self.heard = []

    def log(self, values, step):
        self.heard.append((step, values))


def test_a_tracker_hears_every_round_and_every_trial():
    tracker = Listening()
    run = train(TASK, RECIPE, Simulated(3), tracker=tracker)
    outcome = run.result()
    losses = [(step, v["train/loss"]) for step, v in tracker.heard if "train/loss" in v]
    assert losses == [(e.t, e.loss) for e in run.events if isinstance(e, Round) and e.rank == 0]
    tried = [v["test/accuracy"] for _, v in tracker.heard if "test/accuracy" in v]
    assert tried == [e.accuracy for e in run.events if isinstance(e, Measured)]
    assert tried[-1] == outcome.accuracy


def test_a_tracker_changes_nothing_that_is_learned():
    plain, tracked = (train(TASK, RECIPE, Simulated(3), tracker=t).result() for t in (None, Listening()))
    assert (plain.weights == tracked.weights).all()


def test_a_tracker_that_fails_costs_its_picture_and_not_the_run():
    class Broken:
        def log(self, values, step):
            raise OSError("the disk is full")

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        outcome = train(TASK, RECIPE, Simulated(2), tracker=Broken()).result()
    assert outcome.accuracy > 0
    assert any("the disk is full" in str(one.message) for one in said)


def test_what_is_no_tracker_is_refused():
    with pytest.raises(TypeError, match="tracker is 3; it must be an object with log"):
        train(TASK, RECIPE, Simulated(2), tracker=3)


def test_a_tracker_is_told_forecasts_searches_and_played_steps():
    tracker, layout = Listening(), Layout(pipe=2, data=2, zero=1)
    told = forecast("gpt2", layout, batch=8, tracker=tracker)
    played = simulate("gpt2", layout, batch=8, fold=False, tracker=tracker)
    found = search("gpt2", 4, batch=8, keep=3, tracker=tracker)
    (_, first), (_, second), *rows = tracker.heard
    assert first["plan/seconds"] == told.seconds
    assert sum(v for name, v in first.items() if name.startswith("plan/seconds/")) == pytest.approx(told.seconds)
    assert sum(v for name, v in first.items() if name.startswith("plan/bytes/")) == pytest.approx(told.memory.total)
    assert first["plan/sent/gradients"] == told.transfers[1].sent
    assert (second["played/seconds"], second["played/messages"]) == (played.seconds, played.books.total().messages)
    assert [(step, v["plan/seconds"]) for step, v in rows] == [(i, one.seconds) for i, one in enumerate(found)]


@pytest.mark.parametrize("asked", [forecast, simulate])
def test_a_plan_refuses_what_is_no_tracker_and_outlives_one_that_fails(asked):
    class Broken:
        def log(self, values, step):
            raise OSError("the disk is full")

    with pytest.raises(TypeError, match="tracker is 3; it must be an object with log"):
        asked("gpt2", Layout(), tracker=3)
    with pytest.warns(UserWarning, match="the disk is full"):
        assert asked("gpt2", Layout(), tracker=Broken()).seconds > 0


def test_tensorboard_files_hold_the_run(tmp_path):
    pytest.importorskip("tensorboardX")
    from tensorboardX.proto.event_pb2 import Event

    with TensorBoard(tmp_path) as tracker:
        outcome = train(TASK, RECIPE, Simulated(2), tracker=tracker).result()
    (file,) = tmp_path.glob("events.*")
    data, at, found = file.read_bytes(), 0, {}
    while at < len(data):  # length, its checksum, the event, its checksum
        (length,) = struct.unpack_from("<Q", data, at)
        event = Event.FromString(data[at + 12 : at + 12 + length])
        found |= {(value.tag, event.step): value.simple_value for value in event.summary.value}
        at += 16 + length
    assert {step for tag, step in found if tag == "train/loss"} == set(range(6))
    assert found["test/accuracy", 5] == pytest.approx(outcome.accuracy)


def records(data: bytes):
    """The entries of a wandb file: a header of 7 bytes, then LevelDB's log, in blocks of 32 KB."""
    at, whole = 7, b""
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        _, length, kind = struct.unpack_from("<IHB", data, at)
        whole += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # full, or the last piece
            yield whole
            whole = b""


def test_wandbs_offline_files_hold_the_run(tmp_path):
    wandb = pytest.importorskip("wandb")
    from wandb.proto.wandb_internal_pb2 import Record

    tracker = Wandb(tmp_path, "course")
    outcome = train(TASK, RECIPE, Simulated(2), tracker=tracker).result()
    tracker.close()
    wandb.teardown()  # its own process writes the file, and may be late; this waits for its end
    (file,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    rows = [Record.FromString(one) for one in records(file.read_bytes())]
    history = [
        {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in row.history.item}
        for row in rows
        if row.WhichOneof("record_type") == "history"
    ]
    assert [row["round"] for row in history if "train/loss" in row] == list(range(6))
    tried = {row["round"]: row["test/accuracy"] for row in history if "test/accuracy" in row}
    assert tried[5] == pytest.approx(outcome.accuracy)


def test_a_timeline_is_a_trace_of_every_span_and_slot(tmp_path):
    run = train(Split(TASK, Grid(pipe=2)), RECIPE, Simulated(2, spans=True))
    run.result()
    trace = json.loads(write_trace(run.events, tmp_path / "trace.json").read_text())
    boxes = [one for one in trace["traceEvents"] if one["ph"] == "X"]
    spans = [e for e in run.events if isinstance(e, Span)]
    assert len([one for one in boxes if one["cat"] != "pipeline"]) == len(spans)
    assert sum(one["dur"] for one in boxes if one["cat"] == "compute") == pytest.approx(
        1e6 * sum(e.end - e.start for e in spans if e.phase == "compute")
    )
    assert {one["name"].split()[0] for one in boxes if one["cat"] == "pipeline"} == {"forward", "backward"}
    assert {one["tid"] for one in boxes} == {0, 1}


def test_faults_are_flags_and_nothing_is_refused(tmp_path):
    assert trace_of([Fault("crashed", "rank 1 died", rank=1, at=2.0)])["traceEvents"][1]["ph"] == "i"
    with pytest.raises(ValueError, match="spans=True"):
        write_trace([], tmp_path / "none.json")
    assert not (tmp_path / "none.json").exists()
