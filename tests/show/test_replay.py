"""A recording is played again at any speed, and looks like a run that goes on now."""

import pytest

from dlmini import Recipe, Simulated, gigabit, train
from dlmini.events import Fault, Measured, Round, Snapshot
from dlmini.show.recordings import Recorded, recorded
from dlmini.show.replay import AT_ONCE, Replay, replayed


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def recording():
    return [Round(t, 1.0, rank=rank, at=10.0 + t + 1) for t in range(10) for rank in range(2)]


@pytest.fixture
def clock():
    return Clock()


def test_events_come_when_their_time_has_come(clock):
    replay = Replay(recording(), 1.0, clock)
    for now, count in ((0.0, 2), (0.5, 2), (1.0, 4), (5.0, 12), (99.0, 20)):
        clock.now = now
        assert len(replay.events) == count
    assert replay.over


def test_speed_can_change_at_any_time(clock):
    replay = Replay(recording(), 2.0, clock)
    clock.now = 1.0
    replay.speed = 0.5
    assert len(replay.events) == 6
    clock.now = 3.0
    assert len(replay.events) == 8
    replay.speed = AT_ONCE
    assert len(replay.events) == 20
    with pytest.raises(ValueError, match="above 0"):
        replay.speed = 0


def test_a_paused_replay_stands_still_and_steps_round_by_round(clock):
    replay = Replay(recording(), 1.0, clock)
    replay.pause()
    clock.now = 7.0
    assert len(replay.events) == 2
    replay.step()
    assert max(e.t for e in replay.events) == 1
    replay.resume()
    clock.now = 8.0
    assert max(e.t for e in replay.events) == 2


def test_stop_ends_it(clock):
    replay = Replay(recording(), 1.0, clock)
    replay.stop()
    clock.now = 50.0
    assert replay.over
    assert len(replay.events) == 2
    assert replay.verdict() == ("quiet", "Stopped.")


def test_a_saved_run_is_read_back_as_it_was(task, tmp_path):
    run = train(task, Recipe(rounds=6, evaluate_every=2), Simulated(3, gigabit))
    outcome = run.result(240)
    folder = outcome.save(tmp_path / "saved")
    kept = sorted((e for e in outcome.events if not isinstance(e, Snapshot)), key=lambda e: e.at)
    assert recorded(folder) == kept == recorded(folder / "events.jsonl")
    assert [e for e in recorded(outcome) if not isinstance(e, Snapshot)] == kept


def test_the_board_of_a_replay_shows_what_the_run_came_to(task):
    outcome = train(task, Recipe(rounds=6, evaluate_every=2), Simulated(3, gigabit)).result(240)
    replay, board, _ = replayed(Recorded("a run", recorded(outcome)), AT_ONCE)
    board.take(replay.events)
    assert (board.ranks, board.workers, board.rounds) == (3, 3, 6)
    facts = board.facts(whole=True)
    assert facts["accuracy"] == outcome.accuracy
    assert (facts["nbytes"], facts["messages"]) == (outcome.nbytes, outcome.messages)
    assert [sum(row) for row in facts["phases"]] == pytest.approx([outcome.seconds] * 3)
    assert board.seconds == pytest.approx(outcome.seconds)


def test_a_recording_of_a_fault_ends_with_its_sentence(clock):
    replay = Replay([*recording(), Fault("crashed", "rank 1 died at 20 s", rank=1, at=20.0)], AT_ONCE, clock)
    assert replay.verdict() == ("bad", "The recording ends: rank 1 died at 20 s.")


def test_what_is_no_recording_is_refused_with_a_reason(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no events.jsonl; .*save\(folder\)"):
        recorded(tmp_path)
    with pytest.raises(ValueError, match="among 1 events there is no Round"):
        recorded([Measured(0, 1.0, 0.5)])
