"""Solutions become exercises: only what is marked goes, and every doubtful marker is an error with file and line."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlmini.course.strip import done_in, regions, strip, stubs

SOLUTION = '''"""Lesson."""
import numpy as np


def double(x):
    """Twice x.

    ### BEGIN SOLUTION in a docstring means nothing
    """
    # Hint: addition will do.
    ### BEGIN SOLUTION
    secret = x + x
    return secret
    ### END SOLUTION


class Feedback:
    def encode(self, x):
        y = np.copy(x)
        ### BEGIN SOLUTION
        if secret:
            y *= secret

        ### END SOLUTION
        return y
'''


def cut(text: str) -> str:
    return strip(text.encode(), "x.py").decode()


def test_marked_regions_go_and_all_else_stays():
    stub = cut(SOLUTION)
    assert "secret" not in stub
    assert "# Hint: addition will do." in stub
    assert "means nothing" in stub
    assert stubs(stub) == ["double", "Feedback.encode"]
    assert "    y = np.copy(x)\n        raise NotImplementedError(" in stub
    assert stub.endswith("        return y\n")


def test_the_exercise_is_a_program_whose_functions_say_what_is_not_done():
    names = {}
    exec(cut(SOLUTION), names)
    with pytest.raises(NotImplementedError, match="not done yet: double"):
        names["double"](1)
    assert names["double"].__doc__.startswith("Twice x.")


def test_cutting_twice_is_cutting_once():
    once = strip(SOLUTION.encode(), "x.py")
    assert strip(once, "x.py") == once


def test_line_ends_and_byte_order_marks_stay():
    windows = b"\xef\xbb\xbf" + SOLUTION.replace("\n", "\r\n").encode()
    assert strip(windows, "x.py") == b"\xef\xbb\xbf" + cut(SOLUTION).replace("\n", "\r\n").encode()


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("    ### BEGIN SOLUTION\n    x = 1\n", 2, "without ### END"),
        ("    x = 1\n    ### END SOLUTION\n", 3, "without ### BEGIN"),
        ("    ### BEGIN SOLUTION\n    x = 1\n    ### BEGIN SOLUTION\n    ### END SOLUTION\n", 4, "begins in line 2"),
        ("    ### BEGIN SOLUTION\n    x = 1\n  ### END SOLUTION\n", 4, "not indented like"),
        ("    ## BEGIN SOLUTION\n    x = 1\n    ### END SOLUTION\n", 2, "write ### BEGIN SOLUTION"),
        ("    ### begin solution\n    x = 1\n    ### END SOLUTION\n", 2, "write ### BEGIN SOLUTION"),
        ("    x = 1  ### BEGIN SOLUTION\n    ### END SOLUTION\n", 2, "on a line of its own"),
        ("    ### BEGIN SOLUTION\n    ### END SOLUTION\n    x = 1\n", 2, "nothing between"),
        ("    ### BEGIN SOLUTION\n    x = 1\ndef g():\n    y = 1\n    ### END SOLUTION\n", 4, "leaves its function"),
        ("    x = 1\n### BEGIN SOLUTION\ny = 1\n### END SOLUTION\n", 3, "in the body of a function"),
        ("    x = (\n", 2, "not Python"),
    ],
)
def test_doubtful_markers_are_named_with_file_and_line(body, line, words):
    with pytest.raises(ValueError, match=f"x.py, line {line}: .*{words}"):
        strip(f"def f():\n{body}".encode(), "x.py")


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.booleans())
def test_exactly_the_marked_statements_go(marked, nested):
    """Against an independent truth: the statements that survive are those outside of markers."""
    pad = "        " if nested else "    "
    head = "class C:\n    def f():\n" if nested else "def f():\n"
    parts = [
        f"{pad}### BEGIN SOLUTION\n{pad}s{i} = '### END SOLUTION'\n{pad}### END SOLUTION\n"
        if hidden
        else f"{pad}k{i} = 1\n"
        for i, hidden in enumerate(marked)
    ]
    stub = cut(head + "".join(parts))
    kept = {node.id for node in ast.walk(ast.parse(stub)) if isinstance(node, ast.Name)} - {"NotImplementedError"}
    assert kept == {f"k{i}" for i, hidden in enumerate(marked) if not hidden}
    assert stubs(stub) == ["C.f" if nested else "f"] * sum(marked)


def test_a_function_in_a_function_is_named_in_full():
    text = "def f():\n    def g():\n        ### BEGIN SOLUTION\n        x = 1\n        ### END SOLUTION\n    return g\n"
    assert [region.name for region in regions(text, "x.py")] == ["f.g"]


def test_work_in_an_exercise_is_noticed():
    stub = cut(SOLUTION)
    assert done_in(stub, stub) == []
    assert done_in(SOLUTION, stub) == ["double", "Feedback.encode"]
    assert done_in("x = 1\n", stub) == []
