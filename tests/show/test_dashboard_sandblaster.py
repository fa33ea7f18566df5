"""A Sandblaster in the dashboard: started, held, stopped, replayed; replicas, shards and the coordinator killed."""

import pytest

pytest.importorskip("anywidget")

from test_dashboard import Picture, press

from dlmini import SGD, Classify, Sandblaster, lenet, load
from dlmini.events import Portion
from dlmini.show import dashboard

METHOD = Sandblaster(history=5, portions=8, shards=2, rounds=12, tolerance=0)


@pytest.fixture
def shown(task):
    made = []

    def make(method=METHOD, of=None, **options):
        made.append(dashboard(of or task, method=method, **{"on": "simulated", "workers": 3, **options}))
        return made[-1], Picture(made[-1])

    yield make
    for board in made:
        board.stop()


def long_task():
    """One that is far from its minimum for hundreds of iterations, each of which takes a person's moment."""
    sets = load("mnist")
    return Classify(lenet(), sets[0].subset(range(1600)), sets[1].subset(range(100)), batch=200)


def going(board, picture):
    press(board.panel.start)
    picture.until(lambda: board.live.state == "running" and picture.points > 0)


ENDLESS = Sandblaster(portions=8, shards=2, rounds=10**6, tolerance=0)


def test_a_run_is_drawn_with_a_point_for_each_iteration_and_counts_its_portions(shown):
    board, picture = shown()
    press(board.panel.start)
    picture.state("ended")
    assert board.live.message["kind"] == "good"
    facts = board.board.facts()
    assert picture.points == facts["round"] == 12
    assert facts["others"] == ["shard 3", "shard 4", "coordinator 5"]
    assert facts["portions"]["handed"] == facts["portions"]["counted"] >= 13 * 8
    losses = [row[3] for row in board.board.curves["loss"]]
    assert losses == sorted(losses, reverse=True)
    assert board.label.startswith("8 portions · late ones copied · 2 shards · 3 replicas")
    assert (facts["workers"], len(facts["phases"])) == (3, 6)
    assert all(sum(row) > 0 for row in facts["phases"])  # of shards and coordinator too
    assert 0.9 < facts["nbytes"] / board.outcomes[-1].nbytes <= 1


def test_the_drop_downs_say_what_is_trained(shown):
    board, picture = shown()
    board.panel.portions.label, board.panel.shards.label = "16 portions", "1 shard"
    board.panel.backup.label, board.panel.workers.value = "late ones waited for", 2
    names = [name for name, _ in board.panel.rank.options]
    assert names == ["rank 0", "rank 1", "shard 2", "coordinator 3"]
    press(board.panel.start)
    picture.state("ended")
    recipe = board.outcomes[-1].recipe
    assert (recipe.portions, recipe.shards, recipe.backup, recipe.history) == (16, 1, False, 5)


@pytest.mark.parametrize("on", ["simulated", "processes"])
def test_pause_step_resume_and_stop(shown, on):
    board, picture = shown(ENDLESS, of=long_task(), on=on)
    going(board, picture)
    press(board.panel.pause)
    control = board.source.control
    picture.until(lambda: control.done[5] >= control.limit[5])
    before = control.done[5]
    press(board.panel.step)
    picture.until(lambda: control.done[5] == before + 1)
    press(board.panel.pause)
    picture.until(lambda: control.done[5] > before + 3)
    press(board.panel.stop)
    picture.state("ended")
    assert board.live.message["kind"] == "quiet"


@pytest.mark.parametrize("on", ["simulated", "processes"])
def test_a_killed_replica_is_named_and_the_others_go_on_until_a_shard_is_killed(shown, on):
    board, picture = shown(ENDLESS, of=long_task(), on=on)
    going(board, picture)
    board.panel.rank.value = 1
    press(board.panel.kill)
    picture.until(lambda: board.live.message["text"].startswith("Rank 1 is gone; 2 workers go on. Training"))
    assert board.live.marks == {"1": "killed"}
    before = picture.points
    picture.until(lambda: picture.points > before + 2)
    board.panel.rank.value = 4
    press(board.panel.kill)
    picture.state("ended")
    assert board.live.message["kind"] == "bad"
    assert "Rank 4 is a shard, and the weights and the history that it kept are lost" in board.live.message["text"]


def test_a_killed_coordinator_ends_the_run_with_its_sentence(shown):
    board, picture = shown(ENDLESS, of=long_task())
    going(board, picture)
    board.panel.rank.value = 5
    press(board.panel.kill)
    picture.state("ended")
    assert "Rank 5 is the coordinator, and without it nobody knows what to do next" in board.live.message["text"]


def test_an_outcome_is_replayed_with_the_same_points_and_portions(shown, tmp_path):
    board, picture = shown()
    press(board.panel.start)
    picture.until(lambda: len(board.outcomes) == 1)
    picture.state("ended")
    assert any(isinstance(event, Portion) for event in board.outcomes[0].events)
    replay = dashboard(recording=board.outcomes[0].save(tmp_path / "run"), speed=float("inf"))
    seen = Picture(replay)
    press(replay.panel.start)
    seen.state("ended")
    assert seen.points == picture.points
    assert replay.board.facts()["portions"] == board.board.facts()["portions"]
    assert replay.board.workers == 3


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"sync": "async"}, "sync= has no meaning beside method=Sandblaster"),
        ({"topology": "server"}, "topology= has no meaning"),
        ({"optimizer": SGD(0.1)}, "optimizer= has no meaning"),
        ({"steps": 10}, "steps= has no meaning"),
    ],
)
def test_what_a_sandblaster_has_no_use_for_is_refused(shown, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        shown(**options)


def test_a_method_that_is_none_is_refused(shown):
    with pytest.raises(TypeError, match="it must be a Sandblaster"):
        shown(SGD(0.1))
