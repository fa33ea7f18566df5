"""Grading many submissions: each in its own runners, several at a time, every verdict in the journal at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from dlmini.grade.examine import Examiner
from dlmini.grade.journal import Journal
from dlmini.grade.lesson import Lesson
from dlmini.grade.runner.process import Runners
from dlmini.grade.secret import seed_of
from dlmini.grade.submissions.collect import Submission
from dlmini.grade.verdict import FAILED, Graded, Verdict


@dataclass(frozen=True)
class Grading:
    """What all submissions of a run share."""

    lesson: Lesson
    sandbox: object
    secret: bytes
    journal: Journal

    def one(self, submission: Submission, told: Callable, stop: threading.Event) -> Graded:
        """One submission. What the journal knows is not examined again."""
        graded = Graded(submission)
        with Runners(self.sandbox, self.lesson.limits) as runners:
            examiner = Examiner(self.lesson, submission.source or "", runners)
            for test in self.lesson.tests:
                if stop.is_set():
                    break
                verdict = self.journal.find(submission.name, submission.digest, test.name)
                if verdict is None:
                    verdict = self._found(examiner, submission, test)
                    self.journal.add(submission.name, submission.digest, verdict)
                else:
                    examiner.remember(verdict)
                graded.verdicts.append(verdict)
                told(graded, verdict)
        return graded

    def _found(self, examiner: Examiner, submission: Submission, test) -> Verdict:
        if submission.source is None:
            return absent(test, submission)
        return examiner.examine(test, seed_of(self.secret, submission.name, submission.digest, test.name))


def absent(test, submission: Submission) -> Verdict:
    """The verdict where there is nothing to run."""
    return Verdict(test.task, test.name, FAILED, 0.0, test.points, test.visibility, test.sentence, submission.problem)


def grade_all(run: Grading, submissions: list[Submission], jobs: int = 1, told: Callable | None = None) -> list[Graded]:
    """All submissions in their order. Interrupted, it ends its runners and leaves a journal to resume from."""
    stop, told = threading.Event(), told or (lambda graded, verdict: None)
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(run.one, submission, told, stop) for submission in submissions]
        try:
            for future in as_completed(futures):
                future.result()
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return [future.result() for future in futures]
