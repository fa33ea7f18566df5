"""Honest answers get full marks, whatever the hand that wrote them and the editor that saved them."""

import pytest
from examples import some
from grade_course import solution
from honest_answers import FORMS, hand_ins, texts

from dlmini.grade.examine import Examiner
from dlmini.grade.lesson import find_lesson
from dlmini.grade.reading.pick import picked

RING = {
    "vectorised": "",
    "float64 between": """
def ring_reduce_scatter(comm, x):
    n, r, total = comm.size, comm.rank, x.astype(np.float64)
    for t in range(n - 1):
        comm.send((r + 1) % n, chunk(total, (r - t) % n, n).astype(x.dtype))
        chunk(total, (r - t - 1) % n, n)[...] += comm.recv((r - 1) % n)
    return chunk(total, (r + 1) % n, n).astype(x.dtype)
""",
    "loops": """
def ring_reduce_scatter(comm, x):
    n, r = comm.size, comm.rank
    total = [v for v in x]
    edges = [c * len(x) // n for c in range(n + 1)]
    for t in range(n - 1):
        out = (r - t) % n
        comm.send((r + 1) % n, np.array(total[edges[out] : edges[out + 1]], dtype=x.dtype))
        came = comm.recv((r - 1) % n)
        for i, value in enumerate(came):
            place = edges[(r - t - 1) % n] + i
            total[place] = total[place] + value
    mine = (r + 1) % n
    return np.array(total[edges[mine] : edges[mine + 1]], dtype=x.dtype)
""",
    "helpers, prints, NumPy scalars for ranks": """
def neighbours(comm):
    print("rank", comm.rank, "of", comm.size)
    return np.int64((comm.rank + 1) % comm.size), np.int64((comm.rank - 1) % comm.size)

def tree_allreduce(comm, x):
    total, d = np.array(x), np.int64(1)
    neighbours(comm)
    while d < comm.size:
        if comm.rank % (2 * d) == d:
            comm.send(comm.rank - d, total)
            break
        if comm.rank + d < comm.size:
            total = total + comm.recv(comm.rank + d)
        d *= 2
    if comm.rank:
        total = comm.recv(comm.rank - d)
    while d > 1:
        d //= 2
        if comm.rank + d < comm.size and comm.rank % (2 * d) == 0:
            comm.send(comm.rank + d, total)
    return total
""",
}


def marks(lesson, source, benches):
    examiner = Examiner(lesson, source, benches(lesson))
    return [(v.test, v.status, v.detail) for t in lesson.tests for v in [examiner.examine(t, seed=7)] if not v.score]


@pytest.mark.parametrize("number", some(range(20), 3))
def test_every_honest_hand_of_exercise_00_gets_full_marks(number, tmp_path, benches):
    lesson, (form, file, data) = find_lesson("00"), hand_ins()[number]
    (tmp_path / file).write_bytes(data)
    found = picked(tmp_path, [()], lesson.name, lesson.tasks())
    assert found.source, (form, found.problem)
    assert marks(lesson, found.source, benches) == []


@pytest.mark.parametrize("form", FORMS, ids=[form.__name__ for form in FORMS])
def test_every_form_gives_every_function(form, tmp_path):
    lesson, (file, data) = find_lesson("00"), form(texts()[1])
    (tmp_path / file).write_bytes(data)
    found = picked(tmp_path, [()], lesson.name, lesson.tasks()).source
    assert all(f"def {task}(" in found for task in lesson.tasks())


@pytest.mark.parametrize("way", some(RING, 2))
def test_every_honest_way_around_the_ring_gets_full_marks(way, benches):
    lesson = find_lesson("04")
    assert marks(lesson, solution(lesson.name) + RING[way], benches) == []
