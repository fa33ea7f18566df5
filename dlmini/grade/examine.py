"""One test of one submission: draw its cases, let runners answer them, judge the answers, say what came of it."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field

from dlmini.grade.lesson import Call, Case, Found, Lesson, Property, World, Wrong
from dlmini.grade.runner.ending import Raised, ending
from dlmini.grade.runner.judge_pipes import Greedy, Interrupted, Late, Lost
from dlmini.grade.runner.process import Broken, Runners, crowded
from dlmini.grade.runner.values import Garbled
from dlmini.grade.switch import Stuck, Switch
from dlmini.grade.verdict import FAILED, INFRA, NOT_DONE, PASSED, TIMED_OUT, Verdict
from dlmini.sim.explore import equal

TRIES = 3  # of a case whose runner did not start, or whose judge stood still


@dataclass
class Examiner:
    """Examines one source text. After two tests of a task that ran out of time its other tests are not run.

    And after so many seconds, for all tests together, no other test of any task.
    """

    lesson: Lesson
    source: str
    runners: Runners
    late: dict[str, int] = field(default_factory=dict)
    spent: float = 0.0

    def examine(self, test: Property, seed: int) -> Verdict:
        began = time.monotonic()
        verdict = Verdict(
            test.task, test.name, PASSED, test.points, test.points, test.visibility, test.sentence, seed=seed
        )
        total = self.lesson.limits.total
        if self.spent > total * crowded():
            self._fail(verdict, TIMED_OUT, f"not run: the tests before it took more than {total:g} s together.")
        elif self.late.get(test.task, 0) >= 2:
            self._fail(verdict, TIMED_OUT, "not run: two tests of this function before it ran out of time.")
        else:
            self._run(test, verdict)
        verdict.seconds = round(time.monotonic() - began, 3)
        self.remember(verdict)
        return verdict

    def _run(self, test: Property, verdict: Verdict) -> None:
        try:
            case = None
            for case in test.drawn(verdict.seed):
                found = self._tried(test, case)
                verdict.printed = found.printed
                judged(test, case, found, self.source)
        except Wrong as error:
            more = {"picture": error.picture, "cells": error.cells, "mistakes": list(error.mistakes)}
            self._fail(verdict, FAILED, str(error), **more)
        except Stuck as error:
            waits = [[w.rank, list(w.on), w.what, w.where] for w in error.waits]
            self._fail(verdict, FAILED, said(case, error), picture=error.picture, waits=waits)
        except Raised as error:
            on = "" if error.rank is None else f" (rank {error.rank})"
            status = NOT_DONE if error.kind == "stub" else FAILED
            self._fail(verdict, status, f"{said(case, error)}{on}", where=error.where, printed=error.printed)
        except Garbled as error:
            self._fail(verdict, FAILED, f"Your program sent what is no answer: {error}")
        except Lost as error:
            self._fail(verdict, TIMED_OUT if isinstance(error, Late) else FAILED, str(error))
        except Broken as error:
            self._fail(verdict, INFRA, str(error))
        except Exception as error:  # whatever a submission does to the judge, the others are still graded
            self._fail(verdict, INFRA, f"the grader failed: {type(error).__name__}: {error}"[:2000])

    def remember(self, verdict: Verdict) -> None:
        """Count its seconds, and whether it ran out of time, in this run or in one that is resumed."""
        self.spent += verdict.seconds
        if verdict.status == TIMED_OUT:
            self.late[verdict.task] = self.late.get(verdict.task, 0) + 1

    def _fail(self, verdict: Verdict, status: str, detail: str, **more) -> None:
        verdict.status, verdict.score, verdict.detail = status, 0.0, detail
        for name, value in more.items():
            setattr(verdict, name, value)

    def _tried(self, test: Property, case: Case) -> Found:
        for tries in range(1, TRIES + 1):
            try:
                return self._answered(test, case)
            except (Broken, Interrupted):
                if tries == TRIES:
                    raise
        raise AssertionError("unreachable")

    def _answered(self, test: Property, case: Case) -> Found:
        """Hand the case to its runners, let the switch serve them, and leave them clean for the next."""
        parts = self._parts(test, case)
        runners = self.runners.take(len(parts))
        deadline = time.monotonic() + self._patience()
        try:
            for runner, part in zip(runners, parts, strict=True):
                runner.begin(part, deadline)
            if isinstance(case, World):
                return Switch(runners, case, self.lesson.limits, test.collectives).run()
            verb, *rest = runners[0].hear()
            values, left, printed = ending(verb, rest, len(parts[0]["calls"]), self.lesson.limits)
            return Found(values, printed, left=left)
        except Greedy:
            for runner in runners:
                runner.give_up()
            raise
        finally:
            for runner in runners:
                runner.stop()
            for runner in runners:
                runner.settle()

    def _patience(self) -> float:
        """Seconds to wait for an answer: fewer with every test of this submission that has hung, but never very few."""
        wall = self.lesson.limits.wall
        return max(wall / 2, wall * crowded() / (1 + sum(self.late.values())))

    def _parts(self, test: Property, case: Case) -> list[dict]:
        """What each runner is told."""
        common = {"source": self.source, "name": self.lesson.file, "function": test.task, "world": None}
        common |= {"kwargs": case.kwargs, "repeat": case.repeat}
        if isinstance(case, World):
            return [{**common, "calls": [args], "world": (r, case.size)} for r, args in enumerate(case.args)]
        return [{**common, "calls": [case.args] if isinstance(case, Call) else case.args}]


def unchanged(case: Case, left: list, source: str, task: str) -> None:
    """A case that is repeated must leave its arguments as they were, each time. What a runner says is doubted."""
    if case.repeat == 1:
        return
    world, sent = isinstance(case, World), [case.args] if isinstance(case, Call) else case.args
    for place, (args, times) in enumerate(zip(sent, left, strict=True)):
        before = [*args, *case.kwargs.values()]
        if equal([before] * case.repeat, times):
            continue
        changed = [n for after in times for n, pair in enumerate(zip(before, after, strict=False)) if not equal(*pair)]
        name = parameter(source, task, changed[0] + world) if changed else "what came back"
        on = f" (rank {place})" if world else ""
        raise Wrong(f"Your input was changed: {name} is not what it was before the call{on}. Work on a copy.")


def parameter(source: str, task: str, number: int) -> str:
    """What the student calls this argument. Looked up in the text: a judge does not parse what it judges."""
    head = re.search(rf"^def {task}\(([^()]*)\)", source, re.MULTILINE)
    plain = re.sub(r"\[[^\[\]]*\]", "", head[1]) if head else ""
    names = re.findall(r"(?:^|,)\s*(\w+)", plain)
    return names[number] if number < len(names) else f"argument {number + 1}"


def judged(test: Property, case: Case, found: Found, source: str) -> None:
    """Judge an answer. Of a form that no test has foreseen it is wrong, too."""
    try:
        unchanged(case, found.left, source, test.task)
        test.judge(case, found)
    except Wrong:
        raise
    except Exception as error:
        raise Wrong(f"The answer cannot be read: {type(error).__name__}: {error}"[:500]) from error


def said(case: Case | None, error: Exception) -> str:
    """An error, and what is special about the case that it happened in."""
    return f"{case.about}: {error}" if case and case.about else str(error)
