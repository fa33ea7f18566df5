"""What a teacher takes for an answer is one, whatever class it is of; all else is told in a short sentence."""

from pathlib import Path

import numpy as np
import pytest

from dlmini.grade.examine import Examiner
from dlmini.grade.expect import close, number
from dlmini.grade.lesson import Call, Lesson, Wrong
from dlmini.grade.runner.process import Runners

HEAD = """
import array, collections, dataclasses, decimal, enum, fractions, numpy as np, os
class Sub(np.ndarray):
    def __reduce__(self): os.mkdir("/tmp/BREACH")
    def __array_finalize__(self, other): self.judge = os.environ.get("DLMINI_JUDGE")
class Number(float):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0
class Text(str):
    def __eq__(self, other): return True
    __hash__ = str.__hash__
Pair = collections.namedtuple("Pair", "lo hi")
One = enum.IntEnum("One", "one two")
@dataclasses.dataclass
class Both:
    lo: int
    hi: int
def nested(n):
    inner = []
    for _ in range(n): inner = [inner]
    return inner
def itself():
    one = []
    one.append(one)
    return one
async def later(): return 1
"""
GOOD = {  # what is written, and what it is
    "Pair(1, 2)": (1, 2),
    "type('T', (tuple,), {})((1, 2))": (1, 2),
    "type('L', (list,), {})([1, [2]])": [1, [2]],
    "collections.Counter('aab')": {"a": 2, "b": 1},
    "collections.OrderedDict(b=1, a=2)": {"b": 1, "a": 2},
    "collections.defaultdict(list, {1: [2]})": {1: [2]},
    "{'x': Pair(One.one, One.two)}": {"x": (1, 2)},
    "np.array([1., 2.]).view(Sub)": np.array([1.0, 2.0]),
    "np.matrix([[1, 2]])": np.array([[1, 2]]),
    "np.ma.masked_array([1, 2])": np.array([1, 2]),
    "np.ma.masked_invalid([1., 2.])": np.array([1.0, 2.0]),
    "np.array([1, 2]).view(np.recarray)": np.array([1, 2]),
    "np.arange(6)[::2]": np.array([0, 2, 4]),
    "np.array(2.5)": 2.5,
    "[np.array(1), np.array(2)]": [1, 2],
    "Number(2.5)": 2.5,
    "One.two": 2,
    "True": True,
    "np.str_('x')": "x",
    "Text('x')": "x",
    "bytearray(b'x')": b"x",
}
BAD = {  # what is written, and what is said
    "(x for x in range(2))": "type generator.*return list",
    "map(int, '12')": "type map.*return list",
    "collections.deque([1, 2])": "type deque.*return list",
    "{1, 2}": "type set.*no order",
    "later()": "type coroutine.*without async",
    "Both(1, 2)": "type Both",
    "fractions.Fraction(1, 2)": r"return float\(",
    "decimal.Decimal(1)": r"return float\(",
    "1j": "real numbers",
    "memoryview(b'xx')": r"return np.array\(",
    "array.array('d', [1, 2])": r"return np.array\(",
    "nested": "call it",
    "np": "type module",
    "np.ma.masked_array([1, 2], [True, False])": "1 numbers are masked",
    "np.array([1, None])": "array of object",
    "np.array(['a'])": "array of <U1",
    "np.zeros(3, 'M8[s]')": "datetime64",
    "np.zeros((1,) * 9)": "9 dimensions",
    "np.zeros((0, 10**9))": "empty array",
    "np.zeros(10**8, 'u1')": "100.0 MB",
    "[np.zeros(10**5)] * 1000": "MB or more",
    "'x' * 10**8": "100.0 MB",
    "10 ** 5000": "5001 digits|about 5000 digits",
    "list(range(10**6))": "more than 100,000 single values",
    "nested(10**5)": "more than 9 deep",
    "itself()": "more than 9 deep",
    "[[[[[[[[[[(1, 2)]]]]]]]]]]": "more than 9 deep",
}


def verdict_of(what, sandbox, judge):
    lesson = Lesson("98_made_up")

    @lesson.test("f", points=1, cases=lambda coin: [Call()])
    def judged(case, found):
        """It is this."""
        judge(found.value)

    with Runners(sandbox, lesson.limits) as runners:
        return Examiner(lesson, f"{HEAD}\ndef f():\n    return {what}\n", runners).examine(lesson.tests[0], seed=0)


@pytest.mark.parametrize("what", GOOD)
def test_an_answer_of_a_class_of_its_own_is_what_it_stands_for(what, sandbox):
    truth = GOOD[what]

    def judge(found):
        assert isinstance(found, np.ndarray) == isinstance(truth, np.ndarray)
        if isinstance(truth, np.ndarray):
            assert type(found) is np.ndarray
            np.testing.assert_array_equal(found, truth, strict=True)
        else:
            assert found == truth
            assert type(found) is type(truth) or isinstance(found, np.generic)

    verdict = verdict_of(what, sandbox, judge)
    assert verdict.score == 1, verdict.detail
    assert not Path("/tmp/BREACH").exists()


@pytest.mark.parametrize("what", BAD)
def test_what_is_no_answer_is_told_in_a_short_sentence(what, sandbox):
    verdict = verdict_of(what, sandbox, lambda found: None)
    assert verdict.score == 0
    assert verdict.status == "failed"
    with pytest.raises(AssertionError, match=BAD[what]):
        raise AssertionError(verdict.detail)
    assert verdict.detail.startswith("Your function returned ")
    assert len(verdict.detail) < 200


def test_numbers_that_differ_in_their_last_digits_are_told_apart():
    with pytest.raises(Wrong, match=r"found 0.000353024121, expected 0.000353024113"):
        number(0.000353024121, 0.000353024113, "seconds")
    with pytest.raises(Wrong, match=r"\[0\] is 1.00000001, not 1, "):
        close(np.array([1.00000001, 7.0]), np.array([1.0, 5.0]), "it")
