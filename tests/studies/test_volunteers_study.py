"""The study on volunteers: what is trained is what the story tells, and the page says what was found."""

from dataclasses import replace

import numpy as np
import pytest

from dlmini.studies.volunteers import experiment, published, report, sweeps
from dlmini.studies.volunteers.experiment import learn
from dlmini.studies.volunteers.study import Found
from dlmini.volunteer.delivery import CONTAINER
from dlmini.volunteer.population import ONE, Population
from dlmini.volunteer.work import Work, mean_of

TINY = Work("softmax_regression", "blobs", units=12, iterations=3, steps=4, batch=8, optimizer="adam", rate=0.05)


@pytest.fixture
def story():
    return Population(8).run(TINY.units, TINY.iterations)


def test_honest_volunteers_train_what_one_machine_does_with_any_crew(story, monkeypatch):
    seen = []
    monkeypatch.setattr(Work, "accuracy", lambda self, w: seen.append(w.copy()) or 0.5)
    learn(TINY, story, crew=1)
    learn(TINY, story, crew=3)
    assert np.array_equal(seen[3], TINY.alone())
    assert np.array_equal(seen[7], TINY.alone())


def test_units_that_were_given_up_are_left_out_and_an_empty_iteration_keeps_its_weights(story, monkeypatch):
    seen = []
    monkeypatch.setattr(Work, "accuracy", lambda self, w: seen.append(w.copy()) or 0.5)
    first, *others = story.iterations
    first.honest, first.given_up = [u for u in first.honest if u != 3], [3]
    for one in others:
        one.honest = []
    learn(TINY, story)
    w = TINY.initial()
    assert np.array_equal(seen[1], mean_of(TINY.train(w, unit) for unit in range(12) if unit != 3))
    assert np.array_equal(seen[3], seen[1])


def test_a_lie_is_far_from_what_training_gives():
    w = TINY.initial()
    honest, lie = (np.linalg.norm(experiment.answer(TINY, w, 5, lie) - w) for lie in (False, True))
    assert lie > 3 * honest > 0


def test_the_published_figures():
    assert pytest.approx(0.9487, abs=5e-5) == published.SUCCESS
    assert published.UNITS == 297
    assert experiment.WORK.size == published.WEIGHTS
    assert 4 * experiment.WORK.size == pytest.approx(1e6, rel=0.04)


def test_a_quorum_keeps_lies_out_and_costs_results():
    alone, three = (sweeps.by_quorum(quorums=(q,), liars=(0.2,), iterations=1)[0].story for q in (1, 3))
    assert alone.wrong > 20
    assert three.wrong < 5
    assert three.good + three.failed > 2.5 * alone.good


def test_short_deadlines_fail_results_and_long_ones_hold_iterations_up():
    short, middle, long = (row.story for row in sweeps.by_deadline(hours=(1, 8, 96), iterations=2))
    assert short.success < middle.success < long.success
    assert middle.days < long.days


def test_the_page_tells_all_of_it(tmp_path, story):
    found = Found(vm=story, container=Population(8, CONTAINER).run(12, 2), learned=learn(TINY, story), others=[0.9])
    found.deadlines = [sweeps.Row(h, story) for h in (1, 8)]
    found.quorums = [sweeps.Row((q, 0.2), story) for q in (1, 3)]
    found.sets = found.steps = [sweeps.Row(n, story, 0.5 + n / 100) for n in (1, 2)]
    report.write(found, tmp_path / "out")
    text = (tmp_path / "out" / "volunteers.md").read_text("utf-8")
    for told in ("| success | 94.87% |", "`ram_used`", "| fitted |", "VDI file 10,000 MB", "## Local steps", "1,027"):
        assert told in text
    names = {"accuracy", "delivery", "deadline", "quorum", "local_sets", "local_steps"}
    assert {file.stem for file in (tmp_path / "out").glob("*.png")} == names


def test_rows_of_several_seeds_are_told_by_mean_least_and_most(story):
    def sweep(seed):
        return [sweeps.Row(n, story, 0.1 * n + 0.01 * seed**2) for n in (1, 2)]

    first, second = sweeps.with_seeds(sweep, 1, 3)
    assert second.spread(lambda row: row.accuracy) == pytest.approx((0.2 + 0.14 / 3, 0.21, 0.29))
    told = report.learning([first], "n")
    assert "| 14.7% (11.0% to 19.0%) |" in told
    assert f"| {story.days:.1f} |" in told  # the same with every seed: said once
    assert [row.again for row in sweeps.with_seeds(sweep, 1, 1)] == [[], []]


def test_sweeps_that_train_keep_the_number_of_images(monkeypatch):
    asked = []
    monkeypatch.setattr(sweeps, "trained", lambda *given: asked.append(given) or replace(sweeps.Row(0, None)))
    sweeps.by_local_set(iterations=16)
    sweeps.by_steps(iterations=16)
    images = {round(units * steps * iterations / 1000) for _, units, steps, iterations, *_ in asked}
    assert max(images) / min(images) < 1.05
    assert ONE.quorum == 1
