"""Lesson 15: units by the dispatcher's own machine, federations, liars."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dlmini.federated.outcomes import table, turned
from dlmini.lessons.volunteers import clients, columns, delivered, grading, grid, units
from dlmini.lessons.volunteers.crowds import Watched
from dlmini.lessons.volunteers.mistakes import SLIPS, code, machine
from dlmini.lessons.volunteers.pictures import a_life, from_above, quorums, rounds
from dlmini.volunteer.delivery import CONTAINER, VM
from dlmini.volunteer.simulated_host import Nature

TEXT = Path(__file__).parents[2] / "course" / "15_volunteers.md"


def solution() -> dict:
    space = {}
    exec((TEXT.parents[1] / "solutions" / "15_volunteers.py").read_text("utf-8"), space)
    return space


def test_the_exercise_is_the_dispatchers_machine():
    """Along hundreds of random lives the judge's machine, the solution and the library's transition agree."""
    ours, seen = solution()["transition"], 0
    for seed in range(8):
        coin = np.random.default_rng(seed)
        for case in (*grading.a_life(coin), *grading.any_life(coin)):
            wanted = code(*machine(*case.args))
            assert np.array_equal(code(*ours(*case.args)), wanted)
            if case.args[1][0] != "invalid":  # the dispatcher hears of invalid copies with the verdict only
                assert np.array_equal(code(*units.library_transition(*case.args)), wanted)
                seen += 1
    assert seen > 300


def test_every_broken_rule_shows_in_some_public_case():
    cases = list(grading.a_life(np.random.default_rng(0)))
    for sentence, slip in SLIPS.items():
        if sentence.startswith("one copy at a time"):
            continue  # hidden
        differ = [not np.array_equal(code(*machine(*c.args)), code(*machine(*c.args, **slip))) for c in cases]
        assert any(differ), sentence


@pytest.mark.parametrize("quorum", [1, 2, 3, 4])
def test_lies_get_through_as_often_as_the_formula_says(quorum):
    """Within four standard deviations of 800 units."""
    tally, p = units.work_off(800, quorum, 0.3), units.lies_accepted(quorum, 0.3)
    assert tally.right + tally.wrong == 800
    assert abs(tally.wrong / 800 - p) < 4 * np.sqrt(p * (1 - p) / 800)
    assert units.lies_accepted(3, 0.1) == units.lies_accepted(2, 0.1) == pytest.approx(0.028)


def test_a_students_pieces_work_off_units_as_the_librarys_do():
    own = solution()
    mine = units.work_off(200, 2, 0.3, decide=own["transition"], believe=own["canonical"])
    assert mine == units.work_off(200, 2, 0.3)


def test_a_machine_that_never_ends_is_stopped():
    def endless(unit, event):
        return {**unit, "copies": [*unit["copies"], "unsent"]}, [("offer", [len(unit["copies"])])]

    steps, found = units.life(np.random.default_rng(0), 2, 0.0, decide=endless)
    assert found == "given up"
    assert len(steps) <= units.LONGEST + 3


def test_the_librarys_answers_are_those_of_the_exercise():
    own, coin = solution(), np.random.default_rng(1)
    for case in (*grading.some_answers(coin), *grading.any_answers(coin)):
        assert units.library_canonical(*case.args) == own["canonical"](*case.args) == case.truth
    for case in (*grading.some_liars(coin), *grading.any_liars(coin)):
        found = clients.library_krum(*case.args)
        assert found == case.truth or np.array_equal(case.args[0][found], case.args[0][case.truth])
    for case in grading.some_rounds(coin):
        assert np.allclose(clients.library_fedavg(*case.args), case.truth)


def test_a_grid_shows_what_every_host_did_last():
    crowd = Watched(liars=0.2)
    seen = list(grid.moments(crowd))
    assert seen[-1][2] == sum(what in ("good", "lie") for _, _, what in crowd.log)
    assert {what for _, seats, _, _ in seen for what in seats} == {*grid.LOOKS}
    shown = grid.picture(["idle", "good", "lie"] + ["off"] * (grid.SEATS - 3))
    assert [text for _, _, text in shown.letters][:3] == ["g", "l", "–"]  # no colour tells alone
    assert all(f"{sign} " in shown.name for sign in grid.SIGNS.values())
    assert {what for what in grid.LOOKS if what not in grid.SIGNS} == {"idle"}
    assert tuple(grid.board(["good"] + ["idle"] * (grid.SEATS - 1))[0, 0]) == tuple(grid.bytes_of(grid.GREEN))
    assert f"{crowd.wrong} lies accepted" in grid.summary(crowd)
    last = grid.stills(crowd).axes[-1]
    assert [text.get_text() for text in last.texts] == [grid.SIGNS[what] for what in seen[-1][1] if what in grid.SIGNS]


def test_a_longer_deadline_loses_fewer_results_and_takes_longer():
    short, long = (Watched(hours=hours, liars=0.0, quorum=1) for hours in (1, 48))
    assert short.good < long.good
    assert long.days > 3 * short.days
    assert not short.wrong


def test_liars_who_agree_get_through_and_less_so_with_a_quorum():
    one, four = (sum(Watched(quorum=q, liars=0.3, seed=s).wrong for s in range(3)) for q in (1, 4))
    assert one > four > 0


def test_the_live_experiment_plays_to_its_end():
    desk = grid.hosts_desk()
    desk.choices["quorum"].value, desk.choices["liars"].value = 3, 0.2
    desk.pause = lambda: 0.0
    desk.start()
    desk.thread.join(60)
    assert desk.stage.state == "ended"
    assert re.match(r"Done\. [\d.]+ days, \d+ results for 144 units", desk.stage.text)
    assert desk.stage.labels == ["quorum 3, 12 h, 20% lie, 5% fail"]


@pytest.mark.parametrize("by", [VM, CONTAINER], ids=lambda by: by.name)
def test_a_first_result_takes_what_the_formula_says_on_a_host_that_is_always_on(by):
    """One speed, one line, always on, nothing in the way: the simulation is the formula."""
    calm = replace(Nature(), on=1e12, speed_spread=0.0, line_spread=0.0, ram_used=0.0, disk_varies=0.0, stay=1e12)
    calm = replace(calm, ram=((32.0, 1.0),), disk=1e4, disk_spread=0.0)
    story = delivered.Population(5, by, calm).run(20, 1)
    assert story.first == pytest.approx(delivered.predicted(by, calm), rel=1e-6)


def test_fewer_hosts_can_take_a_container_and_those_give_a_first_result_sooner():
    found = delivered.compared(iterations=1)
    assert found["container"].able == pytest.approx(0.4, abs=0.02)
    assert found["VM"].able > 0.95
    assert found["container"].first < found["VM"].first


def test_columns_cut_are_columns_joined():
    assert columns.cut_and_joint() < 1e-9


def test_scaffold_and_shared_rows_mend_what_two_digits_each_cost(monkeypatch):
    """The lesson's claims in a short form: 500 digits, eight rounds. In full they are what its pictures show."""
    monkeypatch.setenv("DLMINI_PROFILE", "fast")
    few, scaffold, shared = (
        clients.learned("", clients.digits(split, 500), strategy, rounds=8).last
        for split, strategy in (
            (clients.SKEWED, None),
            (clients.SKEWED, clients.Scaffold(clients.RATE, clients.CLIENTS)),
            (clients.Mixed(clients.SKEWED, 0.1), None),
        )
    )
    assert few < scaffold
    assert few < shared


def test_a_crowd_of_liars_turns_krum_where_clients_differ(monkeypatch):
    monkeypatch.setenv("DLMINI_PROFILE", "fast")
    assert turned(table(clients.honest_changes(clients.SKEWED), 3)).get("Krum") == "inner product"
    assert "Krum" not in turned(table(clients.honest_changes(), 3))


def test_a_krum_that_refuses_is_named():
    with pytest.raises(ValueError, match="too few for 2 liars"):
        clients.Chosen(lambda updates, f: None, 2)(np.zeros((3, 2)))


def test_pictures_are_drawn():
    few = {1: {0.1: units.work_off(20, 1, 0.1)}}
    run = {"one": clients.Learned("one", (0.1, 0.5))}
    honest = np.random.default_rng(0).normal(1, 0.1, size=(5, 4))
    for figure in (
        a_life(*units.life(np.random.default_rng(3), 2, 0.4, 0.3)),
        quorums(few, 20),
        rounds(run, "x"),
        from_above(honest, -honest[0], {"mean": honest.mean(axis=0)}),
        grid.stills(Watched()),
    ):
        assert figure._repr_png_().startswith(b"\x89PNG")


def test_the_lesson_checks_every_exercise_of_its_solution():
    source = (TEXT.parents[1] / "solutions" / "15_volunteers.py").read_text("utf-8")
    tasks = re.findall(r"^def (\w+)\(", source, re.M)
    assert {f'check("15.{task}")' for task in tasks} <= set(TEXT.read_text("utf-8").splitlines())
