"""An answer that makes no sense is wrong, in a sentence; it never passes, and never breaks the judge."""

import pytest
from examples import crossed
from grade_course import LESSONS

from dlmini.grade.examine import Examiner
from dlmini.grade.lesson import VISIBLE, find_lesson
from dlmini.grade.verdict import FAILED

NONSENSE = {
    "nothing": "None",
    "a word": "'x'",
    "no number": "float('nan')",
    "a pair of nothing": "(None, None)",
    "three of nothing": "(None, None, None)",
    "no numbers": "np.full(3, np.nan)",
    "an empty vector": "np.ones(0)",
    "half infinite": "(float('inf'), np.full((2, 2), np.nan))",
    "imaginary": "np.asarray(args[-1] if hasattr(args[-1], 'shape') else 1) * 1j",
    "a table": "{'a': [1]}",
}


@pytest.mark.parametrize(("name", "what"), crossed(LESSONS, NONSENSE, 3))
def test_nonsense_is_wrong_and_is_told_so(name, what, benches):
    lesson = find_lesson(name)
    functions = "".join(f"\n\ndef {task}(*args, **kwargs):\n    return {NONSENSE[what]}\n" for task in lesson.tasks())
    examiner = Examiner(lesson, f"import numpy as np\n{functions}", benches(lesson))
    verdicts = [examiner.examine(test, seed=0) for test in lesson.tests if test.visibility == VISIBLE]
    assert {v.status for v in verdicts} == {FAILED}, [(v.task, v.status, v.detail) for v in verdicts]
    assert all(v.detail for v in verdicts)
