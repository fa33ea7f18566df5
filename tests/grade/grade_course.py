"""The course's own files, as the grader's tests want them: solutions, stubs and mutants."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from dlmini.grade.lesson import graded_lessons

PROJECT = Path(__file__).parents[2]


def solution(name):
    return (PROJECT / "solutions" / f"{name}.py").read_text(encoding="utf-8")


def stub(name):
    return (PROJECT / "exercises" / f"{name}.py").read_text(encoding="utf-8")


def mutants(name):
    """[(task, what is wrong, source, says)] of a lesson. Only functions are changed, not the hints above them.

    says: a part of the sentence by which `check` calls a public mistake; empty where only grading has to see it.
    """
    spec = spec_from_file_location(f"mutants_{name}", Path(__file__).parent / "mutants" / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    head, start, functions = solution(name).partition("\ndef ")
    made = []
    for task, wrong, this, that, *says in module.MUTANTS:
        assert this in functions, f"{task}, {wrong}: the solution has no {this!r}"
        made.append((task, wrong, head + start + functions.replace(this, that), "".join(says)))
    return made


LESSONS = graded_lessons()
EVERY_MUTANT = [(name, *mutant) for name in LESSONS for mutant in mutants(name)]
PUBLIC_MUTANTS = [mutant for mutant in EVERY_MUTANT if mutant[-1]]
