"""results.json as Gradescope's autograder platform reads it.

Its fields: score, execution_time, output, visibility, stdout_visibility, extra_data, tests; and of a test: score,
max_score, status (passed | failed), name, number, output, tags, visibility (hidden | after_due_date | after_published |
visible), extra_data. Source: gradescope-autograders.readthedocs.io, "Autograder specifications".
"""

from __future__ import annotations

import json

from dlmini.grade.cards import lines
from dlmini.grade.lesson import VISIBLE
from dlmini.grade.verdict import INFRA, PASSED, Graded, Verdict


def results(graded: Graded, hidden: str = "after_published") -> dict:
    """One submission. Hidden tests show themselves when `hidden` says."""
    found = {
        "score": round(graded.score, 4),
        "execution_time": round(sum(v.seconds for v in graded.verdicts)),
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [row(v, i, hidden) for i, v in enumerate(graded.verdicts, 1)],
        "extra_data": {"submission": graded.name, "digest": graded.submission.digest},
    }
    if not graded.complete:
        found["output"] = "The grader itself failed in some tests; this is not your fault, and the score is not final."
    elif graded.submission.problem:
        found["output"] = graded.submission.problem
    if graded.mark.comment:
        found["output"] = "\n".join(filter(None, [found.get("output", ""), graded.mark.comment]))
    return found


def row(verdict: Verdict, number: int, hidden: str) -> dict:
    return {
        "name": f"{verdict.task}: {verdict.sentence}",
        "number": str(number),
        "score": verdict.score,
        "max_score": verdict.points,
        "status": "passed" if verdict.status == PASSED else "failed",
        "output": lines(verdict),
        "tags": [verdict.task, verdict.visibility, *([INFRA] if verdict.status == INFRA else [])],
        "visibility": "visible" if verdict.visibility == VISIBLE else hidden,
        "extra_data": {"seed": verdict.seed, "test": verdict.test},
    }


def text(graded: Graded) -> str:
    return json.dumps(results(graded), ensure_ascii=False, indent=1) + "\n"
