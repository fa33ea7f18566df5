"""A dashboard without a browser: its buttons give orders, its picture is told what happens, nothing stays behind."""

import threading

import pytest

pytest.importorskip("anywidget")

from dlmini import Int8, Segment, Star, aerial, unet
from dlmini.show import dashboard
from dlmini.show.dashboard_choices import WHEN, WITH_WHOM, levels, links, offered
from dlmini.sync import LocalSGD

PATIENCE = 240.0  # seconds; what has not come by then never will


class Picture:
    """What the browser is told, and a way to wait for it."""

    def __init__(self, board):
        self.board, self.told, self.news = board, [], threading.Condition()
        board.live.send = self._hear
        board.live.observe(lambda _: self._wake(), ["state", "message"])

    def _hear(self, content, buffers=None):
        self.told.append(content)
        self._wake()

    def _wake(self):
        with self.news:
            self.news.notify_all()

    def until(self, what):
        with self.news:
            assert self.news.wait_for(what, PATIENCE), (self.board.live.state, self.board.live.message, self.told[-3:])

    def state(self, *wanted):
        self.until(lambda: self.board.live.state in wanted)

    @property
    def points(self):
        """Of the last run."""
        begun = max(i for i, said in enumerate(self.told) if said["kind"] == "begin")
        return sum(said["counts"][0] for said in self.told[begun:] if said["kind"] == "add")


@pytest.fixture
def shown(task):
    made = []

    def make(**options):
        made.append(dashboard(task, **{"on": "simulated", "workers": 3, "steps": 30, **options}))
        return made[-1], Picture(made[-1])

    yield make
    for board in made:
        board.stop()


def press(button):
    assert not button.disabled, button.description
    button.click()


def test_the_class_of_every_pixel_is_learned_by_the_same_buttons():
    """The classroom's star: packets of eight bits go there and come back."""
    tiles = Segment(unet(2, 2, input=(16, 16, 3)), aerial(6, 16), aerial(2, 16, seed=1), batch=1)
    options = {"topology": "star:int8", "compression": "8 bits (int8)", "network": "gigabit"}
    board = dashboard(tiles, on="simulated", workers=3, steps=4, **options)
    picture = Picture(board)
    try:
        press(board.panel.start)
        picture.state("ended")
        assert board.live.message["kind"] == "good"
        (outcome,) = board.outcomes
        assert outcome.recipe.topology == Star(Int8())
        assert 0 <= outcome.accuracy == tiles.evaluate(outcome.weights)["accuracy"]
    finally:
        board.stop()


def test_a_run_is_drawn_to_its_end_and_the_next_one_over_it(shown):
    board, picture = shown()
    press(board.panel.start)
    picture.state("ended")
    assert board.live.message["kind"] == "good"
    assert picture.points == 30
    board.panel.when.label = "every 4 steps (Local-SGD)"
    press(board.panel.start)
    picture.until(lambda: len(board.outcomes) == 2)
    labels = [said["label"] for said in picture.told if said["kind"] == "begin"]
    assert [label.split(" · ")[0] for label in labels] == list(WHEN)[:2]
    assert [outcome.recipe.rounds for outcome in board.outcomes] == [30, 8]
    picture.state("ended")
    press(board.panel.clear)
    assert picture.told[-1] == {"kind": "clear"}


@pytest.mark.parametrize("on", ["simulated", "processes"])
def test_pause_step_resume_and_stop(shown, on):
    board, picture = shown(on=on, steps=10**6)
    press(board.panel.start)
    picture.until(lambda: board.live.state == "running" and picture.points > 0)
    press(board.panel.pause)
    assert board.panel.pause.description == "Resume"
    control = board.source.control
    picture.until(lambda: (control.done >= control.limit).any())
    before = control.done.max()
    press(board.panel.step)
    picture.until(lambda: control.done.max() == before + 1)
    assert board.live.state == "paused"
    press(board.panel.pause)
    assert board.live.state == "running"
    picture.until(lambda: control.done.max() > before + 3)
    press(board.panel.stop)
    picture.state("ended")
    assert board.live.message["kind"] == "quiet"
    assert board.panel.stop.disabled
    assert not board.panel.start.disabled


def test_a_killed_worker_is_named_with_its_signal_and_the_dashboard_stays_usable(shown):
    board, picture = shown(on="processes", steps=10**6)
    press(board.panel.start)
    picture.until(lambda: board.live.state == "running" and picture.points > 0)
    board.panel.rank.value = 2
    press(board.panel.kill)
    picture.state("ended")
    assert board.live.message["kind"] == "bad"
    assert "Rank 2 was killed by SIGKILL" in board.live.message["text"]
    assert "waits for everybody; asynchronous, stale-synchronous and Downpour" in board.live.message["text"]
    assert board.live.marks == {"2": "killed"}
    board.plan = board.plan.__class__(board.plan.task, board.plan.optimizer, steps=5)
    press(board.panel.start)
    picture.until(lambda: board.live.state == "ended" and board.live.message["kind"] == "good")


def test_after_a_semicolon_no_capital_follows():
    from types import SimpleNamespace

    from dlmini.show.live_run import LiveRun

    run = SimpleNamespace(killed={1}, run=SimpleNamespace(lesson=lambda error: ""))
    said = LiveRun._blame(run, RuntimeError("Rank 0 waits for a message of rank 1; it will not come"))
    assert said.startswith("Rank 1 was killed; rank 0 waits for a message of rank 1. The others cannot go on")


@pytest.mark.parametrize("on", ["simulated", "processes"])
def test_where_nobody_waits_for_it_a_killed_worker_is_named_and_the_others_go_on(shown, on):
    board, picture = shown(on=on, sync="async", topology="server", workers=4, steps=10**6)
    press(board.panel.start)
    picture.until(lambda: board.live.state == "running" and picture.points > 0)
    board.panel.rank.value = 2
    press(board.panel.kill)
    picture.until(lambda: board.live.message["text"].startswith("Rank 2 is gone; 3 workers go on. Training"))
    assert board.live.marks == {"2": "killed"}
    before = board.board.done[:4].copy()
    picture.until(lambda: (board.board.done[:4] > before).tolist() == [True, True, False, True])
    assert board.board.facts()["gone"] == [2]
    board.panel.rank.value = 4
    press(board.panel.kill)
    picture.state("ended")
    assert board.live.message["kind"] == "bad"
    assert "Rank 4 is a server, and the weights that it kept are lost with it" in board.live.message["text"]


def test_a_run_that_lost_a_worker_says_so_at_its_end(shown):
    board, picture = shown(on="simulated", sync="async", topology="server", steps=2000)
    press(board.panel.start)
    picture.until(lambda: board.live.state == "running" and picture.points > 0)
    press(board.panel.pause)
    board.panel.rank.value = 0  # who shows its weights: another takes over
    press(board.panel.kill)
    press(board.panel.pause)
    picture.state("ended")
    assert board.live.message["text"].endswith("The others went on without rank 0.")
    assert board.outcomes[-1].gone == [0]
    assert board.outcomes[-1].measured[-1].t == board.board.rounds - 1


@pytest.mark.parametrize("on", ["simulated", "processes"])
def test_a_cut_link_is_said_to_be_the_trouble_until_it_is_healed(shown, on):
    board, picture = shown(on=on, steps=10**6)
    press(board.panel.start)
    picture.until(lambda: board.live.state == "running" and picture.points > 0)
    board.panel.link.value = (0, 1)
    press(board.panel.cut)
    assert board.panel.cut.description == "Heal"
    picture.until(lambda: "the link between them is cut" in board.live.message["text"])
    press(board.panel.cut)
    picture.until(lambda: board.live.message["text"].startswith("Training"))
    press(board.panel.cut)
    picture.until(lambda: "the link between them is cut" in board.live.message["text"])
    press(board.panel.stop)
    picture.state("ended")


def test_a_slowed_worker_is_marked_and_can_be_sped_up_again(shown):
    board, picture = shown(steps=10**6)
    press(board.panel.start)
    picture.until(lambda: board.live.state == "running" and picture.points > 0)
    board.panel.rank.value = 1
    press(board.panel.slower)
    assert board.panel.slower.description == "Speed up"
    assert board.live.marks == {"1": "5 × slower"}
    press(board.panel.slower)
    assert board.live.marks == {}


def test_pieces_that_do_not_fit_are_refused_in_a_sentence(shown):
    board, picture = shown(sync="async")
    press(board.panel.start)
    picture.state("ended")
    assert board.live.message["kind"] == "bad"
    assert "ParameterServer" in board.live.message["text"]


def test_after_a_run_another_number_of_workers_is_chosen_and_all_menus_follow(shown):
    """One, then two, then four, as the guide of lesson 03 says: the ended run had other ranks."""
    board, picture = shown(workers=1, steps=2)
    for workers in (1, 2, 4):
        board.panel.workers.value = workers
        assert [name for name, _ in board.panel.rank.options] == [f"rank {rank}" for rank in range(workers)]
        assert len(board.panel.link.options) == max(1, workers * (workers - 1) // 2)
        press(board.panel.start)
        picture.state("ended")
        assert board.live.message["kind"] == "good"


def test_starting_one_dashboard_stops_the_run_of_another(shown):
    first, picture = shown(steps=10**6)
    second, other = shown(steps=5)
    press(first.panel.start)
    picture.until(lambda: first.live.state == "running" and picture.points > 0)
    press(second.panel.start)
    picture.state("ended")
    other.state("ended")


def test_a_recording_is_replayed(shown, tmp_path):
    board, picture = shown()
    press(board.panel.start)
    picture.until(lambda: len(board.outcomes) == 1)
    picture.state("ended")
    folder = board.outcomes[0].save(tmp_path / "recording")
    replay = dashboard(recording=folder, speed=float("inf"))
    seen = Picture(replay)
    press(replay.panel.start)
    seen.state("ended")
    assert seen.points == picture.points == 30
    assert replay.live.message["text"] == "The recording has ended."


def test_a_page_that_is_reloaded_is_told_everything(shown):
    board, picture = shown()
    press(board.panel.start)
    picture.state("ended")
    before = len(picture.told)
    board.live._handle_custom_msg("ready", [])
    told = picture.told[before:]
    assert [said["kind"] for said in told] == ["clear", "begin", "add"]
    assert told[-1]["counts"][0] == 30


def test_drop_downs_offer_what_was_asked_for():
    (when, chosen), *_ = levels("local:7", "allreduce", "none")
    assert when[chosen] == LocalSGD(7)
    assert chosen == "local:7"
    assert set(WHEN) < set(when)
    assert offered(WITH_WHOM, WITH_WHOM["two parameter servers"])[1] == "two parameter servers"
    assert list(links(3).values()) == [(0, 1), (0, 2), (1, 2)]
    assert len(links(10)) == 10


@pytest.mark.parametrize("speed", [0, -1, float("nan"), "quick", "4", [1], True])
def test_a_replay_s_speed_is_a_number_above_0_or_one_of_its_words(speed):
    with pytest.raises((TypeError, ValueError), match=r"speed is .*a number above 0: or one of ¼ ×.*, at once"):
        dashboard(recording="07", speed=speed)


def test_a_replay_may_be_at_once():
    chosen = [dashboard(recording="07", speed=speed).panel.speed.value for speed in ("at once", float("inf"), 3)]
    assert chosen == [float("inf"), float("inf"), 3]


def test_nothing_to_show_is_refused_with_a_reason(task):
    with pytest.raises(ValueError, match="a task to train, or a recording"):
        dashboard()
    with pytest.raises(ValueError, match="on is 'mpi'; it must be 'processes' or 'simulated'"):
        dashboard(task, on="mpi")
