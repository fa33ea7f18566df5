"""A solution pasted into the course's own notebook gets full marks, whatever else the notebook does."""

import json
import random
import warnings
import zipfile

import pytest
from examples import examples, some
from grade_course import LESSONS, PROJECT, solution
from hypothesis import given
from hypothesis import strategies as st

from dlmini.grade.examine import Examiner
from dlmini.grade.lesson import find_lesson
from dlmini.grade.reading.notebook import parts
from dlmini.grade.reading.source_text import Unreadable, text_of
from dlmini.grade.submissions.collect import collect
from dlmini.grade.verdict import PASSED

BROKEN = [
    "def unfinished(comm:\n    return",
    "for i in range(\n",
    "x = 'no end\n",
    "1 / 0",
    "raise RuntimeError('at the top')",
    "open('no/such/file').read()",
    "while True:\n    pass",
    "%%bash\nrm -rf /tmp/nothing\ndef shard(",
    "%%html\n<script>def shard(n): return</script>",
    "%matplotlib inline\n!pip install torch\n?print\nprint?\nx = %timeit -o 1\nlist = !ls",
    "import matplotlib.pyplot as plt\nimport torch, no_such_package\nplt.plot([1, 2])",
    "from dlmini import *\nfrom dlmini.nn import Model as Dense\nclass Mine(Dense):\n    pass",
    "@njit\ndef fast(x):\n    return x",
    "await something()",
    "return 3",
    "\ud800 = '\u2028\x0c'",
    "(" * 500,
    "\0",
    "",
]


def book(name):
    return json.loads((PROJECT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))


def code(*texts):
    return [{"cell_type": "code", "metadata": {}, "outputs": [], "source": text} for text in texts]


def functions(name):
    """Imports and definitions of the solution, one text each."""
    return [part.text for part in parts(solution(name)) if part.gives != {"HINTS"}]


def at_the_end(name, cells):
    return cells + code("\n\n".join(functions(name)))


def spread(name, cells):
    """One function per cell, each somewhere."""
    for text in functions(name):
        cells.insert(random.Random(text).randrange(len(cells) + 1), *code(text))
    return cells


def written(name, cells):
    return cells[:3] + code(f"%%writefile exercises/{name}.py\n{solution(name)}") + cells[3:]


def among_broken_cells(name, cells):
    coin, made = random.Random(name), spread(name, cells)
    for text in BROKEN:
        made.insert(coin.randrange(len(made) + 1), *code(text))
    return made


def with_windows_ends(name, cells):
    """And a broken line in the very cell of the solution, and everything under an `if` or in a `try`."""
    solved = "\n\n".join(functions(name)) + "\n\ndef unfinished(:\n    pass\n"
    inner = "\n".join("    " + line for line in "\n".join(functions(name)).split("\n"))
    both = code(solved, f"if True:\n{inner}", f"try:\n{inner}\nexcept ImportError:\n    print('no')")
    return [{**cell, "source": "".join(cell["source"]).replace("\n", "\r\n")} for cell in cells + both]


WAYS = [at_the_end, spread, written, among_broken_cells, with_windows_ends]


def text_from(name, cells, tasks=None):
    data = json.dumps({"cells": cells, "nbformat": 4}).encode()
    return text_of(data, "homework.ipynb", find_lesson(name).tasks() if tasks is None else tasks, name)


def marks(name, text, benches, tests=None):
    lesson = find_lesson(name)
    examiner = Examiner(lesson, text, benches(lesson))
    return [verdict for test in tests or lesson.tests if (verdict := examiner.examine(test, seed=5)).status != PASSED]


@pytest.mark.parametrize("name", LESSONS)
def test_a_solution_in_the_courses_notebook_gets_full_marks(name, benches):
    """However it was pasted. Ways that give the same text are graded once.

    Usually one of the texts by all tests, another one in the next lesson; the rest by a test of each function, which
    is enough to see that nothing of it was lost.
    """
    lesson, texts = find_lesson(name), {text_from(name, way(name, book(name)["cells"])): way.__name__ for way in WAYS}
    whole, short = some(texts, len(texts), LESSONS.index(name)), [lesson.of(task)[0] for task in lesson.tasks()]
    found = {way: marks(name, text, benches, None if text in whole else short) for text, way in texts.items()}
    assert found == {way: [] for way in texts.values()}


def test_notebooks_with_pictures_are_collected_from_folders_and_zips(tmp_path):
    name = "00_meet_the_lab"
    (picture,) = code("plot()")
    picture["outputs"] = [{"output_type": "display_data", "data": {"image/png": "A" * (5 << 20)}}]
    data = json.dumps({"cells": [*at_the_end(name, book(name)["cells"]), picture]})
    for folder in ("ann", "bob"):
        (tmp_path / "class" / folder).mkdir(parents=True)
        (tmp_path / "class" / folder / "my homework.ipynb").write_text(data, encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as packed:
        packed.writestr("ann/homework.ipynb", data)
        packed.writestr("bob/homework.ipynb", data)
    wanted = text_of(data.encode(), f"{name}.ipynb", find_lesson(name).tasks())
    for root in (tmp_path / "class", tmp_path / "class.zip"):
        found = collect(root, name, find_lesson(name).tasks())
        assert [(s.name, s.source) for s in found] == [("ann", wanted), ("bob", wanted)]


@pytest.mark.parametrize("name", LESSONS)
def test_a_notebook_without_the_functions_says_so(name, benches):
    lesson = find_lesson(name)
    text = text_from(name, book(name)["cells"] + code("def other(x):\n    return x"))
    verdict = Examiner(lesson, text, benches(lesson)).examine(lesson.tests[0], seed=1)
    assert verdict.score == 0
    assert f"the notebook defines no function {lesson.tests[0].task}; it defines " in verdict.detail
    assert "other" in verdict.detail


def test_what_is_there_instead_is_named(benches):
    lesson = find_lesson("00")
    text = text_from(lesson.name, code("def shards(n):\n    return n\n\ndef ping_pong(comm, payload, rounds): pass"))
    verdict = Examiner(lesson, text, benches(lesson)).examine(lesson.of("shard")[0], seed=1)
    assert "the notebook defines no function shard; it defines shards, ping_pong" in verdict.detail
    verdict = Examiner(lesson, "def shards(): pass", benches(lesson)).examine(lesson.of("shard")[0], seed=1)
    assert "00_meet_the_lab.py has no function shard; it has shards" in verdict.detail


def test_a_function_in_a_cell_that_cannot_be_read_is_said_to_be_there(benches):
    lesson = find_lesson("00")
    text = text_from(lesson.name, code("def shard(n, size, rank):\n    return (n\n"))
    verdict = Examiner(lesson, text, benches(lesson)).examine(lesson.of("shard")[0], seed=1)
    assert "the cell with shard: '(' was never closed, line 2" in verdict.detail


def run(text):
    space = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about backslashes that chance has put in
        exec(text, space)
    return space


def kept(*texts, tasks=("f",)):
    return text_from("00_meet_the_lab", code(*texts), tasks)


def test_constants_helpers_and_classes_that_a_function_needs_come_along():
    text = kept(
        "from math import pi as PI\nN, M = 2, 3\nSIDES = {k: N * k for k in range(4)}",
        "class Box:\n    size = M\n\n    def area(self):\n        return scale(self.size)",
        "def scale(x):\n    return x * FACTOR",
        "FACTOR: int = N + 1\nunused = print('run')\nmemo = {}",
        "def f(x=N):\n    global memo\n    memo[x] = PI\n    return Box().area() + x + SIDES[1]",
        "print(f(1)); f = f",
    )
    assert run(text)["f"]() == 3 * 3 + 2 + 2
    assert "print" not in text


def test_the_last_definition_counts_and_an_import_of_the_same_name_does_not():
    text = kept(
        "from math import floor, sqrt as f\nN = 3",
        "def f(): return 1",
        "def f():\n    return 2 * floor(N)",
        "f, whose = own(f)\nN = 4\nN = 3",
        "from math import sin as f",
    )
    assert run(text)["f"]() == 6


def test_future_imports_come_first_and_statements_behind_a_semicolon_are_taken_alone():
    text = kept(
        "x = 3; print(x); import math; y = 5", "from __future__ import annotations\ndef f(a: Nobody = x): return a"
    )
    assert text.startswith("from __future__")
    assert run(text)["f"]() == 3
    assert "print" not in text


def test_a_try_is_kept_whole_where_it_only_imports():
    text = kept("try:\n    import no_such_package as np\nexcept ImportError:\n    np = 7", "def f(): return np")
    assert run(text)["f"]() == 7


def test_texts_of_many_lines_keep_their_margins():
    text = kept('if True:\n    def f():\n        return """a\n  b\n        c"""')
    assert run(text)["f"]() == "a\n  b\n        c"


@pytest.mark.parametrize("word", ["%%writefile", "%%file"])
def test_cells_that_write_the_exercise_are_the_program(word):
    name = "00_meet_the_lab"
    cells = code(
        f"{word} exercises/{name}.py\nT = [1]\nT.append(2)\n",
        f"{word} -a exercises\\{name}.py\ndef shard(): return T\n",
        f"{word} other.py\ndef shard(): return 'other'\n",
    )
    assert run(text_from(name, cells))["shard"]() == [1, 2]
    assert run(text_from(name, cells[:1] + code("def shard(): return 3")))["shard"]() == 3


def test_notebooks_of_any_age_language_and_line_end_are_read():
    old = {
        "worksheets": [{"cells": [{"cell_type": "code", "language": "python", "input": ["def f():\r", "  return 1"]}]}]
    }
    assert run(text_of(json.dumps(old).encode(), "x.ipynb"))["f"]() == 1
    mixed = code("def f(): return 2") + code("f <- function() 3")
    mixed[1]["metadata"] = {"vscode": {"languageId": "r"}}
    assert run(kept(*[]) + text_from("00_meet_the_lab", mixed, ()))["f"]() == 2
    attached = {
        "cell_type": "markdown",
        "source": "def f(): return 4",
        "attachments": {"a.png": {"image/png": "A" * (3 << 20)}},
    }
    assert run(text_from("00_meet_the_lab", [attached, *mixed], ()))["f"]() == 2
    data = json.dumps({"cells": mixed}).encode("utf-16")
    assert run(text_of(data, "x.IPYNB"))["f"]() == 2


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{", b'{"cells": 3}', b"[" * 100_000, b"\xff\xfe\xff", b'"text"', b"NaN"]
)
def test_what_is_no_notebook_is_refused_in_a_sentence(data):
    with pytest.raises(Unreadable, match=r"^x\.ipynb cannot be read as a notebook: "):
        text_of(data, "x.ipynb")


def test_a_hostile_notebook_takes_no_more_time_than_it_is_long():
    """No way of reading is quadratic: each of these would take minutes."""
    size = 1 << 18
    for text in (
        "a(\n" * (size // 3),
        " " * size + "x",
        "def f(): return 1\n" + "".join(f"def g{i}(): return g{i + 1}\n" for i in range(size // 64)) + "f = g0",
        "x = [" + "(" * 50 + "\n" * size,
        "x = 1" + " + 1" * (size // 4),
        "[\n" * (size // 2),
        "_" * size + "?!",
        "%" * size,
    ):
        assert isinstance(kept("def f(): return 1", text), str)
    with pytest.raises(Unreadable, match="characters of code"):
        kept("#" * (2 << 20))


HONEST = """def f(x):
    '''A text
with lines.'''
    return helper(x) + OFFSET

def helper(x):
    return 2 * x

OFFSET = 1"""
NOISE = st.text(alphabet="%!?\n\r\t ='\"()[]{}:#\\@,;.xdefclassimportawait0\u2028\ud800\0\x0c", max_size=60)
PIECES = st.sampled_from(BROKEN) | NOISE | st.sampled_from(HONEST.split("\n"))
JUNK = st.recursive(
    st.none() | st.text(max_size=5) | st.integers(),
    lambda x: (
        st.lists(x)
        | st.dictionaries(
            st.sampled_from(["cells", "cell_type", "source", "metadata", "vscode", "worksheets", "input"]), x
        )
    ),
)


@examples(300)
@given(st.lists(PIECES, max_size=5), st.lists(PIECES, max_size=5), st.lists(JUNK, max_size=3))
def test_no_neighbour_costs_an_honest_cell_its_marks(before, after, junk):
    """Whatever stands in other cells, unless it defines the same names, the function works."""
    cells = [*code(*before), *junk, *code(HONEST), *code(*after)]
    space = run(text_from("00_meet_the_lab", cells, ("f",)))
    assert space["f"](3) == 7


@examples(300)
@given(NOISE, st.integers(0, 200))
def test_a_cell_cut_anywhere_is_read_as_far_as_it_can_be(noise, at):
    text = text_from("00_meet_the_lab", code(HONEST[:at] + noise + HONEST[at:]), ("f",))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(text, "x", "exec")
