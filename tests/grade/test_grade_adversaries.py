"""Submissions that cheat, each contained: no points, nothing seen, nothing written, nobody left.

An adversary prints BREACH when it has seen or done what it must not. Its docstring says what it needs or is allowed:
"On top of the solution" (right answers, so all points), "Costs are counted" (right sums, so only the tests of costs
must fail), "Needs: bwrap" (or whatever hides files, tried out first).
"""

import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import psutil
import pytest
from grade_course import solution, stub

from dlmini.grade.examine import Examiner
from dlmini.grade.lesson import find_lesson
from dlmini.grade.protections import protections
from dlmini.grade.runner.process import Runners
from dlmini.grade.sandbox.limits import Limits
from dlmini.grade.sandbox.visible_files import HOUSE
from dlmini.grade.verdict import INFRA, PASSED

LONG = os.environ.get("DLMINI_LONG") == "1"
FILES = sorted((Path(__file__).parent / "adversaries").glob("*.py"))
SHORT = {"00": ["rows_left_over_are_spread"], "04": ["the_tree_returns_the_sum"]}
COSTS = ["reduce_scatter_costs_one_lap", "allreduce_costs_two_laps", "the_tree_takes_logarithmic_time"]


def source_of(file):
    """The adversary's text; `attack` under the names of all functions of the exercise."""
    lesson, text = find_lesson(file.name), file.read_text(encoding="utf-8")
    if "On top of the solution" in text:
        return lesson, solution(lesson.name) + text
    return lesson, text + f"\n{' = '.join(lesson.tasks())} = attack\n" if "def attack" in text else text


def left_behind():
    """Processes of this judge's runners that are still alive."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("DLMINI_JUDGE") == str(os.getpid()) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


@cache
def opened(sandbox):
    """What nothing closes on this machine."""
    return ", ".join(protections(sandbox).open)


@pytest.mark.parametrize("file", FILES, ids=[f.stem for f in FILES])
def test_an_adversary_is_contained_and_gains_nothing(file, sandbox):
    lesson, source = source_of(file)
    said = source if "On top" not in source else ""
    if "Needs: bwrap" in said and (open_ways := opened(sandbox)):
        pytest.skip(f"here {open_ways} is open to whoever is held by {sandbox.name}")
    lesson = replace(
        lesson, limits=Limits(cpu=1, wall=3.0 if "endless" not in file.name else 10.0, messages=2000, traffic=32 << 20)
    )
    wanted = COSTS if "Costs are counted" in source else SHORT[lesson.number]
    tests = [t for t in lesson.tests if t.name in wanted or (LONG and wanted is not COSTS)]
    tests = tests if LONG or "Takes two tests" not in source else lesson.of("shard")[:2]
    before = {p.pid for p in left_behind()}
    with Runners(sandbox, lesson.limits) as processes:
        verdicts = [Examiner(lesson, source, processes).examine(test, seed=3) for test in tests]
    expected = sum(t.points for t in tests) if "On top of the solution" in source else 0
    assert sum(v.score for v in verdicts) == expected, verdicts
    assert all(v.status != INFRA for v in verdicts), verdicts
    assert not [v for v in verdicts if "BREACH" in v.printed + v.detail], verdicts
    assert not [p for p in left_behind() if p.pid not in before]
    for folder in (HOUSE, HOUSE / "grade", HOUSE.parent, Path("/"), Path("/tmp"), Path.cwd(), Path.home()):
        assert not list(folder.glob("BREACH*"))
        assert not (folder / "results.json").exists()


def test_an_adversary_harms_no_later_submission(sandbox):
    """After a bomb in the same runners an honest program still gets its points."""
    lesson = find_lesson("00")
    test = lesson.of("shard")[0]
    bomb = source_of(Path(__file__).parent / "adversaries" / "00_fork_bomb.py")[1]
    lesson = replace(lesson, limits=Limits(cpu=1, wall=4.0))
    with Runners(sandbox, lesson.limits) as processes:
        assert Examiner(lesson, bomb, processes).examine(test, seed=1).score == 0
        assert Examiner(lesson, solution(lesson.name), processes).examine(test, seed=1).status == PASSED


def test_a_runner_that_is_over_with_a_case_serves_the_next(sandbox):
    """Whether it ends with an answer, an exception or a crash: nobody waits, and no runner is replaced."""
    lesson, runners = find_lesson("00"), set()
    crash = "import os\ndef shard(*args):\n    os.abort()\n"
    with Runners(sandbox, lesson.limits) as processes:
        for source in (solution(lesson.name), stub(lesson.name), crash, solution(lesson.name)):
            verdicts = [Examiner(lesson, source, processes).examine(test, seed=1) for test in lesson.of("shard")]
            runners |= {one.process.pid for one in processes.runners}
        assert all(verdict.status == PASSED for verdict in verdicts)
    assert len(runners) == 1
