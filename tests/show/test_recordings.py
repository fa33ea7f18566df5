"""Shipped recordings: whole, small, safe to open, and they come to what the recorded runs came to."""

import gzip
import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import dlmini
from dlmini import SGD, lessons
from dlmini.events import Fault, Measured, Phases, Round, Served, Spread
from dlmini.show.board import Board
from dlmini.show.recordings import Recorded, opened, shipped
from dlmini.show.recordings.files import read_runs, write
from dlmini.show.recordings.film import Deed, Scene
from dlmini.show.recordings.making import film_of, meant, shot
from dlmini.show.recordings.thin import MOMENTS, thinned
from dlmini.show.replay import AT_ONCE, Replay, replayed

COUNTED = ("round", "slowest", "rounds", "workers", "nbytes", "messages", "staleness", "accuracy")
SHIPPED = shipped()
FILMS = {name: film_of(name) for name in lessons.folders("recording.py")}


@pytest.mark.parametrize("name", SHIPPED)
def test_where_there_are_no_widgets_a_lesson_s_dashboard_shows_its_recording(name):
    text = (Path(__file__).parents[2] / "course" / f"{name}.md").read_text(encoding="utf-8")
    assert f'still="{name[:2]}")' in text


def test_labels_are_words_not_python():
    labels = [run.label for name in SHIPPED for run in opened(name)]
    assert not [label for label in labels if re.search(r"\w=|\(\)|'\w+'", label)]


def shown(run):
    """What a dashboard shows of a run at its end."""
    replay, board, _ = replayed(run, AT_ONCE)
    board.take(replay.events)
    assert replay.over
    return board.facts(whole=True)


def said(t, rank, at, sent):
    phases = Phases(0.5 * at, 0.25 * at, 0.125 * at)
    return Round(t, 3.0 / (1 + t), 40, phases, sent, 3 * (t + 1), rank=rank, at=at)


def long_run(rounds=3000, workers=3):
    """Workers of different speed, a server, looks at the test set: more than any picture can show."""
    events = [said(t, r, (t + 1) * (r + 1) * 1e-3, 41 * (t + 1)) for t in range(rounds) for r in range(workers)]
    for i in range(rounds * workers):
        at = (i + 1) * 1e-3
        events.append(Served(i % workers, i, i % 7, Phases(0.0, 0.9 * at, 0.1 * at), 13 * i, i, rank=workers, at=at))
    for t in range(99, rounds, 170):
        at = (t + 1) * 1e-3
        events += [Measured(t, 0.5, t / 4096, rank=0, at=at), Spread(t, 0.25, rank=0, at=at)]
    return sorted(events, key=lambda event: event.at)


def taken(events, workers=3):
    board = Board(workers + 1, workers, 3000)
    board.take(events)
    return board


def kept(run, tmp_path):
    return read_runs(write(tmp_path / "kept.jsonl.gz", [run]))[0]


# ---- what is shipped ----


def test_every_lesson_of_the_table_is_shipped_inside_the_package_and_small():
    assert set(SHIPPED) == set(FILMS)
    house = Path(dlmini.__file__).parent  # a wheel carries all that lies there
    sizes = [file.stat().st_size for file in SHIPPED.values() if file.is_relative_to(house)]
    assert len(sizes) == len(FILMS)
    assert max(sizes) < 100_000


@pytest.mark.parametrize("name", FILMS)
def test_a_shipped_recording_ends_with_the_facts_of_its_runs(name):
    runs = opened(name)
    assert len(runs) == len(FILMS[name].scenes)
    for run, scene in zip(runs, FILMS[name].scenes, strict=True):
        facts = shown(run)
        exact = [key for key in COUNTED if key != "accuracy"]  # that of pixels has more places than are kept
        assert {key: facts[key] for key in exact} == {key: run.facts[key] for key in exact}
        assert facts["accuracy"] == pytest.approx(run.facts["accuracy"], abs=1e-5)
        assert facts["seconds"] == pytest.approx(run.facts["seconds"], abs=1e-5)
        for shares, before in zip(facts["phases"], run.facts["phases"], strict=True):
            assert shares[: len(before)] == pytest.approx(before, abs=1e-5)
        assert run.label.endswith(scene.remark)
        killed = "kill" in [deed.button for deed in scene.deeds]
        assert run.end[0] == ("bad" if killed and scene.method is None else "good")  # a Sandblaster goes on
        assert len(run.marks) == len(scene.deeds) + bool(scene.slow)


def test_the_kill_of_lesson_03_was_a_real_one():
    killed = opened("03")[-1]
    assert "killed by SIGKILL" in killed.end[1]
    assert killed.facts["round"] < killed.facts["rounds"]
    assert killed.marks[-1][1] == {"1": "killed"}


def test_asynchronous_pushes_of_lesson_06_are_stale_and_bulk_synchronous_ones_are_not():
    free, bulk, _ = opened("asynchrony")
    assert [lateness for lateness, _ in bulk.facts["staleness"]] == [0]
    assert max(lateness for lateness, _ in free.facts["staleness"]) >= 2


def test_a_recording_has_many_names_and_an_unknown_one_lists_them():
    labels = [run.label for run in opened("03")]
    for name in ("3", 3, "03_data_parallelism", "Data parallelism", SHIPPED["03_data_parallelism"]):
        assert [run.label for run in opened(name)] == labels
    with pytest.raises(FileNotFoundError, match=r"called '33'.*03_data_parallelism.*11_composing.*save\(folder\)"):
        opened("33")


# ---- the format ----


def test_thinning_keeps_totals_and_looks():
    events = long_run()
    few, whole, thin = thinned(events), taken(events), taken(thinned(events))
    assert sum(isinstance(event, Round) for event in few) < 3 * (MOMENTS + 25)
    assert thin.facts(whole=True) == whole.facts(whole=True)
    rounds, seconds, megabytes, found = zip(*thin.curves["accuracy"], strict=True)
    truth = list(zip(*whole.curves["accuracy"], strict=True))
    assert (rounds, seconds, found) == (truth[0], truth[1], truth[3])
    moment = whole.nbytes / 1e6 / MOMENTS  # who is between two of his moments has not told his last bytes yet
    assert megabytes == pytest.approx(truth[2], abs=moment)
    assert len(thin.curves["loss"]) >= MOMENTS
    assert thinned(few) == few


def test_thinned_losses_are_means_over_the_rounds_left_out():
    few = [event for event in thinned(long_run()) if isinstance(event, Round) and event.rank == 1]
    losses = [3.0 / (1 + t) for t in range(3000)]
    for before, event in pairwise(few):
        group = losses[before.t + 1 : event.t + 1]
        assert event.loss == pytest.approx(sum(group) / len(group))


def test_a_file_gives_back_what_was_put_in(tmp_path):
    events = [*thinned(long_run()), Fault("killed", "rank 1 was killed", rank=1, at=9.5)]
    run = Recorded(
        "a · b", events, [(0.5, {"1": "killed"})], ["beware"], ("bad", "It broke."), taken(events).facts(True)
    )
    back = kept(run, tmp_path)
    assert replace(back, events=()) == replace(run, events=())
    assert len(back.events) == len(events)
    assert taken(back.events).facts(True)["staleness"] == run.facts["staleness"]
    assert shown(back)["nbytes"] == shown(run)["nbytes"]
    assert [event for event in back.events if isinstance(event, Fault)] == events[-1:]


def test_a_run_that_diverged_can_be_recorded(tmp_path):
    events = [replace(said(t, 0, t + 1.0, 0), loss=loss) for t, loss in enumerate((2.3, float("inf"), float("nan")))]
    events.append(Measured(2, float("nan"), 0.1, rank=0, at=3.0))
    board = Board(1, 1, 3)
    board.take(events)
    back = kept(Recorded("wild", events, end=("good", "Done."), facts=board.facts(True)), tmp_path)
    assert [str(event.loss) for event in back.events] == ["2.3", "inf", "nan", "nan"]


def lines(*rows):
    return gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode(), mtime=0)


HEAD = {"format": "dlmini recording", "version": 1}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"no gzip at all", "is no recording, or not all of it is here"),
        (SHIPPED["07_local_sgd"].read_bytes()[:-500], "not all of it is here"),
        (gzip.compress(b"no json", mtime=0), "is no recording"),
        (lines({"format": "a shopping list"}), "its first line does not say 'dlmini recording'"),
        (lines({**HEAD, "version": 7}), "has version 7, this dlmini reads 1; update dlmini"),
        (lines(HEAD), "holds no run"),
        (lines(HEAD, {"label": "half"}), "is damaged: a run in it cannot be read"),
        (lines(HEAD, [1, 2]), "is damaged"),
        (gzip.compress(bytes(21_000_000), mtime=0), "more than 20,000,000 bytes"),
    ],
)
def test_what_is_no_recording_is_refused_in_a_sentence(content, sentence, tmp_path):
    file = tmp_path / "bad.jsonl.gz"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"bad\.jsonl\.gz .*" + sentence):
        opened(file)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda row: row["rounds"]["0"]["loss"].pop(),
        lambda row: row["facts"].pop("workers"),
        lambda row: row["facts"].update(phases=[[0, 0, 0]]),
        lambda row: row.update(end="well"),
        lambda row: row["others"].append({"event": "Miracle"}),
        lambda row: row["pushes"].update({"0": {**row["rounds"]["0"], "staleness": [[0, 10**12]]}}),
    ],
)
def test_a_damaged_run_is_found_when_it_is_opened_and_not_when_somebody_presses_start(spoil, tmp_path):
    head, row, *_ = map(json.loads, gzip.decompress(SHIPPED["07_local_sgd"].read_bytes()).splitlines())
    spoil(row)
    file = tmp_path / "spoilt.jsonl.gz"
    file.write_bytes(lines(head, row))
    with pytest.raises(ValueError, match="is damaged"):
        opened(file)


# ---- making them ----


def test_recording_a_simulated_run_again_gives_the_same_bytes(task, tmp_path):
    pytest.importorskip("anywidget")
    scene = Scene(steps=40, sync="async", topology="server", workers=3, network="gigabit", slow={1: 5.0}, looks=4)
    first, second = (write(tmp_path / f"{i}.jsonl.gz", [shot(task, scene, SGD(0.05))]) for i in range(2))
    assert first.read_bytes() == second.read_bytes()
    (run,) = read_runs(first)
    assert shown(run)["round"] == 40
    assert run.marks == [(0.0, {"1": "5 × slower"})]
    assert "slow: rank 1, 5 ×" in run.label


def test_a_button_is_pressed_when_its_round_has_come(task):
    pytest.importorskip("anywidget")
    deeds = Deed(0.0005, "slow", 2), Deed(0.001, "kill", 2)
    run = shot(task, Scene(steps=100_000, workers=3, on="processes", looks=1, deeds=deeds), SGD(0.05))
    assert [words for _, words in run.marks] == [{"2": "5 × slower"}, {"2": "killed"}]
    assert "Rank 2 was killed by SIGKILL" in run.end[1]
    assert 100 <= run.facts["round"] < run.facts["rounds"] == 100_000


def test_lessons_without_a_table_are_refused_with_a_list():
    assert meant(None) == list(FILMS)
    assert meant(["6", "local sgd"]) == ["06_asynchrony", "07_local_sgd"]
    with pytest.raises(ValueError, match=r"nothing is recorded of '02', but of 03_"):
        meant(["02"])


# ---- on the dashboard ----


def test_marks_come_when_their_time_has_come():
    events = [said(t, 0, t + 1.0, 0) for t in range(10)]
    marks = [(3.0, {"0": "5 × slower"}), (6.0, {}), (9.0, {"0": "killed"})]
    replay = Replay(events, 1.0, clock=lambda: 0.0, marks=marks, end=("bad", "Rank 0 was killed."))
    found = []
    for _ in events:
        found.append(replay.marks())
        replay.step()
    slow, dead = {"0": "5 × slower"}, {"0": "killed"}
    assert found == [{}, {}, slow, slow, slow, {}, {}, {}, dead, dead]
    assert replay.verdict() == ("bad", "As recorded: Rank 0 was killed.")


def test_start_after_start_draws_the_runs_over_one_another():
    pytest.importorskip("anywidget")
    from test_dashboard import Picture, press

    from dlmini.show import dashboard

    board = dashboard(recording="07", speed=AT_ONCE)
    picture, labels = Picture(board), [run.label for run in opened("07")]
    for drawn in range(1, 4):
        press(board.panel.start)
        picture.until(lambda drawn=drawn: len(board.live.runs) == drawn and board.live.state == "ended")
        assert board.live.message["text"].startswith("As recorded: Done:")
    assert [run.label for run in board.live.runs] == labels
    board.panel.run.index = 0
    press(board.panel.start)
    picture.until(lambda: len(board.live.runs) == 4 and board.live.state == "ended")
    assert board.live.runs[-1].label == labels[0]


def test_a_stopped_replay_stays_chosen():
    pytest.importorskip("anywidget")
    from test_dashboard import Picture, press

    from dlmini.show import dashboard

    board = dashboard(recording="07", speed=1e-6)
    picture = Picture(board)
    press(board.panel.start)
    picture.state("running")
    press(board.panel.stop)
    picture.state("ended")
    assert board.panel.run.index == 0
    assert board.live.message["text"] == "Stopped."


def test_the_drop_down_tells_runs_apart_in_few_words():
    pytest.importorskip("anywidget")
    from dlmini.show.dashboard_replay import told_apart

    assert told_apart(["a · b · 1 worker", "a · c · 1 worker", "a · c · 1 worker · killed"]) == ["b", "c", "c · killed"]
    assert told_apart(["a · b"]) == ["a · b"]


def test_without_a_word_a_recording_is_replayed_in_half_a_minute_at_most():
    pytest.importorskip("anywidget")
    from dlmini.show.dashboard_replay import bearable

    run = Recorded("a run", [said(t, 0, 2.0 * t, 0) for t in range(2)])
    for longest, speed in ((2.0, 0.25), (20.0, 1.0), (100.0, 4.0), (1e6, AT_ONCE)):
        assert bearable([run, replace(run, events=[said(0, 0, 0.0, 0), said(1, 0, longest, 0)])]) == speed
