"""Inputs follow from a secret that stays with the judge: the same for the same hand-in, and known to nobody before."""

import os
import stat
import subprocess

import pytest
from grade_course import solution

from dlmini.grade.batch import Grading, grade_all
from dlmini.grade.examine import Examiner
from dlmini.grade.journal import Journal, terms_of
from dlmini.grade.lesson import find_lesson
from dlmini.grade.runner import judge_pipes
from dlmini.grade.runner.process import Runners
from dlmini.grade.secret import NAME, secret_in, seed_of
from dlmini.grade.submissions.collect import Submission

LESSON = find_lesson("00")
ONE, OTHER = bytes(range(32)), bytes(32)


def test_seeds_differ_between_secrets_submissions_texts_and_tests_but_not_between_runs():
    same = (ONE, "ann", "digest", "test")
    others = [(OTHER, *same[1:]), (ONE, "bo", "digest", "test"), (ONE, "ann", "x", "test"), (ONE, "ann", "digest", "x")]
    others += [(ONE, "annd", "igest", "test")]
    seeds = [seed_of(*words) for words in (same, *others)]
    assert len(set(seeds)) == len(seeds)
    assert seed_of(*same) == seeds[0]
    assert all(0 <= seed < 2**48 for seed in seeds)  # any program that reads JSON keeps such a number


def test_a_secret_is_drawn_once_for_a_folder_and_kept_for_its_owner_alone(tmp_path):
    first, second = secret_in(tmp_path / "a"), secret_in(tmp_path / "b")
    assert first != second
    assert secret_in(tmp_path / "a") == first
    assert secret_in(tmp_path / "c", tmp_path / "a" / NAME) == first
    assert os.name != "posix" or stat.S_IMODE((tmp_path / "a" / NAME).stat().st_mode) == 0o600
    with pytest.raises(ValueError, match="another secret"):
        secret_in(tmp_path / "b", tmp_path / "a" / NAME)


def test_grades_without_their_secret_are_not_gone_on_with(tmp_path):
    (tmp_path / "journal.jsonl").write_text("{}\n")
    with pytest.raises(ValueError, match="not their secret"):
        secret_in(tmp_path)
    for text in ("", "xyz", "00" * 31, "я"):
        (tmp_path / NAME).write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match="holds no secret"):
            secret_in(tmp_path)


def inputs(secret, file, sandbox, name="ann"):
    """What a submission saw in its tests: it prints its arguments, and raises."""
    spy = "def shard(*args):\n    print(args)\n    raise ValueError\n"
    journal = Journal(file, terms_of(LESSON, secret), resume=False)
    (found,) = grade_all(Grading(LESSON, sandbox, secret, journal), [Submission(name, spy)])
    journal.close()
    return [v.printed for v in found.verdicts if v.task == "shard"]


def test_inputs_are_drawn_from_the_secret(tmp_path, sandbox):
    first = inputs(ONE, tmp_path / "1", sandbox)
    assert all(first)
    assert inputs(ONE, tmp_path / "2", sandbox) == first
    assert inputs(OTHER, tmp_path / "3", sandbox) != first
    assert inputs(ONE, tmp_path / "4", sandbox, "bo") != first


def test_nothing_of_the_secret_reaches_a_runner(monkeypatch, sandbox):
    """Neither on its command line, nor in its environment, nor in any byte that is sent to it."""
    sent, started, frame, popen = [], [], judge_pipes.frame, subprocess.Popen
    monkeypatch.setattr(judge_pipes, "frame", lambda value: sent.append(frame(value)) or sent[-1])
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: started.append((a, k)) or popen(*a, **k))
    with Runners(sandbox, LESSON.limits) as runners:
        examiner = Examiner(LESSON, solution(LESSON.name), runners)
        seeds = [seed_of(ONE, "ann", "digest", test.name) for test in LESSON.tests]
        assert all(examiner.examine(t, s).score for t, s in zip(LESSON.tests, seeds, strict=True))
    assert len(sent) > len(seeds)
    told = b"".join(sent) + repr(started).encode()
    for word in (ONE, ONE.hex().encode(), NAME.encode(), *(str(s).encode() for s in seeds)):
        assert word not in told
    assert not [s for s in seeds if s.to_bytes(8, "little") in told]
