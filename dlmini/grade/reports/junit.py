"""JUnit XML, as continuous integration reads it: a suite per submission, a case per test."""

from __future__ import annotations

import re
from xml.etree import ElementTree as Tree

from dlmini.grade.cards import lines
from dlmini.grade.lesson import Lesson
from dlmini.grade.verdict import INFRA, PASSED, Graded, Verdict

FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, production 2


def text(lesson: Lesson, class_: list[Graded]) -> str:
    root = Tree.Element("testsuites", name=lesson.name)
    for graded in class_:
        failed = sum(v.status not in (PASSED, INFRA) for v in graded.verdicts)
        errors = sum(v.status == INFRA for v in graded.verdicts)
        counts = {"tests": str(len(graded.verdicts)), "failures": str(failed), "errors": str(errors)}
        seconds = f"{sum(v.seconds for v in graded.verdicts):.3f}"
        suite = Tree.SubElement(root, "testsuite", name=_clean(graded.name), time=seconds, **counts)
        for verdict in graded.verdicts:
            _case(suite, lesson, verdict)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Tree.tostring(root, encoding="unicode") + "\n"


def _case(suite: Tree.Element, lesson: Lesson, verdict: Verdict) -> None:
    name, home = verdict.test, f"{lesson.name}.{verdict.task}"
    case = Tree.SubElement(suite, "testcase", name=name, classname=home, time=f"{verdict.seconds:.3f}")
    if verdict.status != PASSED:
        kind = "error" if verdict.status == INFRA else "failure"
        said = Tree.SubElement(case, kind, type=verdict.status, message=_clean(verdict.detail)[:300])
        said.text = _clean(lines(verdict))


def _clean(said: str) -> str:
    return FORBIDDEN.sub("�", said)
