"""Answers that need no thought score nothing: constants, empty things, what was passed in.

For every function of every lesson. A test that such an answer passes asks too little.
"""

import pytest
from examples import some
from grade_course import LESSONS

from dlmini.grade.examine import Examiner
from dlmini.grade.lesson import find_lesson
from dlmini.grade.verdict import INFRA, PASSED

TRIVIAL = {
    "None": "None",
    "False": "False",
    "True": "True",
    "0": "0",
    "0.0": "0.0",
    "1": "1",
    "1.0": "1.0",
    "nan": "float('nan')",
    "infinity": "float('inf')",
    "an empty text": "''",
    "an empty list": "[]",
    "a list of 0": "[0]",
    "two zeros": "(0, 0)",
    "two floats": "(0.0, 0.0)",
    "three zeros": "(0, 0, 0)",
    "an empty array": "np.zeros(0)",
    "an array of 0": "np.zeros(1)",
    "the first argument": "args[0]",
    "the last argument": "args[-1]",
    "the first array": "arrays[0]",
    "zeros like it": "np.zeros_like(arrays[0])",
    "ones like it": "np.ones_like(arrays[0])",
    "two of it": "(arrays[0], arrays[0])",
    "three of it": "(arrays[0], arrays[0], arrays[0])",
    "two of zeros": "(np.zeros_like(arrays[0]), np.zeros_like(arrays[0]))",
    "zeros and 0.0": "(np.zeros(len(arrays[0]), np.int8), 0.0)",
    "all arguments": "args",
    "nothing was done": "(arrays[0], arrays[-1], None, False)",
    "the first of a list": "(args[0][0]['name'], args[0][0]['curve'][0][0])",
    "the last of a list": "(args[0][-1]['name'], args[0][-1]['curve'][-1][0])",
}
SOURCE = """import numpy as np

def {task}(*args):
    args = [a for a in args if not hasattr(a, "send")]
    arrays = [a for a in args if isinstance(a, np.ndarray)] or [np.zeros(1)]
    return {value}
"""


@pytest.mark.parametrize("name", LESSONS)
def test_a_trivial_answer_scores_nothing(name, benches):
    """Usually a third of the answers for each function, another third for the next one."""
    lesson, scored = find_lesson(name), {}
    for number, task in enumerate(lesson.tasks(), LESSONS.index(name)):
        for what, value in some(TRIVIAL.items(), 3, number):
            examiner = Examiner(lesson, SOURCE.format(task=task, value=value), benches(lesson))
            verdicts = [examiner.examine(test, seed=5) for test in lesson.of(task)]
            assert not [v for v in verdicts if v.status == INFRA]
            if passed := [v.test for v in verdicts if v.status == PASSED]:
                scored[lesson.number, task, what] = passed
    assert scored == {}
