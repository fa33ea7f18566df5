"""What a function does to its arguments is seen, whatever it returns; and a complex number is no real one."""

import numpy as np
import pytest

from dlmini.grade.examine import Examiner
from dlmini.grade.expect import alike, named, number
from dlmini.grade.lesson import Call, Calls, Lesson, World, Wrong
from dlmini.grade.runner.process import Runners
from dlmini.grade.verdict import FAILED, PASSED

X = np.arange(1.0, 4.0)
HOLDS = {"a vector": X, "a list": [3, 1, 2], "a dict": {"b": 1, "a": [2]}, "lists of vectors": [[X, X], [X]]}
HONEST = "def f(*args):\n    return 1.0\n"
CHANGES = {
    "a vector": "x[0] = 9",
    "a list": "x.sort()",
    "a dict": "x['c'] = 3",
    "lists of vectors": "x[1][0] += 1",
}
MEMOS = {
    "none": "def f(x, y=0):\n    {change}\n    return 1.0\n",
    "by identity": "memo = {{}}\ndef f(x, y=0):\n    if id(x) not in memo:\n        {change}\n"
    "        memo[id(x)] = 1.0\n    return memo[id(x)]\n",
    "once for ever": "memo = []\ndef f(x, y=0):\n    if not memo:\n        {change}\n        memo.append(1.0)\n"
    "    {change}\n    return memo[0]\n",
}


def made(*cases) -> Lesson:
    lesson = Lesson("98_made_up")

    @lesson.test("f", points=1, cases=lambda coin: cases)
    def gives_one(case, found):
        """It returns 1.0."""
        for value in found.values:
            number(value, 1.0, "f")

    return lesson


def verdict(lesson, source, sandbox):
    with Runners(sandbox, lesson.limits) as runners:
        return Examiner(lesson, source, runners).examine(lesson.tests[0], seed=0)


@pytest.mark.parametrize("memo", MEMOS)
@pytest.mark.parametrize("held", HOLDS)
def test_a_changed_argument_is_seen_also_behind_a_memo(held, memo, sandbox):
    lesson = made(Call((HOLDS[held], 5), repeat=2))
    found = verdict(lesson, MEMOS[memo].format(change=CHANGES[held]), sandbox)
    assert found.status == FAILED
    assert "Your input was changed: x" in found.detail
    assert verdict(lesson, HONEST, sandbox).status == PASSED


def test_the_arguments_of_each_call_and_of_each_rank_are_looked_at(sandbox):
    second = "def f(x):\n    if x[0] == 7:\n        x[0] = 8\n    return 1.0\n"
    assert "changed: x" in verdict(made(Calls([(X,), (X + 6,)], repeat=2)), second, sandbox).detail
    ranks = "def f(comm, x):\n    if comm.rank == 1:\n        x += 1\n    return 1.0\n"
    world = World(2, [(X,), (X,)], repeat=2)
    assert "changed: x" in verdict(made(world), ranks, sandbox).detail
    assert verdict(made(world), HONEST, sandbox).status == PASSED


def test_an_argument_given_by_name_is_looked_at_too(sandbox):
    case = Call((1,), kwargs={"y": [1, 2]}, repeat=2)
    assert "changed: y" in verdict(made(case), "def f(x, y):\n    y.clear()\n    return 1.0\n", sandbox).detail


def test_what_may_be_changed_may_be_changed(sandbox):
    assert verdict(made(Call((X,))), "def f(x):\n    x[:] = 0\n    return 1.0\n", sandbox).status == PASSED


def test_a_repeated_call_gets_fresh_arguments_and_its_last_answer_counts(sandbox):
    counts = "calls = []\ndef f(x):\n    calls.append(x)\n    return 1.0 * len(calls) - (calls[0] is x)\n"
    lesson = made(Call((X,), repeat=2))
    found = verdict(lesson, counts, sandbox)
    assert found.status == FAILED
    assert "found 2, expected 1" in found.detail


def test_an_error_is_told_with_what_is_special_about_the_case(sandbox):
    lesson = made(Call((0,), about="nothing to divide by"))
    found = verdict(lesson, "def f(x):\n    return 1 / x\n", sandbox)
    assert found.detail == "nothing to divide by: ZeroDivisionError: division by zero"


COMPLEX = ["1j", "np.complex128(1 + 2j)", "np.complex128(1)", "np.complex64(1)", "np.array(1 + 1j)"]


@pytest.mark.parametrize("value", COMPLEX)
def test_a_complex_number_is_refused_even_if_its_real_part_is_right(value, sandbox):
    found = verdict(made(Call((1,))), f"import numpy as np\ndef f(x):\n    return {value}\n", sandbox)
    assert found.status == FAILED
    assert found.detail


def test_a_complex_scalar_is_called_complex():
    with pytest.raises(Wrong, match="the complex number 1\\+2j, expected a real one"):
        number(np.complex128(1 + 2j), 1.0, "the gap")
    assert not alike(np.complex128(1), 1.0)
    assert not alike([np.array([1, 1j])], [np.ones(2)])


def test_where_several_mistakes_give_the_same_all_are_named():
    with pytest.raises(Wrong, match="f: doubled; or squared\\."):
        named(4.0, 2.0, "f", {"doubled": 4.0, "squared": 4.0, "halved": 1.0})
    named(4.0, 4.0, "f", {"doubled": 4.0})
    named(5.0, 2.0, "f", {"doubled": 4.0})
