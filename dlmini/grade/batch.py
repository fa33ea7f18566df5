"""Grading many submissions: each in its own runners, several at a time, every verdict in the journal at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field

from dlmini.grade.cells import Cells
from dlmini.grade.examine import Examiner
from dlmini.grade.journal import Journal
from dlmini.grade.lesson import Lesson, key
from dlmini.grade.submissions import Submission
from dlmini.grade.verdict import FAILED, INFRA, Verdict


@dataclass
class Graded:
    """A submission and what was found."""

    submission: Submission
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def score(self) -> float:
        return sum(v.score for v in self.verdicts)

    @property
    def complete(self) -> bool:
        """False if the grader itself failed somewhere: such a score is no grade."""
        return all(v.status != INFRA for v in self.verdicts)


def seed_of(seed: int, submission: Submission, test: str) -> int:
    """The same whenever the same submission is graded, another for every other one.

    The text itself takes part: who writes down the answers for the inputs to come gets other inputs by writing them.
    """
    return key(seed, submission.name, submission.digest, test) >> 16


def grade_one(
    lesson: Lesson, submission: Submission, sandbox, seed: int, journal: Journal, told: Callable, stop: threading.Event
) -> Graded:
    graded = Graded(submission)
    with Cells(sandbox, lesson.limits) as cells:
        examiner = Examiner(lesson, submission.source or "", cells)
        for test in lesson.tests:
            if stop.is_set():
                break
            verdict = journal.find(submission.name, submission.digest, test.name)
            if verdict is None:
                number = seed_of(seed, submission, test.name)
                verdict = absent(test, submission) if submission.source is None else examiner.examine(test, number)
                journal.add(submission.name, submission.digest, verdict)
            else:
                examiner.remember(verdict)
            graded.verdicts.append(verdict)
            told(graded, verdict)
    return graded


def absent(test, submission: Submission) -> Verdict:
    """The verdict where there is nothing to run."""
    return Verdict(test.task, test.name, FAILED, 0.0, test.points, test.visibility, test.sentence, submission.problem)


def grade_all(
    lesson: Lesson, submissions: list[Submission], sandbox, seed: int, journal: Journal, jobs: int = 1, told=None
) -> list[Graded]:
    """All submissions in their order. Interrupted, it ends its runners and leaves a journal to resume from."""
    stop, told = threading.Event(), told or (lambda graded, verdict: None)
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(grade_one, lesson, s, sandbox, seed, journal, told, stop) for s in submissions]
        try:
            for future in as_completed(futures):
                future.result()
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return [future.result() for future in futures]
