"""The judge's switch: remote ranks behave to the bit and the second like ranks of the simulator itself."""

import numpy as np
import pytest
from grade_course import solution

from dlmini.grade.examine import Examiner
from dlmini.grade.lesson import Lesson, World
from dlmini.grade.runner.student_module import load
from dlmini.grade.verdict import FAILED, NOT_DONE, PASSED
from dlmini.sim import Cluster, Simulated
from dlmini.sim.explore import equal

SHAKY = Cluster(jitter=0.3, link_jitter=1.0, overhead=1e-6, seconds={"think": 1e-4}, start={1: 2e-4})
BUSY = """
def program(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    comm.compute("think", None)
    comm.send(right, x, tag=3)
    comm.send(left, (comm.rank, "text", None), tag=4)
    comm.send(left, (comm.rank, "again", 1.5), tag=4)
    order = [comm.recv_any(tag=4) for _ in range(2)]
    looks = 0
    while not comm.poll(left, 3):
        looks += 1
    y = comm.recv(left, 3)
    comm.compute("add", lambda: y.__iadd__(x), flops=1e5)
    return y, order, looks, comm.now()
"""


def alone(source, case):
    """The same case in the simulator, without any other process."""
    function = load(source, "program.py").program
    return Simulated(case.size, case.on, case.seed).run(lambda comm: function(comm, *case.args[comm.rank]))


@pytest.mark.parametrize("on", [None, SHAKY], ids=["plain", "shaky"])
@pytest.mark.parametrize("seed", [1, 2])
def test_values_books_and_seconds_equal_those_of_the_simulator(benches, on, seed):
    case = World(4, [(np.arange(5.0) + r,) for r in range(4)], on=on, seed=seed)
    seen = []
    lesson = Lesson("99_switch")
    lesson.test("program", points=1, cases=lambda coin: [case])(record(seen))
    verdict = Examiner(lesson, BUSY, benches(lesson)).examine(lesson.tests[0], seed=0)
    assert verdict.status == PASSED, verdict
    truth = alone(BUSY, case)
    assert equal(seen[0].values, list(truth))
    assert seen[0].books == truth.books
    assert seen[0].seconds == truth.seconds
    assert seen[0].work == {"think": 4, "add": 4}


def record(seen):
    def judge(case, found):
        """Whatever is found is noted."""
        seen.append(found)

    return judge


def examined(source, benches, size=3, collectives=False, **world):
    lesson = Lesson("99_switch")
    case = World(size, [()] * size, **world)
    lesson.test("program", points=1, collectives=collectives, cases=lambda coin: [case])(record([]))
    return Examiner(lesson, source, benches(lesson)).examine(lesson.tests[0], seed=0)


def test_a_deadlock_is_explained_by_the_lines_of_the_students_file(benches):
    verdict = examined("def program(comm):\n    return comm.recv((comm.rank + 1) % comm.size)\n", benches)
    assert verdict.status == FAILED
    assert "3 of 3 ranks wait" in verdict.detail
    assert [(rank, on, where) for rank, on, _, where in verdict.waits] == [
        (r, [(r + 1) % 3], "99_switch.py:2: return comm.recv((comm.rank + 1) % comm.size)") for r in range(3)
    ]
    assert "a circle: 0 --> 1 --> 2 --> 0" in verdict.picture


def test_waiting_for_somebody_who_has_finished_is_said(benches):
    verdict = examined("def program(comm):\n    return comm.recv(0) if comm.rank == 1 else None\n", benches)
    assert "rank 1 waits for rank 0, which has finished" in verdict.detail
    assert verdict.waits[0][3].startswith("99_switch.py:2: ")


def test_what_lies_unread_in_a_deadlock_is_named_with_the_students_line(benches):
    source = "def program(comm):\n    if comm.rank == 0:\n        comm.send(1, 5, tag=7)\n"
    source += "    return comm.recv(1 - comm.rank)\n"
    verdict = examined(source, benches, size=2)
    unread = "receives from rank 0 (tag 0); unread: from rank 0 (tag 7), sent at 99_switch.py:3: comm.send(1, 5, tag=7)"
    assert verdict.waits[1][2] == unread
    assert unread in verdict.picture
    assert "switch.py:8" not in verdict.picture


def test_what_somebody_who_has_finished_sent_with_another_tag_is_named_with_its_line(benches):
    source = "def program(comm):\n    return comm.recv(0) if comm.rank else comm.send(1, 5, tag=3)\n"
    verdict = examined(source, benches, size=2)
    assert "rank 1 waits for rank 0, which has finished" in verdict.detail
    assert "0 --> 1, tag 3: sent at 99_switch.py:2: return comm.recv(0)" in verdict.picture


def test_collectives_that_differ_are_named_with_the_students_lines(benches):
    source = "import numpy as np\n\n\ndef program(comm):\n    if comm.rank == 0:\n        comm.barrier()\n"
    source += "    return comm.allreduce(np.ones(3))\n"
    verdict = examined(source, benches, size=2, collectives=True)
    assert "rank 1 calls allreduce (ring) of 3 float64, while rank 0 called barrier (doubling)" in verdict.detail
    places = ("  rank 1: 99_switch.py:7: return comm.allreduce(np.ones(3))", "  rank 0: 99_switch.py:6: comm.barrier()")
    assert verdict.picture == "\n".join(places)


def test_what_a_collective_left_behind_is_told_from_messages(benches):
    source = "def program(comm):\n    if comm.rank:\n        return comm.bcast(3, root=1)\n    return comm.barrier()\n"
    verdict = examined(source, benches, size=2, collectives=True)
    assert verdict.status == FAILED
    assert "0 --> 1   at" in verdict.picture
    assert "1 --> 0, bcast: sent at a collective of comm" in verdict.picture


def test_messages_that_nobody_received_are_named_with_their_line(benches):
    source = "def program(comm):\n    if comm.rank == 0:\n        comm.send(1, 5)\n\n        comm.send(2, 6, tag=7)\n"
    verdict = examined(source, benches)
    assert verdict.detail == "Messages were sent that nobody has received."
    assert "0 --> 1, tag 0: sent at 99_switch.py:3: comm.send(1, 5)" in verdict.picture
    assert "0 --> 2, tag 7: sent at 99_switch.py:5: comm.send(2, 6, tag=7)" in verdict.picture


def test_an_error_on_one_rank_names_the_rank_and_its_line(benches):
    source = "def program(comm):\n    if comm.rank == 2:\n        return 1 / 0\n    return comm.recv(2)\n"
    verdict = examined(source, benches)
    assert verdict.detail == "ZeroDivisionError: division by zero (rank 2)"
    assert verdict.where == "99_switch.py:3, in program: return 1 / 0"


def test_what_cannot_be_sent_is_said_where_it_is_sent(benches):
    verdict = examined("def program(comm):\n    comm.send(0, object())\n", benches)
    assert "cannot be sent" in verdict.detail
    assert verdict.where.startswith("99_switch.py:2")


def test_collectives_of_the_library_are_refused_unless_the_test_allows_them(benches):
    source = "import numpy as np\n\n\ndef program(comm):\n    return comm.allreduce(np.ones(3))\n"
    assert "send and recv alone" in examined(source, benches).detail
    lesson = Lesson("99_switch")
    lesson.test("program", points=1, collectives=True, cases=lambda coin: [World(3, [()] * 3)])(record(seen := []))
    assert Examiner(lesson, source, benches(lesson)).examine(lesson.tests[0], seed=0).status == PASSED
    assert all((value == 3).all() for value in seen[0].values)


def test_a_lost_runner_costs_one_test_and_the_next_one_passes(benches):
    source = "import os\n\n\ndef program(comm):\n    os.abort() if comm.rank == 1 else comm.recv(1)\n"
    verdict = examined(source, benches)
    assert verdict.status == FAILED
    assert "crashed with signal 6" in verdict.detail
    assert examined("def program(comm):\n    return comm.rank\n", benches).status == PASSED


def test_runners_are_clean_after_every_case(benches):
    source = "seen = []\n\n\ndef program(comm):\n    seen.append(1)\n    assert len(seen) == 1\n"
    lesson = Lesson("99_switch")
    lesson.test("program", points=1, cases=lambda coin: [World(2, [()] * 2)] * 5)(record([]))
    assert Examiner(lesson, source, benches(lesson)).examine(lesson.tests[0], seed=0).status == PASSED


def repeated(source, benches, seen, size=1):
    lesson = Lesson("99_switch")
    case = World(size, [(np.zeros(2),)] * size, repeat=3)
    lesson.test("program", points=1, cases=lambda coin: [case])(record(seen))
    return Examiner(lesson, source, benches(lesson)).examine(lesson.tests[0], seed=0)


def test_repeated_calls_get_fresh_arguments(benches):
    source = "had = []\n\n\ndef program(comm, x):\n    had.append(x)\n    return [x is y for y in had]\n"
    assert repeated(source, benches, seen := []).status == PASSED
    assert seen[0].values == [[False, False, True]]


@pytest.mark.parametrize("change", ["x += 1", "x[0] = float('nan')", "x.shape = (2, 1)", "x.dtype = 'i8'"])
def test_a_repeated_call_that_changes_its_arguments_is_told_which_and_where(change, benches):
    source = f"def program(comm, x):\n    if comm.rank == 2:\n        {change}\n"
    told = repeated(source, benches, seen := [], size=3)
    assert told.status == FAILED
    assert told.detail.startswith("Your input was changed: x is not what it was before the call (rank 2).")
    assert not seen


def test_who_hides_its_arguments_is_not_believed(benches):
    """The host's frame holds the calls that it will hand back."""
    for lie in ("[]", "None", "[7]", "[(1, 2, 3)]", "[()]"):
        source = (
            "import sys\n\n\ndef program(comm, x):\n    x += 1\n    frame = sys._getframe()\n"
            "    while 'case' not in frame.f_locals:\n        frame = frame.f_back\n"
            f"    frame.f_locals['case']['calls'] = {lie}\n"
        )
        assert repeated(source, benches, []).status == FAILED


def test_the_stub_of_an_exercise_is_not_called_wrong(benches):
    stub = "def program(comm):\n    raise NotImplementedError('not done yet: program')\n"
    assert examined(stub, benches).status == NOT_DONE
    assert examined(stub.replace("not done yet", "later"), benches).status == FAILED


def test_the_solution_runs_alike_here_and_in_the_simulator(benches):
    """Exercise 04's ring, here through the switch and there in one process: equal bits and seconds."""
    source = solution("04_allreduce")
    ring = load(source, "04.py").ring_allreduce
    coin = np.random.default_rng(7)
    xs = [coin.standard_normal(40).astype("f4") for _ in range(4)]
    case = World(4, [(x,) for x in xs], seed=5)
    lesson = Lesson("99_switch")
    lesson.test("ring_allreduce", points=1, cases=lambda coin: [case])(record(seen := []))
    Examiner(lesson, source, benches(lesson)).examine(lesson.tests[0], seed=0)
    truth = Simulated(4, None, 5).run(lambda comm: ring(comm, xs[comm.rank]))
    assert all((a == b).all() for a, b in zip(seen[0].values, truth, strict=True))
    assert (seen[0].seconds, seen[0].books) == (truth.seconds, truth.books)


def test_an_answer_of_an_unforeseen_form_is_wrong_and_harms_nobody(benches):
    lesson = Lesson("99_switch")

    @lesson.test("program", points=1, cases=lambda coin: [World(1, [()])])
    def half(case, found):
        """Half of the answer is compared."""
        assert found.values[0] / 2 == 1

    verdict = Examiner(lesson, "def program(comm):\n    return {'a': [b'x']}\n", benches(lesson)).examine(
        lesson.tests[0], 0
    )
    assert verdict.status == FAILED
    assert "The answer cannot be read: TypeError" in verdict.detail
