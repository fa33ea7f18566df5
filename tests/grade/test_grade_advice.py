"""A famous mistake is called by its name: the card says what was done, not only that numbers are wrong."""

import pytest
from grade_course import solution

from dlmini.grade.check import check, cool

LAP = """        comm.send((r + 1) % n, chunk(total, (r - t) % n, n))
        coming = chunk(total, (r - t - 1) % n, n)
        coming += comm.recv((r - 1) % n)
    return chunk(total, (r + 1) % n, n).copy()
"""
ONE_PLACE_ON = (
    LAP.replace("(r - t - 1)", "(r - t - 2)")
    .replace("(r - t)", "(r - t - 1)")
    .replace("chunk(total, (r + 1)", "chunk(total, (r + 0)")
)
MISTAKES = [
    (
        "00_meet_the_lab.fit_alpha_beta",
        (
            "return float(t.mean() - beta * n.mean()), float(beta)",
            "return float(beta), float(t.mean() - beta * n.mean())",
        ),
        "alpha and beta have changed places",
    ),
    (
        "01_backpropagation.linear_backward",
        ("x.T @ dy, dy.sum(axis=0)", "x.T @ dy / len(x), dy.sum(axis=0)"),
        "dw is the mean over the batch, expected the sum",
    ),
    (
        "01_backpropagation.softmax_cross_entropy",
        ("    slope /= len(labels)\n", ""),
        "B times too large",
    ),
    (
        "03_data_parallelism.average_gradients",
        ("    total /= comm.size\n", ""),
        "this is the sum of all gradients, not their mean",
    ),
    ("04_allreduce.ring_reduce_scatter", (LAP, ONE_PLACE_ON), "returned chunk 0 of the sum, expected chunk 1"),
    (
        "05_parameter_servers.push_pull",
        ("rate * (total / workers)", "rate * total"),
        "the step is 2 times too long",
    ),
]


@pytest.fixture(autouse=True)
def _cool():
    yield
    cool()


def said(name: str, text: str, folder) -> str:
    lesson, _, task = name.partition(".")
    (folder / f"{lesson}.py").write_text(text, encoding="utf-8")
    return repr(check(f"{lesson[:2]}.{task}", folder=folder))


@pytest.mark.parametrize(("name", "mistake", "sentence"), MISTAKES, ids=[m[0] for m in MISTAKES])
def test_a_famous_mistake_is_called_by_its_name(name, mistake, sentence, tmp_path):
    right = solution(name.partition(".")[0])
    assert right.count(mistake[0]) == 1
    assert sentence in said(name, right.replace(*mistake), tmp_path)
    assert sentence not in said(name, right, tmp_path)
