"""Grading many submissions: each in its own runners, several at a time, every verdict in the journal at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from dlmini.grade.examine import Examiner
from dlmini.grade.journal import Journal, terms_of
from dlmini.grade.lesson import Lesson
from dlmini.grade.reports.all import write_all
from dlmini.grade.runner.process import Runners
from dlmini.grade.secret import secret_in, seed_of
from dlmini.grade.submissions.collect import Submission, collect
from dlmini.grade.verdict import FAILED, Graded, Verdict


def grade_one(
    lesson: Lesson,
    submission: Submission,
    sandbox,
    secret: bytes,
    journal: Journal,
    told: Callable,
    stop: threading.Event,
) -> Graded:
    graded = Graded(submission)
    with Runners(sandbox, lesson.limits) as runners:
        examiner = Examiner(lesson, submission.source or "", runners)
        for test in lesson.tests:
            if stop.is_set():
                break
            verdict = journal.find(submission.name, submission.digest, test.name)
            if verdict is None:
                number = seed_of(secret, submission.name, submission.digest, test.name)
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
    lesson: Lesson, submissions: list[Submission], sandbox, secret: bytes, journal: Journal, jobs: int = 1, told=None
) -> list[Graded]:
    """All submissions in their order. Interrupted, it ends its runners and leaves a journal to resume from."""
    stop, told = threading.Event(), told or (lambda graded, verdict: None)
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(grade_one, lesson, s, sandbox, secret, journal, told, stop) for s in submissions]
        try:
            for future in as_completed(futures):
                future.result()
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return [future.result() for future in futures]


def grade_folder(
    lesson: Lesson,
    root: Path,
    out: Path,
    sandbox,
    secret: Path | None = None,
    jobs: int = 1,
    resume: bool = False,
    given: str = "",
    begun: Callable[[int], Callable] | None = None,
    one: bool = False,
) -> list[Graded]:
    """Grade all submissions under `root` into `out`. `begun(tests)` is told how many tests come; what it returns, each.

    secret: a file with the secret to draw inputs from, if it is not to be a new one. given: the exercise as handed out,
    which does not count as similarity. one: whatever is there is one submission.
    """
    submissions = collect(root, lesson.name, lesson.tasks(), one, jobs)
    told = begun(len(submissions) * len(lesson.tests)) if begun else None
    hidden = secret_in(out, secret)
    journal = Journal(out / "journal.jsonl", terms_of(lesson, hidden), resume)
    try:
        class_ = grade_all(lesson, submissions, sandbox, hidden, journal, jobs, told)
    finally:
        journal.close()
    write_all(out, lesson, class_, sandbox, given)
    return class_
